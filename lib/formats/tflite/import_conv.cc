#include <algorithm>

#include "formats/tflite/import.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"

namespace nn::tflite {
namespace {

Result<Padding> PaddingOf(fb::Padding padding) {
  if (padding == fb::Padding::SAME) return Padding::kSameUpper;
  if (padding == fb::Padding::VALID) return Padding::kValid;
  return ModelError("padding is {}", static_cast<int>(padding));
}

// Input, filter and, where it is there, bias. kUnsupported for a filter of integers under a float
// input: the kernels quantise the input anew in each run.
Result<std::vector<Value*>> Operands(const ImportContext& ctx, size_t x, size_t w, size_t bias) {
  NN_ASSIGN(Value* const input, ctx.Ranked(x));
  NN_ASSIGN(Value* const filter, ctx.Ranked(w));
  if (!input->type().quantised() && filter->type().quantised())
    return UnsupportedError("a {} filter for {} input", filter->type().ToString(),
                            DTypeName(input->dtype()));
  std::vector<Value*> operands = {input, filter};
  if (ctx.input(bias) != nullptr) operands.push_back(ctx.input(bias));
  return operands;
}

// The number of groups: input channels over those that the filter takes.
Result<int64_t> Groups(const Value* x, const Dim& filter_channels) {
  const Dim& channels = x->type().dim(x->type().rank() - 1);
  if (!channels.is_const() || !filter_channels.is_const())
    return UnsupportedError("the number of channels is not known");
  if (filter_channels.value() < 1 || channels.value() % filter_channels.value() != 0)
    return ModelError("a filter of {} channels for {}", filter_channels.value(), channels.value());
  return channels.value() / filter_channels.value();
}

Status RequireRanks(const std::vector<Value*>& operands, int rank) {
  for (size_t i = 0; i < 2; ++i)
    if (operands[i]->type().rank() != rank)
      return ModelError("operand {} has rank {}, not {}", i, operands[i]->type().rank(), rank);
  return {};
}

// A bias of zeros is there because CONV_2D cannot do without.
bool IsNoBias(const Value* bias) {
  if (!bias->is_constant() || bias->dtype() != DType::kF32) return false;
  const Tensor tensor = bias->constant().Aligned();
  const auto values = tensor.As<float>();
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 0; });
}

Status ImportConv2d(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::Conv2DOptions>());
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx, 0, 1, 2));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 4));
  if (operands.size() == 3 && IsNoBias(operands[2])) operands.pop_back();
  ConvAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kOxi;
  a.strides = {o->stride_h(), o->stride_w()};
  a.dilations = {o->dilation_h_factor(), o->dilation_w_factor()};
  NN_ASSIGN(a.padding, PaddingOf(o->padding()));
  NN_ASSIGN(a.groups, Groups(operands[0], operands[1]->type().dim(3)));
  return ctx.EmitActivated(o->fused_activation_function(), "conv", std::move(operands), a);
}

// Each input channel is a group of its own. Where their number is open, the depth multiplier, which
// repeats what the shapes say, stands for it.
Result<int64_t> DepthwiseGroups(const std::vector<Value*>& operands, int64_t multiplier) {
  const Dim& outputs = operands[1]->type().dim(3);
  if (!operands[0]->type().dim(3).is_const() && outputs.is_const() && multiplier > 0 &&
      outputs.value() % multiplier == 0)
    return outputs.value() / multiplier;
  return Groups(operands[0], operands[1]->type().dim(0));
}

Status ImportDepthwise(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::DepthwiseConv2DOptions>());
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx, 0, 1, 2));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 4));
  ConvAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kIxo;
  a.strides = {o->stride_h(), o->stride_w()};
  a.dilations = {o->dilation_h_factor(), o->dilation_w_factor()};
  NN_ASSIGN(a.padding, PaddingOf(o->padding()));
  NN_ASSIGN(a.groups, DepthwiseGroups(operands, o->depth_multiplier()));
  return ctx.EmitActivated(o->fused_activation_function(), "conv", std::move(operands), a);
}

Status ImportConv3d(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::Conv3DOptions>());
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx, 0, 1, 2));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 5));
  ConvAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kXio;
  a.strides = {o->stride_d(), o->stride_h(), o->stride_w()};
  a.dilations = {o->dilation_d_factor(), o->dilation_h_factor(), o->dilation_w_factor()};
  NN_ASSIGN(a.padding, PaddingOf(o->padding()));
  NN_ASSIGN(a.groups, Groups(operands[0], operands[1]->type().dim(3)));
  return ctx.EmitActivated(o->fused_activation_function(), "conv", std::move(operands), a);
}

// The pads of a transposed convolution are those of the convolution that it inverts: SAME counts
// from the output, whose size input 0 gives.
Result<ConvTransposeAttrs> TransposeAttrsOf(const ImportContext& ctx, fb::Padding padding,
                                            std::vector<int64_t> strides,
                                            std::vector<int64_t> dilations, const Dims& filter) {
  ConvTransposeAttrs a;
  a.layout = Layout::kNxc;
  a.strides = std::move(strides);
  a.dilations = std::move(dilations);
  NN_RETURN_IF_ERROR(ctx.Required(0));
  const auto shape = ctx.Elements(0);
  if (!shape) return UnsupportedError("the sizes of the output are not constant");
  const size_t spatial = a.strides.size();
  if (shape->size() != spatial + 2) return ModelError("an output shape of {} axes", shape->size());
  a.output_shape = Dims(shape->begin() + 1, shape->end() - 1);  // the batch may have any size
  if (!ConstDims(a.output_shape))
    return UnsupportedError("the sizes of the output are not constant");
  NN_ASSIGN(const Padding kind, PaddingOf(padding));
  std::vector<int64_t> pads(2 * spatial, 0);
  for (size_t i = 0; kind == Padding::kSameUpper && i < spatial; ++i) {
    if (!filter[i].is_const()) return UnsupportedError("the filter's size is not known");
    if (a.strides[i] < 1) return ModelError("a stride of {}", a.strides[i]);
    const int64_t extent = (filter[i].value() - 1) * a.dilations[i] + 1;
    const int64_t size = a.output_shape[i].value();
    const int64_t windows = (size + a.strides[i] - 1) / a.strides[i];
    const int64_t total = std::max<int64_t>(0, (windows - 1) * a.strides[i] + extent - size);
    pads[i] = total / 2;
    pads[spatial + i] = total - total / 2;
  }
  a.pads = std::move(pads);
  return a;
}

Status ImportTransposeConv(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::TransposeConvOptions>());
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx, 2, 1, 3));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 4));
  const Type& filter = operands[1]->type();
  NN_ASSIGN(ConvTransposeAttrs a,
            TransposeAttrsOf(ctx, o->padding(), {o->stride_h(), o->stride_w()}, {1, 1},
                             {filter.dim(1), filter.dim(2)}));
  a.filter_layout = FilterLayout::kOxi;
  return ctx.EmitActivated(o->fused_activation_function(), "conv_transpose", std::move(operands),
                           std::move(a));
}

}  // namespace

void AddConvImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::CONV_2D, ImportConv2d);
  t.Add(Op::DEPTHWISE_CONV_2D, ImportDepthwise);
  t.Add(Op::CONV_3D, ImportConv3d);
  t.Add(Op::TRANSPOSE_CONV, ImportTransposeConv);
}

}  // namespace nn::tflite

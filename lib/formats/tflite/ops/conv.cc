#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/spec/signature.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/shape.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/quant/quantized.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Result<Padding> PaddingOf(fb::Padding padding) {
  if (padding == fb::Padding::SAME) return Padding::kSameUpper;
  if (padding == fb::Padding::VALID) return Padding::kValid;
  return ModelError("unknown padding {}", static_cast<int>(padding));
}

// Input, filter and bias, if present.
Result<std::vector<Value*>> Operands(ImportContext& ctx, size_t x, size_t w, size_t bias) {
  NN_ASSIGN(Value* const input, ctx.Ranked(x));
  NN_ASSIGN(Value* const filter, ctx.Ranked(w));
  std::vector<Value*> operands = {input, filter};
  if (ctx.input(bias) != nullptr) operands.push_back(ctx.input(bias));
  return operands;
}

// The same for an operator without a hybrid kernel.
Result<std::vector<Value*>> PlainOperands(ImportContext& ctx, size_t x, size_t w, size_t bias) {
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx, x, w, bias));
  if (operands[0]->type().quantized()) return operands;
  NN_ASSIGN(operands[1], ctx.FloatWeights(operands[1]));
  return operands;
}

// The number of groups: input channels divided by filter channels.
Result<int64_t> Groups(const Value* x, const Dim& filter_channels) {
  const Dim& channels = x->type().dim(x->type().rank() - 1);
  if (!channels.is_const() || !filter_channels.is_const())
    return UnsupportedError("the number of channels must be constant");
  if (filter_channels.value() < 1 || channels.value() % filter_channels.value() != 0)
    return ModelError("the filter has {} channels, which do not divide the {} of the input",
                      filter_channels.value(), channels.value());
  return channels.value() / filter_channels.value();
}

// Emits a convolution of two spatial axes, or what its hybrid kernel computes.
Status EmitConv(ImportContext& ctx, fb::ActivationFunctionType activation,
                std::vector<Value*> operands, const ConvAttrs& a) {
  if (const Type& filter = operands[1]->type(); filter.quantized())
    NN_RETURN_IF_ERROR(ctx.MakeHybrid(
        operands[0], operands[1], RowsOfImages(filter.rank(), IsSymmetricConv(a, *filter.quant))));
  return ctx.EmitActivated(activation, "conv", std::move(operands), a);
}

Status RequireRanks(const std::vector<Value*>& operands, int rank) {
  for (size_t i = 0; i < 2; ++i)
    if (operands[i]->type().rank() != rank)
      return ModelError("operand {} has rank {}; expected {}", i, operands[i]->type().rank(), rank);
  return {};
}

// A zero bias is dropped: files have it because the kernels need one.
bool IsNoBias(const Value* bias) {
  return bias->dtype() == DType::kF32 && IsZeros(*bias);
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
  return EmitConv(ctx, o->fused_activation_function(), std::move(operands), a);
}

// Each input channel is a group. If their number is unknown, it follows from the depth multiplier.
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
  if (operands.size() == 3 && IsNoBias(operands[2])) operands.pop_back();
  ConvAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kIxo;
  a.strides = {o->stride_h(), o->stride_w()};
  a.dilations = {o->dilation_h_factor(), o->dilation_w_factor()};
  NN_ASSIGN(a.padding, PaddingOf(o->padding()));
  NN_ASSIGN(a.groups, DepthwiseGroups(operands, o->depth_multiplier()));
  return EmitConv(ctx, o->fused_activation_function(), std::move(operands), a);
}

Status ImportConv3d(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::Conv3DOptions>());
  NN_ASSIGN(std::vector<Value*> operands, PlainOperands(ctx, 0, 1, 2));
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

// The output shape of a transposed convolution.
struct TransposedShape {
  Dims spatial;
  std::optional<Dim> channels;  // if known before a run
  // Whether a size is that of the declared result, because input 0 is known only during a run.
  bool assumed = false;
};

Result<TransposedShape> TransposedShapeOf(const ImportContext& ctx, size_t spatial) {
  NN_RETURN_IF_ERROR(ctx.Required(0));
  const auto contents = ctx.Elements(0);
  const TypeDims& declared = ctx.output_type().dims;
  const Type& operand = ctx.input(0)->type();
  if (operand.ranked() &&
      (operand.rank() != 1 ||
       (operand.dim(0).is_const() && operand.dim(0) != static_cast<int64_t>(spatial) + 2)))
    return ModelError("output_shape is {}; expected {} entries", operand.ToString(), spatial + 2);
  TransposedShape shape;
  const auto known = [&](size_t axis) {
    return contents && axis < contents->size() && KnownBeforeRun({(*contents)[axis]});
  };
  for (size_t axis = 1; axis <= spatial; ++axis) {
    const bool is_declared = declared && declared->size() == spatial + 2;
    if (!known(axis) && !(is_declared && (*declared)[axis].is_const()))
      return UnsupportedError(
          "the output size is known only during a run, and the file declares none");
    shape.assumed |= !known(axis);
    shape.spatial.push_back(known(axis) ? (*contents)[axis] : (*declared)[axis]);
  }
  if (known(spatial + 1)) shape.channels = contents->back();  // the batch is not checked
  return shape;
}

// Sets the sizes and pads of the result. The pads are those of the convolution it inverts: SAME
// counts from the output.
Status SetTransposedSizes(ConvTransposeAttrs& a, Padding kind, const Dims& sizes, const Dims& input,
                          const Dims& filter) {
  const size_t spatial = sizes.size();
  std::vector<int64_t> pads(2 * spatial, 0);
  bool natural = true;  // the sizes are those without output_shape
  for (size_t i = 0; i < spatial; ++i) {
    if (a.strides[i] < 1) return ModelError("a stride is {}; it must be positive", a.strides[i]);
    if (!filter[i].is_const()) {
      if (kind == Padding::kSameUpper) return UnsupportedError("the filter size must be constant");
      natural = false;
      continue;
    }
    const int64_t extent = (filter[i].value() - 1) * a.dilations[i] + 1;
    const Dim rest = kind == Padding::kSameUpper ? Dim(0) : Dim(extent - a.strides[i]);
    natural &= sizes[i] == input[i] * Dim(a.strides[i]) + rest;
    if (kind != Padding::kSameUpper || !sizes[i].is_const()) continue;
    const int64_t size = sizes[i].value();
    const int64_t windows = (size + a.strides[i] - 1) / a.strides[i];
    const int64_t total = std::max<int64_t>(0, (windows - 1) * a.strides[i] + extent - size);
    pads[i] = total / 2;
    pads[spatial + i] = total - total / 2;
  }
  if (ConstDims(sizes)) {
    a.output_shape = sizes;
    a.pads = std::move(pads);
    return {};
  }
  // The kernel requires that the convolution of the result has the size of the input; with that
  // size, both definitions of SAME give the same pads.
  a.padding = kind;
  if (!natural) a.output_shape = sizes;
  return {};
}

// Adds the node. The run compares assumed sizes with input 0: a reshape to its contents changes
// nothing, or contradicts the declared shape.
Status EmitTransposed(ImportContext& ctx, fb::ActivationFunctionType activation,
                      std::vector<Value*> operands, ConvTransposeAttrs a,
                      const TransposedShape& shape) {
  NN_RETURN_IF_ERROR(
      ctx.EmitActivated(activation, "conv_transpose", std::move(operands), std::move(a)));
  if (!shape.assumed) return {};
  return ctx.Emit("reshape", {ctx.outputs()[0], ctx.input(0)}, ReshapeAttrs{});
}

// The spatial axes of an operand, whose first one is `first`.
Dims SpatialAxes(const Type& type, size_t first, size_t count) {
  const auto begin = type.dims->begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Status ImportTransposeConv(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::TransposeConvOptions>());
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx, 2, 1, 3));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 4));
  NN_ASSIGN(const TransposedShape shape, TransposedShapeOf(ctx, 2));
  NN_ASSIGN(const Padding padding, PaddingOf(o->padding()));
  ConvTransposeAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kOxi;
  a.strides = {o->stride_h(), o->stride_w()};
  a.dilations = {1, 1};
  NN_RETURN_IF_ERROR(SetTransposedSizes(a, padding, shape.spatial,
                                        SpatialAxes(operands[0]->type(), 1, 2),
                                        SpatialAxes(operands[1]->type(), 1, 2)));
  NN_RETURN_IF_ERROR(ctx.MakeHybrid(operands[0], operands[1], RowsOfImages(4, false)));
  return EmitTransposed(ctx, o->fused_activation_function(), std::move(operands), std::move(a),
                        shape);
}

Status ImportConv3dTranspose(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::Conv3DOptions>());
  NN_ASSIGN(std::vector<Value*> operands, PlainOperands(ctx, 2, 1, 3));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 5));
  NN_ASSIGN(const TransposedShape shape, TransposedShapeOf(ctx, 3));
  NN_ASSIGN(const Padding padding, PaddingOf(o->padding()));
  const Type& filter = operands[1]->type();
  if (shape.channels && !(filter.dim(3) == *shape.channels))
    return UnsupportedError("a filter of {} output channels for a result of {} is unsupported",
                            filter.dim(3).ToString(), shape.channels->ToString());
  ConvTransposeAttrs a;
  a.layout = Layout::kNxc;
  // [D, H, W, O, I] in the file.
  a.filter_layout = FilterLayout::kOxi;
  a.strides = {o->stride_d(), o->stride_h(), o->stride_w()};
  a.dilations = {o->dilation_d_factor(), o->dilation_h_factor(), o->dilation_w_factor()};
  NN_RETURN_IF_ERROR(SetTransposedSizes(a, padding, shape.spatial,
                                        SpatialAxes(operands[0]->type(), 1, 3),
                                        SpatialAxes(filter, 0, 3)));
  NN_ASSIGN(operands[1],
            Rearrange(ctx.graph(), operands[1], AxisMap::Permutation({3, 0, 1, 2, 4})));
  return EmitTransposed(ctx, o->fused_activation_function(), std::move(operands), std::move(a),
                        shape);
}

// Source: mediapipe/util/tflite/operations/transpose_conv_bias.cc. SAME crops an axis of the result
// by filter - (n - 1) % stride - 1 elements, half of them in front.
Status ImportTransposeConvBias(ImportContext& ctx) {
  constexpr int32_t kSame = 1, kValid = 2;
  std::array<int32_t, 3> options{};  // padding, strides of width and height
  NN_ASSIGN(const Blob bytes, CustomOptions(ctx.model(), ctx.op()));
  if (bytes.size() < sizeof(options)) return ModelError("the options have {} bytes", bytes.size());
  std::memcpy(options.data(), bytes.data(), sizeof(options));
  if (options[0] != kSame && options[0] != kValid)
    return ModelError("unknown padding {}", options[0]);
  NN_ASSIGN(std::vector<Value*> operands, PlainOperands(ctx, 0, 1, 2));
  NN_RETURN_IF_ERROR(RequireRanks(operands, 4));
  for (const Value* v : operands)
    if (v->dtype() != DType::kF32) return ModelError("an operand is {}", v->type().ToString());
  ConvTransposeAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kOxi;
  a.strides = {options[2], options[1]};
  a.pads.assign(4, 0);
  for (size_t i = 0; i < 2; ++i) {
    if (a.strides[i] < 1) return ModelError("a stride is {}; it must be positive", a.strides[i]);
    if (options[0] == kValid) continue;
    const Dim &n = operands[0]->type().dim(static_cast<int>(i) + 1),
              &filter = operands[1]->type().dim(static_cast<int>(i) + 1);
    if (!n.is_const() || !filter.is_const() || n.value() < 1)
      return UnsupportedError("the padding SAME of a size of {} is unsupported", n.ToString());
    const int64_t total = std::max<int64_t>(0, filter.value() - (n.value() - 1) % a.strides[i] - 1);
    a.pads[i] = total / 2;
    a.pads[2 + i] = total - total / 2;
  }
  return ctx.Emit("conv_transpose", std::move(operands), std::move(a));
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

fb::Padding PaddingOf(Padding padding) {
  return padding == Padding::kSameUpper ? fb::Padding::SAME : fb::Padding::VALID;
}

int32_t At(const std::vector<int64_t>& list, size_t i) {
  return list.empty() ? 1 : static_cast<int32_t>(list[i]);
}

// Limit of TensorFlow Lite: stride and dilation of a written convolution, a 32-bit option.
constexpr int64_t kMaxStep = 0x7FFFFFFF;

std::optional<std::string> WhyNotSteps(const std::vector<int64_t>& steps, int64_t most) {
  const auto larger = [&](int64_t v) { return v > most; };
  if (std::ranges::none_of(steps, larger)) return std::nullopt;
  return fmt::format("strides and dilations must be at most {}", most);
}

Status WriteConv2d(ExportContext& ctx, const Node& node, const ConvAttrs& a) {
  VersionTraits traits;
  traits.grouped = a.groups != 1;
  ctx.AddOperator(
      fb::BuiltinOperator::CONV_2D, {ctx.ResultsOf(node), ctx.InputsOf(node)},
      fb::CreateConv2DOptions(ctx.builder(), PaddingOf(a.padding), At(a.strides, 1),
                              At(a.strides, 0), ctx.ActivationOf(node), At(a.dilations, 1),
                              At(a.dilations, 0), ExportContext::BiasTypeOf(node)),
      traits);
  return {};
}

// DEPTHWISE_CONV_2D of 16-bit inputs has 64-bit biases only.
TensorIndex DepthwiseBias(ExportContext& ctx, const Node& node) {
  const Value* const bias = node.input(2);
  if (ExportContext::BiasTypeOf(node) != fb::TensorType::INT32 || !bias->is_constant())
    return ctx.BiasOf(node);
  const auto quant = bias->type().quantized()
                         ? bias->type().quant
                         : ProductQuant(node.input(0)->type(), node.input(1)->type());
  return ctx.AddConstant(Tensor::Ints(bias->constant().ToInts()), bias->name(), quant);
}

Status WriteDepthwise(ExportContext& ctx, const Node& node, const ConvAttrs& a) {
  VersionTraits traits;
  traits.dilated = At(a.dilations, 0) != 1 || At(a.dilations, 1) != 1;
  const auto filter = *node.input(1)->type().const_dims();
  const auto multiplier = static_cast<int32_t>(filter[3] / a.groups);
  std::vector<TensorIndex> results = ctx.ResultsOf(node);
  std::vector<TensorIndex> inputs = {ctx.TensorOf(ctx.OperandOf(node, 0)),
                                     ctx.TensorOf(ctx.OperandOf(node, 1)),
                                     DepthwiseBias(ctx, node)};
  ctx.AddOperator(fb::BuiltinOperator::DEPTHWISE_CONV_2D, {std::move(results), std::move(inputs)},
                  fb::CreateDepthwiseConv2DOptions(
                      ctx.builder(), PaddingOf(a.padding), At(a.strides, 1), At(a.strides, 0),
                      multiplier, ctx.ActivationOf(node), At(a.dilations, 1), At(a.dilations, 0)),
                  traits);
  return {};
}

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (a.filter_layout == FilterLayout::kOxi) return WriteConv2d(ctx, node, a);
  if (a.filter_layout == FilterLayout::kIxo) return WriteDepthwise(ctx, node, a);
  ctx.AddOperator(
      fb::BuiltinOperator::CONV_3D, {ctx.ResultsOf(node), ctx.InputsOf(node)},
      fb::CreateConv3DOptions(ctx.builder(), PaddingOf(a.padding), At(a.strides, 0),
                              At(a.strides, 2), At(a.strides, 1), ctx.ActivationOf(node),
                              At(a.dilations, 0), At(a.dilations, 2), At(a.dilations, 1)));
  return {};
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const int rank = node.output()->type().rank();
  if (auto reason = WhyNotBias(node)) return reason;
  if (auto reason = rank == 5 ? WhyNotFirst<Op::CONV_3D>(node) : WhyNotFirst<Op::CONV_2D>(node))
    return reason;
  if (rank != 4 && rank != 5) return fmt::format("{} spatial axes are unsupported", rank - 2);
  const Dims& x = *node.input(0)->type().dims;
  if (std::any_of(x.begin() + 1, x.end(), [](const Dim& d) { return d == 0; }))
    return "the input of CONV_2D cannot be empty";
  const Type& filter = node.input(1)->type();
  if (!filter.const_dims()) return "the filter shape must be constant";
  if (Product(*filter.dims) == 0) return "the filter of CONV_2D cannot be empty";
  if (auto reason = WhyNotWeights(node, {DType::kI8, DType::kI4}, {DType::kI8, DType::kI4}))
    return reason;
  if (a.filter_layout != FilterLayout::kIxo &&
      !node.input(0)->type().dim(ChannelAxis(a.layout, rank)).is_const())
    return "the number of channels must be constant";
  if (rank == 5) {
    if (a.groups != 1) return "CONV_3D does not support groups";
    if (a.filter_layout != FilterLayout::kXio) return "the filter layout must be XIO";
  } else if (a.filter_layout == FilterLayout::kIxo) {
    if (!(filter.dim(0) == 1)) return "the filter of DEPTHWISE_CONV_2D must have one input channel";
  } else if (a.filter_layout != FilterLayout::kOxi || IsDepthwise(node)) {
    return "the filter layout must be OXI, or IXO if depthwise";
  }
  // The optimized kernel of DEPTHWISE_CONV_2D reads a bias without asking for it.
  if (rank == 4 && node.input(2) == nullptr) return "CONV_2D and DEPTHWISE_CONV_2D need a bias";
  if (a.padding != Padding::kSameUpper && a.padding != Padding::kValid)
    return "the padding must be SAME or VALID";
  const int64_t most = a.filter_layout == FilterLayout::kIxo ? kMaxWindowStep : kMaxStep;
  for (const auto* steps : {&a.strides, &a.dilations})
    if (auto reason = WhyNotSteps(*steps, most)) return reason;
  // Last, because illegal nodes may get back the layout of their neighbors.
  if (a.layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

// The filter of CONV_3D_TRANSPOSE, [D, H, W, O, I], from [O, D, H, W, I].
Result<TensorIndex> SolidFilter(ExportContext& ctx, const Value* filter) {
  const std::vector<int64_t> perm = {1, 2, 3, 0, 4};
  const AxisMap map = AxisMap::Permutation(perm);
  if (filter->is_constant() && !ctx.trial()) {
    NN_ASSIGN(const Tensor permuted, RearrangeConstant(filter->constant(), map));
    return ctx.AddConstant(permuted, filter->name());
  }
  const TensorIndex to =
      ctx.AddTensor(Type(filter->dtype(), map.Apply(*filter->type().dims)), filter->name());
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(perm, "perm"));
  ctx.AddOperator(fb::BuiltinOperator::TRANSPOSE, {{to}, {ctx.TensorOf(filter), axes}},
                  fb::CreateTransposeOptions(ctx.builder()));
  return to;
}

Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  VersionTraits traits;
  const fb::ActivationFunctionType activation = ctx.ActivationOf(node);
  traits.activation = activation != fb::ActivationFunctionType::NONE;
  const bool solid = node.output()->type().rank() == 5;
  NN_ASSIGN(const TensorIndex shape, ctx.AddDims(*node.output()->type().dims, "output_shape"));
  TensorIndex filter = kNoTensor;
  if (solid) {
    NN_ASSIGN(filter, SolidFilter(ctx, node.input(1)));
  } else {
    filter = ctx.TensorOf(ctx.OperandOf(node, 1));
  }
  std::vector<TensorIndex> inputs = {shape, filter, ctx.TensorOf(ctx.OperandOf(node, 0))};
  if (node.input(2) != nullptr) inputs.push_back(ctx.BiasOf(node));
  if (solid) {
    ctx.AddOperator(
        fb::BuiltinOperator::CONV_3D_TRANSPOSE, {ctx.ResultsOf(node), inputs},
        fb::CreateConv3DOptions(ctx.builder(), *TransposePadding(node), At(a.strides, 0),
                                At(a.strides, 2), At(a.strides, 1), activation));
    return {};
  }
  ctx.AddOperator(
      fb::BuiltinOperator::TRANSPOSE_CONV, {ctx.ResultsOf(node), inputs},
      fb::CreateTransposeConvOptions(ctx.builder(), *TransposePadding(node), At(a.strides, 1),
                                     At(a.strides, 0), activation, ExportContext::BiasTypeOf(node)),
      traits);
  return {};
}

std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  if (auto reason = WhyNotBias(node)) return reason;
  const int rank = node.output()->type().rank();
  const Op op = rank == 5 ? Op::CONV_3D_TRANSPOSE : Op::TRANSPOSE_CONV;
  if (auto reason = WhyNotElements(op, 2, node.input(0)->type())) return reason;
  if (rank != 4 && rank != 5) return fmt::format("{} spatial axes are unsupported", rank - 2);
  const auto& x = *node.input(0)->type().dims;
  if (std::any_of(x.begin(), x.end(), [](const Dim& d) { return d == 0; }))
    return "the input of TRANSPOSE_CONV cannot be empty";
  if (std::ranges::any_of(*node.input(1)->type().dims, [](const Dim& d) { return d == 0; }))
    return "the filter of TRANSPOSE_CONV cannot be empty";
  if (a.filter_layout != FilterLayout::kOxi) return "the filter layout must be OXI";
  if (rank == 5 && !node.input(1)->type().dim(0).is_const())
    return "CONV_3D_TRANSPOSE needs a known number of output channels";
  if (auto reason = WhyNotWeights(node, {DType::kI8}, {DType::kI8})) return reason;
  if (a.groups != 1) return "TRANSPOSE_CONV does not support groups";
  for (const int64_t d : a.dilations)
    if (d != 1) return "TRANSPOSE_CONV does not support dilation";
  if (auto reason = WhyNotSteps(a.strides, rank == 4 ? kMaxWindowStep : kMaxStep)) return reason;
  if (!TransposePadding(node)) return "the padding must be SAME or VALID, or the sizes constant";
  if (a.layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

}  // namespace

bool IsDepthwise(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const Type& filter = node.input(1)->type();
  const FilterAxes axes = AxesOf(a.filter_layout, filter.rank());
  return filter.rank() == 4 && a.groups > 1 && filter.dim(axes.input) == 1;
}

// The pads are those of the inverted convolution: SAME and VALID of its windows over the output.
std::optional<fb::Padding> TransposePadding(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const auto windows =
      ConvTransposeWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims);
  if (!windows) return std::nullopt;
  bool same = true, valid = true;
  for (const Window& w : *windows) {
    if (!w.pad_begin.is_const()) return std::nullopt;
    const int64_t extent = w.extent(), begin = w.pad_begin.value();
    const Dim covered = w.input * Dim(w.stride) + Dim(extent - w.stride);
    if (!w.input.is_const() || !w.output.is_const()) {
      same &= w.output == w.input * Dim(w.stride) &&
              begin == std::max<int64_t>(0, extent - w.stride) / 2;
      valid &= begin == 0 && w.output == covered;
      continue;
    }
    const int64_t input = w.input.value(), output = w.output.value();
    const int64_t total = std::max<int64_t>(0, covered.value() - output);
    same &= input == (output + w.stride - 1) / w.stride && begin == total / 2;
    valid &= begin == 0 && output >= extent && input == (output - extent) / w.stride + 1;
  }
  if (same) return fb::Padding::SAME;
  if (valid) return fb::Padding::VALID;
  return std::nullopt;
}

namespace {

constexpr ImportRow kConvImports[] = {
    {.op = Op::CONV_2D, .import = ImportConv2d},
    {.op = Op::DEPTHWISE_CONV_2D, .import = ImportDepthwise},
    {.op = Op::CONV_3D, .import = ImportConv3d},
    {.op = Op::TRANSPOSE_CONV, .import = ImportTransposeConv},
    {.op = Op::CONV_3D_TRANSPOSE, .import = ImportConv3dTranspose},
    {.op = Op::CUSTOM, .import = ImportTransposeConvBias, .custom = "Convolution2DTransposeBias"},
};

constexpr ExportRow kConvExports[] = {
    {.op = "conv", .write = WriteConv, .why_not = WhyNotConv, .fuses = Always},
    {.op = "conv_transpose",
     .write = WriteConvTranspose,
     .why_not = WhyNotConvTranspose,
     .fuses = Always},
};

}  // namespace

Family ConvFamily() {
  return {.imports = kConvImports, .exports = kConvExports};
}

}  // namespace nn::tflite

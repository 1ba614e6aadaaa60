#include "formats/coreml/import.h"
#include "formats/coreml/weights.h"
#include "formats/coreml/window.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"
#include "ops/shape.h"

namespace nn::coreml {
namespace {

// The filter, from the weights or from a second input.
Result<Value*> Filter(ImportContext& ctx, std::vector<int64_t> dims) {
  if (ctx.input_count() == 1) return ctx.Weights("weights", std::move(dims));
  NN_ASSIGN(Value* const w, ctx.Float(1));
  if (!Compatible(Type(DType::kF32, ToDims(dims)), w->type()))
    return ModelError("the filter is {}, not {}", w->type().ToString(), ToString(ToDims(dims)));
  return w;
}

// A scale for each channel of a transposed filter: the format does not say along which axis.
Status CheckTransposedScales(const Fields& weights) {
  const Fields linear = weights.Sub("quantization").Sub("linearQuantization");
  if (linear.Count("scale") <= 1 && linear.Count("bias") <= 1) return {};
  return UnsupportedError("a scale for each channel of a deconvolution's weights");
}

Status ImportDeconvolution(ImportContext& ctx, Value* x, std::vector<int64_t> kernel,
                           std::vector<int64_t> strides, int64_t outputs, int64_t inputs,
                           int64_t groups) {
  const Fields& p = ctx.params();
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_RETURN_IF_ERROR(CheckTransposedScales(p.Sub("weights")));
  ConvTransposeAttrs a;
  a.groups = groups;
  a.strides = std::move(strides);
  NN_RETURN_IF_ERROR(ReadPadding(p, "ConvolutionPaddingType", a));
  if (p.Count("outputShape") > 0) {
    // The padding does not count then; what is too much is cut off in halves.
    NN_ASSIGN(const std::vector<int64_t> shape, p.Sizes("outputShape", 2, 0));
    a.output_shape = ToDims(shape);
    a.pads.clear();
    a.padding = Padding::kSameUpper;
  }
  kernel.insert(kernel.begin(), {inputs, outputs / groups});
  NN_ASSIGN(Value* const w, ctx.Weights("weights", std::move(kernel)));
  NN_ASSIGN(auto operands, ctx.WithBias({x, w}, outputs));
  NN_ASSIGN(Value* const y, ctx.Add("conv_transpose", std::move(operands), std::move(a)));
  NN_ASSIGN(Value* const out, ctx.Unspatial(y, 0));
  ctx.SetOutput(0, out);
  return {};
}

Status ImportConvolution(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0, 4));
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  NN_ASSIGN(const int64_t inputs, p.Size("kernelChannels"));
  NN_ASSIGN(int64_t groups, p.Size("nGroups"));
  groups = std::max<int64_t>(groups, 1);
  if (outputs % groups != 0) return ModelError("{} groups of {} channels", groups, outputs);
  NN_ASSIGN(std::vector<int64_t> kernel, p.Sizes("kernelSize", 2, 3));
  NN_ASSIGN(std::vector<int64_t> strides, p.Sizes("stride", 2, 1));
  if (p.Bool("isDeconvolution"))
    return ImportDeconvolution(ctx, x, std::move(kernel), std::move(strides), outputs, inputs,
                               groups);
  ConvAttrs a;
  a.groups = groups;
  a.strides = std::move(strides);
  NN_ASSIGN(a.dilations, p.Sizes("dilationFactor", 2, 1));
  NN_RETURN_IF_ERROR(ReadPadding(p, "ConvolutionPaddingType", a));
  kernel.insert(kernel.begin(), {outputs, inputs});
  NN_ASSIGN(Value* const w, Filter(ctx, std::move(kernel)));
  NN_ASSIGN(auto operands, ctx.WithBias({x, w}, outputs));
  NN_ASSIGN(Value* const y, ctx.Add("conv", std::move(operands), std::move(a)));
  NN_ASSIGN(Value* const out, ctx.Unspatial(y, 0));
  ctx.SetOutput(0, out);
  return {};
}

// ---- 3-D ----------------------------------------------------------------------------------------

Result<std::vector<int64_t>> Sizes3(const Fields& p, std::string_view prefix, int64_t if_zero) {
  std::vector<int64_t> out;
  for (const char* axis : {"Depth", "Height", "Width"}) {
    NN_ASSIGN(const int64_t v, p.Size(std::string(prefix) + axis));
    out.push_back(v == 0 ? if_zero : v);
  }
  return out;
}

Result<std::vector<int64_t>> Pads3(const Fields& p) {
  std::vector<int64_t> out;
  for (const char* side : {"Front", "Top", "Left", "Back", "Bottom", "Right"}) {
    NN_ASSIGN(const int64_t v, p.Size(std::string("customPadding") + side));
    out.push_back(v);
  }
  return out;
}

template <typename A>
Status ReadPadding3(const Fields& p, A& attrs) {
  const std::string_view type = p.Enum("paddingType");
  if (type == "SAME") attrs.padding = Padding::kSameUpper;
  if (type == "CUSTOM") {
    NN_ASSIGN(attrs.pads, Pads3(p));
  }
  return {};
}

Status ImportConvolution3d(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  if (x->type().rank() != 5) return ModelError("its input has rank {}, not 5", x->type().rank());
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  NN_ASSIGN(const int64_t inputs, p.Size("inputChannels"));
  NN_ASSIGN(int64_t groups, p.Size("nGroups"));
  groups = std::max<int64_t>(groups, 1);
  if (outputs % groups != 0 || inputs % groups != 0)
    return ModelError("{} groups of {} and {} channels", groups, inputs, outputs);
  NN_ASSIGN(std::vector<int64_t> filter, Sizes3(p, "kernel", 1));
  NN_ASSIGN(const std::vector<int64_t> strides, Sizes3(p, "stride", 1));
  if (p.Bool("isDeconvolution")) return UnsupportedError("a deconvolution in three dimensions");
  ConvAttrs a;
  a.groups = groups;
  a.strides = strides;
  NN_ASSIGN(a.dilations, Sizes3(p, "dilation", 1));
  NN_RETURN_IF_ERROR(ReadPadding3(p, a));
  filter.insert(filter.begin(), {outputs, inputs / groups});
  NN_ASSIGN(Value* const w, ctx.Weights("weights", std::move(filter)));
  NN_ASSIGN(auto operands, ctx.WithBias({x, w}, outputs));
  return ctx.Emit("conv", std::move(operands), std::move(a));
}

}  // namespace

void AddConvImports(ImportTable& t) {
  t["convolution"] = ImportConvolution;
  t["convolution3d"] = ImportConvolution3d;
}

}  // namespace nn::coreml

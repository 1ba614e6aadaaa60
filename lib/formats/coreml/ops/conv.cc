#include <fmt/core.h>

#include <algorithm>

#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/import/window.h"
#include "ops/array/shape.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// The filter, from the weights or from a second input.
Result<Value*> Filter(ImportContext& ctx, std::vector<int64_t> dims) {
  if (ctx.input_count() == 1) return ctx.Weights("weights", std::move(dims));
  Value* const w = ctx.input(1);
  if (!Compatible(Type(DType::kF32, ToDims(dims)), w->type()))
    return ModelError("the filter is {}; expected {}", w->type().ToString(),
                      ToString(ToDims(dims)));
  return w;
}

// The format does not specify the axis of per-channel scales of a transposed filter.
Status CheckTransposedScales(const Fields& weights) {
  const Fields linear = weights.Sub("quantization").Sub("linearQuantization");
  if (linear.Count("scale") <= 1 && linear.Count("bias") <= 1) return {};
  return UnsupportedError("per-channel quantized weights of a deconvolution are unsupported");
}

// An output shape replaces the padding; the excess is cropped evenly at both ends.
Status ReadOutputShape(const Fields& p, size_t axes, ConvTransposeAttrs& a) {
  if (p.Count("outputShape") == 0) return {};
  NN_ASSIGN(const std::vector<int64_t> shape, p.Sizes("outputShape", axes, 0));
  a.output_shape = ToDims(shape);
  a.pads.clear();
  a.padding = Padding::kSameUpper;
  return {};
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
  NN_ASSIGN(a.dilations, p.Sizes("dilationFactor", 2, 1));
  NN_RETURN_IF_ERROR(ReadPadding(p, "ConvolutionPaddingType", a));
  NN_RETURN_IF_ERROR(ReadOutputShape(p, 2, a));
  kernel.insert(kernel.begin(), {inputs, outputs / groups});
  NN_ASSIGN(Terms operands, ctx.Weighted(x, std::move(kernel), outputs));
  return ctx.EmitSpatial("conv_transpose", std::move(operands), std::move(a));
}

Status ImportConvolution(ImportContext& ctx) {
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0, 4));
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  NN_ASSIGN(const int64_t inputs, p.Size("kernelChannels"));
  NN_ASSIGN(int64_t groups, p.Size("nGroups"));
  groups = std::max<int64_t>(groups, 1);
  if (outputs % groups != 0)
    return ModelError("nGroups {} does not divide {} output channels", groups, outputs);
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
  NN_ASSIGN(Terms operands, ctx.WithBias({x, w}, outputs));
  return ctx.EmitSpatial("conv", std::move(operands), std::move(a));
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
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  if (x->type().rank() != 5)
    return ModelError("the input must have rank 5, not {}", x->type().rank());
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  NN_ASSIGN(const int64_t inputs, p.Size("inputChannels"));
  NN_ASSIGN(int64_t groups, p.Size("nGroups"));
  groups = std::max<int64_t>(groups, 1);
  if (outputs % groups != 0 || inputs % groups != 0)
    return ModelError("nGroups {} does not divide {} input and {} output channels", groups, inputs,
                      outputs);
  NN_ASSIGN(std::vector<int64_t> filter, Sizes3(p, "kernel", 1));
  NN_ASSIGN(const std::vector<int64_t> strides, Sizes3(p, "stride", 1));
  if (p.Bool("isDeconvolution")) {
    NN_RETURN_IF_ERROR(CheckTransposedScales(p.Sub("weights")));
    ConvTransposeAttrs a;
    a.groups = groups;
    a.strides = strides;
    NN_ASSIGN(a.dilations, Sizes3(p, "dilation", 1));
    NN_RETURN_IF_ERROR(ReadPadding3(p, a));
    NN_RETURN_IF_ERROR(ReadOutputShape(p, 3, a));
    filter.insert(filter.begin(), {inputs, outputs / groups});
    NN_ASSIGN(const Terms operands, ctx.Weighted(x, std::move(filter), outputs));
    return ctx.Emit("conv_transpose", operands, std::move(a));
  }
  ConvAttrs a;
  a.groups = groups;
  a.strides = strides;
  NN_ASSIGN(a.dilations, Sizes3(p, "dilation", 1));
  NN_RETURN_IF_ERROR(ReadPadding3(p, a));
  filter.insert(filter.begin(), {outputs, inputs / groups});
  NN_ASSIGN(const Terms operands, ctx.Weighted(x, std::move(filter), outputs));
  return ctx.Emit("conv", operands, std::move(a));
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// ---- Three axes ---------------------------------------------------------------------------------

constexpr std::array kAxisNames = {"Depth", "Height", "Width"};

void WriteSizes3(Writer params, std::string_view prefix, const std::vector<int64_t>& values) {
  for (size_t i = 0; i < kAxisNames.size(); ++i)
    params.Int(std::string(prefix) + kAxisNames[i], values[i]);
}

void WriteConv3d(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const auto& filter = node.input(1)->constant().dims();
  Writer p = ctx.AddLayer(node, "convolution3d", 1);
  p.Int("outputChannels", filter[0]);
  p.Int("inputChannels", filter[1] * a.groups);
  p.Int("nGroups", a.groups);
  WriteSizes3(p, "kernel", {filter.begin() + 2, filter.end()});
  WriteSizes3(p, "stride", OnesIfEmpty(a.strides, 3));
  WriteSizes3(p, "dilation", OnesIfEmpty(a.dilations, 3));
  if (a.padding == Padding::kSameUpper) {
    p.Enum("paddingType", "SAME");
  } else if (a.padding == Padding::kValid || a.pads.empty()) {
    p.Enum("paddingType", "VALID");
  } else {
    constexpr std::array kSides = {"Front", "Top", "Left", "Back", "Bottom", "Right"};
    p.Enum("paddingType", "CUSTOM");
    for (size_t i = 0; i < kSides.size(); ++i)
      p.Int(std::string("customPadding") + kSides[i], a.pads[i]);
  }
  // NeuralNetwork.proto has quantized weights for other layers only.
  WriteWeights(p.Sub("weights"), node.input(1)->constant());
  WriteBias(p, node);
}

// ---- Two axes -----------------------------------------------------------------------------------

Status WriteConv(ExportContext& ctx, const Node& node) {
  if (node.input(0)->type().rank() == 5) {
    WriteConv3d(ctx, node);
    return {};
  }
  const auto& a = node.attrs<ConvAttrs>();
  const std::vector<int64_t> filter = *node.input(1)->type().const_dims();
  const bool constant = node.input(1)->is_constant();
  Writer p = ctx.AddLayer(node, "convolution", constant ? 1 : 2);
  p.Int("outputChannels", filter[0]);
  p.Int("kernelChannels", filter[1]);
  p.Int("nGroups", a.groups);
  p.Ints("kernelSize", {filter[2], filter[3]});
  p.Ints("stride", OnesIfEmpty(a.strides, 2));
  p.Ints("dilationFactor", OnesIfEmpty(a.dilations, 2));
  WritePadding(p, a.padding, a.pads);
  if (constant) WriteLayerWeights(p.Sub("weights"), node.input(1)->constant(), ctx.trial());
  WriteBias(p, node);
  return {};
}

// Layouts can be changed, so they are the reason only if nothing else is.
std::optional<std::string> WhyNotLayouts(Layout layout, FilterLayout filter, FilterLayout needed) {
  if (layout != Layout::kNcx) return "the channels must be axis 1";
  if (filter == needed) return std::nullopt;
  return needed == FilterLayout::kOix ? "the filter layout must be OIX"
                                      : "the filter layout must be IOX";
}

std::optional<std::string> WhyNotWeights(const Node& node) {
  if (!node.input(1)->type().const_dims()) return "the filter must have a constant shape";
  if (node.input(2) != nullptr && !node.input(2)->is_constant()) return "the bias must be constant";
  return std::nullopt;
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (auto reason = WhyNotWeights(node)) return reason;
  if (auto reason = WhyNotPads(a.pads)) return reason;
  const int rank = node.input(0)->type().rank();
  if (rank == 5 && !node.input(1)->is_constant()) return "the filter must be constant";
  if (rank == 5 && a.padding == Padding::kSameLower)
    return "padding SAME_LOWER of 3 spatial axes is unsupported";
  if (rank != 4 && rank != 5)
    return fmt::format("it must have 2 or 3 spatial axes, not {}", rank - 2);
  return WhyNotLayouts(a.layout, a.filter_layout, FilterLayout::kOix);
}

// ---- Transposed ---------------------------------------------------------------------------------

Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const std::vector<int64_t> filter = node.input(1)->constant().dims();
  Writer p = ctx.AddLayer(node, "convolution", 1);
  p.Bool("isDeconvolution", true);
  p.Int("outputChannels", filter[1] * a.groups);
  p.Int("kernelChannels", filter[0]);
  p.Int("nGroups", a.groups);
  p.Ints("kernelSize", {filter[2], filter[3]});
  p.Ints("stride", OnesIfEmpty(a.strides, 2));
  if (a.output_shape.empty()) {
    WritePadding(p, a.padding, a.pads);
  } else {
    WritePadding(p, Padding::kValid, {});
    p.Ints("outputShape", *ConstDims(a.output_shape));
  }
  WriteLayerWeights(p.Sub("weights"), node.input(1)->constant(), ctx.trial());
  WriteBias(p, node);
  return {};
}

// With an output size, the padding is split evenly, the odd element at the end.
std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const auto is = [](int64_t n) { return [n](int64_t v) { return v == n; }; };
  if (auto reason = WhyNotWeights(node)) return reason;
  if (!node.input(1)->is_constant()) return "the filter must be constant";
  if (auto reason = WhyNotPads(a.pads)) return reason;
  if (node.input(0)->type().rank() != 4)
    return fmt::format("it must have 2 spatial axes, not {}", node.input(0)->type().rank() - 2);
  if (!std::all_of(a.dilations.begin(), a.dilations.end(), is(1))) return "its dilations must be 1";
  if (!std::all_of(a.output_padding.begin(), a.output_padding.end(), is(0)))
    return "its output padding must be 0";
  if (!a.output_shape.empty() && !ConstDims(a.output_shape))
    return "its output size must be constant";
  if (!a.output_shape.empty() && a.padding != Padding::kSameUpper)
    return "an output size needs SAME_UPPER padding";
  return WhyNotLayouts(a.layout, a.filter_layout, FilterLayout::kIox);
}

}  // namespace

namespace {

constexpr ImportRow kConvImports[] = {
    {.layer = "convolution", .import = ImportConvolution, .inputs = "a?f"},
    {.layer = "convolution3d", .import = ImportConvolution3d, .inputs = "f"},
};

constexpr ExportRow kConvExports[] = {
    {.op = "conv", .write = WriteConv, .why_not = WhyNotConv},
    {.op = "conv_transpose", .write = WriteConvTranspose, .why_not = WhyNotConvTranspose},
};

}  // namespace

Family ConvFamily() {
  return {.imports = kConvImports, .exports = kConvExports};
}

}  // namespace nn::coreml

// Convolutions.
#include "ops/nn/conv.h"
#include <algorithm>
#include "base/text/text.h"

#include "formats/coreml/program/export/window.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "formats/coreml/program/import/window.h"
#include "ops/nn/conv_transpose.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

template <typename A>
Result<A> ConvolutionOf(const ImportContext& ctx, const Value* x) {
  const int spatial_axes = x->type().rank() - 2;
  A a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, spatial_axes, a));
  NN_ASSIGN(a.dilations, ctx.Ints("dilations", spatial_axes));
  NN_ASSIGN(a.groups, ctx.Int("groups"));
  return a;
}

// Input x with the filter and the bias of the file.
Status EmitConvolution(ImportContext& ctx, std::string_view op, Value* x, Attrs attrs) {
  NN_ASSIGN(Value* const weight, ctx.In("weight"));
  NN_ASSIGN(Value* const bias, ctx.Optional("bias"));
  return ctx.EmitCast(Apply(op, InOneType({x, weight, bias}), std::move(attrs)));
}

Status ImportConv(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(ConvAttrs a, ConvolutionOf<ConvAttrs>(ctx, x));
  return EmitConvolution(ctx, "conv", x, std::move(a));
}

Status ImportConvTranspose(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(ConvTransposeAttrs a, ConvolutionOf<ConvTransposeAttrs>(ctx, x));
  if (ctx.Has("output_shape")) {
    NN_ASSIGN(const std::vector<int64_t> shape, ctx.Ints("output_shape"));
    if (static_cast<int>(shape.size()) != x->type().rank() || shape.size() < 2)
      return ModelError("input output_shape has {} elements for an x of rank {}", shape.size(),
                        x->type().rank());
    a.output_shape = ToDims({shape.begin() + 2, shape.end()});
  }
  return EmitConvolution(ctx, "conv_transpose", x, std::move(a));
}

// A parameter of the weights: one number, or one for each output channel.
Result<Term> OfFilter(ImportContext& ctx, std::string_view name, const Value* weight) {
  NN_ASSIGN(Value* const v, ctx.Ranked(name));
  const Term wide = Wide(v);
  if (v->type().rank() != 1) return wide;
  Dims dims(static_cast<size_t>(weight->type().rank()), Dim(1));
  dims[0] = v->type().dim(0);
  return Reshape(wide, std::move(dims));
}

// weight * quant_scale + quant_bias
Status ImportConvQuantized(ImportContext& ctx) {
  NN_ASSIGN(const std::string type, ctx.String("quantization_type"));
  if (type != "linear") return UnsupportedError("quantization_type {} is unsupported", Quote(type));
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const weight, ctx.Ranked("weight"));
  NN_ASSIGN(Value* const bias, ctx.Optional("bias"));
  NN_ASSIGN(const Term scale, OfFilter(ctx, "quant_scale", weight));
  NN_ASSIGN(const Term shift, OfFilter(ctx, "quant_bias", weight));
  NN_ASSIGN(const ConvAttrs a, ConvolutionOf<ConvAttrs>(ctx, x));
  const Term filter = Wide(weight) * scale + shift;
  return ctx.EmitCast(Apply("conv", {Wide(x), filter, bias == nullptr ? Term() : Wide(bias)}, a));
}

// ---- Export -------------------------------------------------------------------------------------

template <typename A>
OperationWriter BeginConvolution(ExportContext& ctx, const Node& node, std::string_view type) {
  const auto& a = node.attrs<A>();
  const int spatial_axes = node.input(0)->type().rank() - 2;
  OperationWriter op = ctx.Add(type);
  op.In("x", node.input(0)).In("weight", node.input(1)).In("bias", node.input(2));
  WriteWindow(op, a, spatial_axes);
  op.Ints("dilations", ForEachAxis(a.dilations, spatial_axes, 1)).Int("groups", a.groups);
  return op;
}

Status WriteConv(ExportContext& ctx, const Node& node) {
  return BeginConvolution<ConvAttrs>(ctx, node, "conv").To(node);
}

// The size of the result is stated if the padding alone does not determine it.
Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  OperationWriter op = BeginConvolution<ConvTransposeAttrs>(ctx, node, "conv_transpose");
  if (!a.output_padding.empty() || !a.output_shape.empty()) {
    const auto dims = node.output()->type().const_dims();
    if (!dims) return UnsupportedError("the size of its result must be known");
    op.Ints("output_shape", *dims);
  }
  return op.To(node);
}

template <typename A>
std::optional<std::string> WhyNotConvolution(const Node& node) {
  const auto& a = node.attrs<A>();
  if (a.layout != Layout::kNcx) return "ML Programs have channels before the spatial axes";
  if (std::ranges::any_of(a.pads, [](int64_t p) { return p < 0; }))
    return "ML Programs have no negative padding";
  return std::nullopt;
}

std::optional<std::string> WhyNotConv(const Node& node) {
  if (node.attrs<ConvAttrs>().filter_layout != FilterLayout::kOix)
    return "ML Programs have filters of outputs, inputs and taps";
  return WhyNotConvolution<ConvAttrs>(node);
}

std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  if (node.attrs<ConvTransposeAttrs>().filter_layout != FilterLayout::kIox)
    return "ML Programs have filters of inputs, outputs and taps";
  return WhyNotConvolution<ConvTransposeAttrs>(node);
}

}  // namespace

Family ConvFamily() {
  static constexpr ImportRow kImports[] = {
      {"conv", ImportConv},
      {"conv_quantized", ImportConvQuantized},
      {"conv_transpose", ImportConvTranspose},
  };
  static constexpr ExportRow kExports[] = {
      {"conv", WriteConv, WhyNotConv},
      {"conv_transpose", WriteConvTranspose, WhyNotConvTranspose},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

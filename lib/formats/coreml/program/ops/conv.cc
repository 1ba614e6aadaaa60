// Convolutions.
#include "ops/nn/conv.h"
#include "base/text/text.h"
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

}  // namespace

Family ConvFamily() {
  static constexpr ImportRow kImports[] = {
      {"conv", ImportConv},
      {"conv_quantized", ImportConvQuantized},
      {"conv_transpose", ImportConvTranspose},
  };
  return {kImports};
}

}  // namespace nn::coreml::program

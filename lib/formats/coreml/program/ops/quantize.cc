// Quantization of values to 8 bits. Their integers have no mapping to real numbers of their own, so
// that all operations may compute with them.
#include "formats/coreml/program/family.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/quantized.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// The mapping of the inputs scale, zero_point and axis, for a value of this rank.
Result<std::shared_ptr<const Quant>> ReadMapping(const ImportContext& ctx, int rank) {
  auto quant = std::make_shared<Quant>();
  NN_ASSIGN(const std::optional<Tensor> scale, ctx.Contents("scale"));
  NN_ASSIGN(const std::optional<Tensor> zero, ctx.Contents("zero_point"));
  if (!scale) return ModelError("input scale is missing");
  if (zero && zero->dims() != scale->dims())
    return ModelError("input scale has {} elements, but zero_point {}", scale->elements(),
                      zero->elements());
  for (const double v : scale->ToDoubles()) quant->scales.push_back(static_cast<float>(v));
  if (zero) quant->zero_points = zero->ToInts();
  if (!HasZeroPoints(*quant)) quant->zero_points.clear();
  if (scale->rank() > 0) {
    NN_ASSIGN(const int64_t axis, ctx.Axis("axis", rank));
    quant->axis = static_cast<int>(axis);
  }
  return quant;
}

Status ImportQuantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("input"));
  NN_ASSIGN(auto quant, ReadMapping(ctx, x->type().rank()));
  Type type;
  NN_ASSIGN(type.dtype, ctx.NamedType("output_dtype"));
  type.quant = std::move(quant);
  NN_ASSIGN(Value* const y, ctx.Add("quantize", {x}, QuantizeAttrs(), type));
  return ctx.EmitTerm(Cast(y, type.dtype));
}

// The integers with this mapping; null if they have none.
Value* WithMapping(ImportContext& ctx, Value* x, const std::shared_ptr<const Quant>& quant) {
  if (x->is_constant()) return ctx.graph().AddConstant(x->constant(), x->name(), quant);
  if (x->def() == nullptr || !x->def()->Is<CastAttrs>()) return nullptr;
  Value* const from = x->def()->input(0);
  const Type& type = from->type();
  const bool is_same =
      type.quantized() && type.dtype == x->dtype() && type.quant->SameMapping(*quant);
  return is_same ? from : nullptr;
}

Status ImportDequantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("input"));
  NN_ASSIGN(Value* const scale, ctx.In("scale"));
  NN_ASSIGN(const auto quant, ReadMapping(ctx, x->type().rank()));
  if (Value* const integers = WithMapping(ctx, x, quant))
    return ctx.Emit("dequantize", {integers}, DequantizeAttrs{scale->dtype()});
  std::vector<int64_t> dims(static_cast<size_t>(x->type().rank()), 1);
  if (quant->per_axis())
    dims[static_cast<size_t>(quant->axis)] = static_cast<int64_t>(quant->scales.size());
  Term y = Cast(x, DType::kF32);
  if (!quant->zero_points.empty())
    y = y -
        Tensor::Of(dims, std::vector<float>(quant->zero_points.begin(), quant->zero_points.end()));
  return ctx.EmitCast(y * Tensor::Of(dims, quant->scales));
}

}  // namespace

Family QuantizeFamily() {
  static constexpr ImportRow kImports[] = {
      {"dequantize", ImportDequantize},
      {"quantize", ImportQuantize},
  };
  return {kImports};
}

}  // namespace nn::coreml::program

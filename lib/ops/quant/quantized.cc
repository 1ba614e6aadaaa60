#include "ops/quant/quantized.h"

#include <algorithm>
#include <cmath>

namespace nn {

Status RequireTflite(const EvalContext& ctx) {
  if (ctx.node().arithmetic() != Arithmetic::kTflite &&
      ctx.node().arithmetic() != Arithmetic::kTfliteFixed)
    return UnsupportedError("{} is not supported, because the node has no integer arithmetic",
                            ctx.in_type(0).ToString());
  const Type& y = ctx.out_type();
  if (!y.quantized()) return ModelError("the output is not quantized");
  if (y.quant->per_axis() || ctx.in_type(0).quant->per_axis())
    return UnsupportedError("{} to {} is not supported", ctx.in_type(0).ToString(), y.ToString());
  return {};
}

Status RequireSameQuant(const EvalContext& ctx) {
  const Type& x = ctx.in_type(0);
  const Type& y = ctx.out_type();
  constexpr float kTolerance = 1e-6f;  // relative
  if (!y.quantized() || y.quant->per_axis() || x.quant->per_axis() ||
      !(std::fabs(y.quant->scale() - x.quant->scale()) <= kTolerance * x.quant->scale()) ||
      y.quant->zero_point() != x.quant->zero_point())
    return ModelError("the scales and zero points of {} and {} must be the same", x.ToString(),
                      y.ToString());
  return {};
}

std::shared_ptr<const Quant> ProductQuant(const Type& x, const Type& w) {
  if (!x.quantized() || !w.quantized()) return nullptr;
  Quant product;
  for (const float scale : w.quant->scales) product.scales.push_back(x.quant->scale() * scale);
  if (w.quant->per_axis()) product.axis = 0;
  return std::make_shared<const Quant>(std::move(product));
}

bool SameButForRounding(const Quant& a, const Quant& b) {
  constexpr float kSlack = 1e-6f;
  if (a.per_axis() && b.per_axis() && a.scales.size() != b.scales.size()) return false;
  for (size_t i = 0; i < std::max(a.scales.size(), b.scales.size()); ++i) {
    const float least = std::min(a.scale(i), b.scale(i));
    if (!(std::fabs(a.scale(i) - b.scale(i)) <= kSlack * least)) return false;
    if (a.zero_point(i) != b.zero_point(i)) return false;
  }
  return true;
}

bool CanRequantize(DType from, DType to) {
  const auto is8 = [](DType t) { return t == DType::kU8 || t == DType::kI8; };
  if (is8(from)) return is8(to) || to == DType::kI16;
  if (from == DType::kI16) return to == DType::kI8 || to == DType::kI16 || to == DType::kI32;
  return from == DType::kI32 && (to == DType::kI8 || to == DType::kI16);
}

Status RequireIntegerProduct(const InferContext& ctx) {
  for (const size_t i : {0, 1}) {
    const DType t = ctx.in(i).dtype;
    if (t != DType::kU8 && t != DType::kI8 && t != DType::kUnknown)
      return ModelError("input {} is {}; must be u8 or i8", i, DTypeName(t));
    if (ctx.has(i + 2) && ctx.in(i + 2).dtype != t && t != DType::kUnknown)
      return ModelError("the zero point of {} is {}", DTypeName(t), DTypeName(ctx.in(i + 2).dtype));
  }
  if (ctx.has(4) && ctx.in(4).dtype != DType::kI32)
    return ModelError("the bias is {}; must be i32", DTypeName(ctx.in(4).dtype));
  return {};
}

bool HasZeroPoints(const Quant& quant) {
  return std::ranges::any_of(quant.zero_points, [](int64_t z) { return z != 0; });
}

bool IsNarrowSigned(DType dtype) {
  return IsInteger(dtype) && IsSigned(dtype) && DTypeBits(dtype) < 8;
}

Tensor InBytes(const Tensor& tensor) {
  if (!IsNarrowSigned(tensor.dtype())) return tensor;
  std::vector<int8_t> bytes;
  bytes.reserve(static_cast<size_t>(tensor.elements()));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    bytes.push_back(static_cast<int8_t>(tensor.GetInt(i)));
  return Tensor::Of<int8_t>(tensor.dims(), bytes);
}

int64_t ClampTo(DType dtype, int64_t v) {
  return std::clamp(v, MinInteger(dtype), MaxInteger(dtype));
}

bool HasFixedQuant(std::span<const FixedQuant> fixed, DType x, const Type& y) {
  if (!y.quantized() || y.quant->per_axis()) return false;
  return std::ranges::any_of(fixed, [&](const FixedQuant& f) {
    const double error = std::abs(double{y.quant->scale()} - double{f.scale});
    return f.x == x && f.y == y.dtype &&
           (f.any_scale || error <= double{f.slack} * double{f.scale}) &&
           (f.any_zero_point || y.quant->zero_point() == f.zero_point);
  });
}

std::optional<int> PowerOfTwo(float scale) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(scale), &exponent);
  constexpr double kTolerance = 1.0006933874625806;  // 2^0.001
  if (fraction < 0.5 * kTolerance) return exponent - 1;
  if (fraction > 1 / kTolerance) return exponent;
  return std::nullopt;
}

}  // namespace nn

// Bounds of functions of one and of two numbers. Quotients of integers are rounded; a remainder of
// a division of integers by 0 is 0 for mod and the dividend for fmod.
#include <cmath>
#include <numbers>

#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"
#include "ops/math/elementwise/unary_rows.h"

namespace nn {
namespace {

bool IsOfIntegers(const RangeContext& ctx) {
  return IsInteger(ctx.node().output()->dtype());
}

// x - floor_div(x, n) * n with n > 0 is a remainder.
std::optional<Interval> RemainderRange(RangeContext& ctx) {
  const Value* const x = ctx.node().input(0);
  const Node* const product = ctx.node().input(1)->def();
  if (product == nullptr || !product->Is("mul") || !IsOfIntegers(ctx)) return std::nullopt;
  const Node* const quotient = product->input(0)->def();
  if (quotient == nullptr || !quotient->Is("floor_div") || quotient->input(0) != x ||
      quotient->input(1) != product->input(1))
    return std::nullopt;
  const Interval n = ctx.Of(product->input(1));
  return n.min < 1 ? std::nullopt : std::optional(Interval{0, n.max - 1});
}

// The number of a constant of one element; NaN if there is none.
double NumberOf(const Value* v) {
  if (v == nullptr || !v->is_constant() || v->type().quantized() || v->constant().elements() != 1)
    return std::numeric_limits<double>::quiet_NaN();
  return v->constant().GetDouble(0);
}

Interval Square(const Interval& x) {
  const Interval m = Magnitude(x);
  return {m.min * m.min, m.max * m.max};
}

}  // namespace

Interval RisingRange(RangeContext& ctx, size_t) {
  const UnaryRow& row = UnaryRowOf(ctx.node());
  const FunctionParams params = ParamsOf(ctx.node());
  Interval x = ctx.in(0);
  if (row.facts.domain) x = Intersection(x, {row.facts.domain->min, row.facts.domain->max});
  if (!(x.min <= x.max)) return {};
  const Interval y = {row.f64(x.min, params), row.f64(x.max, params)};
  // Functions of integers truncate their parameters.
  return IsFloat(ctx.node().output()->dtype()) ? y : Interval{std::floor(y.min), std::ceil(y.max)};
}

Interval MagnitudeRange(RangeContext& ctx, size_t) {
  return Magnitude(ctx.in(0));
}
Interval NegRange(RangeContext& ctx, size_t) {
  return -ctx.in(0);
}
Interval ReciprocalRange(RangeContext& ctx, size_t) {
  const Interval x = ctx.in(0);
  return x.min > 0 || x.max < 0 ? Interval{1 / x.max, 1 / x.min} : Interval();
}
Interval RsqrtRange(RangeContext& ctx, size_t) {
  const Interval x = ctx.in(0);
  return x.min > 0 ? Interval{1 / std::sqrt(x.max), 1 / std::sqrt(x.min)} : Interval{.min = 0};
}
Interval LeakyReluRange(RangeContext& ctx, size_t output) {
  return ctx.attrs<LeakyReluAttrs>().alpha >= 0 ? RisingRange(ctx, output) : Interval();
}
Interval UnitRange(RangeContext&, size_t) {
  return {0, 1};
}
Interval SignedUnitRange(RangeContext&, size_t) {
  return {-1, 1};
}

Interval AddRange(RangeContext& ctx, size_t) {
  return ctx.in(0) + ctx.in(1);
}

Interval SubRange(RangeContext& ctx, size_t) {
  if (const auto remainder = RemainderRange(ctx)) return *remainder;
  return ctx.in(0) - ctx.in(1);
}

Interval MulRange(RangeContext& ctx, size_t) {
  if (ctx.node().input(0) == ctx.node().input(1)) return Square(ctx.in(0));
  return ctx.in(0) * ctx.in(1);
}

Interval DivRange(RangeContext& ctx, size_t) {
  const Interval b = ctx.in(1);
  if (b.Contains(0)) return {};
  const Interval y = ctx.in(0) * Interval{1 / b.max, 1 / b.min};
  return IsOfIntegers(ctx) ? Interval{std::floor(y.min), std::ceil(y.max)} : y;
}

Interval FloorDivRange(RangeContext& ctx, size_t) {
  const Interval a = ctx.in(0);
  if (!IsOfIntegers(ctx) || ctx.in(1).min < 1) return {};
  return {std::min(a.min, -1.0), std::max(a.max, 0.0)};
}

Interval ModRange(RangeContext& ctx, size_t) {
  const Interval b = ctx.in(1);
  const double step = IsOfIntegers(ctx) ? 1 : 0;
  return {std::min(b.min + step, 0.0), std::max(b.max - step, 0.0)};
}

Interval FmodRange(RangeContext& ctx, size_t) {
  const Interval a = ctx.in(0), b = ctx.in(1);
  const double step = IsOfIntegers(ctx) ? 1 : 0;
  const double most = std::max(Magnitude(b).max - step, 0.0);
  const Interval rest = {a.min < 0 ? -most : 0, a.max > 0 ? most : 0};
  return IsOfIntegers(ctx) && b.Contains(0) ? Union(rest, a) : rest;
}

Interval PowRange(RangeContext& ctx, size_t) {
  const double exponent = NumberOf(ctx.node().input(1));
  const bool even = IsFloat(ctx.node().output()->dtype()) && std::fmod(exponent, 2) == 0;
  return even || ctx.in(0).min >= 0 ? Interval{.min = 0} : Interval();
}

Interval SmallerRange(RangeContext& ctx, size_t) {
  return Smaller(ctx.in(0), ctx.in(1));
}

Interval LargerRange(RangeContext& ctx, size_t) {
  return Larger(ctx.in(0), ctx.in(1));
}

Interval Atan2Range(RangeContext&, size_t) {
  return {-std::numbers::pi, std::numbers::pi};
}

Interval SquaredDifferenceRange(RangeContext& ctx, size_t) {
  return Square(ctx.in(0) - ctx.in(1));
}

Interval PreluRange(RangeContext& ctx, size_t) {
  const Interval a = ctx.in(0), zero = {0, 0};
  const Interval positive = Larger(a, zero);
  return a.min >= 0 ? positive : Union(positive, Smaller(a, zero) * ctx.in(1));
}

}  // namespace nn

// The requirements of elementwise operators on their inputs (ops/support/domain.h).
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/tensor_bounds.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/domain.h"

namespace nn {
namespace {

bool HoldsIntegers(const Value* value) {
  return IsInteger(value->dtype()) || value->dtype() == DType::kBool;
}

// ---- One operand

Domain AtLeast(double min) {
  Domain d;
  d.min = min;
  return d;
}

// Where a function is real and finite.
Domain OfFunction(const Node& node, size_t, std::span<const Domain>) {
  const RealDomain& real = *node.op().real_domain;
  const double margin = real.poles ? kDomainMargin : 0;
  return Between(real.min + margin, real.max - margin);
}

Domain OfSqrt(const Node&, size_t, std::span<const Domain> y) {
  return AtLeast(y[0].nonzero ? kDomainMargin : 0);
}

Domain NotZero() {
  Domain d;
  d.nonzero = true;
  return d;
}
Domain OfReciprocal(const Node&, size_t, std::span<const Domain>) {
  return NotZero();
}

Domain OfNeg(const Node&, size_t, std::span<const Domain> y) {
  Domain d = y[0];
  d.contents.reset();
  std::swap(d.min, d.max);
  d.min = -d.min;
  d.max = -d.max;
  return d;
}

Domain OfAbs(const Node&, size_t, std::span<const Domain> y) {
  Domain d = y[0];
  d.contents.reset();
  d.nonzero = d.nonzero || d.min > 0;
  d.min = -d.max;
  return d;
}

// floor, ceil, round: the result is within 1 of the operand.
Domain OfRounding(const Node&, size_t, std::span<const Domain> y) {
  Domain d = y[0];
  d.contents.reset();
  d.nonzero = false;
  if (y[0].nonzero && y[0].min > -1) d.min = std::max(d.min, 1.0);
  return d;
}

// ---- Two operands

// The smallest and largest element of a constant; nullopt if `value` is not a constant, has no
// elements or one that is NaN.
std::optional<Interval> RangeOfConstant(const Value* value) {
  if (value == nullptr || !value->is_constant() || value->type().quantized()) return std::nullopt;
  const Tensor& t = value->constant();
  if (!IsFloat(t.dtype()) && !HoldsIntegers(value)) return std::nullopt;
  return BoundsOf(t);
}

// An interval: the part of a requirement that propagates through arithmetic.
Domain IntervalOnly(const Domain& y, double min, double max) {
  if (min > max) return {};
  Domain d;
  d.min = min;
  d.max = max;
  d.node = y.node;
  return d;
}

Domain OfAdd(const Node& node, size_t input, std::span<const Domain> y) {
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1 - input));
  return k ? IntervalOnly(y[0], y[0].min - k->min, y[0].max - k->max) : Domain();
}

Domain OfSub(const Node& node, size_t input, std::span<const Domain> y) {
  // 1 - x of an integer, as exporters write the inversion of an attention mask.
  const Value* b = node.input(1);
  const bool integer = HoldsIntegers(b) || (b->def() != nullptr && b->def()->Is<CastAttrs>() &&
                                            HoldsIntegers(b->def()->input(0)));
  if (input == 1 && integer) {
    const auto one = RangeOfConstant(node.input(0));
    if (one && one->min == 1 && one->max == 1) return Between(0, 1);
  }
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1 - input));
  if (!k) return {};
  return input == 0 ? IntervalOnly(y[0], y[0].min + k->max, y[0].max + k->min)
                    : IntervalOnly(y[0], k->max - y[0].max, k->min - y[0].min);
}

// The domain of x with lo <= x * factor <= hi for all factors of a range of one sign.
Domain Scaled(const Domain& y, const Interval& factor) {
  const auto [low, high] = factor;
  if (low <= 0 && high >= 0) return {};
  const double a = low > 0 ? y.min : y.max, b = low > 0 ? y.max : y.min;
  Domain d = IntervalOnly(y, std::max(a / low, a / high), std::min(b / low, b / high));
  d.nonzero = y.nonzero;
  return d;
}

Domain OfMul(const Node& node, size_t input, std::span<const Domain> y) {
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1 - input));
  if (k) return Scaled(y[0], *k);
  return y[0].nonzero ? NotZero() : Domain();
}

Domain OfDiv(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 1) return NotZero();
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1));
  if (!k || (k->min <= 0 && k->max >= 0)) return {};
  return Scaled(y[0], {1 / k->max, 1 / k->min});
}

Domain OfMod(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 1) return NotZero();
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1));
  if (!k || k->min <= 0) return {};
  // Remainders of non-negative numbers are in [0, k).
  if (y[0].min <= 0 && y[0].max >= k->max - 1) return AtLeast(0);
  return IntervalOnly(y[0], std::max(y[0].min, 0.0), std::min(y[0].max, k->min - 1));
}

Domain OfMinimum(const Node& node, size_t input, std::span<const Domain> y) {
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1 - input));
  Domain d = y[0];
  if (k && k->max <= y[0].max) d.max = std::numeric_limits<double>::infinity();
  return d;
}

Domain OfMaximum(const Node& node, size_t input, std::span<const Domain> y) {
  if (!y[0].restricted() || y[0].contents) return {};
  const auto k = RangeOfConstant(node.input(1 - input));
  Domain d = y[0];
  if (!k) return d;
  if (k->min >= y[0].min) d.min = -std::numeric_limits<double>::infinity();
  if (k->min > 0 && d.nonzero) d.nonzero = false;
  return d;
}

// Whole numbers from 0 to 3, also in floats.
Domain SmallExponents(const Value* exponent) {
  constexpr int kMax = 3;
  constexpr int64_t kMaxContents = 4096;
  const auto dims = DimsOf(exponent);
  if (HoldsIntegers(exponent) || !dims) return Between(0, kMax);
  int64_t count = 1;
  for (const int64_t d : *dims) {
    if (d > kMaxContents / std::max<int64_t>(count, 1)) return Between(0, kMax);
    count *= d;
  }
  std::vector<int64_t> exponents(static_cast<size_t>(count));
  for (size_t i = 0; i < exponents.size(); ++i)
    exponents[i] = static_cast<int64_t>(i + 2) % (kMax + 1);
  return Exactly(exponents);
}

Domain OfPow(const Node& node, size_t input, std::span<const Domain>) {
  const bool integers = HoldsIntegers(node.input(0));
  if (input == 1) return integers ? SmallExponents(node.input(1)) : Domain();
  if (integers) return {};
  const Value* exponent = node.input(1);
  const auto k = RangeOfConstant(exponent);
  if (!k) return HoldsIntegers(exponent) ? NotZero() : AtLeast(kDomainMargin);
  const Tensor& t = exponent->constant();
  bool whole = true;
  for (int64_t i = 0; i < t.elements(); ++i)
    whole = whole && t.GetDouble(i) == std::floor(t.GetDouble(i));
  if (!whole) return AtLeast(k->min < 0 ? kDomainMargin : 0);
  return k->min < 0 ? NotZero() : Domain();
}

Domain OfShift(const Node& node, size_t input, std::span<const Domain>) {
  return input == 1 ? IndexDomain(DTypeBits(node.input(0)->dtype())) : Domain();
}

Domain OfSelect(const Node&, size_t input, std::span<const Domain> y) {
  if (input == 0 || y[0].contents) return {};
  return y[0];
}

}  // namespace

void AddElementwiseDomains(DomainTable& domains) {
  for (const OpDef* op : Ops().All())
    if (op->real_domain) domains[op->name] = OfFunction;
  domains["abs"] = OfAbs;
  domains["ceil"] = OfRounding;
  domains["floor"] = OfRounding;
  domains["neg"] = OfNeg;
  domains["reciprocal"] = OfReciprocal;
  domains["round"] = OfRounding;
  domains["sqrt"] = OfSqrt;

  domains["add"] = OfAdd;
  domains["div"] = OfDiv;
  domains["floor_div"] = OfDiv;
  domains["fmod"] = OfMod;
  domains["maximum"] = OfMaximum;
  domains["minimum"] = OfMinimum;
  domains["mod"] = OfMod;
  domains["mul"] = OfMul;
  domains["pow"] = OfPow;
  domains["sub"] = OfSub;
  for (const std::string_view shift : {"shift_left", "shift_right"}) domains[shift] = OfShift;

  domains["select"] = OfSelect;
}

}  // namespace nn

#include "validators/coreml/layers/ranges.h"

#include <fmt/core.h>

namespace nn::coreml {

Bound Bound::OverUp(uint64_t n) const {
  if (unbound || n == 0) return {};
  return value == 0 ? *this : Bound((value - 1) / n + 1);
}

SizeSpan SizeSpan::Of(const Bound& low, const Bound& high) {
  SizeSpan out;
  out.low = low;
  out.high = high;
  out.empty = !low.AtMost(high);
  return out;
}

SizeSpan SizeSpan::Over(int64_t n) const {
  return OverWhole(n <= 0 ? 0 : static_cast<uint64_t>(n));
}

SizeSpan SizeSpan::OverWhole(uint64_t n) const {
  SizeSpan out = *this;
  out.empty = true;
  return n == 0 ? out : Map([n](const Bound& b) { return b.Over(n); });
}

SizeSpan SizeSpan::Plus(const SizeSpan& other) const {
  const auto sum = [](const Bound& a, const Bound& b) { return b.unbound ? b : a.Plus(b.value); };
  SizeSpan out = Of(sum(low, other.low), sum(high, other.high));
  out.empty = out.empty || empty || other.empty;
  return out;
}

SizeSpan SizeSpan::Times(const SizeSpan& other) const {
  const auto product = [](const Bound& a, const Bound& b) {
    return b.unbound ? b : a.Times(b.value);
  };
  SizeSpan out = Of(product(low, other.low), product(high, other.high));
  out.empty = out.empty || empty || other.empty;
  return out;
}

SizeSpan SizeSpan::Unite(const SizeSpan& other) const {
  SizeSpan out =
      Of(low.AtMost(other.low) ? low : other.low, other.high.AtMost(high) ? high : other.high);
  out.empty = out.empty || empty || other.empty;
  return out;
}

SizeSpan SizeSpan::Intersect(const SizeSpan& other) const {
  SizeSpan out =
      Of(low.AtMost(other.low) ? other.low : low, other.high.AtMost(high) ? other.high : high);
  out.empty = out.empty || empty || other.empty || low.unbound;
  return out;
}

std::string SizeSpan::ToString() const {
  if (high.unbound) return fmt::format("{} or more", low.value);
  return IsFixed() ? fmt::format("{}", low.value) : fmt::format("{} to {}", low.value, high.value);
}

}  // namespace nn::coreml

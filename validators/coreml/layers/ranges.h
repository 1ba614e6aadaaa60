// The sizes that an axis can have, with the arithmetic of the vendor's checker.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace nn::coreml {

// A size, or unbounded. Sums and products wrap around at 2^64; differences saturate at 0.
struct Bound {
  bool unbound = true;
  uint64_t value = 0;

  Bound() = default;
  explicit Bound(uint64_t v) : unbound(false), value(v) {}

  Bound Plus(uint64_t n) const { return unbound ? *this : Bound(value + n); }
  Bound Minus(uint64_t n) const { return unbound ? *this : Bound(n > value ? 0 : value - n); }
  Bound Times(uint64_t n) const { return unbound ? *this : Bound(value * n); }
  Bound Over(uint64_t n) const { return unbound ? *this : Bound(value / n); }  // n > 0
  Bound Shift(int64_t n) const {
    return n < 0 ? Minus(static_cast<uint64_t>(-n)) : Plus(static_cast<uint64_t>(n));
  }
  // Rounds up; unbounded for n == 0.
  Bound OverUp(uint64_t n) const;
  bool AtMost(const Bound& other) const {
    return other.unbound || (!unbound && value <= other.value);
  }
};

// The sizes from low to high. Operations that leave no size set `empty`, which is sticky.
struct SizeSpan {
  Bound low{0};
  Bound high;
  bool empty = false;

  static SizeSpan Of(const Bound& low, const Bound& high);
  static SizeSpan From(uint64_t low) { return Of(Bound(low), Bound()); }
  static SizeSpan Exactly(uint64_t size) { return Of(Bound(size), Bound(size)); }

  // `op` is applied to both ends.
  template <typename Op>
  SizeSpan Map(const Op& op) const {
    SizeSpan out = Of(op(low), op(high));
    out.empty = out.empty || empty;
    return out;
  }
  SizeSpan Plus(uint64_t n) const {
    return Map([n](const Bound& b) { return b.Plus(n); });
  }
  SizeSpan Shift(int64_t n) const {
    return Map([n](const Bound& b) { return b.Shift(n); });
  }
  SizeSpan Times(uint64_t n) const {
    return Map([n](const Bound& b) { return b.Times(n); });
  }
  SizeSpan Over(int64_t n) const;        // empty for n <= 0
  SizeSpan OverWhole(uint64_t n) const;  // empty for n == 0
  SizeSpan OverUp(uint64_t n) const {
    return Map([n](const Bound& b) { return b.OverUp(n); });
  }
  SizeSpan Plus(const SizeSpan& other) const;
  SizeSpan Times(const SizeSpan& other) const;
  // The smallest span that contains both.
  SizeSpan Unite(const SizeSpan& other) const;
  SizeSpan Intersect(const SizeSpan& other) const;

  bool IsFixed() const { return !high.unbound && !low.unbound && high.value == low.value; }
  std::string ToString() const;  // "3", "1 to 4", "2 or more"
};

// The arithmetic of ops/support/size_math.h.
template <std::integral N>
SizeSpan SizePlus(const SizeSpan& size, N n) {
  if constexpr (std::signed_integral<N>)
    return size.Shift(n);
  else
    return size.Plus(n);
}
inline SizeSpan SizePlus(const SizeSpan& a, const SizeSpan& b) {
  return a.Plus(b);
}
inline SizeSpan SizeTimes(const SizeSpan& size, uint64_t n) {
  return size.Times(n);
}
template <std::integral N>
SizeSpan SizeFloorDiv(const SizeSpan& size, N n) {
  if constexpr (std::signed_integral<N>)
    return size.Over(n);
  else
    return size.OverWhole(n);
}
inline SizeSpan SizeCeilDiv(const SizeSpan& size, uint64_t n) {
  return size.OverUp(n);
}

}  // namespace nn::coreml

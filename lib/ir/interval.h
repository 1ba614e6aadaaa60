// Intervals of real numbers, and their arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace nn {

// Bounds of numbers; may be infinite.
struct Interval {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  bool operator==(const Interval&) const = default;
  bool Contains(const Interval& other) const { return min <= other.min && max >= other.max; }
  bool Contains(double number) const { return min <= number && max >= number; }
};

inline Interval Union(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
inline Interval Intersection(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

inline Interval operator-(const Interval& x) {
  return {-x.max, -x.min};
}
inline Interval operator+(const Interval& a, const Interval& b) {
  return {a.min + b.min, a.max + b.max};
}
inline Interval operator-(const Interval& a, const Interval& b) {
  return a + -b;
}
inline Interval operator*(const Interval& a, const Interval& b) {
  // A factor of 0 has the product 0, however large the other one is.
  const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  const auto [min, max] = std::minmax(
      {times(a.min, b.min), times(a.min, b.max), times(a.max, b.min), times(a.max, b.max)});
  return {min, max};
}

// Of |x|.
inline Interval Magnitude(const Interval& x) {
  const double min = x.min > 0 ? x.min : x.max < 0 ? -x.max : 0;
  return {min, std::max(std::fabs(x.min), std::fabs(x.max))};
}
// Of the larger or smaller number of two.
inline Interval Larger(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::max(a.max, b.max)};
}
inline Interval Smaller(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::min(a.max, b.max)};
}

}  // namespace nn

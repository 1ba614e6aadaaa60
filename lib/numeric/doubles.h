// Elementary functions in double, for tables that are computed once and for operators on f64. Every
// step is an operation of IEEE 754, so results do not depend on the processor or the C library.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include "base/arith.h"

namespace nn {

namespace internal {

// The polynomial with these coefficients, the highest power first.
template <size_t n>
double Horner(const double (&coefficients)[n], double x) {
  double y = coefficients[0];
  for (size_t i = 1; i < n; ++i) y = Fma(y, x, coefficients[i]);
  return y;
}

}  // namespace internal

struct UnitRoot {
  double cos, sin;
};

// The cosine and sine of 2 pi k / n for 0 <= k < n <= 2^50, with an error below 2e-16. Multiples of
// an eighth of a circle have the values that symmetry requires: 0, 1, -1, and equal ones.
inline UnitRoot UnitRootOf(int64_t k, int64_t n) {
  int64_t a = 4 * k;  // of 4 n, a full circle
  const bool below = a > 2 * n;
  if (below) a = 4 * n - a;
  const bool left = a > n;
  if (left) a = 2 * n - a;
  const bool steep = 2 * a > n;
  if (steep) a = n - a;
  const double x = static_cast<double>(a) / static_cast<double>(n) * (std::numbers::pi / 2);
  // Taylor's polynomials of degree 17 and 16.
  static constexpr double kSin[] = {
      1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
      1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  static constexpr double kCos[] = {
      1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
      1.0 / 40320,          -1.0 / 720,         1.0 / 24,        -1.0 / 2};
  const double square = x * x;
  double s = Fma(internal::Horner(kSin, square) * square, x, x);
  double c = Fma(internal::Horner(kCos, square), square, 1);
  if (steep) std::swap(s, c);
  if (2 * a == n) c = s;
  return {left ? -c : c, below ? -s : s};
}

// The natural logarithm of a positive, finite number, with an error below 2 units in the last place
// of the larger of the result and 1.
inline double LogOf(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m = m * 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  double series = 0;
  const double square = s * s;
  for (int k = 23; k >= 3; k -= 2) series = Fma(series, square, 1.0 / k);
  const double log = Fma(2 * s * square, series, 2 * s);
  return Fma(static_cast<double>(exponent), std::numbers::ln2, log);
}

// e to the power x, for |x| <= 700, with a relative error below 1e-15.
inline double ExpOf(double x) {
  const double k = std::nearbyint(x / std::numbers::ln2);
  constexpr double kLn2Rest = 2.3190468138462996e-17;  // ln 2 - numbers::ln2
  const double r = Fma(-k, kLn2Rest, Fma(-k, std::numbers::ln2, x));
  double y = 1;
  for (int i = 14; i >= 1; --i) y = Fma(y * r, 1.0 / i, 1);
  return std::ldexp(y, static_cast<int>(k));
}

// The same two functions of any number: 0, infinity and NaN included. Powers below the smallest
// normal number have its absolute error.
inline double LogOfAny(double x) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::isinf(x) ? x : LogOf(x);
}
inline double ExpOfAny(double x) {
  if (std::isnan(x)) return x;
  if (x < -800) return 0;
  return x > 800 ? std::numeric_limits<double>::infinity() : ExpOf(x);
}

}  // namespace nn

#include "numeric/double_functions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/arith.h"
#include "numeric/doubles.h"

namespace nn::float64 {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn2Rest = 2.3190468138462996e-17;  // ln 2 - kLn2
constexpr double kHalfPi = std::numbers::pi / 2;
constexpr double kHalfPiRest = 6.123233995736766e-17;    // pi / 2 - kHalfPi
constexpr double kHalfPiLast = -1.4973849048591698e-33;  // and what remains then

// An unevaluated sum.
struct Pair {
  double high = 0, low = 0;
};

// a + b exactly.
Pair Sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// a * b exactly.
Pair Product(double a, double b) {
  const double p = a * b;
  return {p, Fma(a, b, -p)};
}

// ---- Arguments of circular functions

// x = quadrant pi / 2 + rest, |rest| <= pi / 4.
struct Reduced {
  unsigned quadrant = 0;
  Pair rest;
};

// The first 1280 binary digits of 2 / pi.
constexpr std::array<uint64_t, 20> kTwoOverPi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// 64 binary digits of 2 / pi from digit `first` on; those before the point are 0.
uint64_t DigitsAt(int first) {
  uint64_t digits = 0;
  for (int i = first; i < first + 64; ++i) {
    const uint64_t digit = i < 0 ? 0 : kTwoOverPi[static_cast<size_t>(i / 64)] >> (63 - i % 64) & 1;
    digits = digits << 1 | digit;
  }
  return digits;
}

// The halves of a product of 64 bits each.
void Multiply(uint64_t a, uint64_t b, uint64_t& high, uint64_t& low) {
  constexpr uint64_t kHalf = 0xFFFFFFFF;
  const uint64_t a0 = a & kHalf, a1 = a >> 32, b0 = b & kHalf, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + (middle & kHalf);
  low = a * b;
  high = a1 * b1 + (middle >> 32) + (other >> 32);
}

// After Payne and Hanek: of x = m 2^e, only those digits of 2 / pi matter whose products with m 2^e
// are neither multiples of 4 nor below 2^-137.
Reduced ReduceLarge(double magnitude) {
  int exponent = 0;
  const auto m = static_cast<uint64_t>(std::ldexp(std::frexp(magnitude, &exponent), 53));
  const int first = exponent - 53 - 2;
  uint64_t h2 = 0, l2 = 0, h1 = 0, l1 = 0;
  Multiply(m, DigitsAt(first + 128), h2, l2);
  Multiply(m, DigitsAt(first + 64), h1, l1);
  // The product modulo 2^192, in units of 2^-190: words from the highest.
  std::array<uint64_t, 3> word = {m * DigitsAt(first) + h1, l1 + h2, l2};
  word[0] += word[1] < h2 ? 1 : 0;
  Reduced r;
  r.quadrant = static_cast<unsigned>(word[0] >> 62);
  word[0] &= ~uint64_t{0} >> 2;
  const bool negative = word[0] >> 61 != 0;
  if (negative) {  // a unit less the fraction
    ++r.quadrant;
    word[2] = ~word[2] + 1;
    word[1] = ~word[1] + (word[2] == 0 ? 1 : 0);
    word[0] = (~word[0] + (word[2] == 0 && word[1] == 0 ? 1 : 0)) & ~uint64_t{0} >> 2;
  }
  Pair f;
  for (size_t i = 0; i < 6; ++i) {
    const uint64_t part = i % 2 == 0 ? word[i / 2] >> 32 : word[i / 2] & 0xFFFFFFFF;
    const double v = std::ldexp(static_cast<double>(part), 2 - 32 * (static_cast<int>(i) + 1));
    const Pair s = Sum(f.high, v);
    f = Sum(s.high, s.low + f.low);
  }
  const Pair p = Product(f.high, kHalfPi);
  const double low = p.low + (f.high * kHalfPiRest + f.low * kHalfPi);
  r.rest = Sum(p.high, low);
  if (negative) r.rest = {-r.rest.high, -r.rest.low};
  return r;
}

Reduced Reduce(double x) {
  constexpr double kMedium = 0x1p20;
  const double magnitude = std::fabs(x);
  Reduced r;
  if (magnitude <= kHalfPi / 2) {
    r.rest = {x, 0};
    return r;
  }
  if (magnitude >= kMedium) {
    r = ReduceLarge(magnitude);
    if (x < 0) {
      r.quadrant = 0U - r.quadrant;
      r.rest = {-r.rest.high, -r.rest.low};
    }
    return r;
  }
  const double n = std::nearbyint(x / kHalfPi);
  // Exact: a multiple of 2^-52, and at most 1.
  const double rest = Fma(-n, kHalfPi, x);
  const Pair p = Product(n, kHalfPiRest);
  const Pair s = Sum(rest, -p.high);
  r.quadrant = static_cast<unsigned>(static_cast<int>(n));
  r.rest = Sum(s.high, s.low - p.low - n * kHalfPiLast);
  return r;
}

// Taylor's polynomials of degree 17 and 18.
double SinOf(Pair x) {
  static constexpr double kSeries[] = {
      1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
      1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  const double square = x.high * x.high;
  const double series = internal::Horner(kSeries, square) * square;
  return Fma(series, x.high, Fma(-square / 2, x.low, x.low)) + x.high;
}
double CosOf(Pair x) {
  static constexpr double kSeries[] = {
      -1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
      -1.0 / 3628800,          1.0 / 40320,          -1.0 / 720,         1.0 / 24};
  const Pair square = Product(x.high, x.high);
  const double half = square.high / 2;
  const double most = 1 - half;
  const double lost = (1 - most) - half - square.low / 2 - x.high * x.low;
  return most + Fma(internal::Horner(kSeries, square.high) * square.high, square.high, lost);
}

// ---- Series

// 2 artanh(s) - 2 s, for |s| <= 0.18.
double ArtanhRest(double s) {
  const double square = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = Fma(series, square, 1.0 / k);
  return 2 * s * square * series;
}

// arctan(t) - t, for |t| <= 0.42.
double ArctanRest(double t) {
  const double square = t * t;
  double series = 0;
  for (int k = 45; k >= 3; k -= 2) series = Fma(series, square, (k % 4 == 1 ? 1.0 : -1.0) / k);
  return t * square * series;
}

// e^x - 1 for |x| <= 0.35.
double SmallExpm1(double x) {
  double y = 1;
  for (int i = 16; i >= 2; --i) y = Fma(y * x, 1.0 / i, 1);
  return x * y;
}

// e^-(x^2)
double ExpOfNegatedSquare(double x) {
  const Pair square = Product(x, x);
  return Exp(-square.high) * (1 - square.low);
}

// The logarithm of a positive, finite number.
Pair LogPair(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m = m * 2;
    --exponent;
  }
  const double numerator = m - 1;
  const Pair denominator = Sum(m, 1);
  const double s = numerator / denominator.high;
  const double low =
      (Fma(-s, denominator.high, numerator) - s * denominator.low) / denominator.high;
  const auto e = static_cast<double>(exponent);
  const Pair whole = Product(e, kLn2);
  const Pair sum = Sum(whole.high, 2 * s);
  return Sum(sum.high, sum.low + (whole.low + e * kLn2Rest + 2 * low + ArtanhRest(s)));
}

bool IsWhole(double x) {
  return std::trunc(x) == x;
}
bool IsOdd(double x) {
  return std::fabs(std::fmod(x, 2)) == 1;
}

// Pow where an operand is 0 or infinite, or y is 0, or a NaN decides.
double SpecialPow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  const double magnitude = std::fabs(x);
  if (std::isinf(y)) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInfinity : 0;
  }
  const double result = (magnitude == 0) == (y > 0) ? 0 : kInfinity;
  return std::signbit(x) && IsOdd(y) ? -result : result;
}

}  // namespace

double Exp(double x) {
  return ExpOfAny(x);
}

double Exp2(double x) {
  if (std::isnan(x)) return x;
  if (x >= 1024) return kInfinity;
  if (x < -1080) return 0;
  const double k = std::nearbyint(x);
  const Pair r = Product(x - k, kLn2);
  return std::ldexp(Exp(r.high) * (1 + (r.low + (x - k) * kLn2Rest)), static_cast<int>(k));
}

double Expm1(double x) {
  if (std::isnan(x)) return x;
  if (x < -50) return -1;
  if (x > 700) return Exp(x);
  const double k = std::nearbyint(x / kLn2);
  if (k == 0) return SmallExpm1(x);
  const double r = Fma(-k, kLn2Rest, Fma(-k, kLn2, x));
  const double unit = std::ldexp(1.0, static_cast<int>(k));
  return Fma(unit, SmallExpm1(r), unit - 1);
}

double Log(double x) {
  return LogOfAny(x);
}

double Log1p(double x) {
  if (!(std::fabs(x) < 0.29)) {
    const double sum = 1 + x;
    if (!(sum > 0) || std::isinf(sum)) return Log(sum);
    return Log(sum) + (x > 1 ? 1 - (sum - x) : x - (sum - 1)) / sum;
  }
  const double s = x / (2 + x);
  // x = 2 s + s x
  return Fma(-s, x, ArtanhRest(s)) + x;
}

double Pow(double x, double y) {
  const double magnitude = std::fabs(x);
  if (y == 0 || x == 1 || magnitude == 0 || !std::isfinite(x) || !std::isfinite(y))
    return SpecialPow(x, y);
  if (x < 0 && !IsWhole(y)) return kNan;
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (y == 3) return x * (x * x);
  const Pair log = LogPair(magnitude);
  const Pair p = Product(log.high, y);
  double result = Exp(p.high);
  if (std::isfinite(result)) result *= 1 + (p.low + log.low * y);
  return x < 0 && IsOdd(y) ? -result : result;
}

double Sin(double x) {
  if (!std::isfinite(x)) return kNan;
  if (x == 0) return x;
  const Reduced r = Reduce(x);
  const double y = r.quadrant % 2 == 0 ? SinOf(r.rest) : CosOf(r.rest);
  return r.quadrant % 4 < 2 ? y : -y;
}

double Cos(double x) {
  if (!std::isfinite(x)) return kNan;
  const Reduced r = Reduce(x);
  const double y = r.quadrant % 2 == 0 ? CosOf(r.rest) : SinOf(r.rest);
  return r.quadrant % 4 == 0 || r.quadrant % 4 == 3 ? y : -y;
}

double Tan(double x) {
  if (!std::isfinite(x)) return kNan;
  if (x == 0) return x;
  const Reduced r = Reduce(x);
  const double s = SinOf(r.rest), c = CosOf(r.rest);
  return r.quadrant % 2 == 0 ? s / c : -c / s;
}

double Atan(double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return x;
  double y = 0;
  if (a <= 0.41421356) {
    y = a + ArctanRest(a);
  } else if (a <= 2.41421356) {
    const double t = (a - 1) / (a + 1);
    y = kHalfPi / 2 + (t + (ArctanRest(t) + kHalfPiRest / 2));
  } else {
    const double t = 1 / a;
    y = kHalfPi - (t + (ArctanRest(t) - kHalfPiRest));
  }
  return std::copysign(y, x);
}

double Asin(double x) {
  if (!(std::fabs(x) <= 1)) return kNan;
  return x == 0 ? x : Atan(x / std::sqrt((1 - x) * (1 + x)));
}

double Acos(double x) {
  if (!(std::fabs(x) <= 1)) return kNan;
  return 2 * Atan(std::sqrt((1 - x) / (1 + x)));
}

double Atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  double a = 0;
  if (std::isinf(x) && std::isinf(y))
    a = kHalfPi / 2;
  else if (y != 0)
    a = Atan(std::fabs(y) / std::fabs(x));
  if (std::signbit(x)) a = 2 * kHalfPi - a;
  return std::copysign(a, y);
}

double Sinh(double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return x;
  if (a >= 22) {
    const double half = Exp(a / 2);
    return std::copysign(half / 2 * half, x);
  }
  const double e = Expm1(a);
  return std::copysign((e + e / (e + 1)) / 2, x);
}

double Cosh(double x) {
  const double a = std::fabs(x);
  const double e = Exp(a < 22 ? a : a / 2);
  return a >= 22 ? e / 2 * e : (e + 1 / e) / 2;
}

double Tanh(double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return x;
  if (a > 22) return std::copysign(1.0, x);
  const double e = Expm1(2 * a);
  return std::copysign(e / (e + 2), x);
}

double Asinh(double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return x;
  const double y = a > 0x1p28 ? Log(a) + kLn2 : Log1p(a + a * a / (1 + std::sqrt(a * a + 1)));
  return std::copysign(y, x);
}

double Acosh(double x) {
  if (!(x >= 1)) return kNan;
  if (x > 0x1p28) return Log(x) + kLn2;
  const double t = x - 1;
  return Log1p(t + std::sqrt(2 * t + t * t));
}

double Atanh(double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return x;
  return std::copysign(Log1p(2 * a / (1 - a)) / 2, a > 1 ? kNan : x);
}

double Erf(double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return x;
  if (a > 2.5) return std::copysign(1 - Erfc(a), x);
  // 2 / sqrt(pi) e^-x^2 (x + 2 x^3 / 3 + 4 x^5 / 15 + ...)
  double sum = a;
  double term = a;
  for (int k = 3; term > sum * 0x1p-56; k += 2) {
    term = term * (2 * a * a) / k;
    sum += term;
  }
  return std::copysign(2 * std::numbers::inv_sqrtpi * ExpOfNegatedSquare(a) * sum, x);
}

double Erfc(double x) {
  if (std::isnan(x)) return x;
  if (x < 1) return 1 - Erf(x);
  if (x > 28) return 0;
  // The continued fraction x + (1/2) / (x + (2/2) / (x + (3/2) / ...)).
  double fraction = x;
  for (int k = 250; k >= 1; --k) fraction = x + k / 2.0 / fraction;
  return ExpOfNegatedSquare(x) * std::numbers::inv_sqrtpi / fraction;
}

double Sigmoid(double x) {
  if (x >= 0) return 1 / (1 + Exp(-x));
  const double e = Exp(x);
  return e / (1 + e);
}

double Softplus(double x) {
  return (x > 0 ? x : x == x ? 0 : x) + Log1p(Exp(-std::fabs(x)));
}

}  // namespace nn::float64

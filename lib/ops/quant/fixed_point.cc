#include "ops/quant/fixed_point.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ops/quant/requant.h"

namespace nn {
namespace {

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kSqrtHalf = 1518500250;  // sqrt(1/2)

int32_t Mul(int32_t a, int32_t b) {
  return RoundingDoublingHighMul(a, b);
}
int32_t Add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
int32_t Sub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
int32_t SaturatingAdd(int32_t a, int32_t b) {
  return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, kMin, kMax));
}
// (a + b) / 2, halves away from zero.
int32_t RoundingHalfSum(int32_t a, int32_t b) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
}
int LeadingZeros(int32_t x) {
  return std::countl_zero(static_cast<uint32_t>(x));
}

// e^x for x in [-1/4, 0), Q0.31: four terms of the Taylor series around -1/8.
int32_t ExpNearZero(int32_t x) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;  // e^(-1/8)
  constexpr int32_t kThird = 715827883;              // 1/3
  const int32_t t = Add(x, int32_t{1} << 28);        // x + 1/8
  const int32_t t2 = Mul(t, t);
  const int32_t t3 = Mul(t2, t);
  const int32_t t4 = Mul(t2, t2);
  const int32_t t4_over_4 = RoundingShiftRight(t4, 2);
  const int32_t tail = RoundingShiftRight(Add(Mul(Add(t4_over_4, t3), kThird), t2), 1);
  return Add(kExpOfMinusEighth, Mul(kExpOfMinusEighth, Add(t, tail)));
}

}  // namespace

int32_t SaturatingShiftLeft(int32_t x, int exponent) {
  if (exponent == 0) return x;
  const int32_t threshold = (int32_t{1} << (31 - exponent)) - 1;
  if (x > threshold) return kMax;
  if (x < -threshold) return kMin;
  return static_cast<int32_t>(static_cast<uint32_t>(x) << exponent);
}

int32_t FixedExp(int32_t x) {
  constexpr int kIntegerBits = 5;
  constexpr int kFractionBits = 31 - kIntegerBits;
  if (x == 0) return kMax;
  // x = r - q with r in [-1/4, 0) and q a multiple of 1/4, whose bits each select a factor.
  constexpr int32_t kQuarter = int32_t{1} << (kFractionBits - 2);
  const int32_t r = (x & (kQuarter - 1)) - kQuarter;
  const int32_t q = Sub(r, x);
  int32_t y = ExpNearZero(SaturatingShiftLeft(r, kIntegerBits));
  // e^-(2^k) for k = -2 .. 4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  for (int k = 0; k < 7; ++k)
    if (q & (int32_t{1} << (kFractionBits - 2 + k))) y = Mul(y, kFactors[k]);
  return y;
}

int32_t FixedOneOverOnePlus(int32_t x) {
  // Newton's iteration for the reciprocal of (1 + x) / 2, in Q2.29.
  constexpr int32_t kOne = int32_t{1} << 29;
  constexpr int32_t k48Over17 = 1515870810;
  constexpr int32_t kMinus32Over17 = -1010580540;
  const int32_t half = RoundingHalfSum(x, kMax);
  int32_t y = Add(k48Over17, Mul(half, kMinus32Over17));
  for (int i = 0; i < 3; ++i) {
    const int32_t error = Sub(kOne, Mul(half, y));
    y = Add(y, SaturatingShiftLeft(Mul(y, error), 2));
  }
  return SaturatingShiftLeft(y, 1);  // half of y, from Q2.29 to Q0.31
}

int32_t FixedLog(int32_t x) {
  constexpr int kInputBits = 12;
  constexpr int kAccumulatorBits = 6;                // one more than the result has, as headroom
  constexpr int32_t kLog2 = 1488522236;              // log(2)
  constexpr int32_t kFourthRootOfHalf = 1805811301;  // (1/2)^(1/4)
  constexpr int32_t kAlphaN = 117049297;             // 11/240 * 2^(1/4)
  constexpr int32_t kAlphaD = 127690142;             // 1/20 * 2^(1/4)
  constexpr int32_t kAlphaI = 1057819769;            // 2 / 2^(1/4) - 2^(1/4)
  constexpr int32_t kAlphaF = 638450708;             // 1/4 * 2^(1/4)
  const int32_t quarter = RoundingShiftRight(int32_t{1} << 29, kAccumulatorBits);
  const auto exponent = [](int bits) { return SaturatingShiftLeft(bits, 31 - kAccumulatorBits); };
  // x = r * 2^e with r near (1/2)^(1/4); of two ways to normalize, the better one is used.
  const int zeros_a = LeadingZeros(x);
  const int32_t r_a = SaturatingShiftLeft(Mul(SaturatingShiftLeft(x, zeros_a - 1), kSqrtHalf), 1);
  const int32_t e_a = SaturatingAdd(exponent(kInputBits - zeros_a), quarter);
  const int headroom_b = LeadingZeros(Mul(x, kSqrtHalf)) - 1;
  const int32_t r_b = SaturatingShiftLeft(x, headroom_b);
  const int32_t e_b = SaturatingAdd(exponent(kInputBits - headroom_b), -quarter);
  const int32_t r = std::min(r_a, r_b);
  const int32_t e = std::max(e_a, e_b);
  // A rational approximation of log(r) around that point.
  const int32_t p = RoundingHalfSum(r, kFourthRootOfHalf);
  const int32_t d = Sub(r, kFourthRootOfHalf);
  const int32_t q = Add(d, d);
  const int32_t q2 = Mul(q, q);
  const int32_t numerator = Add(Mul(q, r), Mul(Mul(q, q2), kAlphaN));
  const int32_t denominator_minus_1 =
      Add(Mul(p, Add(Add(kAlphaI, q), Mul(kAlphaD, q2))), Mul(kAlphaF, q));
  const int32_t fraction = Mul(RoundingShiftRight(numerator, kAccumulatorBits),
                               FixedOneOverOnePlus(denominator_minus_1));
  return SaturatingShiftLeft(Add(Mul(e, kLog2), fraction), 1);
}

FixedReciprocalResult FixedReciprocal(int32_t x, int integer_bits) {
  const int zeros = LeadingZeros(x);
  const auto fraction =
      static_cast<int32_t>((static_cast<uint32_t>(x) << zeros) - (uint32_t{1} << 31));
  return {FixedOneOverOnePlus(fraction), integer_bits - zeros};
}

FixedInvSqrtResult FixedInvSqrt(int32_t x) {
  if (x <= 1) return {kMax, 0};
  int right_shift = 11;
  for (; x >= (1 << 29); ++right_shift) x /= 4;
  const int pairs = (LeadingZeros(x) - 1) / 2 - 1;
  right_shift -= pairs;
  x <<= 2 * pairs;  // now in [2^27, 2^29)
  // Newton's iteration in Q3.28: y <- y * (3/2 - x/2 * y^2), from y = 1.
  constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27);
  const int32_t half_x = RoundingShiftRight(x >> 1, 1);
  int32_t y = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t y3 = SaturatingShiftLeft(Mul(Mul(y, y), y), 6);
    y = SaturatingShiftLeft(Sub(Mul(kThreeHalves, y), Mul(half_x, y3)), 3);
  }
  y = Mul(y, kSqrtHalf);
  if (right_shift < 0) {
    y = static_cast<int32_t>(static_cast<uint32_t>(y) << -right_shift);
    right_shift = 0;
  }
  return {y, -right_shift};
}

namespace {

// A number of the 16-bit scheme. Sums wrap, products round.
class Fixed16 {
 public:
  constexpr explicit Fixed16(int64_t raw) : raw_(static_cast<int16_t>(raw)) {}
  // A Q0.31 constant, or one with the same number of integer bits, rounded to 16 bits.
  static Fixed16 Of(int32_t constant) { return Fixed16(RoundingShiftRight(constant, 16)); }

  int16_t raw() const { return raw_; }
  Fixed16 operator+(Fixed16 o) const { return Fixed16(int64_t{raw_} + o.raw_); }
  Fixed16 operator-(Fixed16 o) const { return Fixed16(int64_t{raw_} - o.raw_); }
  Fixed16 operator*(Fixed16 o) const {
    return Fixed16(std::min(((int64_t{raw_} * o.raw_) + (1 << 14)) >> 15, int64_t{kMax16}));
  }
  Fixed16 SaturatingAdd(Fixed16 o) const {
    return Fixed16(std::clamp<int64_t>(int64_t{raw_} + o.raw_, kMin16, kMax16));
  }
  // Times 2^exponent, exponent >= 0; saturates.
  Fixed16 ShiftLeft(int exponent) const {
    if (exponent == 0) return *this;
    const int threshold = (1 << (15 - exponent)) - 1;
    if (raw_ > threshold) return Fixed16(kMax16);
    if (raw_ < -threshold) return Fixed16(kMin16);
    return Fixed16(int64_t{raw_} * (int64_t{1} << exponent));
  }
  Fixed16 ShiftRight(int exponent) const { return Fixed16(RoundingShiftRight(raw_, exponent)); }

  static constexpr int16_t kMax16 = std::numeric_limits<int16_t>::max();
  static constexpr int16_t kMin16 = std::numeric_limits<int16_t>::min();

 private:
  int16_t raw_;
};

// e^x for x in [-1/4, 0), Q0.15, as ExpNearZero.
Fixed16 ExpNearZero16(Fixed16 x) {
  const Fixed16 exp_of_minus_eighth = Fixed16::Of(1895147668);
  const Fixed16 t = x + Fixed16(1 << 12);  // x + 1/8
  const Fixed16 t2 = t * t;
  const Fixed16 t3 = t2 * t;
  const Fixed16 t4 = t2 * t2;
  const Fixed16 tail = ((t4.ShiftRight(2) + t3) * Fixed16::Of(715827883) + t2).ShiftRight(1);
  return exp_of_minus_eighth.SaturatingAdd(exp_of_minus_eighth * (t + tail));
}

// e^x for x <= 0; Q0.15.
Fixed16 Exp16(Fixed16 x, int integer_bits) {
  if (x.raw() == 0) return Fixed16(Fixed16::kMax16);
  const int fraction_bits = 15 - integer_bits;
  // -32 and less count as minus infinity.
  if (integer_bits > 5 && x.raw() < -(32 << fraction_bits)) return Fixed16(0);
  const Fixed16 quarter(1 << (fraction_bits - 2));
  const Fixed16 r = Fixed16(x.raw() & (quarter.raw() - 1)) - quarter;
  const int q = (r - x).raw();
  Fixed16 y = ExpNearZero16(r.ShiftLeft(integer_bits));
  // e^-(2^k) for k = -2 .. 4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  for (int k = -2; k <= 4 && k < integer_bits; ++k)
    if (q & (1 << (fraction_bits + k))) y = y * Fixed16::Of(kFactors[k + 2]);
  return y;
}

// 2 / (1 + x) for x in [0, 1), Q0.15; Q2.13.
Fixed16 TwoOverOnePlus16(Fixed16 x) {
  const Fixed16 one(1 << 13);
  const Fixed16 half(RoundingHalfSum(x.raw(), Fixed16::kMax16));
  Fixed16 y = Fixed16::Of(1515870810) + half * Fixed16::Of(-1010580540);
  for (int i = 0; i < 3; ++i) y = y + (y * (one - half * y)).ShiftLeft(2);
  return y;
}

Fixed16 Negative(Fixed16 x) {
  return x.raw() < 0 ? x : Fixed16(0) - x;
}

}  // namespace

int16_t FixedSigmoid16(int16_t x) {
  if (x == 0) return 1 << 14;
  // Half of 2 / (1 + x) in Q2.13 is the same number in Q1.14.
  const Fixed16 y = TwoOverOnePlus16(Exp16(Negative(Fixed16(x)), 3)).ShiftLeft(1);
  return x > 0 ? y.raw() : (Fixed16(Fixed16::kMax16) - y).raw();
}

int16_t FixedTanh16(int16_t x, int integer_bits) {
  if (x == 0) return 0;
  // (1 - e) / (1 + e) = 2 / (1 + e) - 1 with e = e^(-2|x|).
  const Fixed16 e = Exp16(Negative(Fixed16(x)), integer_bits + 1);
  const Fixed16 y = (TwoOverOnePlus16(e) - Fixed16(1 << 13)).ShiftLeft(2);
  return x > 0 ? y.raw() : (Fixed16(0) - y).raw();
}

}  // namespace nn

// Sine, cosine and tangent, for all arguments. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_TRIG_INL_H_
#undef NN_OPS_ELEMENTARY_TRIG_INL_H_
#else
#define NN_OPS_ELEMENTARY_TRIG_INL_H_
#endif

#include <array>
#include <cstdint>
#include <iterator>

#include "numeric/elementary_polynomial-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// 2^e * 2 / pi modulo 2^25, for each exponent e of a large argument, in pieces of 29, 29 and 53
// bits: an argument m 2^e with m a multiple of 2^-23 needs no more of 2 / pi to know its quadrant,
// and its products with the first two pieces are exact.
struct PiTable {
  static constexpr int kFirst = 16;
  static constexpr int kCount = 128 - kFirst;
  std::array<std::array<double, kCount>, 3> pieces;

  static constexpr PiTable Make() {
    // 2 / pi to 224 bits after the point.
    constexpr uint32_t kBits[7] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                   0xDB629599, 0x3C439041, 0xFE5163AB};
    constexpr int kEnds[4] = {-24, 5, 34, 87};
    constexpr double kUnits[3] = {0x1p-4, 0x1p-33, 0x1p-86};
    PiTable t{};
    for (int e = kFirst; e < 128; ++e)
      for (size_t piece = 0; piece < 3; ++piece) {
        uint64_t v = 0;
        for (int i = e + kEnds[piece]; i < e + kEnds[piece + 1]; ++i)  // bit i has weight 2^-i
          v = v << 1 | (i < 1 ? 0 : kBits[(i - 1) / 32] >> (31 - (i - 1) % 32) & 1);
        t.pieces[piece][static_cast<size_t>(e - kFirst)] = static_cast<double>(v) * kUnits[piece];
      }
    return t;
  }
};
inline constexpr PiTable kPiTable = PiTable::Make();

template <class M>
struct TrigFunctions {
  using V = typename M::V;
  using W = typename M::Doubles;
  using R = typename W::V;
  using L = typename W::I;

  static NN_INLINE V Sin(V x) {
    const R r = M::Widen(x);
    const Reduced a = Reduce(W::Abs(r));
    // Negative in quadrants 2 and 3.
    return M::Narrow(SineOrCosine(a, W::SetI(0), W::XorI(Bit1ToSign(a.quadrant), SignOf(r))));
  }

  static NN_INLINE V Cos(V x) {
    const Reduced a = Reduce(W::Abs(M::Widen(x)));
    // Negative in quadrants 1 and 2.
    const L sign = Bit1ToSign(W::AddI(a.quadrant, W::SetI(1)));
    return M::Narrow(SineOrCosine(a, W::SetI(1), sign));
  }

  static NN_INLINE V Tan(V x) {
    const R r = M::Widen(x);
    const Reduced a = Reduce(W::Abs(r));
    const R u = W::Mul(a.rest, a.rest);
    const R sine = W::Fma(W::Mul(a.rest, u), Polynomial<W>(u, kSine), a.rest);
    const R cosine = W::Fma(u, Polynomial<W>(u, kCosine), W::Set(1));
    // -cosine / sine in odd quadrants.
    const auto odd = IsOdd(a.quadrant);
    const R y = W::Div(W::Select(odd, cosine, sine), W::Select(odd, sine, cosine));
    const L sign = W::XorI(W::template Shl<63>(a.quadrant), SignOf(r));
    return M::Narrow(W::FromBits(W::XorI(W::Bits(y), sign)));
  }

 private:
  // Up to here two parts of pi / 2 are sufficient.
  static constexpr double kLarge = 0x1p17;
  // Adding this to a double below 2^51 rounds it to an integer, in the lowest bits of the sum.
  static constexpr double kShift = 0x1.8p52;

  // x = quadrant * pi / 2 + rest, |rest| up to pi / 4 (1 + 2^-18), to a small part of the rest.
  // Only the last two bits of the quadrant count.
  struct Reduced {
    R rest;
    L quadrant;
  };

  static NN_INLINE L SignOf(R x) { return W::AndI(W::Bits(x), W::SetI(INT64_MIN)); }
  static NN_INLINE L Bit1ToSign(L x) { return W::template Shl<62>(W::AndI(x, W::SetI(2))); }
  static NN_INLINE auto IsOdd(L x) { return W::EqI(W::AndI(x, W::SetI(1)), W::SetI(1)); }

  // For x >= 0 that was a float; the rest is NaN for infinity and NaN.
  static NN_INLINE Reduced Reduce(R x) {
    const R shift = W::Set(kShift);
    const R shifted = W::Fma(x, W::Set(0x1.45f306dc9c883p-1), shift);
    const R minus_k = W::Sub(shift, shifted);
    // The first difference is exact: a multiple of 2^-52 below 1.
    const R first = W::Fma(minus_k, W::Set(0x1.921fb54442d18p+0), x);
    Reduced r = {W::Fma(minus_k, W::Set(0x1.1a62633145c07p-54), first), W::Bits(shifted)};
    const auto large = W::Lt(W::Set(kLarge), x);
    if (W::AnyTrue(large)) {
      const Reduced l = ReduceLarge(x);
      r.rest = W::Select(large, l.rest, r.rest);
      r.quadrant = W::SelectI(large, l.quadrant, r.quadrant);
    }
    return r;
  }

  // For x >= 2^16, by a product with as many bits of 2 / pi as the exponent requires.
  static NN_INLINE Reduced ReduceLarge(R x) {
    const R shift = W::Set(kShift);
    const L bits = W::Bits(W::Max(x, W::Set(0x1p16)));
    const L exponent = W::SubI(W::template Shr<52>(bits), W::SetI(1023 + PiTable::kFirst));
    const auto finite = W::Lt(x, W::Set(0x1p128));
    const L index = W::SelectI(finite, exponent, W::SetI(0));
    const L fraction = W::AndI(bits, W::SetI(0xFFFFFFFFFFFFF));
    const R m = W::FromBits(W::OrI(fraction, W::SetI(int64_t{1023} << 52)));
    const auto product = [&](size_t piece) {
      return W::Mul(m, W::Gather(kPiTable.pieces[piece].data(), index));
    };
    // Whole quadrants are removed twice: from the first product, and from its sum with the second.
    const R p = product(0);
    const R whole = W::Add(p, shift);
    const R f = W::Add(W::Sub(p, W::Sub(whole, shift)), product(1));
    const R more = W::Add(f, shift);
    const R rest = W::Add(W::Sub(f, W::Sub(more, shift)), product(2));
    // NaN for infinity and NaN.
    const R limit = W::Sub(x, x);
    return {W::Add(W::Mul(rest, W::Set(0x1.921fb54442d18p+0)), limit),
            W::AddI(W::Bits(whole), W::Bits(more))};
  }

  // (sin(a) / a - 1) / a^2 in a^2 on [0, pi / 4]; for sin(a) 2^-58.0.
  static constexpr double kSine[] = {-0x1.5555555555549p-3,  0x1.111111110f881p-7,
                                     -0x1.a01a019c126bfp-13, 0x1.71de35786f72dp-19,
                                     -0x1.ae5e66cdb9abap-26, 0x1.5d932c75a42dfp-33};
  // (cos(a) - 1) / a^2 in a^2 on [0, pi / 4]; for cos(a) 2^-54.1.
  static constexpr double kCosine[] = {-0x1.fffffffffffa3p-2,  0x1.555555554f953p-5,
                                       -0x1.6c16c1648a92fp-10, 0x1.a019f8840a05cp-16,
                                       -0x1.27df6bfd1ed66p-22, 0x1.1b95fb2233aecp-29};

  // The sine, or the cosine where quadrant + shift is odd, with its sign changed by `sign`.
  static NN_INLINE R SineOrCosine(Reduced a, L shift, L sign) {
    const auto odd = IsOdd(W::AddI(a.quadrant, shift));
    const auto c = [&](size_t i) { return W::Select(odd, W::Set(kCosine[i]), W::Set(kSine[i])); };
    const R u = W::Mul(a.rest, a.rest);
    const R p = PolynomialOf<W, std::size(kSine)>(u, c);
    const R first = W::Select(odd, W::Set(1), a.rest);
    const R y = W::Fma(W::Mul(first, u), p, first);
    return W::FromBits(W::XorI(W::Bits(y), sign));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_TRIG_INL_H_

// Sine, cosine and tangent, for all arguments. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_TRIG_INL_H_
#undef NN_OPS_ELEMENTARY_TRIG_INL_H_
#else
#define NN_OPS_ELEMENTARY_TRIG_INL_H_
#endif

#include <array>

#include "numeric/elementary_pair-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// 2^e * 2 / pi modulo 2^25, for each exponent e of a large argument, in pieces of 24 bits: an
// argument m 2^e with m a multiple of 2^-23 needs no more of 2 / pi to know its quadrant.
struct PiTable {
  static constexpr int kFirst = 16;
  static constexpr int kCount = 128 - kFirst;
  std::array<std::array<float, kCount>, 4> pieces;

  static constexpr PiTable Make() {
    // 2 / pi to 224 bits after the point.
    constexpr uint32_t kBits[7] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                   0xDB629599, 0x3C439041, 0xFE5163AB};
    constexpr float kUnits[4] = {0x1p1f, 0x1p-23f, 0x1p-47f, 0x1p-71f};
    PiTable t{};
    for (int e = kFirst; e < 128; ++e)
      for (int piece = 0; piece < 4; ++piece) {
        uint32_t v = 0;
        for (int i = e - 24 + 24 * piece; i < e + 24 * piece; ++i)  // bit i has weight 2^-i
          v = v << 1 | (i < 1 ? 0 : kBits[(i - 1) / 32] >> (31 - (i - 1) % 32) & 1);
        t.pieces[static_cast<size_t>(piece)][static_cast<size_t>(e - kFirst)] =
            static_cast<float>(v) * kUnits[piece];
      }
    return t;
  }
};
inline constexpr PiTable kPiTable = PiTable::Make();

template <class M>
struct TrigFunctions {
  using V = typename M::V;
  using I = typename M::I;
  using Mask = typename M::Mask;
  using P = Pair<M>;

  // Largest error 0.8 ULP.
  static NN_INLINE V Sin(V x) {
    const Reduced r = Reduce(M::Abs(x));
    const Mask odd = M::EqI(M::AndI(r.quadrant, M::SetI(1)), M::SetI(1));
    const V y = M::Select(odd, CosOf(r.rest), SinOf(r.rest));
    const I sign = M::XorI(M::template Shl<30>(M::AndI(r.quadrant, M::SetI(2))), SignOf(x));
    return M::Select(M::Lt(M::Abs(x), M::Set(kTiny)), x, M::FromBits(M::XorI(M::Bits(y), sign)));
  }

  // Largest error 0.8 ULP.
  static NN_INLINE V Cos(V x) {
    const Reduced r = Reduce(M::Abs(x));
    const Mask odd = M::EqI(M::AndI(r.quadrant, M::SetI(1)), M::SetI(1));
    const V y = M::Select(odd, SinOf(r.rest), CosOf(r.rest));
    // Negative in quadrants 1 and 2.
    const I sign = M::template Shl<30>(M::AndI(M::AddI(r.quadrant, M::SetI(1)), M::SetI(2)));
    return M::FromBits(M::XorI(M::Bits(y), sign));
  }

  // Largest error 1.5 ULP.
  static NN_INLINE V Tan(V x) {
    const Reduced r = Reduce(M::Abs(x));
    const V u = M::Mul(r.rest.hi, r.rest.hi);
    // (tan(a) / a - 1) / a^2 in a^2 on [0, pi / 4], 2^-28.5.
    const V p = Polynomial<M>(u, 0x1.555562p-2f, 0x1.110d80p-3f, 0x1.badc1ap-5f, 0x1.5cadcap-6f,
                              0x1.63200cp-7f, 0x1.6e56f6p-14f, 0x1.1ee19ap-8f);
    const V low = M::Fma(u, r.rest.lo, r.rest.lo);
    const P t = P::FastSum(r.rest.hi, M::Fma(M::Mul(r.rest.hi, u), p, low));
    // -1 / t in odd quadrants.
    const V q = M::Div(M::Set(-1.0f), t.hi);
    const V error = M::Fma(q, t.lo, M::Fma(q, t.hi, M::Set(1.0f)));
    const Mask odd = M::EqI(M::AndI(r.quadrant, M::SetI(1)), M::SetI(1));
    const V y = M::Select(odd, M::Fma(q, error, q), t.hi);
    return M::Select(M::Lt(M::Abs(x), M::Set(kTiny)), x,
                     M::FromBits(M::XorI(M::Bits(y), SignOf(x))));
  }

 private:
  // Below this sin(x) and tan(x) are x.
  static constexpr float kTiny = 0x1p-13f;
  // Up to here three parts of pi / 2 are sufficient.
  static constexpr float kLarge = 0x1p17f;

  // x = quadrant * pi / 2 + rest, |rest| up to pi / 4 (1 + 2^-20), to about 2^-26 of the rest.
  struct Reduced {
    P rest;
    I quadrant;
  };

  static NN_INLINE I SignOf(V x) { return M::AndI(M::Bits(x), M::SetI(INT32_MIN)); }

  // For x >= 0; the rest is NaN for infinity and NaN.
  static NN_INLINE Reduced Reduce(V x) {
    const V shift = M::Set(0x1.8p23f);
    const V shifted = M::Fma(x, M::Set(0x1.45f306p-1f), shift);
    const V k = M::Sub(shifted, shift);
    // x - k c1 is exact: a multiple of 2^-24 below 1.
    const V first = M::Fnma(k, M::Set(0x1.921fb6p+0f), x);
    const P second = P::Product(k, M::Set(0x1.777a5cp-25f));
    const P sum = P::Sum(first, second.hi);
    const V low = M::Add(sum.lo, M::Fma(k, M::Set(0x1.ee59dap-50f), second.lo));
    Reduced r = {P::Sum(sum.hi, low), M::Bits(shifted)};
    const Mask large = M::Gt(x, M::Set(kLarge));
    if (M::AnyTrue(large)) {
      const Reduced l = ReduceLarge(x);
      r.rest.hi = M::Select(large, l.rest.hi, r.rest.hi);
      r.rest.lo = M::Select(large, l.rest.lo, r.rest.lo);
      r.quadrant = M::SelectI(large, l.quadrant, r.quadrant);
    }
    return r;
  }

  // For x >= 2^16, by a product with as many bits of 2 / pi as the exponent requires.
  static NN_INLINE Reduced ReduceLarge(V x) {
    const I bits = M::Bits(M::Max(x, M::Set(0x1p16f)));
    const I exponent = M::SubI(M::template Shr<23>(bits), M::SetI(127 + PiTable::kFirst));
    const I index = M::SelectI(M::Lt(x, Infinity<M>()), exponent, M::SetI(0));
    const V m = M::FromBits(M::OrI(M::AndI(bits, M::SetI(0x7FFFFF)), M::SetI(0x3F800000)));
    const auto piece = [&](size_t i) { return M::Gather(kPiTable.pieces[i].data(), index); };
    const P p0 = P::Product(m, piece(0));
    const P p1 = P::Product(m, piece(1));
    const P p2 = P::Product(m, piece(2));
    const V p3 = M::Mul(m, piece(3));
    // Remove whole quadrants, then add the fractions from the largest down.
    const V k0 = M::Round(p0.hi);
    const P s0 = P::Sum(p0.lo, p1.hi);
    const V k1 = M::Round(s0.hi);
    const P s1 = P::Sum(M::Sub(p0.hi, k0), M::Sub(s0.hi, k1));
    const V k2 = M::Round(s1.hi);
    const P s2 = P::Sum(M::Sub(s1.hi, k2), p2.hi);
    const P s3 = P::Sum(s2.hi, p1.lo);
    const P s4 = P::Sum(s3.hi, s0.lo);
    const P s5 = P::Sum(s4.hi, s1.lo);
    const V low = M::Add(M::Add(M::Add(s2.lo, s3.lo), M::Add(s4.lo, s5.lo)), M::Add(p2.lo, p3));
    const P f = P::Sum(s5.hi, low);
    P rest = P::Times({M::Set(0x1.921fb6p+0f), M::Set(-0x1.777a5cp-25f)}, f.hi);
    rest.lo = M::Fma(f.lo, M::Set(0x1.921fb6p+0f), rest.lo);
    rest.hi = M::Add(rest.hi, M::Sub(x, x));
    return {rest, M::AddI(M::ToInt(k0), M::AddI(M::ToInt(k1), M::ToInt(k2)))};
  }

  static NN_INLINE V SinOf(P r) {
    const V u = M::Mul(r.hi, r.hi);
    // (sin(a) / a - 1) / a^2 in a^2 on [0, pi / 4], 2^-27.8.
    const V p = Polynomial<M>(u, -0x1.555544p-3f, 0x1.11071ap-7f, -0x1.9943b0p-13f);
    const V low = M::Fnma(M::Mul(M::Set(0.5f), u), r.lo, r.lo);
    return M::Add(r.hi, M::Fma(M::Mul(r.hi, u), p, low));
  }

  static NN_INLINE V CosOf(P r) {
    const P square = P::Product(r.hi, r.hi);
    const V u = square.hi;
    // (cos(a) - 1 + a^2 / 2) / a^4 in a^2 on [0, pi / 4], 2^-32.2.
    const V p = Polynomial<M>(u, 0x1.55554ep-5f, -0x1.6c0e40p-10f, 0x1.9a6f1ap-16f);
    const P parabola = P::FastSum(M::Set(1.0f), M::Mul(M::Set(-0.5f), u));
    const V low = M::Fnma(M::Set(0.5f), square.lo, M::Fnma(r.hi, r.lo, parabola.lo));
    return M::Add(parabola.hi, M::Fma(M::Mul(u, u), p, low));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_TRIG_INL_H_

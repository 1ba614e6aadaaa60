// The exponential and functions built on it alone. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_EXP_INL_H_
#undef NN_OPS_ELEMENTARY_EXP_INL_H_
#else
#define NN_OPS_ELEMENTARY_EXP_INL_H_
#endif

#include "numeric/elementary_pair-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct ExpFunctions {
  using V = typename M::V;
  using I = typename M::I;
  using Mask = typename M::Mask;
  using P = Pair<M>;

  // e^x. Largest error 0.9 ULP.
  static NN_INLINE V Exp(V x) {
    // Beyond these the result is 0 or infinity.
    const V c = M::Max(M::Set(-104.0f), M::Min(M::Set(89.0f), x));
    return Scaled(Split(c), c);
  }

  // 2^x. Largest error 0.9 ULP.
  static NN_INLINE V Exp2(V x) {
    const V c = M::Max(M::Set(-151.0f), M::Min(M::Set(129.0f), x));
    const V shifted = M::Add(c, M::Set(kShift));
    const V f = M::Sub(c, M::Sub(shifted, M::Set(kShift)));
    return Scaled({shifted, TOf(P::Times(Log2(), f))}, c);
  }

  // 2^(hi + lo); requires hi in [-160, 130] or NaN.
  static NN_INLINE V Exp2Pair(P x) {
    const V shifted = M::Add(x.hi, M::Set(kShift));
    const V f = M::Sub(x.hi, M::Sub(shifted, M::Set(kShift)));
    const P s = P::Sum(f, x.lo);
    P r = P::Times(Log2(), s.hi);
    r.lo = M::Fma(s.lo, Log2().hi, r.lo);
    return Scaled({shifted, TOf(r)}, x.hi);
  }

  // e^x - 1. Largest error 1.5 ULP.
  static NN_INLINE V Expm1(V x) {
    const V c = M::Max(M::Set(-20.0f), M::Min(M::Set(89.0f), x));
    const Parts e = Split(c);
    // Half of 2^n (1 + t) - 1, so that 2^n stays finite.
    const V half = M::Set(0.5f);
    const V s = M::FromBits(M::SubI(e.Pow2Bits(), M::SetI(1 << 23)));
    const V y = M::Fma(s, e.t, M::Sub(s, half));
    const V doubled = M::Add(y, y);
    return M::Select(M::Lt(M::Abs(x), M::Set(0x1p-30f)), x, doubled);
  }

  // (e^x - e^-x) / 2. Largest error 1.6 ULP.
  static NN_INLINE V Sinh(V x) {
    const V a = M::Abs(x);
    const V g = QuarterExp(a);
    const V y = M::Sub(g, M::Div(M::Set(0.0625f), g));
    const V u = M::Mul(a, a);
    // (sinh(a) / a - 1) / a^2 on [0, 1], 2^-29.4.
    const V p = Polynomial<M>(u, 0x1.555556p-3f, 0x1.111124p-7f, 0x1.9ffe70p-13f, 0x1.7a1586p-19f);
    const V small = M::Fma(M::Mul(a, u), p, a);
    return M::CopySign(M::Select(M::Lt(a, M::Set(1.0f)), small, M::Add(y, y)), x);
  }

  // (e^x + e^-x) / 2. Largest error 1.6 ULP.
  static NN_INLINE V Cosh(V x) {
    const V g = QuarterExp(M::Abs(x));
    const V y = M::Add(g, M::Div(M::Set(0.0625f), g));
    return M::Add(y, y);
  }

  // Largest error 1 ULP.
  static NN_INLINE V Tanh(V x) {
    const V a = M::Abs(x);
    // a >= 1: 1 - 2 / (e^2a + 1), from e^2a = 2^n (1 + t).
    const V c = M::Min(M::Set(9.5f), a);
    const Parts e = Split(M::Add(c, c));
    const V s = e.Pow2();
    const V one = M::Set(1.0f);
    const V big = M::Sub(one, M::Div(M::Set(2.0f), M::Fma(s, e.t, M::Add(s, one))));
    // (tanh(a) / a - 1) / a^2 on [0, 1], 2^-27.6.
    const V u = M::Mul(a, a);
    const V p = Polynomial<M>(u, -0x1.55553cp-2f, 0x1.110be4p-3f, -0x1.b96234p-5f, 0x1.6009aep-6f,
                              -0x1.0460e4p-7f, 0x1.2da54ap-9f, -0x1.77dda4p-12f);
    const V small = M::Fma(M::Mul(a, u), p, a);
    return M::CopySign(M::Select(M::Lt(a, one), small, big), x);
  }

  // 1 / (1 + e^-x). Largest error 1 ULP.
  static NN_INLINE V Sigmoid(V x) {
    const V q = M::Mul(LogisticTail(Split(TailArgument(x))), M::Set(0x1p-32f));
    return M::Select(M::Lt(x, M::Set(0.0f)), q, M::Sub(M::Set(1.0f), q));
  }

  // x / (1 + e^-x). Largest error 1.7 ULP.
  static NN_INLINE V Silu(V x) { return TimesLogistic(x, Split(TailArgument(x))); }

  // x tanh(log(1 + e^x)). Largest error 1.5 ULP.
  static NN_INLINE V Mish(V x) {
    const V one = M::Set(1.0f);
    const V two = M::Set(2.0f);
    const V zero = M::Set(0.0f);
    const Mask negative = M::Lt(x, zero);
    const Parts parts = Split(M::Neg(TailArgument(x)));
    const V s = M::FromBits(M::AddI(parts.Pow2Bits(), M::SetI(32 << 23)));  // 2^(n + 32)
    const P p = P::FastSum(one, parts.t);
    // With e = e^-|x|: e (2 + e) / (2 + e (2 + e)) below zero, (1 + 2e) / (1 + 2e + 2ee) above.
    const V e = M::Mul(M::Mul(p.hi, s), M::Set(0x1p-32f));
    const V e2 = M::Add(e, e);
    const P n = P::FastSum(M::Select(negative, two, one), M::Select(negative, e, e2));
    const P product = P::Product(e, M::Select(negative, n.hi, e2));
    P d = P::Sum(M::Select(negative, two, n.hi), product.hi);
    d.lo = M::Add(d.lo, M::Add(product.lo, M::Select(negative, zero, n.lo)));
    const V q = M::Div(n.hi, d.hi);
    const V rest = M::Add(M::Fnma(q, d.hi, n.hi), M::Fnma(q, d.lo, n.lo));
    const P quotient = {q, M::Div(rest, d.hi)};
    // Below -kTail the result rounds to -0.
    const P factor = P::Times(p, M::Max(M::Set(-kTail), x));
    const V below = M::Fma(factor.hi, q, M::Fma(factor.hi, quotient.lo, M::Mul(factor.lo, q)));
    const V above = M::Fma(x, q, M::Mul(x, quotient.lo));
    const V y = M::Select(negative, M::Mul(M::Mul(below, s), M::Set(0x1p-32f)), above);
    return M::Select(M::Gt(x, M::Set(20.0f)), x, y);
  }

  // ---- Building blocks ----

  // Adding this to a float below 2^22 rounds it to an integer n; the lowest bits of the sum then
  // hold n plus the exponent bias.
  static constexpr float kShift = 0x1.8p23f + 127.0f;
  // x e^-x rounds to 0 from here on.
  static constexpr float kTail = 109.0f;

  // 2^n (1 + t), with |t| < 0.4143.
  struct Parts {
    V shifted;  // n + kShift
    V t;

    // The bits of 2^n, for n in [-126, 127].
    NN_INLINE I Pow2Bits() const { return M::template Shl<23>(M::Bits(shifted)); }
    NN_INLINE V Pow2() const { return M::FromBits(Pow2Bits()); }
  };

  // (e^r - 1 - r) / r^2 on [-log(2) / 2, log(2) / 2]; for e^r 2^-28.1.
  static NN_INLINE V Tail(V r) {
    return Polynomial<M>(r, 0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.5558c2p-5f, 0x1.123d4ep-7f,
                         0x1.6a2438p-10f);
  }

  static NN_INLINE P Log2() { return {M::Set(0x1.62e430p-1f), M::Set(-0x1.05c610p-29f)}; }

  // e^r - 1 for |r| up to about log(2) / 2.
  static NN_INLINE V TOf(P r) { return M::Add(r.hi, M::Fma(M::Mul(r.hi, r.hi), Tail(r.hi), r.lo)); }

  // e^x as 2^n (1 + t).
  static NN_INLINE Parts Split(V x) {
    const V shifted = M::Fma(x, M::Set(0x1.715476p+0f), M::Set(kShift));
    const V n = M::Sub(shifted, M::Set(kShift));
    // The first part of log(2) has 15 bits: its product with n is exact, and so is the difference.
    const V high = M::Fnma(n, M::Set(0x1.62e400p-1f), x);
    const V low = M::Mul(n, M::Set(0x1.7f7d1cp-20f));
    const V r = M::Sub(high, low);
    return {shifted, M::Add(high, M::Fms(M::Mul(r, r), Tail(r), low))};
  }

  // e^(hi + lo) as 2^n (1 + t).
  static NN_INLINE Parts Split(P x) {
    const V shifted = M::Fma(x.hi, M::Set(0x1.715476p+0f), M::Set(kShift));
    const V n = M::Sub(shifted, M::Set(kShift));
    const V high = M::Fnma(n, M::Set(0x1.62e400p-1f), x.hi);
    return {shifted, TOf(P::FastSum(high, M::Fnma(n, M::Set(0x1.7f7d1cp-20f), x.lo)))};
  }

  // 2^n (1 + t) for n in [-160, 130]; `like` has the sign of n unless n is small.
  static NN_INLINE V Scaled(Parts e, V like) {
    const V p = M::Add(M::Set(1.0f), e.t);
    // In two factors; the second one overflows and rounds correctly.
    const V factor = M::Select(M::Lt(like, M::Set(0.0f)), M::Set(0x1p-64f), M::Set(0x1p64f));
    const I bits = M::AddI(M::SubI(e.Pow2Bits(), M::Bits(factor)), M::SetI(127 << 23));
    return M::Mul(M::Mul(p, M::FromBits(bits)), factor);
  }

  // e^a / 4 for a >= 0.
  static NN_INLINE V QuarterExp(V a) {
    const Parts e = Split(M::Min(M::Set(89.5f), a));
    const V s = M::FromBits(M::SubI(e.Pow2Bits(), M::SetI(2 << 23)));
    return M::Fma(s, e.t, s);
  }

  static NN_INLINE V TailArgument(V x) { return M::Min(M::Set(kTail), M::Abs(x)); }

  // 2^32 / (1 + e^a) for a in [0, kTail]: never subnormal.
  static NN_INLINE V LogisticTail(Parts e) {
    // d = 2^-32 + 2^(n - 32) (1 + t) with its rounding errors.
    const V s = M::FromBits(M::SubI(e.Pow2Bits(), M::SetI(32 << 23)));
    const P base = P::FastSum(s, M::Set(0x1p-32f));
    const V d = M::Fma(s, e.t, base.hi);
    const V low = M::Add(M::Fma(s, e.t, M::Sub(base.hi, d)), base.lo);
    const V one = M::Set(1.0f);
    const V q = M::Div(one, d);
    return M::Fma(q, M::Fnma(q, low, M::Fnma(q, d, one)), q);
  }

  // x / (1 + e^-w), from e^|w|, where w has the sign of x and |w| >= |x|.
  static NN_INLINE V TimesLogistic(V x, Parts e) {
    // Below -kTail the product rounds to -0; above 32 it rounds to x.
    const V c = M::Max(M::Set(-kTail), x);
    const V tail = M::Mul(M::Mul(c, LogisticTail(e)), M::Set(0x1p-32f));
    const V y = M::Select(M::Lt(x, M::Set(0.0f)), tail, M::Sub(x, tail));
    return M::Select(M::Gt(x, M::Set(32.0f)), x, y);
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_EXP_INL_H_

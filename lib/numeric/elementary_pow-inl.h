// Powers. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_POW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_POW_INL_H_
#undef NN_OPS_ELEMENTARY_POW_INL_H_
#else
#define NN_OPS_ELEMENTARY_POW_INL_H_
#endif

#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_pair-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct PowFunctions {
  using V = typename M::V;
  using I = typename M::I;
  using Mask = typename M::Mask;
  using P = Pair<M>;

  // x^y by the rules of IEEE 754-2019, 9.2: pow(x, 0) and pow(1, y) are 1 even for NaN. Largest
  // error seen 0.6 ULP.
  static NN_INLINE V Pow(V x, V y) {
    const V zero = M::Set(0.0f);
    const V one = M::Set(1.0f);
    const V a = M::Abs(x);
    V magnitude = PowOfPositive(a, y);
    const Mask negative = M::Lt(M::CopySign(one, x), zero);
    const V half = M::Mul(y, M::Set(0.5f));
    const Mask whole = M::Eq(M::Floor(y), y);
    const Mask odd = M::And(whole, M::Not(M::Eq(M::Floor(half), half)));
    V r = M::Select(M::And(negative, odd), M::Neg(magnitude), magnitude);
    const Mask undefined = M::And(M::And(M::Lt(x, zero), M::Not(whole)), M::Lt(a, Infinity<M>()));
    r = M::Select(M::Or(undefined, M::IsNan(y)), QuietNan<M>(), r);
    return M::Select(M::Or(M::Eq(y, zero), M::Eq(x, one)), one, r);
  }

  // a^y for a >= 0, not for y = NaN.
  static NN_INLINE V PowOfPositive(V a, V y) {
    const P l = Log2(a);
    // y log2(a), clamped where the result is 0 or infinity; only a = 1 gives NaN, for infinite y.
    const V p = M::Mul(y, l.hi);
    const V c = M::Max(M::Set(-160.0f), M::Min(M::Set(130.0f), p));
    const V low = M::Fma(y, l.lo, M::Fms(y, l.hi, p));
    const Mask inside = M::Eq(c, p);
    const V r = ExpFunctions<M>::Exp2Pair({c, M::Select(inside, low, M::Set(0.0f))});
    return M::Select(M::Eq(a, M::Set(1.0f)), a, r);
  }

 private:
  // log2(x) for x >= 0 to about 2^-40 of its size; -infinity for 0.
  static NN_INLINE P Log2(V x) {
    const V one = M::Set(1.0f);
    const V zero = M::Set(0.0f);
    const Mask subnormal = M::Lt(x, M::Set(0x1p-126f));
    const I bits = M::Bits(M::Select(subnormal, M::Mul(x, M::Set(0x1p25f)), x));
    const I k = M::template Shr<23>(M::SubI(bits, M::SetI(0x3F3504F3)));
    const V m = M::FromBits(M::SubI(bits, M::template Shl<23>(k)));
    const V e = M::Add(M::ToFloat(k), M::Select(subnormal, M::Set(-25.0f), zero));
    // z = (m - 1) / (m + 1) with its error, |z| < 0.1716.
    const V n = M::Sub(m, one);
    const P d = P::FastSum(one, m);
    const V q = M::Div(n, d.hi);
    const P z = {q, M::Div(M::Fnma(q, d.lo, M::Fnma(q, d.hi, n)), d.hi)};
    // atanh(z) = z (1 + s), s = u / 3 + u^2 (...), u = z^2.
    P u = P::Product(z.hi, z.hi);
    u.lo = M::Fma(M::Add(z.hi, z.hi), z.lo, u.lo);
    // (atanh(z) / z - 1 - u / 3) / u^2 on [0, 0.1717^2]; for atanh(z) 2^-36.8.
    const V c = Polynomial<M>(u.hi, 0x1.999a00p-3f, 0x1.245278p-3f, 0x1.dfa3b6p-4f);
    P s = P::Times(u, M::Set(0x1.555556p-2f));
    s.lo = M::Fma(u.hi, M::Set(-0x1.555556p-27f), s.lo);
    const P t = P::FastSum(s.hi, M::Mul(M::Mul(u.hi, u.hi), c));
    const P g = P::Times({t.hi, M::Add(t.lo, s.lo)}, z.hi);
    P r = P::FastSum(z.hi, g.hi);
    r.lo = M::Add(r.lo, M::Add(M::Fma(z.lo, t.hi, z.lo), g.lo));
    // times 2 / log(2)
    P w = P::Times(r, M::Set(0x1.715476p+1f));
    w.lo = M::Fma(r.hi, M::Set(0x1.4ae0c0p-25f), w.lo);
    P sum = P::FastSum(e, w.hi);
    sum.lo = M::Add(sum.lo, w.lo);
    const Mask finite = M::And(M::Gt(x, zero), M::Lt(x, Infinity<M>()));
    const V limit = M::Select(M::Eq(x, zero), M::Neg(Infinity<M>()), x);
    return {M::Select(finite, sum.hi, limit), M::Select(finite, sum.lo, zero)};
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_POW_INL_H_

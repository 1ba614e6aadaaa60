// The logarithm and functions built on it. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_LOG_INL_H_
#undef NN_OPS_ELEMENTARY_LOG_INL_H_
#else
#define NN_OPS_ELEMENTARY_LOG_INL_H_
#endif

#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_pair-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct LogFunctions {
  using V = typename M::V;
  using I = typename M::I;
  using Mask = typename M::Mask;
  using P = Pair<M>;

  // log(x). Largest error 1 ULP.
  static NN_INLINE V Log(V x) {
    const Mask subnormal = M::Lt(x, M::Set(0x1p-126f));
    const V scaled = M::Select(subnormal, M::Mul(x, M::Set(0x1p25f)), x);
    const V e = M::Select(subnormal, M::Set(-25.0f), M::Set(0.0f));
    V y = LogOfNormal(scaled, e, M::Set(0.0f));
    y = M::Select(M::Lt(x, Infinity<M>()), y, x);  // infinity and NaN
    y = M::Select(M::Eq(x, M::Set(0.0f)), M::Neg(Infinity<M>()), y);
    return M::Select(M::Lt(x, M::Set(0.0f)), QuietNan<M>(), y);
  }

  // log(1 + x). Largest error 1.1 ULP.
  static NN_INLINE V Log1p(V x) {
    const P u = P::Sum(M::Set(1.0f), x);
    V y = LogOfNormal(u.hi, M::Set(0.0f), M::Div(u.lo, u.hi));
    y = M::Select(M::Lt(M::Abs(x), M::Set(0x1p-25f)), x, y);
    y = M::Select(M::Lt(x, Infinity<M>()), y, x);
    y = M::Select(M::Eq(x, M::Set(-1.0f)), M::Neg(Infinity<M>()), y);
    return M::Select(M::Lt(x, M::Set(-1.0f)), QuietNan<M>(), y);
  }

  // log(1 + e^x). Largest error 2 ULP.
  static NN_INLINE V Softplus(V x) {
    const V e = ExpFunctions<M>::Exp(M::Neg(M::Abs(x)));
    return M::Add(M::Max(M::Set(0.0f), x), Log1p(e));
  }

  // Inverse of Sinh. Largest error 1.2 ULP.
  static NN_INLINE V Asinh(V x) {
    const V a = M::Abs(x);
    const Mask big = M::Gt(a, M::Set(kBig));
    // log(a + sqrt(1 + a^2)), the root with its rounding error.
    const P square = P::Product(a, a);
    const P sum = P::Sum(M::Set(1.0f), square.hi);
    const P z = {sum.hi, M::Add(sum.lo, square.lo)};
    V y = LogOfSum(z, a, big);
    y = M::Select(M::Lt(a, M::Set(0x1p-13f)), a, y);
    return M::CopySign(M::Select(M::Lt(a, Infinity<M>()), y, a), x);
  }

  // Inverse of Cosh. Largest error 1.2 ULP.
  static NN_INLINE V Acosh(V x) {
    const Mask big = M::Gt(x, M::Set(kBig));
    const P square = P::Product(x, x);
    const P sum = P::Sum(square.hi, M::Set(-1.0f));
    const P z = P::Sum(sum.hi, M::Add(sum.lo, square.lo));
    V y = LogOfSum(z, x, big);
    y = M::Select(M::Lt(x, Infinity<M>()), y, x);
    return M::Select(M::Lt(x, M::Set(1.0f)), QuietNan<M>(), y);
  }

  // Inverse of Tanh. Largest error 1.2 ULP.
  static NN_INLINE V Atanh(V x) {
    const V one = M::Set(1.0f);
    const V a = M::Abs(x);
    const P n = P::FastSum(one, a);
    const P d = P::FastSum(one, M::Neg(a));
    const V q = M::Div(n.hi, d.hi);
    const V rest = M::Add(M::Fnma(q, d.hi, n.hi), M::Fnma(q, d.lo, n.lo));
    // log(q + rest / d): the correction relative to q is rest / n.
    const V y = M::Mul(M::Set(0.5f), LogOfNormal(q, M::Set(0.0f), M::Div(rest, n.hi)));
    V magnitude = M::Select(M::Lt(a, M::Set(0x1p-13f)), a, y);
    magnitude = M::Select(M::Eq(a, one), Infinity<M>(), magnitude);
    magnitude = M::Select(M::Gt(a, one), QuietNan<M>(), magnitude);
    return M::CopySign(magnitude, x);
  }

 protected:
  // From here on asinh and acosh are log(2x) to all bits.
  static constexpr float kBig = 4096.0f;

  // log(x 2^e (1 + d)) for a normal x > 0, |e| < 128 and |d| up to about 2^-24.
  static NN_INLINE V LogOfNormal(V x, V e, V d) {
    // x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
    const I bits = M::Bits(x);
    const I k = M::template Shr<23>(M::SubI(bits, M::SetI(0x3F3504F3)));
    const V f = M::Sub(M::FromBits(M::SubI(bits, M::template Shl<23>(k))), M::Set(1.0f));
    e = M::Add(e, M::ToFloat(k));
    // (log(1 + f) - f + f^2 / 2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1]; for log(1 + f) 2^-27.3.
    const V p = Polynomial<M>(f, 0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a00ep-3f, -0x1.547264p-3f,
                              0x1.22da56p-3f, -0x1.0d8552p-3f, 0x1.0559f2p-3f, -0x1.38b086p-4f);
    const V tail = M::Mul(M::Mul(f, f), M::Fma(f, p, M::Set(-0.5f)));
    // The first part of log(2) has 15 bits: its product with e is exact.
    const P head = P::FastSum(M::Mul(e, M::Set(0x1.62e400p-1f)), f);
    const V low = M::Add(M::Fma(e, M::Set(0x1.7f7d1cp-20f), tail), M::Add(head.lo, d));
    return M::Add(head.hi, low);
  }

  // log(x + sqrt(z)) for 0 <= x <= sqrt(z) (1 + 2^-20) or the reverse; log(2x) where `big`.
  static NN_INLINE V LogOfSum(P z, V x, Mask big) {
    const V s = M::Sqrt(z.hi);
    const V guard = M::Max(M::Set(0x1p-40f), s);
    const V error = M::Div(M::Add(M::Fnma(s, s, z.hi), z.lo), M::Add(guard, guard));
    const P u = P::Sum(s, x);
    const V low = M::Div(M::Add(u.lo, error), u.hi);
    const V zero = M::Set(0.0f);
    return LogOfNormal(M::Select(big, x, u.hi), M::Select(big, M::Set(1.0f), zero),
                       M::Select(big, zero, low));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_LOG_INL_H_

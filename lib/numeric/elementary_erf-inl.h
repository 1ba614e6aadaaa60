// The error function and the normal distribution function. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_ERF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_ERF_INL_H_
#undef NN_OPS_ELEMENTARY_ERF_INL_H_
#else
#define NN_OPS_ELEMENTARY_ERF_INL_H_
#endif

#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_pair-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct ErfFunctions {
  using V = typename M::V;
  using I = typename M::I;
  using Mask = typename M::Mask;
  using P = Pair<M>;
  using Exponential = ExpFunctions<M>;

  // Largest error 1 ULP.
  static NN_INLINE V Erf(V x) {
    const V a = M::Abs(x);
    // erf(a) / a - 1 in a^2 on [0, 1], 2^-29.3.
    const V u = M::Mul(a, a);
    const V p = Polynomial<M>(u, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cf8p-4f, -0x1.b7f90cp-6f,
                              0x1.5405a8p-8f, -0x1.a3f72cp-11f, 0x1.496a5cp-14f);
    const V small = M::Fma(a, p, a);
    // sqrt(1 - erf(a)) in a - 1.75 on [1, 3.93]; for erf 2^-29.3. Beyond, erf rounds to 1.
    const V z = M::Sub(M::Min(M::Set(3.93f), a), M::Set(1.75f));
    const V r = Polynomial<M>(z, 0x1.d8e066p-4f, -0x1.d41a16p-3f, 0x1.63cd9cp-3f, -0x1.7d0184p-5f,
                              -0x1.da49a6p-7f, 0x1.9e3bfep-7f, -0x1.6686c4p-10f, -0x1.5a7472p-10f,
                              0x1.d0707cp-12f, 0x1.66c9ccp-15f, -0x1.76947cp-15f, 0x1.b5e2fap-18f);
    const V big = M::Fnma(r, r, M::Set(1.0f));
    return M::CopySign(M::Select(M::Lt(a, M::Set(1.0f)), small, big), x);
  }

  // x times the standard normal distribution function, x / 2 (1 + erf(x / sqrt(2))). Largest error
  // 2 ULP.
  static NN_INLINE V GeluErf(V x) {
    // From 15 on the tail times x rounds to 0.
    const V a = M::Min(M::Set(15.0f), M::Abs(x));
    const V tail = NormalTailTimes(a);
    const V big = M::Select(M::Lt(x, M::Set(0.0f)), M::Neg(tail), M::Sub(x, tail));
    // (distribution(x) - 1 / 2) / x in x^2 on [0, 1/2]; for the distribution 2^-28.6.
    const V p = Polynomial<M>(M::Mul(a, a), 0x1.988452p-2f, -0x1.105748p-4f, 0x1.466906p-7f,
                              -0x1.2662d4p-10f);
    const V small = M::Mul(x, M::Fma(x, p, M::Set(0.5f)));
    return M::Select(M::Lt(a, M::Set(0.5f)), small, big);
  }

  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x sigmoid(2w). Largest error 2 ULP.
  static NN_INLINE V GeluTanh(V x) {
    // 2w = x (c + d x^2), clamped where the sigmoid times x rounds to 0.
    const V a = M::Min(M::Set(11.0f), M::Abs(x));
    const P u = P::Product(a, a);
    const V d = M::Set(0x1.2444f2p-4f);
    P v = P::Product(u.hi, d);
    v.lo = M::Fma(u.lo, d, M::Fma(u.hi, M::Set(0x1.49b16ap-29f), v.lo));
    P sum = P::Sum(M::Set(0x1.988454p+0f), v.hi);
    sum.lo = M::Add(sum.lo, M::Add(v.lo, M::Set(-0x1.857936p-25f)));
    const P w = P::Times(sum, a);
    const V limit = M::Set(Exponential::kTail);
    const Mask in = M::Lt(w.hi, limit);
    return Exponential::TimesLogistic(
        x, Exponential::Split(P{M::Min(limit, w.hi), M::Select(in, w.lo, M::Set(0.0f))}));
  }

  // x sigmoid(1.702 x). Largest error 2 ULP.
  static NN_INLINE V GeluSigmoid(V x) {
    const V a = M::Min(M::Set(64.0f), M::Abs(x));
    return Exponential::TimesLogistic(
        x, Exponential::Split(P::Times({M::Set(0x1.b3b646p+0f), M::Set(-0x1.78d4fep-26f)}, a)));
  }

 private:
  // a times the upper tail of the normal distribution, for a in [0.5, 15].
  static NN_INLINE V NormalTailTimes(V a) {
    const V one = M::Set(1.0f);
    // y = 1 / (a + 4) and v = (a - 4) / (a + 4) = 1 - 8 y.
    const P d = P::Sum(M::Set(4.0f), a);
    const V r = M::Div(one, d.hi);
    const P y = {r, M::Mul(r, M::Fnma(r, d.lo, M::Fnma(r, d.hi, one)))};
    const V eight = M::Set(8.0f);
    const V v = M::Fnma(eight, y.lo, M::Fnma(eight, y.hi, one));
    // (a + 4) e^(a^2 / 2) times the tail, in v on [0.5, 14.5], 2^-28.0.
    const V rest = Polynomial<M>(v, -0x1.373e3ap-1f, 0x1.8c6dbep-2f, -0x1.7dff7ap-3f,
                                 0x1.eec57cp-5f, -0x1.edbd60p-8f, -0x1.c85afep-9f, 0x1.a42b2cp-10f,
                                 0x1.1db490p-13f, -0x1.766b40p-13f);
    const V first = M::Set(0x1.82b4bcp-1f);
    const V s = M::Fma(rest, v, first);
    const V s_low = M::Add(M::Fma(rest, v, M::Sub(first, s)), M::Set(-0x1.9579b2p-27f));
    const P w = P::Times({s, s_low}, a);
    P z = P::Times(w, y.hi);
    z.lo = M::Fma(w.hi, y.lo, z.lo);
    // e^(-a^2 / 2) = 2^n (1 + t), n in [-163, 0].
    const auto e = Exponential::Split(P::Product(a, M::Mul(a, M::Set(-0.5f))));
    const V scale = M::FromBits(M::AddI(e.Pow2Bits(), M::SetI(40 << 23)));  // 2^(n + 40)
    const V product = M::Add(z.hi, M::Fma(z.hi, e.t, M::Fma(z.lo, e.t, z.lo)));
    return M::Mul(M::Mul(product, scale), M::Set(0x1p-40f));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_ERF_INL_H_

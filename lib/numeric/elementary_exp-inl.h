// The exponential and functions built on it alone. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_EXP_INL_H_
#undef NN_OPS_ELEMENTARY_EXP_INL_H_
#else
#define NN_OPS_ELEMENTARY_EXP_INL_H_
#endif

#include "numeric/elementary_polynomial-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct ExpFunctions {
  using V = typename M::V;
  using W = typename M::Doubles;
  using R = typename W::V;

  // e^x.
  static NN_INLINE V Exp(V x) {
    // Beyond these the result is 0 or infinity.
    return M::Narrow(ExpOf(M::Widen(Clamped(-104.0f, 89.0f, x))));
  }

  // 2^x.
  static NN_INLINE V Exp2(V x) { return M::Narrow(Exp2Of(M::Widen(Clamped(-151.0f, 129.0f, x)))); }

  // e^x - 1.
  static NN_INLINE V Expm1(V x) {
    const V y = M::Narrow(Expm1Of(M::Widen(Clamped(-20.0f, 89.0f, x))));
    return M::Select(M::Eq(x, M::Set(0.0f)), x, y);
  }

  // (e^x - e^-x) / 2.
  static NN_INLINE V Sinh(V x) {
    const R e = Expm1Of(M::Widen(M::Min(M::Set(kOverflow), M::Abs(x))));
    const R twice = W::Add(e, W::Div(e, W::Add(e, W::Set(1))));
    return M::CopySign(M::Narrow(W::Mul(twice, W::Set(0.5))), x);
  }

  // (e^x + e^-x) / 2.
  static NN_INLINE V Cosh(V x) {
    const R e = ExpOf(M::Widen(M::Min(M::Set(kOverflow), M::Abs(x))));
    return M::Narrow(W::Mul(W::Add(e, W::Div(W::Set(1), e)), W::Set(0.5)));
  }

  static NN_INLINE V Tanh(V x) {
    // From 9.5 on the result rounds to 1.
    const V a = M::Min(M::Set(9.5f), M::Abs(x));
    const R e = Expm1Of(M::Widen(M::Add(a, a)));
    return M::CopySign(M::Narrow(W::Div(e, W::Add(e, W::Set(2)))), x);
  }

  // 1 / (1 + e^-x).
  static NN_INLINE V Sigmoid(V x) {
    return M::Narrow(Logistic(W::Set(1), M::Widen(Clamped(-kTail, kOne, x))));
  }

  // x / (1 + e^-x).
  static NN_INLINE V Silu(V x) {
    // Below -kTail the result rounds to -0.
    const V c = M::Max(M::Set(-kTail), x);
    return M::Narrow(Logistic(M::Widen(c), M::Widen(M::Min(M::Set(kOne), c))));
  }

  // x tanh(log(1 + e^x)).
  static NN_INLINE V Mish(V x) {
    const V c = M::Max(M::Set(-kTail), x);
    const R e = ExpOf(M::Widen(M::Min(M::Set(kOne), c)));
    const R two = W::Set(2);
    const R n = W::Mul(e, W::Add(e, two));
    return M::Narrow(W::Div(W::Mul(M::Widen(c), n), W::Add(n, two)));
  }

  // ---- Building blocks

  // e^x for |x| up to 200.
  static NN_INLINE R ExpOf(R x) { return PowerOf(kLog2E, x); }

  // e^x - 1 for |x| up to 200, to a small part of its size.
  static NN_INLINE R Expm1Of(R x) {
    const Parts e = Split(kLog2E, x);
    return W::Fma(e.power, e.rest, W::Sub(e.power, W::Set(1)));
  }

  // 2^x for |x| up to 300.
  static NN_INLINE R Exp2Of(R x) { return PowerOf(1, x); }

  // a / (1 + e^-x) for |x| up to 200.
  static NN_INLINE R Logistic(R a, R x) {
    return W::Div(a, W::Add(PowerOf(-kLog2E, x), W::Set(1)));
  }

  static NN_INLINE V Clamped(float low, float high, V x) {
    return M::Max(M::Set(low), M::Min(M::Set(high), x));
  }

  // x e^-x rounds to 0 from here on.
  static constexpr float kTail = 109.0f;
  // From here on sinh and cosh are infinite.
  static constexpr float kOverflow = 90.0f;
  // 1 + e^-x rounds to 1 from here on, in double precision too.
  static constexpr float kOne = 40.0f;

 private:
  static constexpr double kLog2E = 0x1.71547652b82fep+0;

  // 2^(a x) as power (1 + rest).
  struct Parts {
    R power;
    R rest;
  };

  static NN_INLINE Parts Split(double a, R x) {
    // Adding this rounds to an integer n; the lowest bits of the sum hold n plus the exponent bias.
    const R shift = W::Set(0x1.8p52 + 1023);
    const R shifted = W::Fma(x, W::Set(a), shift);
    const R f = W::Fma(x, W::Set(a), W::Sub(shift, shifted));
    // (2^f - 1) / f on [-1/2, 1/2], 2^-50.1.
    const R p = Polynomial<W>(
        f, {0x1.62e42fefa39f7p-1, 0x1.ebfbdff82c5a0p-3, 0x1.c6b08d70440c9p-5, 0x1.3b2ab6fba02f0p-7,
            0x1.5d87fe909e749p-10, 0x1.4309130f80946p-13, 0x1.ffcb764109dc8p-17,
            0x1.62bfc447a440ep-20, 0x1.b6575d486800ap-24, 0x1.e6230af0efba7p-28});
    return {W::FromBits(W::template Shl<52>(W::Bits(shifted))), W::Mul(f, p)};
  }

  static NN_INLINE R PowerOf(double a, R x) {
    const Parts e = Split(a, x);
    return W::Fma(e.power, e.rest, e.power);
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_EXP_INL_H_

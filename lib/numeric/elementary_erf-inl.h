// The error function and the normal distribution function. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_ERF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_ERF_INL_H_
#undef NN_OPS_ELEMENTARY_ERF_INL_H_
#else
#define NN_OPS_ELEMENTARY_ERF_INL_H_
#endif

#include <iterator>

#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_polynomial-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct ErfFunctions {
  using V = typename M::V;
  using W = typename M::Doubles;
  using R = typename W::V;
  using Exponential = ExpFunctions<M>;

  static NN_INLINE V Erf(V x) {
    // From 3.93 on the result rounds to 1.
    const R a = M::Widen(M::Min(M::Set(3.93f), M::Abs(x)));
    const auto big = W::Lt(W::Set(1.5), a);
    const auto c = [&](size_t i) {
      return W::Select(big, W::Set(kErfBig[i]), W::Set(kErfSmall[i]));
    };
    const R u = W::Select(big, W::Sub(a, W::Set(2.5)), W::Mul(a, a));
    const R p = PolynomialOf<W, std::size(kErfSmall)>(u, c);
    const R square = W::Mul(p, p);
    const R fourth = W::Mul(square, square);
    const R above = W::Fma(W::Sub(W::Set(0), fourth), fourth, W::Set(1));
    return M::CopySign(M::Narrow(W::Select(big, above, W::Mul(a, p))), x);
  }

  // x times the standard normal distribution function, x / 2 (1 + erf(x / sqrt(2))).
  static NN_INLINE V GeluErf(V x) {
    // From 15 on the tail times x rounds to 0.
    const R tail = NormalTailTimes(M::Widen(M::Min(M::Set(15.0f), M::Abs(x))));
    const R r = M::Widen(x);
    const auto negative = W::Lt(r, W::Set(0));
    // The sign is that of x, also of a 0, for which compilers disagree about the difference.
    return M::CopySign(M::Narrow(W::Sub(W::Select(negative, W::Set(0), r), tail)), x);
  }

  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x sigmoid(2w).
  static NN_INLINE V GeluTanh(V x) {
    // 2w = x (c + d x^2). Below -11 the result rounds to -0; above 11 it is x.
    const V c = M::Max(M::Set(-11.0f), x);
    const R r = M::Widen(M::Min(M::Set(11.0f), c));
    const R s = W::Fma(W::Mul(r, r), W::Set(0x1.2444f2a4d8b4bp-4), W::Set(0x1.9884533d43651p+0));
    return M::Narrow(Exponential::Logistic(M::Widen(c), W::Mul(r, s)));
  }

  // x sigmoid(1.702 x).
  static NN_INLINE V GeluSigmoid(V x) {
    // Below -64 the result rounds to -0; above 64 it is x.
    const V c = M::Max(M::Set(-64.0f), x);
    const R r = M::Widen(M::Min(M::Set(64.0f), c));
    return M::Narrow(Exponential::Logistic(M::Widen(c), W::Mul(r, W::Set(1.702))));
  }

 private:
  // erf(a) / a in a^2 on [0, 1.5], 2^-48.4.
  static constexpr double kErfSmall[] = {
      0x1.20dd750429b61p+0,  -0x1.812746b035ccbp-2,  0x1.ce2f219f8b6aep-4,  -0x1.b82ce2f62b034p-6,
      0x1.565bcac603d4bp-8,  -0x1.c02d7bed2c294p-11, 0x1.f99fb08168326p-14, -0x1.f4ad8736885e8p-17,
      0x1.b8d8e479e1e56p-20, -0x1.5a179c720cbbap-23, 0x1.d73b10cf93c9fp-27, -0x1.f361308faa13bp-31,
      0x1.2bf7a1bbfeba9p-35};
  // (1 - erf(a))^(1/8) in a - 2.5 on [1.5, 3.93]; for erf(a) 2^-48.7.
  static constexpr double kErfBig[] = {
      0x1.81ea833518aaap-2,   -0x1.0235ef894a6cap-2,  0x1.46cbc213cf9d7p-5,  0x1.55a101665a272p-7,
      -0x1.ea063ccba9221p-9,  -0x1.9dda7cd56ca35p-14, 0x1.6a7d1d6b7f419p-13, -0x1.c7f79372ed3ddp-17,
      -0x1.0f1e98e8212c4p-18, 0x1.54b0caeddca7fp-21,  0x1.fca8ba7f0444bp-25, -0x1.ec9d79eb6a3f2p-27,
      -0x1.763be25c812c4p-30};

  // a times the upper tail of the normal distribution, for a in [0, 15].
  static NN_INLINE R NormalTailTimes(R a) {
    // v = (a - 4) / (a + 4)
    const R four = W::Set(4);
    const R inverse = W::Div(W::Set(1), W::Add(a, four));
    const R v = W::Mul(W::Sub(a, four), inverse);
    // (a + 4) e^(a^2 / 2) times the tail, in v on [-1, 11 / 19], 2^-42.5.
    const R p =
        Polynomial<W>(v, {0x1.82b4bb8c951c5p-1, -0x1.373e3a893ed66p-1, 0x1.8c6dbf2c8c2e9p-2,
                          -0x1.7dff2bfc149b7p-3, 0x1.eec4ccc448bb8p-5, -0x1.ee2769384d0a8p-8,
                          -0x1.c81797dfc27f7p-9, 0x1.ab833df2dbd0cp-10, 0x1.17df85bbffcecp-13,
                          -0x1.e4ab4be938bbep-13, -0x1.39de6d173de6ap-19, 0x1.252e93faf853ep-15,
                          0x1.9e3f6714227c9p-20, -0x1.584d934173cacp-18, -0x1.332fe919b9fd9p-20,
                          0x1.0b72308904762p-24});
    const R power = Exponential::ExpOf(W::Mul(W::Mul(a, a), W::Set(-0.5)));
    return W::Mul(W::Mul(p, power), W::Mul(a, inverse));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_ERF_INL_H_

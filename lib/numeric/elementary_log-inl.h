// The logarithm and functions built on it. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_LOG_INL_H_
#undef NN_OPS_ELEMENTARY_LOG_INL_H_
#else
#define NN_OPS_ELEMENTARY_LOG_INL_H_
#endif

#include <cstdint>

#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_polynomial-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct LogFunctions {
  using V = typename M::V;
  using W = typename M::Doubles;
  using R = typename W::V;

  // log(x).
  static NN_INLINE V Log(V x) { return Limited(0.0f, x, M::Narrow(LogOf(Split(M::Widen(x))))); }

  // log(1 + x).
  static NN_INLINE V Log1p(V x) {
    const V y = Limited(-1.0f, x, M::Narrow(Log1pOf(M::Widen(x))));
    return M::Select(M::Eq(x, M::Set(0.0f)), x, y);
  }

  // log(1 + e^x).
  static NN_INLINE V Softplus(V x) {
    using E = ExpFunctions<M>;
    const V c = M::Max(M::Set(-E::kTail), M::Neg(M::Abs(x)));
    const R tail = Log1pOf(E::ExpOf(M::Widen(c)));
    return M::Narrow(W::Add(M::Widen(M::Max(M::Set(0.0f), x)), tail));
  }

  // Inverse of Sinh.
  static NN_INLINE V Asinh(V x) {
    const V a = M::Abs(x);
    const R r = M::Widen(a);
    const R one = W::Set(1);
    const R square = W::Mul(r, r);
    const R root = W::Sqrt(W::Add(square, one));
    const V y = M::Narrow(Log1pOf(W::Add(r, W::Div(square, W::Add(root, one)))));
    return M::CopySign(M::Select(M::Lt(a, Infinity<M>()), y, a), x);
  }

  // Inverse of Cosh.
  static NN_INLINE V Acosh(V x) {
    const R r = W::Sub(M::Widen(x), W::Set(1));
    const R root = W::Sqrt(W::Mul(r, W::Add(r, W::Set(2))));
    const V y = M::Select(M::Lt(x, Infinity<M>()), M::Narrow(Log1pOf(W::Add(r, root))), x);
    return M::Select(M::Lt(x, M::Set(1.0f)), QuietNan<M>(), y);
  }

  // Inverse of Tanh.
  static NN_INLINE V Atanh(V x) {
    const V one = M::Set(1.0f);
    const V a = M::Abs(x);
    const R r = M::Widen(a);
    const R twice = Log1pOf(W::Div(W::Add(r, r), W::Sub(W::Set(1), r)));
    const V y = M::Narrow(W::Mul(twice, W::Set(0.5)));
    const V outside = M::Select(M::Eq(a, one), Infinity<M>(), QuietNan<M>());
    return M::CopySign(M::Select(M::Lt(a, one), y, outside), x);
  }

  // ---- Building blocks

  // 2^exponent (1 + rest) with 1 + rest in [sqrt(1/2), sqrt(2)).
  struct Parts {
    R exponent;
    R rest;
  };

  // Of a normal, finite x > 0.
  static NN_INLINE Parts Split(R x) {
    constexpr int64_t kRoot = 0x3FE6A09E667F3BCD;
    const auto bits = W::AddI(W::Bits(x), W::SetI((int64_t{1023} << 52) - kRoot));
    const auto fraction = W::AndI(bits, W::SetI(0xFFFFFFFFFFFFF));
    const R m = W::FromBits(W::AddI(fraction, W::SetI(kRoot)));
    // The biased exponent as a number.
    const auto k = W::OrI(W::template Shr<52>(bits), W::Bits(W::Set(0x1p52)));
    return {W::Sub(W::FromBits(k), W::Set(0x1p52 + 1023)), W::Sub(m, W::Set(1))};
  }

  // log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)), to a small part of its size.
  static NN_INLINE R LogOfRest(R f) {
    // 2 atanh(s)
    const R s = W::Div(f, W::Add(f, W::Set(2)));
    const R u = W::Mul(s, s);
    // (2 atanh(s) / s - 2) / s^2 in s^2 on [0, 0.0294]; for the logarithm 2^-52.2.
    const R p =
        Polynomial<W>(u, {0x1.5555555553961p-1, 0x1.999999a294ba9p-2, 0x1.24924176c0e3fp-2,
                          0x1.c72278af549c5p-3, 0x1.732c103d37afdp-3, 0x1.58789483fdcfap-3});
    return W::Fma(W::Mul(s, u), p, W::Add(s, s));
  }

  // log(1 + x) for x > -1, to a small part of its size.
  static NN_INLINE R Log1pOf(R x) {
    Parts l = Split(W::Add(x, W::Set(1)));
    l.rest = W::Select(W::Eq(l.exponent, W::Set(0)), x, l.rest);
    return LogOf(l);
  }

 private:
  static NN_INLINE R LogOf(Parts l) {
    return W::Fma(l.exponent, W::Set(0x1.62e42fefa39efp-1), LogOfRest(l.rest));
  }

  // y, the result for x, except at the lowest argument, below it, and for infinity and NaN.
  static NN_INLINE V Limited(float lowest, V x, V y) {
    y = M::Select(M::Lt(x, Infinity<M>()), y, x);
    y = M::Select(M::Eq(x, M::Set(lowest)), M::Neg(Infinity<M>()), y);
    return M::Select(M::Lt(x, M::Set(lowest)), QuietNan<M>(), y);
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_LOG_INL_H_

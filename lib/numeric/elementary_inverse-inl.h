// Inverse trigonometric functions. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_INVERSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_INVERSE_INL_H_
#undef NN_OPS_ELEMENTARY_INVERSE_INL_H_
#else
#define NN_OPS_ELEMENTARY_INVERSE_INL_H_
#endif

#include <numbers>

#include "numeric/elementary_polynomial-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct InverseFunctions {
  using V = typename M::V;
  using W = typename M::Doubles;
  using R = typename W::V;

  static NN_INLINE V Asin(V x) {
    const R a = M::Widen(M::Abs(x));
    const auto small = W::Lt(a, W::Set(0.5));
    const R s = AsinOfHalf(a, small);
    // Above 1/2: pi / 2 - 2 asin(sqrt((1 - a) / 2)).
    const R above = W::Sub(W::Set(kHalfPi), W::Add(s, s));
    return M::CopySign(M::Narrow(W::Select(small, s, above)), x);
  }

  static NN_INLINE V Acos(V x) {
    const R r = M::Widen(x);
    const R a = W::Abs(r);
    const R zero = W::Set(0);
    const auto small = W::Lt(a, W::Set(0.5));
    const auto negative = W::Lt(r, zero);
    const R s = AsinOfHalf(a, small);
    // pi / 2 - s, or pi / 2 + s; from 1/2 on it is 2 s, or pi - 2 s.
    const R middle = W::Sub(W::Set(kHalfPi), W::Select(negative, W::Sub(zero, s), s));
    const R twice = W::Add(s, s);
    const R end = W::Select(negative, W::Sub(W::Set(2 * kHalfPi), twice), twice);
    return M::Narrow(W::Select(small, middle, end));
  }

  static NN_INLINE V Atan(V x) {
    const R a = M::Widen(M::Abs(x));
    const R one = W::Set(1);
    const R zero = W::Set(0);
    const auto above = W::Lt(W::Set(0.5), a);
    const auto far = W::Lt(W::Set(2), a);
    // a, (a - 1) / (a + 1) or -1 / a.
    const R n = W::Select(far, W::Set(-1), W::Select(above, W::Sub(a, one), a));
    const R d = W::Select(far, a, W::Select(above, W::Add(a, one), one));
    const R base = W::Select(far, W::Set(kHalfPi), W::Select(above, W::Set(kHalfPi / 2), zero));
    return M::CopySign(M::Narrow(W::Add(base, AtanOfHalf(W::Div(n, d)))), x);
  }

  // The angle of the point (x, y).
  static NN_INLINE V Atan2(V y, V x) {
    const R zero = W::Set(0);
    const R one = W::Set(1);
    const R infinity = W::Set(std::numeric_limits<double>::infinity());
    R ax = M::Widen(M::Abs(x));
    R ay = M::Widen(M::Abs(y));
    const auto behind = W::Lt(M::Widen(M::CopySign(M::Set(1.0f), x)), zero);
    // Infinity acts as 1 next to 0.
    const auto far = W::Eq(W::Max(ax, ay), infinity);
    const auto limited = [&](R v) {
      return W::Select(far, W::Select(W::Eq(v, infinity), one, W::Mul(zero, v)), v);
    };
    ax = limited(ax);
    ay = limited(ay);
    const auto steep = W::Lt(ax, ay);
    const R low = W::Select(steep, ax, ay);
    R high = W::Select(steep, ay, ax);
    high = W::Select(W::Eq(high, zero), one, high);
    // atan(low / high), by (low - high) / (low + high) when the quotient is above 1/2.
    const auto above = W::Lt(W::Mul(high, W::Set(0.5)), low);
    const R n = W::Select(above, W::Sub(low, high), low);
    const R d = W::Select(above, W::Add(low, high), high);
    // The angle is eighths of a turn, forward or back from an axis.
    const R forward = W::Select(behind, W::Set(-1), one);
    const R direction = W::Select(steep, W::Sub(zero, forward), forward);
    const R axis = W::Select(steep, W::Set(2), W::Select(behind, W::Set(4), zero));
    const R eighths = W::Add(axis, W::Select(above, direction, zero));
    const R base = W::Mul(eighths, W::Set(kHalfPi / 2));
    const R angle = W::Add(base, AtanOfHalf(W::Mul(W::Div(n, d), direction)));
    return M::CopySign(M::Narrow(angle), y);
  }

 private:
  static constexpr double kHalfPi = std::numbers::pi / 2;

  // asin(a) where `small`, else asin(sqrt((1 - a) / 2)); NaN above 1.
  template <class Mask>
  static NN_INLINE R AsinOfHalf(R a, Mask small) {
    const R half = W::Set(0.5);
    const R reflected = W::Mul(W::Sub(W::Set(1), a), half);
    const R z = W::Select(small, a, W::Sqrt(reflected));
    const R u = W::Select(small, W::Mul(a, a), reflected);
    // (asin(a) / a - 1) / a^2 in a^2 on [0, 1 / 4]; for asin(a) 2^-51.9.
    const R p = Polynomial<W>(
        u, {0x1.5555555556d77p-3, 0x1.3333333086091p-4, 0x1.6db6dd13de1eap-5, 0x1.f1c69b023695dp-6,
            0x1.6e97205bf06a1p-6, 0x1.1bab6d7cf0d6ap-6, 0x1.d563b8e435025p-7, 0x1.33075798c9488p-7,
            0x1.2ba05b194d967p-6, -0x1.816b76459e224p-7, 0x1.0292b89d098b0p-5});
    return W::Fma(W::Mul(z, u), p, z);
  }

  // atan(z) for |z| up to 1/2.
  static NN_INLINE R AtanOfHalf(R z) {
    const R u = W::Mul(z, z);
    // (atan(a) / a - 1) / a^2 in a^2 on [0, 1 / 4]; for atan(a) 2^-53.6.
    const R p =
        Polynomial<W>(u, {-0x1.555555555515bp-2, 0x1.99999999242d1p-3, -0x1.249248fee0884p-3,
                          0x1.c71c65ae5058cp-4, -0x1.745bf57c62ed2p-4, 0x1.3b028a8a6e9e2p-4,
                          -0x1.10653dd0552bap-4, 0x1.d8ccdab166da1p-5, -0x1.8587dc9a487e3p-5,
                          0x1.068110fecb5b7p-5, -0x1.94eb5dd7e141dp-7});
    return W::Fma(W::Mul(z, u), p, z);
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_INVERSE_INL_H_

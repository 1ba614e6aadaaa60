// Inverse trigonometric functions. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_INVERSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_INVERSE_INL_H_
#undef NN_OPS_ELEMENTARY_INVERSE_INL_H_
#else
#define NN_OPS_ELEMENTARY_INVERSE_INL_H_
#endif

#include "numeric/elementary_pair-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct InverseFunctions {
  using V = typename M::V;
  using I = typename M::I;
  using Mask = typename M::Mask;
  using P = Pair<M>;

  // Largest error 1.3 ULP.
  static NN_INLINE V Asin(V x) {
    const V a = M::Abs(x);
    const Mask small = M::Le(a, M::Set(0.5f));
    const P s = AsinOfHalf(a, small);
    // Above 1/2: pi / 2 - 2 asin(sqrt((1 - a) / 2)).
    const P head = P::FastSum(M::Set(kHalfPi), M::Mul(M::Set(-2.0f), s.hi));
    const V low = M::Fnma(M::Set(2.0f), s.lo, M::Add(head.lo, M::Set(kHalfPiLow)));
    return M::CopySign(M::Select(small, M::Add(s.hi, s.lo), M::Add(head.hi, low)), x);
  }

  // Largest error 1.3 ULP.
  static NN_INLINE V Acos(V x) {
    const V a = M::Abs(x);
    const Mask small = M::Le(a, M::Set(0.5f));
    const Mask negative = M::Lt(x, M::Set(0.0f));
    const P s = AsinOfHalf(a, small);
    // pi / 2 - s, or pi / 2 + s; beyond 1/2 it is 2 s, or pi - 2 s.
    const auto base = [&](float half_pi) {
      return M::Select(small, M::Set(half_pi),
                       M::Select(negative, M::Set(2 * half_pi), M::Set(0.0f)));
    };
    const V factor = M::Select(small, M::Select(negative, M::Set(1.0f), M::Set(-1.0f)),
                               M::Select(negative, M::Set(-2.0f), M::Set(2.0f)));
    const P head = P::FastSum(base(kHalfPi), M::Mul(factor, s.hi));
    const V low = M::Fma(factor, s.lo, M::Add(head.lo, base(kHalfPiLow)));
    return M::Add(head.hi, low);
  }

  // Largest error 1.6 ULP.
  static NN_INLINE V Atan(V x) {
    const V a = M::Abs(x);
    const Mask above = M::Gt(a, M::Set(0.5f));
    const Mask far = M::Gt(a, M::Set(2.0f));
    const V one = M::Set(1.0f);
    // a, (a - 1) / (a + 1) or -1 / a.
    const V n = M::Select(far, M::Neg(one), M::Select(above, M::Sub(a, one), a));
    const V d = M::Select(far, a, M::Select(above, M::Add(a, one), one));
    const V zero = M::Set(0.0f);
    const auto base = [&](float v) {
      return M::Select(far, M::Set(v), M::Select(above, M::Set(v / 2), zero));
    };
    return M::CopySign(AtanOf(M::Div(n, d), {base(kHalfPi), base(kHalfPiLow)}, zero), x);
  }

  // The angle of the point (x, y). Largest error seen 1.3 ULP.
  static NN_INLINE V Atan2(V y, V x) {
    const V zero = M::Set(0.0f);
    const V one = M::Set(1.0f);
    const Mask behind = M::Lt(M::CopySign(one, x), zero);
    // Scaled to avoid overflow and subnormal numbers; infinity acts as 1 next to 0.
    const V largest = M::Max(M::Abs(x), M::Abs(y));
    const V scale = M::Select(M::Gt(largest, M::Set(0x1p60f)), M::Set(0x1p-60f), M::Set(0x1p60f));
    const Mask far = M::Eq(largest, Infinity<M>());
    const auto scaled = [&](V v) {
      const V infinite = M::Select(M::Eq(M::Abs(v), Infinity<M>()), one, M::Mul(zero, v));
      return M::Abs(M::Select(far, infinite, M::Mul(v, scale)));
    };
    const V ax = scaled(x);
    const V ay = scaled(y);
    const Mask steep = M::Gt(ay, ax);
    const V low = M::Select(steep, ax, ay);
    V high = M::Select(steep, ay, ax);
    high = M::Select(M::Eq(high, zero), one, high);
    // atan(low / high), by (low - high) / (low + high) when the quotient is above 1/2.
    const Mask above = M::Gt(low, M::Mul(high, M::Set(0.5f)));
    const P sum = P::FastSum(high, low);
    const V n = M::Select(above, M::Sub(low, high), low);
    const P d = {M::Select(above, sum.hi, high), M::Select(above, sum.lo, zero)};
    const V q = M::Div(n, d.hi);
    const V rest = M::Fnma(q, d.lo, M::Fnma(q, d.hi, n));
    // The angle is eighths of a turn, forward or back from an axis.
    const Mask back = M::Or(M::And(steep, M::Not(behind)), M::And(behind, M::Not(steep)));
    const V direction = M::Select(back, M::Set(-1.0f), one);
    const V axis = M::Select(steep, M::Set(2.0f), M::Select(behind, M::Set(4.0f), zero));
    const V eighths = M::Add(axis, M::Select(above, direction, zero));
    const P base = P::Times({M::Set(kHalfPi / 2), M::Set(kHalfPiLow / 2)}, eighths);
    const V z = M::Mul(q, direction);
    const V correction = M::Div(M::Mul(rest, direction), d.hi);
    return M::CopySign(AtanOf(z, base, correction), y);
  }

 private:
  static constexpr float kHalfPi = 0x1.921fb6p+0f;
  static constexpr float kHalfPiLow = -0x1.777a5cp-25f;

  // asin(a) where `small`, else asin(sqrt((1 - a) / 2)); NaN above 1.
  static NN_INLINE P AsinOfHalf(V a, Mask small) {
    const V half = M::Set(0.5f);
    const V reflected = M::Fnma(half, a, half);
    const V z = M::Select(small, a, M::Sqrt(reflected));
    const V u = M::Select(small, M::Mul(a, a), reflected);
    // (asin(a) / a - 1) / a^2 in a^2 on [0, 1 / 2], 2^-27.6.
    const V p = Polynomial<M>(u, 0x1.5555c8p-3f, 0x1.3301eep-4f, 0x1.747e22p-5f, 0x1.8c294cp-6f,
                              0x1.596af0p-5f);
    return {z, M::Mul(M::Mul(z, u), p)};
  }

  // base + atan(z + correction) for |z| up to 1/2 and base 0 or above that.
  static NN_INLINE V AtanOf(V z, P base, V correction) {
    const V u = M::Mul(z, z);
    // (atan(a) / a - 1) / a^2 in a^2 on [0, 1 / 2], 2^-27.4.
    const V p = Polynomial<M>(u, -0x1.555512p-2f, 0x1.997b42p-3f, -0x1.224dacp-3f, 0x1.a02706p-4f,
                              -0x1.a47458p-5f);
    const P head = P::FastSum(base.hi, z);
    const V low = M::Add(base.lo, M::Add(head.lo, correction));
    return M::Add(head.hi, M::Fma(M::Mul(z, u), p, low));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_INVERSE_INL_H_

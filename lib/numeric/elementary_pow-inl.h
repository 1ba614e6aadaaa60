// Powers. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_POW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_POW_INL_H_
#undef NN_OPS_ELEMENTARY_POW_INL_H_
#else
#define NN_OPS_ELEMENTARY_POW_INL_H_
#endif

#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_log-inl.h"
#include "numeric/elementary_polynomial-inl.h"
#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct PowFunctions {
  using V = typename M::V;
  using Mask = typename M::Mask;
  using W = typename M::Doubles;
  using R = typename W::V;

  // x^y by the rules of IEEE 754-2019, 9.2: pow(x, 0) and pow(1, y) are 1 even for NaN.
  static NN_INLINE V Pow(V x, V y) {
    const V zero = M::Set(0.0f);
    const V one = M::Set(1.0f);
    const V a = M::Abs(x);
    const V magnitude = PowOfPositive(a, y);
    const Mask negative = M::Lt(M::CopySign(one, x), zero);
    const V half = M::Mul(y, M::Set(0.5f));
    const Mask whole = M::Eq(M::Floor(y), y);
    const Mask odd = M::And(whole, M::Not(M::Eq(M::Floor(half), half)));
    V r = M::Select(M::And(negative, odd), M::Neg(magnitude), magnitude);
    const Mask undefined = M::And(M::And(M::Lt(x, zero), M::Not(whole)), M::Lt(a, Infinity<M>()));
    r = M::Select(M::Or(undefined, M::IsNan(y)), QuietNan<M>(), r);
    return M::Select(M::Or(M::Eq(y, zero), M::Eq(x, one)), one, r);
  }

 private:
  // a^y for a >= 0, not for y = NaN.
  static NN_INLINE V PowOfPositive(V a, V y) {
    // y log2(a), clamped where the result is 0 or infinity; only a = 1 gives NaN, for infinite y.
    const R product = W::Mul(M::Widen(y), Log2(M::Widen(a)));
    const R c = W::Max(W::Set(-160), W::Min(W::Set(130), product));
    const V r = M::Narrow(ExpFunctions<M>::Exp2Of(c));
    return M::Select(M::Eq(a, M::Set(1.0f)), a, r);
  }

  // -infinity for 0.
  static NN_INLINE R Log2(R x) {
    const auto l = LogFunctions<M>::Split(x);
    const R rest = LogFunctions<M>::LogOfRest(l.rest);
    const R y = W::Fma(rest, W::Set(0x1.71547652b82fep+0), l.exponent);
    const R infinity = W::Set(std::numeric_limits<double>::infinity());
    const R finite = W::Select(W::Lt(x, infinity), y, x);
    return W::Select(W::Eq(x, W::Set(0)), W::Sub(W::Set(0), infinity), finite);
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_POW_INL_H_

// Unevaluated sums of two floats, for the steps of elementary functions that need more than 24
// bits. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_PAIR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_PAIR_INL_H_
#undef NN_OPS_ELEMENTARY_PAIR_INL_H_
#else
#define NN_OPS_ELEMENTARY_PAIR_INL_H_
#endif

#include <cstdint>
#include <limits>

#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// The value hi + lo, with |lo| at most about half a unit in the last place of hi.
template <class M>
struct Pair {
  using V = typename M::V;
  V hi;
  V lo;

  // a + b exactly; requires |a| >= |b| or a == 0.
  static NN_INLINE Pair FastSum(V a, V b) {
    const V s = M::Add(a, b);
    return {s, M::Sub(b, M::Sub(s, a))};
  }
  // a + b exactly.
  static NN_INLINE Pair Sum(V a, V b) {
    const V s = M::Add(a, b);
    const V t = M::Sub(s, a);
    return {s, M::Add(M::Sub(a, M::Sub(s, t)), M::Sub(b, t))};
  }
  // a * b exactly, unless the low part underflows.
  static NN_INLINE Pair Product(V a, V b) {
    const V p = M::Mul(a, b);
    return {p, M::Fms(a, b, p)};
  }
  // (hi + lo) * b, to about 2^-47.
  static NN_INLINE Pair Times(Pair a, V b) {
    const V p = M::Mul(a.hi, b);
    return {p, M::Fma(a.lo, b, M::Fms(a.hi, b, p))};
  }
};

// The polynomial c[0] + c[1] x + ... by Horner's rule.
template <class M, class... C>
NN_INLINE typename M::V Polynomial(typename M::V x, float first, C... rest) {
  if constexpr (sizeof...(rest) == 0)
    return M::Set(first);
  else
    return M::Fma(Polynomial<M>(x, rest...), x, M::Set(first));
}

template <class M>
NN_INLINE typename M::V QuietNan() {
  return M::Set(std::numeric_limits<float>::quiet_NaN());
}
template <class M>
NN_INLINE typename M::V Infinity() {
  return M::Set(std::numeric_limits<float>::infinity());
}

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_PAIR_INL_H_

// Polynomials and constants of elementary functions. See elementary-inl.h.
#if defined(NN_OPS_ELEMENTARY_POLYNOMIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_POLYNOMIAL_INL_H_
#undef NN_OPS_ELEMENTARY_POLYNOMIAL_INL_H_
#else
#define NN_OPS_ELEMENTARY_POLYNOMIAL_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <limits>

#include "numeric/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// Terms `first` to first + count - 1 of a polynomial, divided by x^first; c(i) is coefficient i.
template <class W, size_t first, size_t count, class C, class R = typename W::V>
NN_INLINE R PolynomialTerms(const C& c, R x, R x2, R x4, R x8) {
  if constexpr (count == 1) {
    return c(first);
  } else {
    constexpr size_t kHalf = std::bit_floor(count - 1);
    const R power = kHalf == 1 ? x : kHalf == 2 ? x2 : kHalf == 4 ? x4 : x8;
    const R high = PolynomialTerms<W, first + kHalf, count - kHalf>(c, x, x2, x4, x8);
    return W::Fma(high, power, PolynomialTerms<W, first, kHalf>(c, x, x2, x4, x8));
  }
}

// c(0) + c(1) x + ... with n coefficients, by Estrin's scheme, whose chains of operations are
// short: parts of the polynomial are joined with powers of x.
template <class W, size_t n, class C, class R = typename W::V>
NN_INLINE R PolynomialOf(R x, const C& c) {
  static_assert(n <= 16);
  const R x2 = W::Mul(x, x);
  const R x4 = W::Mul(x2, x2);
  return PolynomialTerms<W, 0, n>(c, x, x2, x4, W::Mul(x4, x4));
}

template <class W, size_t n>
NN_INLINE typename W::V Polynomial(typename W::V x, const double (&c)[n]) {
  return PolynomialOf<W, n>(x, [&](size_t i) { return W::Set(c[i]); });
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

#endif  // NN_OPS_ELEMENTARY_POLYNOMIAL_INL_H_

// Elementwise functions of float32, on the machines of elementary-inl.h. One struct a function; the
// lists at the end name them for the reference evaluation and for the kernels alike.
#if defined(NN_OPS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_FUNCTIONS_INL_H_
#undef NN_OPS_FUNCTIONS_INL_H_
#else
#define NN_OPS_FUNCTIONS_INL_H_
#endif

#include "ops/elementary-inl.h"
#include "ops/functions.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// The signature of a unary function f(x), with the constants p of its operator, and of a binary one.
#define NN_UNARY(x, p) \
  static NN_INLINE typename M::V Run(typename M::V x, [[maybe_unused]] const FunctionParams& p)
#define NN_BINARY(a, b) static NN_INLINE typename M::V Run(typename M::V a, typename M::V b)

template <class M>
struct AbsFn {
  NN_UNARY(x, p) { return M::Abs(x); }
};

template <class M>
struct NegFn {
  NN_UNARY(x, p) { return M::Neg(x); }
};

template <class M>
struct ReluFn {
  NN_UNARY(x, p) { return M::Max(M::Set(0.0f), x); }
};

// p: min, max. NaN stays NaN.
template <class M>
struct ClipFn {
  NN_UNARY(x, p) { return M::Min(M::Set(p[1]), M::Max(M::Set(p[0]), x)); }
};

// p: alpha.
template <class M>
struct LeakyReluFn {
  NN_UNARY(x, p) { return M::Select(M::Lt(x, M::Set(0.0f)), M::Mul(x, M::Set(p[0])), x); }
};

// p: alpha, beta.
template <class M>
struct HardSigmoidFn {
  NN_UNARY(x, p) {
    const auto line = M::Fma(x, M::Set(p[0]), M::Set(p[1]));
    return M::Min(M::Set(1.0f), M::Max(M::Set(0.0f), line));
  }
};

template <class M>
struct HardSwishFn {
  NN_UNARY(x, p) {
    const auto line = M::Fma(x, M::Set(1.0f / 6.0f), M::Set(0.5f));
    return M::Mul(x, M::Min(M::Set(1.0f), M::Max(M::Set(0.0f), line)));
  }
};

template <class M>
struct ExpFn {
  NN_UNARY(x, p) { return Elementary<M>::Exp(x); }
};

template <class M>
struct SqrtFn {
  NN_UNARY(x, p) { return M::Sqrt(x); }
};

template <class M>
struct AddFn {
  NN_BINARY(a, b) { return M::Add(a, b); }
};

template <class M>
struct SubFn {
  NN_BINARY(a, b) { return M::Sub(a, b); }
};

template <class M>
struct MulFn {
  NN_BINARY(a, b) { return M::Mul(a, b); }
};

template <class M>
struct DivFn {
  NN_BINARY(a, b) { return M::Div(a, b); }
};

// NaN if either is.
template <class M>
struct MinimumFn {
  NN_BINARY(a, b) { return M::Select(M::IsNan(a), a, M::Min(a, b)); }
};

// NaN if either is.
template <class M>
struct MaximumFn {
  NN_BINARY(a, b) { return M::Select(M::IsNan(a), a, M::Max(a, b)); }
};

#undef NN_UNARY
#undef NN_BINARY

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_FUNCTIONS_INL_H_

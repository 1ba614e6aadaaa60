// Elementwise functions of float32, on the machines of elementary-inl.h, one struct per function.
// The lists at the end name them for the reference evaluation and for the kernels.
#if defined(NN_OPS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_FUNCTIONS_INL_H_
#undef NN_OPS_FUNCTIONS_INL_H_
#else
#define NN_OPS_FUNCTIONS_INL_H_
#endif

#include <limits>
#include <numbers>

#include "numeric/elementary-inl.h"
#include "numeric/functions.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// The signatures of a unary function f(x), with the constants p of its operator, and of a binary
// function.
#define NN_UNARY(x, p) \
  static NN_INLINE typename M::V Run(typename M::V x, [[maybe_unused]] const FunctionParams& p)
#define NN_BINARY(a, b) static NN_INLINE typename M::V Run(typename M::V a, typename M::V b)

// ---- Exact, or one rounding

template <class M>
struct AbsFn {
  NN_UNARY(x, p) { return M::Abs(x); }
};

template <class M>
struct NegFn {
  NN_UNARY(x, p) { return M::Neg(x); }
};

// -1, 0 or 1; NaN stays NaN.
template <class M>
struct SignFn {
  NN_UNARY(x, p) {
    const auto one = M::CopySign(M::Set(1.0f), x);
    const auto y = M::Select(M::Eq(x, M::Set(0.0f)), M::Set(0.0f), one);
    return M::Select(M::IsNan(x), x, y);
  }
};

template <class M>
struct FloorFn {
  NN_UNARY(x, p) { return M::Floor(x); }
};

template <class M>
struct CeilFn {
  NN_UNARY(x, p) { return M::Ceil(x); }
};

template <class M>
struct RoundFn {
  NN_UNARY(x, p) { return M::Round(x); }
};

// The nearest float16, as a float32; infinity from 65520 on.
template <class M>
struct RoundF16Fn {
  NN_UNARY(x, p) {
    const auto a = M::Abs(x);
    // Rounds at bit 13; a carry correctly goes into the exponent.
    const auto bits = M::Bits(a);
    const auto odd = M::AndI(M::template Shr<13>(bits), M::SetI(1));
    const auto up = M::AddI(bits, M::AddI(M::SetI(0xFFF), odd));
    const auto normal = M::FromBits(M::AndI(up, M::SetI(~0x1FFF)));
    // Subnormal: multiples of 2^-24, to which adding 1/2 rounds.
    const auto half = M::Set(0.5f);
    const auto small = M::Sub(M::Add(a, half), half);
    const auto finite = M::Select(M::Lt(a, M::Set(0x1p-14f)), small, normal);
    const auto infinity = M::Set(std::numeric_limits<float>::infinity());
    const auto y = M::Select(M::Gt(finite, M::Set(65504.0f)), infinity, finite);
    return M::Select(M::IsNan(x), x, M::CopySign(y, x));
  }
};

// The nearest bfloat16, as a float32.
template <class M>
struct RoundBf16Fn {
  NN_UNARY(x, p) {
    const auto bits = M::Bits(x);
    const auto odd = M::AndI(M::template Shr<16>(bits), M::SetI(1));
    const auto up = M::AddI(bits, M::AddI(M::SetI(0x7FFF), odd));
    const auto y = M::FromBits(M::AndI(up, M::SetI(~0xFFFF)));
    return M::Select(M::IsNan(x), x, y);
  }
};

template <class M>
struct SqrtFn {
  NN_UNARY(x, p) { return M::Sqrt(x); }
};

template <class M>
struct ReciprocalFn {
  NN_UNARY(x, p) { return M::Div(M::Set(1.0f), x); }
};

// Two roundings.
template <class M>
struct RsqrtFn {
  NN_UNARY(x, p) { return M::Div(M::Set(1.0f), M::Sqrt(x)); }
};

// ---- Piecewise linear

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

// p: alpha. NaN is above no number, so it becomes 0.
template <class M>
struct ThresholdedReluFn {
  NN_UNARY(x, p) { return M::Select(M::Gt(x, M::Set(p[0])), x, M::Set(0.0f)); }
};

// p: alpha, beta.
template <class M>
struct HardSigmoidFn {
  NN_UNARY(x, p) {
    const auto line = M::Add(M::Mul(x, M::Set(p[0])), M::Set(p[1]));
    return M::Min(M::Set(1.0f), M::Max(M::Set(0.0f), line));
  }
};

template <class M>
struct HardSwishFn {
  NN_UNARY(x, p) {
    const auto line = M::Add(M::Mul(x, M::Set(1.0f / 6.0f)), M::Set(0.5f));
    return M::Mul(x, M::Min(M::Set(1.0f), M::Max(M::Set(0.0f), line)));
  }
};

// p: bias, lambd. NaN is neither below nor above a number, so it becomes 0.
template <class M>
struct ShrinkFn {
  NN_UNARY(x, p) {
    const auto lambd = M::Set(p[1]);
    const auto bias = M::Set(p[0]);
    const auto y = M::Select(M::Gt(x, lambd), M::Sub(x, bias), M::Set(0.0f));
    return M::Select(M::Lt(x, M::Neg(lambd)), M::Add(x, bias), y);
  }
};

template <class M>
struct SoftsignFn {
  NN_UNARY(x, p) {
    // The largest float instead of infinity.
    const auto a = M::Min(M::Set(std::numeric_limits<float>::max()), M::Abs(x));
    return M::Div(M::CopySign(a, x), M::Add(M::Set(1.0f), a));
  }
};

// ---- Elementary

#define NN_ELEMENTARY(name)                           \
  template <class M>                                  \
  struct name##Fn {                                   \
    NN_UNARY(x, p) { return Elementary<M>::name(x); } \
  };
NN_ELEMENTARY(Acos)
NN_ELEMENTARY(Acosh)
NN_ELEMENTARY(Asin)
NN_ELEMENTARY(Asinh)
NN_ELEMENTARY(Atan)
NN_ELEMENTARY(Atanh)
NN_ELEMENTARY(Cos)
NN_ELEMENTARY(Cosh)
NN_ELEMENTARY(Erf)
NN_ELEMENTARY(Exp)
NN_ELEMENTARY(Exp2)
NN_ELEMENTARY(Expm1)
NN_ELEMENTARY(Log)
NN_ELEMENTARY(Log1p)
NN_ELEMENTARY(Mish)
NN_ELEMENTARY(Sigmoid)
NN_ELEMENTARY(Silu)
NN_ELEMENTARY(Sin)
NN_ELEMENTARY(Sinh)
NN_ELEMENTARY(Softplus)
NN_ELEMENTARY(Tan)
NN_ELEMENTARY(Tanh)
#undef NN_ELEMENTARY

template <class M>
struct LogSigmoidFn {
  NN_UNARY(x, p) { return M::Neg(Elementary<M>::Softplus(M::Neg(x))); }
};

// p: the formula, in the order of GeluApproximation.
template <class M>
struct GeluFn {
  NN_UNARY(x, p) {
    if (p[0] == 0) return Elementary<M>::GeluErf(x);
    return p[0] == 1 ? Elementary<M>::GeluTanh(x) : Elementary<M>::GeluSigmoid(x);
  }
};

// p: alpha.
template <class M>
struct EluFn {
  NN_UNARY(x, p) {
    const auto y = M::Mul(M::Set(p[0]), Elementary<M>::Expm1(x));
    return M::Select(M::Lt(x, M::Set(0.0f)), y, x);
  }
};

// p: alpha, gamma. Three roundings: largest error seen 1.88 ULP.
template <class M>
struct SeluFn {
  NN_UNARY(x, p) {
    const auto y = M::Mul(M::Set(p[0]), Elementary<M>::Expm1(x));
    return M::Mul(M::Set(p[1]), M::Select(M::Gt(x, M::Set(0.0f)), x, y));
  }
};

// p: alpha. max(0, x) + min(0, alpha (e^(x / alpha) - 1))
template <class M>
struct CeluFn {
  NN_UNARY(x, p) {
    const auto zero = M::Set(0.0f);
    const auto y = M::Mul(M::Set(p[0]), Elementary<M>::Expm1(M::Div(x, M::Set(p[0]))));
    return M::Add(M::Max(zero, x), M::Min(zero, y));
  }
};

// ---- Binary

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

// NaN if either operand is NaN.
template <class M>
struct MinimumFn {
  NN_BINARY(a, b) { return M::Select(M::IsNan(a), a, M::Min(a, b)); }
};

// NaN if either operand is NaN.
template <class M>
struct MaximumFn {
  NN_BINARY(a, b) { return M::Select(M::IsNan(a), a, M::Max(a, b)); }
};

// Squares and cubes, which models often express as powers, are products: x x and x (x x).
template <class M>
struct PowFn {
  NN_BINARY(a, b) {
    const auto cube = M::Eq(b, M::Set(3.0f));
    const auto product = M::Or(cube, M::Eq(b, M::Set(2.0f)));
    const auto x = M::Mul(a, M::Select(cube, M::Mul(a, a), a));
    if (!M::AnyTrue(M::Not(product))) return x;
    return M::Select(product, x, Elementary<M>::Pow(a, b));
  }
};

template <class M>
struct Atan2Fn {
  NN_BINARY(a, b) { return Elementary<M>::Atan2(a, b); }
};

// Equal operands, which may be infinite, have no difference.
template <class M>
struct LogAddExpFn {
  NN_BINARY(a, b) {
    using E = Elementary<M>;
    using W = typename M::Doubles;
    const auto larger = M::Widen(M::Select(M::IsNan(a), a, M::Max(a, b)));
    const auto distance = W::Abs(W::Sub(M::Widen(a), M::Widen(b)));
    const auto c = W::Max(W::Set(-E::kTail), W::Sub(W::Set(0), distance));
    const auto y = M::Narrow(W::Add(larger, E::Log1pOf(E::ExpOf(c))));
    const auto of_equal = M::Narrow(W::Add(larger, W::Set(std::numbers::ln2)));
    return M::Select(M::Eq(a, b), of_equal, y);
  }
};

template <class M>
struct PreluFn {
  NN_BINARY(a, b) { return M::Select(M::Lt(a, M::Set(0.0f)), M::Mul(a, b), a); }
};

template <class M>
struct SquaredDifferenceFn {
  NN_BINARY(a, b) {
    const auto d = M::Sub(a, b);
    return M::Mul(d, d);
  }
};

#undef NN_UNARY
#undef NN_BINARY

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_FUNCTIONS_INL_H_

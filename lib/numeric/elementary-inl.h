// Elementary functions of float32, written once for scalars and for SIMD vectors: the scalar
// reference evaluation and every kernel compute the same bits because they run the same steps.
//
// Included, like Highway's -inl.h files, once per SIMD target inside HWY_TARGET regions, or once
// without Highway for scalars. `M` supplies the machine operations, each correctly rounded:
//   types     V (float32), I (int32), Mask (of V)
//   constants Set(float), SetI(int32_t)
//   float     Add Sub Mul Div Neg Abs Sqrt
//             Fma(a, b, c) = a * b + c, Fms = a * b - c, Fnma = c - a * b, with one rounding
//             Max(a, b) = a > b ? a : b    Min(a, b) = a < b ? a : b    (so a NaN in b stays)
//             Round (to nearest even) Floor Ceil Trunc CopySign(magnitude, sign)
//   integer   AddI SubI AndI OrI XorI Shl<k> Shr<k> (arithmetic shift right)
//   convert   ToInt(V) (toward zero; any value unless |x| < 2^31) ToFloat(I) Bits(V) FromBits(I)
//   masks     Lt Le Gt Ge Eq (false for NaN) IsNan EqI And Or Not Select(mask, yes, no) SelectI
//             AnyTrue(mask): whether any lane is set
//   doubles   Doubles, the machine of the same lanes as float64 and int64, with a part of these
//             operations (Shr fills with zeros), and Gather(const double* table, I index)
//             Widen(V) Narrow(Doubles::V)
//
// Functions compute in double precision, with an error below 2^-41 of the result, and round once,
// in Narrow(). Their largest error is 0.50001 ULP, over all float32 arguments, as measured by
// tests/exec/ulp_test.cc; the result is not the correctly rounded one for fewer than one argument
// in 100000. Polynomials are minimax fits by the Remez exchange; the comment next to each gives the
// interval and the largest relative error of the approximated function.
//
// Each function is a pure function of its own lane: AnyTrue() may only skip work whose results no
// lane would use.
//
// Design: docs/design/053-elementary-functions.md.
#if defined(NN_OPS_ELEMENTARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_INL_H_
#undef NN_OPS_ELEMENTARY_INL_H_
#else
#define NN_OPS_ELEMENTARY_INL_H_
#endif

#include "numeric/elementary_erf-inl.h"
#include "numeric/elementary_exp-inl.h"
#include "numeric/elementary_inverse-inl.h"
#include "numeric/elementary_log-inl.h"
#include "numeric/elementary_pow-inl.h"
#include "numeric/elementary_trig-inl.h"
#include "numeric/target-inl.h"

// Without functions of its own, so without the attributes of the SIMD target.
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct Elementary : ExpFunctions<M>,
                    LogFunctions<M>,
                    PowFunctions<M>,
                    TrigFunctions<M>,
                    InverseFunctions<M>,
                    ErfFunctions<M> {};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn

#endif  // NN_OPS_ELEMENTARY_INL_H_

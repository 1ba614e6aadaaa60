// Elementary functions of float32, written once for scalars and for SIMD vectors: the scalar
// reference evaluation and every kernel compute the same bits because they run the same steps.
//
// Included, like Highway's -inl.h files, once a target inside HWY_TARGET regions, or once without
// Highway for scalars. `M` supplies the machine operations, each correctly rounded:
//   types     V (float32), I (int32), Mask (of V)
//   constants Set(float), SetI(int32_t)
//   float     Add Sub Mul Div Neg Abs Sqrt Fma(a, b, c) = a * b + c with one rounding
//             Max(a, b) = a > b ? a : b    Min(a, b) = a < b ? a : b    (so a NaN in b stays)
//             Round (to nearest even) Floor Ceil Trunc CopySign(magnitude, sign)
//   integer   AddI SubI AndI OrI XorI Shl<k> Shr<k> (arithmetic shift right)
//   between   ToInt(V) (exact for |x| < 2^31) ToFloat(I) Bits(V) FromBits(I)
//   masks     Lt Le Gt Ge Eq (false for NaN) IsNan And Or Not Select(mask, yes, no)
#if defined(NN_OPS_ELEMENTARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_ELEMENTARY_INL_H_
#undef NN_OPS_ELEMENTARY_INL_H_
#else
#define NN_OPS_ELEMENTARY_INL_H_
#endif

#include "ops/target-inl.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

template <class M>
struct Elementary {
  using V = typename M::V;
  using I = typename M::I;

  // e^x. Largest error 1 ULP.
  static NN_INLINE V Exp(V x) {
    const V kLog2e = M::Set(0x1.715476p+0f);
    const V kLn2Hi = M::Set(-0x1.62e400p-1f);
    const V kLn2Lo = M::Set(-0x1.7f7d1cp-20f);
    // Beyond these the result is 0 or infinity.
    const V clamped = M::Max(M::Set(-104.0f), M::Min(M::Set(89.0f), x));
    const V n = M::Round(M::Mul(clamped, kLog2e));
    V r = M::Fma(n, kLn2Hi, clamped);
    r = M::Fma(n, kLn2Lo, r);
    V p = M::Set(0x1.6850e4p-10f);
    p = M::Fma(p, r, M::Set(0x1.123bccp-7f));
    p = M::Fma(p, r, M::Set(0x1.555b98p-5f));
    p = M::Fma(p, r, M::Set(0x1.55548ep-3f));
    p = M::Fma(p, r, M::Set(0x1.fffff8p-2f));
    p = M::Fma(M::Mul(p, r), r, r);
    p = M::Add(p, M::Set(1.0f));
    // 2^n in two factors, each of them normal.
    const I half = M::template Shr<1>(M::ToInt(n));
    const I rest = M::SubI(M::ToInt(n), half);
    const V y = M::Mul(M::Mul(p, Pow2(half)), Pow2(rest));
    return M::Select(M::IsNan(x), x, y);
  }

  // 2^k for k in [-126, 127].
  static NN_INLINE V Pow2(I k) {
    return M::FromBits(M::template Shl<23>(M::AddI(k, M::SetI(127))));
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_ELEMENTARY_INL_H_

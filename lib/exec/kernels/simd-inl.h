// What every kernel file of a target shares: the machine of ops/elementary-inl.h on vectors.
#if defined(NN_EXEC_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_SIMD_INL_H_
#undef NN_EXEC_KERNELS_SIMD_INL_H_
#else
#define NN_EXEC_KERNELS_SIMD_INL_H_
#endif

#include <cmath>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// x86 defines max(a, b) as a > b ? a : b, which is what the contract asks for.
#undef NN_NATIVE_MINMAX
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define NN_NATIVE_MINMAX 1
#else
#define NN_NATIVE_MINMAX 0
#endif

template <class D>
struct SimdMachine {
  using V = hn::Vec<D>;
  using DI = hn::RebindToSigned<D>;
  using I = hn::Vec<DI>;
  using Mask = hn::Mask<D>;

  static HWY_INLINE V Set(float v) { return hn::Set(D(), v); }
  static HWY_INLINE I SetI(int32_t v) { return hn::Set(DI(), v); }

  static HWY_INLINE V Add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V Sub(V a, V b) { return hn::Sub(a, b); }
  static HWY_INLINE V Mul(V a, V b) { return hn::Mul(a, b); }
  static HWY_INLINE V Div(V a, V b) { return hn::Div(a, b); }
  static HWY_INLINE V Neg(V a) { return hn::Neg(a); }
  static HWY_INLINE V Abs(V a) { return hn::Abs(a); }
  static HWY_INLINE V Sqrt(V a) { return hn::Sqrt(a); }
  static HWY_INLINE V Max(V a, V b) {
#if NN_NATIVE_MINMAX
    return hn::Max(a, b);
#else
    return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
  }
  static HWY_INLINE V Min(V a, V b) {
#if NN_NATIVE_MINMAX
    return hn::Min(a, b);
#else
    return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
  }
  static HWY_INLINE V Round(V a) { return hn::Round(a); }
  static HWY_INLINE V Floor(V a) { return hn::Floor(a); }
  static HWY_INLINE V Ceil(V a) { return hn::Ceil(a); }
  static HWY_INLINE V Trunc(V a) { return hn::Trunc(a); }
  static HWY_INLINE V CopySign(V magnitude, V sign) { return hn::CopySign(magnitude, sign); }

  static HWY_INLINE V Fma(V a, V b, V c) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(a, b, c);
#else
    return EmulatedFma(a, b, c);
#endif
  }

  static HWY_INLINE I AddI(I a, I b) { return hn::Add(a, b); }
  static HWY_INLINE I SubI(I a, I b) { return hn::Sub(a, b); }
  static HWY_INLINE I AndI(I a, I b) { return hn::And(a, b); }
  static HWY_INLINE I OrI(I a, I b) { return hn::Or(a, b); }
  static HWY_INLINE I XorI(I a, I b) { return hn::Xor(a, b); }
  template <int k>
  static HWY_INLINE I Shl(I a) {
    return hn::ShiftLeft<k>(a);
  }
  template <int k>
  static HWY_INLINE I Shr(I a) {
    return hn::ShiftRight<k>(a);
  }
  static HWY_INLINE I ToInt(V a) { return hn::ConvertTo(DI(), a); }
  static HWY_INLINE V ToFloat(I a) { return hn::ConvertTo(D(), a); }
  static HWY_INLINE I Bits(V a) { return hn::BitCast(DI(), a); }
  static HWY_INLINE V FromBits(I a) { return hn::BitCast(D(), a); }

  static HWY_INLINE Mask Lt(V a, V b) { return hn::Lt(a, b); }
  static HWY_INLINE Mask Le(V a, V b) { return hn::Le(a, b); }
  static HWY_INLINE Mask Gt(V a, V b) { return hn::Gt(a, b); }
  static HWY_INLINE Mask Ge(V a, V b) { return hn::Ge(a, b); }
  static HWY_INLINE Mask Eq(V a, V b) { return hn::Eq(a, b); }
  static HWY_INLINE Mask IsNan(V a) { return hn::IsNaN(a); }
  static HWY_INLINE Mask And(Mask a, Mask b) { return hn::And(a, b); }
  static HWY_INLINE Mask Or(Mask a, Mask b) { return hn::Or(a, b); }
  static HWY_INLINE Mask Not(Mask a) { return hn::Not(a); }
  static HWY_INLINE V Select(Mask m, V yes, V no) { return hn::IfThenElse(m, yes, no); }

#if !HWY_NATIVE_FMA
  static HWY_INLINE V EmulatedFma(V a, V b, V c) {
    const D d;
    HWY_ALIGN float x[hn::MaxLanes(D())];
    HWY_ALIGN float y[hn::MaxLanes(D())];
    HWY_ALIGN float z[hn::MaxLanes(D())];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    hn::Store(c, d, z);
    for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
    return hn::Load(d, z);
  }
#endif
};

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_SIMD_INL_H_

// Shared by all kernel files of a SIMD target: the machine of numeric/elementary-inl.h on vectors.
#if defined(NN_EXEC_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_SIMD_INL_H_
#undef NN_EXEC_KERNELS_SIMD_INL_H_
#else
#define NN_EXEC_KERNELS_SIMD_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "exec/kernels/doubles-inl.h"
#include "hwy/highway.h"
#include "numeric/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Before loops over arrays of vectors: unrolls them early, so that the vectors stay in registers.
#undef NN_UNROLL
#if HWY_COMPILER_CLANG
#define NN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define NN_UNROLL _Pragma("GCC unroll 32")
#endif

// x86 defines max(a, b) as a > b ? a : b, as the contract requires.
#undef NN_NATIVE_MINMAX
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define NN_NATIVE_MINMAX 1
#else
#define NN_NATIVE_MINMAX 0
#endif

// fn(0), fn(1) ... fn(N - 1) with compile-time numbers.
template <class Fn, size_t... kNumbers>
HWY_INLINE void ForEachNumberOf(std::index_sequence<kNumbers...>, const Fn& fn) {
  (fn(std::integral_constant<size_t, kNumbers>()), ...);
}
template <size_t N, class Fn>
HWY_INLINE void ForEachNumber(const Fn& fn) {
  ForEachNumberOf(std::make_index_sequence<N>(), fn);
}

// The first n of a vector's lanes of 32 bits, or all where n is more; the others are zero. No
// other memory is accessed.
template <class D>
HWY_INLINE hn::Vec<D> LoadSome(D d, const hn::TFromD<D>* p, size_t n) {
  if (n >= hn::MaxLanes(d)) return hn::LoadU(d, p);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#else
  HWY_ALIGN hn::TFromD<D> part[hn::MaxLanes(D())] = {};
  std::memcpy(part, p, n * sizeof(*p));
  return hn::Load(d, part);
#endif
}
template <class D>
HWY_INLINE void StoreSome(hn::Vec<D> v, D d, hn::TFromD<D>* p, size_t n) {
  if (n >= hn::MaxLanes(d)) return hn::StoreU(v, d, p);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#else
  HWY_ALIGN hn::TFromD<D> part[hn::MaxLanes(D())];
  hn::Store(v, d, part);
  std::memcpy(p, part, n * sizeof(*p));
#endif
}

// run(from, to) for every kLanes adjacent elements of x and y; a shorter rest uses copies padded
// with zeros.
template <size_t kLanes, class X, class Y, class Run>
HWY_INLINE void ForEachVector(const X* x, Y* y, size_t n, const Run& run) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) run(x + i, y + i);
  if (i == n) return;
  HWY_ALIGN X from[kLanes] = {};
  HWY_ALIGN Y to[kLanes];
  std::memcpy(from, x + i, (n - i) * sizeof(X));
  run(from, to);
  std::memcpy(y + i, to, (n - i) * sizeof(Y));
}

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
#elif HWY_TARGET == HWY_WASM
    return V{wasm_f32x4_pmax(b.raw, a.raw)};  // b < a ? a : b
#else
    HideConstant(a);
    HideConstant(b);
    return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
  }
  static HWY_INLINE V Min(V a, V b) {
#if NN_NATIVE_MINMAX
    return hn::Min(a, b);
#elif HWY_TARGET == HWY_WASM
    return V{wasm_f32x4_pmin(b.raw, a.raw)};
#else
    HideConstant(a);
    HideConstant(b);
    return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
  }
#if HWY_TARGET == HWY_SCALAR
  // Highway's own scalar Round is wrong just below 1/2.
  static HWY_INLINE V Round(V a) {
    return V(ScalarMachine::Round(a.raw));
  }
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_EMU128
  // Without an instruction for it Highway loses the sign of zero.
  static HWY_INLINE V Round(V a) {
    return hn::CopySign(hn::Round(a), a);
  }
#else
  static HWY_INLINE V Round(V a) {
    return hn::Round(a);
  }
#endif
  // Highway's own scalar functions lose the sign of zero: Floor and Trunc that of -0, Ceil that of
  // 0.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  static HWY_INLINE V Floor(V a) {
    return hn::CopySign(hn::Floor(a), a);
  }
  static HWY_INLINE V Trunc(V a) {
    return hn::CopySign(hn::Trunc(a), a);
  }
#else
  static HWY_INLINE V Floor(V a) {
    return hn::Floor(a);
  }
  static HWY_INLINE V Trunc(V a) {
    return hn::Trunc(a);
  }
#endif
  static HWY_INLINE V Ceil(V a) {
    return hn::CopySign(hn::Ceil(a), a);
  }
  static HWY_INLINE V CopySign(V magnitude, V sign) {
    return hn::CopySign(magnitude, sign);
  }

#if HWY_NATIVE_FMA
  static HWY_INLINE V Fma(V a, V b, V c) {
    return hn::MulAdd(a, b, c);
  }
  static HWY_INLINE V Fms(V a, V b, V c) {
    return hn::MulSub(a, b, c);
  }
  static HWY_INLINE V Fnma(V a, V b, V c) {
    return hn::NegMulAdd(a, b, c);
  }
#else
  static HWY_INLINE V Fma(V a, V b, V c) {
    return EmulatedFma(a, b, c);
  }
  static HWY_INLINE V Fms(V a, V b, V c) {
    return EmulatedFma(a, b, hn::Neg(c));
  }
  static HWY_INLINE V Fnma(V a, V b, V c) {
    return EmulatedFma(hn::Neg(a), b, c);
  }
#endif

  static HWY_INLINE I AddI(I a, I b) {
    return hn::Add(a, b);
  }
  static HWY_INLINE I SubI(I a, I b) {
    return hn::Sub(a, b);
  }
  static HWY_INLINE I AndI(I a, I b) {
    return hn::And(a, b);
  }
  static HWY_INLINE I OrI(I a, I b) {
    return hn::Or(a, b);
  }
  static HWY_INLINE I XorI(I a, I b) {
    return hn::Xor(a, b);
  }
  template <int k>
  static HWY_INLINE I Shl(I a) {
    return hn::ShiftLeft<k>(a);
  }
  template <int k>
  static HWY_INLINE I Shr(I a) {
    return hn::ShiftRight<k>(a);
  }
  static HWY_INLINE I ToInt(V a) {
    return hn::ConvertTo(DI(), a);
  }
  static HWY_INLINE V ToFloat(I a) {
    return hn::ConvertTo(D(), a);
  }
  static HWY_INLINE I Bits(V a) {
    return hn::BitCast(DI(), a);
  }
  static HWY_INLINE V FromBits(I a) {
    return hn::BitCast(D(), a);
  }

  static HWY_INLINE Mask Lt(V a, V b) {
    return hn::Lt(a, b);
  }
  static HWY_INLINE Mask Le(V a, V b) {
    return hn::Le(a, b);
  }
  static HWY_INLINE Mask Gt(V a, V b) {
    return hn::Gt(a, b);
  }
  static HWY_INLINE Mask Ge(V a, V b) {
    return hn::Ge(a, b);
  }
  static HWY_INLINE Mask Eq(V a, V b) {
    return hn::Eq(a, b);
  }
  static HWY_INLINE Mask IsNan(V a) {
    return hn::IsNaN(a);
  }
  static HWY_INLINE Mask EqI(I a, I b) {
    return hn::RebindMask(D(), hn::Eq(a, b));
  }
  static HWY_INLINE Mask And(Mask a, Mask b) {
    return hn::And(a, b);
  }
  static HWY_INLINE Mask Or(Mask a, Mask b) {
    return hn::Or(a, b);
  }
  static HWY_INLINE Mask Not(Mask a) {
    return hn::Not(a);
  }
  static HWY_INLINE V Select(Mask m, V yes, V no) {
    return hn::IfThenElse(m, yes, no);
  }

  static HWY_INLINE I SelectI(Mask m, I yes, I no) {
    return hn::IfThenElse(hn::RebindMask(DI(), m), yes, no);
  }
  static HWY_INLINE bool AnyTrue(Mask m) {
    return !hn::AllFalse(D(), m);
  }

  static HWY_INLINE V Gather(const float* table, I index) {
    return hn::GatherIndex(D(), table, index);
  }

  using Doubles = DoublesOf<D>;
  static HWY_INLINE typename Doubles::V Widen(V a) {
    return Doubles::Widen(a);
  }
  static HWY_INLINE V Narrow(typename Doubles::V a) {
    return Doubles::Narrow(a);
  }

#if !HWY_NATIVE_FMA
 private:
#if HWY_TARGET == HWY_WASM
  static HWY_INLINE V EmulatedFma(V a, V b, V c) {
    const auto x = Widen(a);
    const auto y = Widen(b);
    auto z = Widen(c);
    for (size_t i = 0; i < 2; ++i) z.part[i] = OddFma<WasmDoubles>(x.part[i], y.part[i], z.part[i]);
    return Narrow(z);
  }
// Without SIMD, Highway's DemoteTo converts infinity to the largest float.
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_HAVE_FLOAT64
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
#else
  static HWY_INLINE V EmulatedFma(V a, V b, V c) {
    if constexpr (hn::MaxLanes(D()) * sizeof(double) <= 16) {
      return RoundedFma(D(), a, b, c);
    } else {
      const hn::Half<D> h;
      const auto low = RoundedFma(h, hn::LowerHalf(h, a), hn::LowerHalf(h, b), hn::LowerHalf(h, c));
      const auto high =
          RoundedFma(h, hn::UpperHalf(h, a), hn::UpperHalf(h, b), hn::UpperHalf(h, c));
      return hn::Combine(D(), high, low);
    }
  }

  template <class H>
  static HWY_INLINE hn::Vec<H> RoundedFma(H h, hn::Vec<H> a, hn::Vec<H> b, hn::Vec<H> c) {
    const hn::Rebind<double, H> d;
    return hn::DemoteTo(h, OddFma<SimdDoubles<hn::Rebind<double, H>>>(
                               hn::PromoteTo(d, a), hn::PromoteTo(d, b), hn::PromoteTo(d, c)));
  }
#endif

  // In double precision the product is exact; the sum is rounded to odd, so that rounding to
  // float32 gives the same result as a single rounding (Boldo and Melquiond, "Emulation of FMA and
  // correctly rounded sums: proved algorithms using rounding to odd", 2008).
  template <class P>
  static HWY_INLINE typename P::V OddFma(typename P::V a, typename P::V b, typename P::V c) {
    const auto p = P::Mul(a, b);
    const auto s = P::Add(p, c);
    const auto t = P::Sub(s, p);
    return RoundToOdd<P>(s, P::Add(P::Sub(p, P::Sub(s, t)), P::Sub(c, t)));
  }
#endif
};

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_SIMD_INL_H_

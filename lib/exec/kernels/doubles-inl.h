// The machine of doubles of numeric/elementary-inl.h on vectors: the lanes of a vector of floats in
// one or more parts.
#if defined(NN_EXEC_KERNELS_DOUBLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_DOUBLES_INL_H_
#undef NN_EXEC_KERNELS_DOUBLES_INL_H_
#else
#define NN_EXEC_KERNELS_DOUBLES_INL_H_
#endif

#include <cstdint>
#include <utility>

#include "base/arith.h"
#include "hwy/highway.h"
#include "numeric/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A sum rounded to odd, given the rounded sum and its error: if it is inexact, it is rounded toward
// zero and its last bit is set. The error of infinity and NaN is NaN, and they stay.
template <class P>
HWY_INLINE typename P::V RoundToOdd(typename P::V sum, typename P::V error) {
  const auto inexact = P::MaskBits(P::Lt(P::Set(0), P::Abs(error)));
  const auto bits = P::Bits(sum);
  const auto away = P::AndI(P::template Shr<63>(P::XorI(bits, P::Bits(error))), inexact);
  return P::FromBits(P::OrI(P::SubI(bits, away), P::AndI(inexact, P::SetI(1))));
}

// Fma of doubles without an instruction for it: Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums: proved algorithms using rounding to odd", 2008; NaN where an operand is
// not finite, and not for numbers above 2^500.
template <class P>
class EmulatedDoubles {
 public:
  template <class V>
  static HWY_INLINE V Fma(V a, V b, V c) {
    const V product = P::Mul(a, b);
    const V ah = High(a);
    const V bh = High(b);
    const V al = P::Sub(a, ah);
    const V bl = P::Sub(b, bh);
    const V middle =
        P::Add(P::Add(P::Sub(P::Mul(ah, bh), product), P::Mul(ah, bl)), P::Mul(al, bh));
    const V error = P::Add(middle, P::Mul(al, bl));
    V low, rest, inexact;
    const V sum = ExactSum(c, error, low);
    const V high = ExactSum(product, sum, rest);
    const V odd = ExactSum(low, rest, inexact);
    return P::Add(high, RoundToOdd<P>(odd, inexact));
  }

 private:
  // The upper half of the bits, by Veltkamp's multiplication.
  template <class V>
  static HWY_INLINE V High(V a) {
    const V c = P::Mul(a, P::Set(0x1p27 + 1));
    return P::Sub(c, P::Sub(c, a));
  }
  // a + b is the result plus `low`.
  template <class V>
  static HWY_INLINE V ExactSum(V a, V b, V& low) {
    const V s = P::Add(a, b);
    const V t = P::Sub(s, a);
    low = P::Add(P::Sub(a, P::Sub(s, t)), P::Sub(b, t));
    return s;
  }
};

#if HWY_ARCH_WASM
// The operations of one part: Highway has none on doubles for WebAssembly.
struct WasmDoubles {
  using V = v128_t;
  using I = v128_t;
  using Mask = v128_t;
  static constexpr size_t kLanes = 2;

  static HWY_INLINE V Set(double v) { return wasm_f64x2_splat(v); }
  static HWY_INLINE I SetI(int64_t v) { return wasm_i64x2_splat(v); }
  static HWY_INLINE V Load(const double* p) { return wasm_v128_load(p); }
  static HWY_INLINE void Store(V v, double* p) { wasm_v128_store(p, v); }

  static HWY_INLINE V Add(V a, V b) { return wasm_f64x2_add(a, b); }
  static HWY_INLINE V Sub(V a, V b) { return wasm_f64x2_sub(a, b); }
  static HWY_INLINE V Mul(V a, V b) { return wasm_f64x2_mul(a, b); }
  static HWY_INLINE V Div(V a, V b) { return wasm_f64x2_div(a, b); }
  static HWY_INLINE V Fma(V a, V b, V c) { return EmulatedDoubles<WasmDoubles>::Fma(a, b, c); }
  static HWY_INLINE V Abs(V a) { return wasm_f64x2_abs(a); }
  static HWY_INLINE V Sqrt(V a) { return wasm_f64x2_sqrt(a); }
  // pmax(b, a) is b < a ? a : b.
  static HWY_INLINE V Max(V a, V b) { return wasm_f64x2_pmax(b, a); }
  static HWY_INLINE V Min(V a, V b) { return wasm_f64x2_pmin(b, a); }

  static HWY_INLINE I AddI(I a, I b) { return wasm_i64x2_add(a, b); }
  static HWY_INLINE I SubI(I a, I b) { return wasm_i64x2_sub(a, b); }
  static HWY_INLINE I AndI(I a, I b) { return wasm_v128_and(a, b); }
  static HWY_INLINE I OrI(I a, I b) { return wasm_v128_or(a, b); }
  static HWY_INLINE I XorI(I a, I b) { return wasm_v128_xor(a, b); }
  template <int k>
  static HWY_INLINE I Shl(I a) {
    return wasm_i64x2_shl(a, k);
  }
  template <int k>
  static HWY_INLINE I Shr(I a) {
    return wasm_u64x2_shr(a, k);
  }
  static HWY_INLINE I Bits(V a) { return a; }
  static HWY_INLINE V FromBits(I a) { return a; }

  static HWY_INLINE Mask Lt(V a, V b) { return wasm_f64x2_lt(a, b); }
  static HWY_INLINE Mask Eq(V a, V b) { return wasm_f64x2_eq(a, b); }
  static HWY_INLINE Mask EqI(I a, I b) { return wasm_i64x2_eq(a, b); }
  static HWY_INLINE V Select(Mask m, V yes, V no) { return wasm_v128_bitselect(yes, no, m); }
  static HWY_INLINE I SelectI(Mask m, I yes, I no) { return wasm_v128_bitselect(yes, no, m); }
  static HWY_INLINE I MaskBits(Mask m) { return m; }
  static HWY_INLINE bool AnyTrue(Mask m) { return wasm_v128_any_true(m); }

  static HWY_INLINE V Gather(const double* table, I index) {
    return wasm_f64x2_make(table[wasm_i64x2_extract_lane(index, 0)],
                           table[wasm_i64x2_extract_lane(index, 1)]);
  }
};
#endif

// NN_HIDE_CONSTANT for a vector.
template <class V>
HWY_INLINE void HideConstant(V& v) {
#if HWY_TARGET == HWY_EMU128
  NN_HIDE_CONSTANT_ARRAY(v.raw);
#else
  NN_HIDE_CONSTANT(v.raw);
#endif
}

// The operations of one part.
template <class D>
struct SimdDoubles {
  using V = hn::Vec<D>;
  using DI = hn::RebindToSigned<D>;
  using DU = hn::RebindToUnsigned<D>;
  using I = hn::Vec<DI>;
  using Mask = hn::Mask<D>;

  static HWY_INLINE V Set(double v) { return hn::Set(D(), v); }
  static HWY_INLINE I SetI(int64_t v) { return hn::Set(DI(), v); }

  static HWY_INLINE V Add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V Sub(V a, V b) { return hn::Sub(a, b); }
  static HWY_INLINE V Mul(V a, V b) { return hn::Mul(a, b); }
  static HWY_INLINE V Div(V a, V b) { return hn::Div(a, b); }
#if HWY_NATIVE_FMA
  static HWY_INLINE V Fma(V a, V b, V c) {
    return hn::MulAdd(a, b, c);
  }
#else
  static HWY_INLINE V Fma(V a, V b, V c) {
    return EmulatedDoubles<SimdDoubles>::Fma(a, b, c);
  }
#endif
  static HWY_INLINE V Abs(V a) {
    return hn::Abs(a);
  }
  static HWY_INLINE V Sqrt(V a) {
    return hn::Sqrt(a);
  }
  static HWY_INLINE V Max(V a, V b) {
    HideConstant(a);
    HideConstant(b);
    return hn::IfThenElse(hn::Gt(a, b), a, b);
  }
  static HWY_INLINE V Min(V a, V b) {
    HideConstant(a);
    HideConstant(b);
    return hn::IfThenElse(hn::Lt(a, b), a, b);
  }

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
    return hn::BitCast(DI(), hn::ShiftRight<k>(hn::BitCast(DU(), a)));
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
  static HWY_INLINE Mask Eq(V a, V b) {
    return hn::Eq(a, b);
  }
  static HWY_INLINE Mask EqI(I a, I b) {
    return hn::RebindMask(D(), hn::Eq(a, b));
  }
  static HWY_INLINE V Select(Mask m, V yes, V no) {
    return hn::IfThenElse(m, yes, no);
  }
  static HWY_INLINE I SelectI(Mask m, I yes, I no) {
    return hn::IfThenElse(hn::RebindMask(DI(), m), yes, no);
  }
  static HWY_INLINE I MaskBits(Mask m) {
    return hn::BitCast(DI(), hn::VecFromMask(D(), m));
  }
  static HWY_INLINE bool AnyTrue(Mask m) {
    return !hn::AllFalse(D(), m);
  }

  static HWY_INLINE V Gather(const double* table, I index) {
    return hn::GatherIndex(D(), table, index);
  }
};

// The machine of n parts.
template <class P, size_t n>
struct PartedDoubles {
  struct V {
    typename P::V part[n];
  };
  struct I {
    typename P::I part[n];
  };
  struct Mask {
    typename P::Mask part[n];
  };

  static HWY_INLINE V Set(double v) {
    return Each<V>([&](size_t) { return P::Set(v); });
  }
  static HWY_INLINE I SetI(int64_t v) {
    return Each<I>([&](size_t) { return P::SetI(v); });
  }

  static HWY_INLINE V Add(V a, V b) {
    return Each<V>([&](size_t i) { return P::Add(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Sub(V a, V b) {
    return Each<V>([&](size_t i) { return P::Sub(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Mul(V a, V b) {
    return Each<V>([&](size_t i) { return P::Mul(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Div(V a, V b) {
    return Each<V>([&](size_t i) { return P::Div(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Fma(V a, V b, V c) {
    return Each<V>([&](size_t i) { return P::Fma(a.part[i], b.part[i], c.part[i]); });
  }
  static HWY_INLINE V Max(V a, V b) {
    return Each<V>([&](size_t i) { return P::Max(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Min(V a, V b) {
    return Each<V>([&](size_t i) { return P::Min(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Abs(V a) {
    return Each<V>([&](size_t i) { return P::Abs(a.part[i]); });
  }
  static HWY_INLINE V Sqrt(V a) {
    return Each<V>([&](size_t i) { return P::Sqrt(a.part[i]); });
  }

  static HWY_INLINE I AddI(I a, I b) {
    return Each<I>([&](size_t i) { return P::AddI(a.part[i], b.part[i]); });
  }
  static HWY_INLINE I SubI(I a, I b) {
    return Each<I>([&](size_t i) { return P::SubI(a.part[i], b.part[i]); });
  }
  static HWY_INLINE I AndI(I a, I b) {
    return Each<I>([&](size_t i) { return P::AndI(a.part[i], b.part[i]); });
  }
  static HWY_INLINE I OrI(I a, I b) {
    return Each<I>([&](size_t i) { return P::OrI(a.part[i], b.part[i]); });
  }
  static HWY_INLINE I XorI(I a, I b) {
    return Each<I>([&](size_t i) { return P::XorI(a.part[i], b.part[i]); });
  }
  template <int k>
  static HWY_INLINE I Shl(I a) {
    return Each<I>([&](size_t i) { return P::template Shl<k>(a.part[i]); });
  }
  template <int k>
  static HWY_INLINE I Shr(I a) {
    return Each<I>([&](size_t i) { return P::template Shr<k>(a.part[i]); });
  }
  static HWY_INLINE I Bits(V a) {
    return Each<I>([&](size_t i) { return P::Bits(a.part[i]); });
  }
  static HWY_INLINE V FromBits(I a) {
    return Each<V>([&](size_t i) { return P::FromBits(a.part[i]); });
  }

  static HWY_INLINE Mask Lt(V a, V b) {
    return Each<Mask>([&](size_t i) { return P::Lt(a.part[i], b.part[i]); });
  }
  static HWY_INLINE Mask Eq(V a, V b) {
    return Each<Mask>([&](size_t i) { return P::Eq(a.part[i], b.part[i]); });
  }
  static HWY_INLINE Mask EqI(I a, I b) {
    return Each<Mask>([&](size_t i) { return P::EqI(a.part[i], b.part[i]); });
  }
  static HWY_INLINE V Select(Mask m, V yes, V no) {
    return Each<V>([&](size_t i) { return P::Select(m.part[i], yes.part[i], no.part[i]); });
  }
  static HWY_INLINE I SelectI(Mask m, I yes, I no) {
    return Each<I>([&](size_t i) { return P::SelectI(m.part[i], yes.part[i], no.part[i]); });
  }
  static HWY_INLINE bool AnyTrue(Mask m) {
    bool any = false;
    for (size_t i = 0; i < n; ++i) any = any || P::AnyTrue(m.part[i]);
    return any;
  }

  static HWY_INLINE V Gather(const double* table, I index) {
    return Each<V>([&](size_t i) { return P::Gather(table, index.part[i]); });
  }

 private:
  template <class T, class Fn, size_t... i>
  static HWY_INLINE T EachOf(std::index_sequence<i...>, const Fn& fn) {
    return {{fn(i)...}};
  }
  template <class T, class Fn>
  static HWY_INLINE T Each(const Fn& fn) {
    return EachOf<T>(std::make_index_sequence<n>(), fn);
  }
};

// The doubles of the lanes of a vector of floats.
#if HWY_TARGET == HWY_WASM
template <class D>
struct DoublesOf : PartedDoubles<WasmDoubles, 2> {
  using V = typename PartedDoubles<WasmDoubles, 2>::V;

  static HWY_INLINE V Widen(hn::Vec<D> x) {
    const v128_t high = wasm_i64x2_shuffle(x.raw, x.raw, 1, 1);
    return {{wasm_f64x2_promote_low_f32x4(x.raw), wasm_f64x2_promote_low_f32x4(high)}};
  }
  static HWY_INLINE hn::Vec<D> Narrow(V x) {
    const v128_t low = wasm_f32x4_demote_f64x2_zero(x.part[0]);
    const v128_t high = wasm_f32x4_demote_f64x2_zero(x.part[1]);
    return hn::Vec<D>{wasm_i64x2_shuffle(low, high, 0, 2)};
  }
};
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_HAVE_FLOAT64
// Lane by lane: without SIMD, Highway's DemoteTo converts infinity to the largest float.
template <class D>
struct DoublesOf : PartedDoubles<ScalarDoubles, hn::MaxLanes(D())> {
  static constexpr size_t kLanes = hn::MaxLanes(D());
  using V = typename PartedDoubles<ScalarDoubles, kLanes>::V;

  static HWY_INLINE V Widen(hn::Vec<D> x) {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(x, D(), lanes);
    V y;
    for (size_t i = 0; i < kLanes; ++i) y.part[i] = static_cast<double>(lanes[i]);
    return y;
  }
  static HWY_INLINE hn::Vec<D> Narrow(V x) {
    HWY_ALIGN float lanes[kLanes];
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = static_cast<float>(x.part[i]);
    return hn::Load(D(), lanes);
  }
};
#else
template <class D>
struct DoublesOf : PartedDoubles<SimdDoubles<hn::Rebind<double, hn::Half<D>>>, 2> {
  using Half = hn::Half<D>;
  using Part = hn::Rebind<double, Half>;
  using V = typename PartedDoubles<SimdDoubles<Part>, 2>::V;

  static HWY_INLINE V Widen(hn::Vec<D> x) {
    const Part d;
    return {
        {hn::PromoteTo(d, hn::LowerHalf(Half(), x)), hn::PromoteTo(d, hn::UpperHalf(Half(), x))}};
  }
  static HWY_INLINE hn::Vec<D> Narrow(V x) {
    const Half d;
    return hn::Combine(D(), hn::DemoteTo(d, x.part[1]), hn::DemoteTo(d, x.part[0]));
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_DOUBLES_INL_H_

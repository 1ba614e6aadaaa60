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

#include "hwy/highway.h"
#include "numeric/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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
  // Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
  // rounding to odd", 2008; NaN where an operand is not finite, and not for numbers above 2^500.
  static HWY_INLINE V Fma(V a, V b, V c) {
    const V product = Mul(a, b);
    const V ah = High(a);
    const V bh = High(b);
    const V al = Sub(a, ah);
    const V bl = Sub(b, bh);
    const V middle = Add(Add(Sub(Mul(ah, bh), product), Mul(ah, bl)), Mul(al, bh));
    const V error = Add(middle, Mul(al, bl));
    V low, rest, inexact;
    const V sum = ExactSum(c, error, low);
    const V high = ExactSum(product, sum, rest);
    const V odd = ExactSum(low, rest, inexact);
    // If the sum is inexact: round toward zero, then set the last bit.
    const auto mask = hn::BitCast(DU(), hn::VecFromMask(D(), hn::Gt(Abs(inexact), Set(0))));
    const auto bits = hn::BitCast(DU(), odd);
    const auto signs = hn::Xor(bits, hn::BitCast(DU(), inexact));
    const auto away = hn::And(hn::ShiftRight<63>(signs), mask);
    const auto set = hn::Or(hn::Sub(bits, away), hn::And(mask, hn::Set(DU(), 1)));
    return Add(high, hn::BitCast(D(), set));
  }
#endif
  static HWY_INLINE V Abs(V a) {
    return hn::Abs(a);
  }
  static HWY_INLINE V Sqrt(V a) {
    return hn::Sqrt(a);
  }
  static HWY_INLINE V Max(V a, V b) {
    return hn::IfThenElse(hn::Gt(a, b), a, b);
  }
  static HWY_INLINE V Min(V a, V b) {
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
  static HWY_INLINE bool AnyTrue(Mask m) {
    return !hn::AllFalse(D(), m);
  }

  static HWY_INLINE V Gather(const double* table, I index) {
    return hn::GatherIndex(D(), table, index);
  }

 private:
  // The upper half of the bits, by Veltkamp's multiplication.
  static HWY_INLINE V High(V a) {
    const V c = Mul(a, Set(0x1p27 + 1));
    return Sub(c, Sub(c, a));
  }
  // a + b is the result plus `low`.
  static HWY_INLINE V ExactSum(V a, V b, V& low) {
    const V s = Add(a, b);
    const V t = Sub(s, a);
    low = Add(Sub(a, Sub(s, t)), Sub(b, t));
    return s;
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
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_HAVE_FLOAT64
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

// ops/requant.h on vectors of int32: TensorFlow Lite's rescaling, per lane.
#if defined(NN_EXEC_KERNELS_REQUANT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_REQUANT_INL_H_
#undef NN_EXEC_KERNELS_REQUANT_INL_H_
#else
#define NN_EXEC_KERNELS_REQUANT_INL_H_
#endif

#include "hwy/highway.h"
#include "ops/requant.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Multiplier and shifts of each lane; right >= 0 and left >= 0, one of them 0.
template <class D>
struct RescaleLanes {
  hn::Vec<D> multiplier, left, right;

  static HWY_INLINE RescaleLanes Load(const int32_t* multipliers, const int32_t* lefts,
                                      const int32_t* rights) {
    const D d;
    return {hn::LoadU(d, multipliers), hn::LoadU(d, lefts), hn::LoadU(d, rights)};
  }
  static HWY_INLINE RescaleLanes Broadcast(FixedMultiplier m) {
    const D d;
    return {hn::Set(d, m.multiplier), hn::Set(d, m.shift > 0 ? m.shift : 0),
            hn::Set(d, m.shift > 0 ? 0 : -m.shift)};
  }
};

// RoundingDoublingHighMul for a non-negative multiplier, which cannot overflow.
template <class D>
HWY_INLINE hn::Vec<D> HighMul(D d, hn::Vec<D> x, hn::Vec<D> multiplier) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, RoundingDoublingHighMul(hn::GetLane(x), hn::GetLane(multiplier)));
#else
  const hn::RepartitionToWide<D> d64;
  const hn::RebindToUnsigned<decltype(d64)> u64;
  const auto nudge = hn::Set(d64, int64_t{1} << 30);
  const auto down = [&](hn::Vec<D> v) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(u64, v)));
  };
  const auto even = hn::Add(hn::MulEven(x, multiplier), nudge);
  const auto odd = hn::Add(hn::MulEven(down(x), down(multiplier)), nudge);
  // The result is bits 31 to 62: the low half of even lanes, the high half of odd ones.
  const auto low = hn::BitCast(d, hn::ShiftRight<31>(hn::BitCast(u64, even)));
  const auto high = hn::BitCast(d, hn::ShiftLeft<1>(hn::BitCast(u64, odd)));
  return hn::OddEven(high, low);
#endif
}

// Rescale(x, m), lane by lane.
template <class D>
HWY_INLINE hn::Vec<D> RescaleVector(D d, hn::Vec<D> x, const RescaleLanes<D>& m) {
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1);
  const auto high = HighMul(d, hn::Shl(x, m.left), m.multiplier);
  // mask = 2^right - 1; round up where the remainder exceeds half of it, a little more for
  // negative values.
  const auto mask = hn::Sub(hn::Shl(one, m.right), one);
  const auto remainder = hn::And(high, mask);
  const auto negative = hn::IfThenElse(hn::Lt(high, zero), one, zero);
  const auto threshold = hn::Add(hn::ShiftRight<1>(mask), negative);
  const auto up = hn::IfThenElse(hn::Gt(remainder, threshold), one, zero);
  return hn::Add(hn::Shr(high, m.right), up);
}

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_REQUANT_INL_H_

// Panels of integers (BlockPanels) as float32.
#if defined(NN_EXEC_KERNELS_UNPACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_UNPACK_INL_H_
#undef NN_EXEC_KERNELS_UNPACK_INL_H_
#else
#define NN_EXEC_KERNELS_UNPACK_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "exec/kernels/matrix_f32.h"
#include "exec/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

// Unpacks steps [begin, end) of a panel, which have one scale and zero for each column.
template <class D, size_t kBits>
void UnpackSegment(const uint8_t* lines, size_t begin, size_t end, const float* scale,
                   const float* zero, float* to) {
  constexpr size_t kSteps = 8 / kBits;
  using V = hn::Vec<D>;
  constexpr size_t kLanes = hn::MaxLanes(D());
  const D d;
  const hn::Rebind<int32_t, D> di;
  const hn::Rebind<uint8_t, D> d8;
  const auto mask = hn::Set(di, (1 << kBits) - 1);
  for (size_t v = 0; v < kPanelWidth / kLanes; ++v) {
    const V s = hn::LoadU(d, scale + v * kLanes);
    const V z = hn::LoadU(d, zero + v * kLanes);
    float* out = to + v * kLanes;
    const auto put = [&](auto q) HWY_ATTR {
      const V level = hn::ConvertTo(d, hn::And(q, mask));
      hn::Store(hn::Mul(hn::Sub(level, z), s), d, out);
      out += kPanelWidth;
    };
    const auto line_of = [&](size_t k)
                             HWY_ATTR { return lines + k / kSteps * kPanelWidth + v * kLanes; };
    size_t k = begin;
    const auto put_one = [&]() HWY_ATTR {
      const auto q = hn::PromoteTo(di, hn::LoadU(d8, line_of(k)));
      put(hn::ShiftRightSame(q, static_cast<int>(k % kSteps * kBits)));
      ++k;
    };
    while (k < end && k % kSteps != 0) put_one();
    constexpr size_t kLines = 8 / kSteps;  // at a time
    for (; k + kLines * kSteps <= end; k += kLines * kSteps)
      ForEachNumber<kLines>([&](auto line) HWY_ATTR {
        constexpr size_t kAt = decltype(line)::value;
        const auto q = hn::PromoteTo(di, hn::LoadU(d8, line_of(k + kAt * kSteps)));
        ForEachNumber<kSteps>([&](auto step) HWY_ATTR {
          put(hn::ShiftRight<static_cast<int>(decltype(step)::value * kBits)>(q));
        });
      });
    while (k < end) put_one();
  }
}

// Unpacks steps [begin, end) of a panel to [k][16].
template <class D>
void UnpackPanel(const BlockPanels& b, size_t panel, size_t begin, size_t end, float* to) {
  const uint8_t* lines = b.lines.data() + panel * b.panel_lines() * kPanelWidth;
  const size_t numbers = panel * b.blocks * kPanelWidth;
  HWY_ALIGN float same[kPanelWidth];
  if (b.zeros.size() == 1) std::fill_n(same, kPanelWidth, b.zeros[0]);
  auto segment =
      std::upper_bound(b.segments.begin(), b.segments.end(), begin,
                       [](size_t k, const BlockPanels::Segment& s) { return k < s.begin; }) -
      1;
  while (begin < end) {
    const size_t at = numbers + segment->block * kPanelWidth;
    const float* zero = b.zeros.size() == 1 ? same : b.zeros.data() + at;
    ++segment;
    const size_t stop = segment == b.segments.end() ? end : std::min<size_t>(end, segment->begin);
    const auto unpack = b.bits == 2   ? UnpackSegment<D, 2>
                        : b.bits == 4 ? UnpackSegment<D, 4>
                                      : UnpackSegment<D, 8>;
    unpack(lines, begin, stop, b.scales.data() + at, zero, to);
    to += (stop - begin) * kPanelWidth;
    begin = stop;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_UNPACK_INL_H_

// Vectors of channels: several at a time, so that sums of different channels hide the latency of
// multiply-adds and each weight is broadcast once for them.
#include "exec/kernels/window/roi.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/window/roi.cc"
#include "hwy/foreach_target.h"

#include <limits>

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// `kVectors` vectors of channels from c on; `have` of them, if there are fewer.
template <size_t kVectors>
void Average(const RoiBinF32& b, size_t c, size_t have) {
  const D d;
  V sum[kVectors];
  NN_UNROLL
  for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (const RoiSample<float>& row : b.rows->samples)
    for (const RoiSample<float>& column : b.columns->samples) {
      V sample[kVectors];
      NN_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sample[v] = hn::Zero(d);
      for (const size_t i : {0, 1})
        for (const size_t j : {0, 1}) {
          const V weight = M::Set(row.weight[i] * column.weight[j]);
          const float* x = b.x + row.at[i] + column.at[j] + c;
          NN_UNROLL
          for (size_t v = 0; v < kVectors; ++v)
            sample[v] = M::Fma(weight, LoadSome(d, x + v * kLanes, have - v * kLanes), sample[v]);
        }
      NN_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sum[v] = M::Add(sum[v], sample[v]);
    }
  const V count = M::Set(b.count);
  NN_UNROLL
  for (size_t v = 0; v < kVectors; ++v)
    StoreSome(b.count > 0 ? M::Div(sum[v], count) : hn::Zero(d), d, b.out + c + v * kLanes,
              have - v * kLanes);
}

// The first NaN stays.
void Largest(const RoiBinF32& b, size_t c, size_t have) {
  const D d;
  const bool outside = b.rows->any_outside || b.columns->any_outside;
  V most = M::Set(outside ? 0.0f : -std::numeric_limits<float>::infinity());
  auto is_nan = M::IsNan(hn::Zero(d));
  for (const RoiSample<float>& row : b.rows->samples)
    for (const RoiSample<float>& column : b.columns->samples)
      for (const size_t i : {0, 1})
        for (const size_t j : {0, 1}) {
          const V weight = M::Set(row.weight[i] * column.weight[j]);
          const V x = LoadSome(d, b.x + row.at[i] + column.at[j] + c, have);
          const V product = M::Mul(weight, x);
          is_nan = M::Or(is_nan, M::IsNan(product));
          most = M::Max(most, product);
        }
  most = M::Select(is_nan, M::Set(std::numeric_limits<float>::quiet_NaN()), most);
  StoreSome(b.count > 0 ? most : hn::Zero(d), d, b.out + c, have);
}

void Bin(const RoiBinF32& b) {
  constexpr size_t kSeveral = 4;
  for (size_t c = 0; c < b.channels;) {
    const size_t have = b.channels - c;
    if (b.mode == RoiMode::kMax) {
      Largest(b, c, have);
      c += kLanes;
    } else if (have >= kSeveral * kLanes) {
      Average<kSeveral>(b, c, have);
      c += kSeveral * kLanes;
    } else {
      Average<1>(b, c, have);
      c += kLanes;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Bin);

void RunRoiBinF32(const RoiBinF32& bin) {
  HWY_DYNAMIC_DISPATCH(Bin)(bin);
}

}  // namespace nn
#endif  // HWY_ONCE

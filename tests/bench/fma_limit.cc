#include "fma_limit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fma_limit.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Independent chains: latency times throughput of every processor so far is no more than that.
constexpr size_t kChains = 12;

uint64_t Operations(size_t rounds) {
#if HWY_NATIVE_FMA
  return uint64_t{2} * kChains * hn::Lanes(hn::ScalableTag<float>()) * rounds;
#else
  (void)rounds;
  return 0;
#endif
}

float Run(size_t rounds) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  // The factors are near one, so that nothing overflows or becomes denormal, and not known to the
  // compiler.
  volatile float factor = 0.999f, addend = 0.001f;
  const V a = hn::Set(d, factor), b = hn::Set(d, addend);
  // Different starts: equal chains would be computed once.
  V c0 = b, c1 = hn::Add(c0, b), c2 = hn::Add(c1, b), c3 = hn::Add(c2, b), c4 = hn::Add(c3, b),
    c5 = hn::Add(c4, b), c6 = hn::Add(c5, b), c7 = hn::Add(c6, b), c8 = hn::Add(c7, b),
    c9 = hn::Add(c8, b), c10 = hn::Add(c9, b), c11 = hn::Add(c10, b);
  for (size_t i = 0; i < rounds; ++i) {
    c0 = hn::MulAdd(c0, a, b);
    c1 = hn::MulAdd(c1, a, b);
    c2 = hn::MulAdd(c2, a, b);
    c3 = hn::MulAdd(c3, a, b);
    c4 = hn::MulAdd(c4, a, b);
    c5 = hn::MulAdd(c5, a, b);
    c6 = hn::MulAdd(c6, a, b);
    c7 = hn::MulAdd(c7, a, b);
    c8 = hn::MulAdd(c8, a, b);
    c9 = hn::MulAdd(c9, a, b);
    c10 = hn::MulAdd(c10, a, b);
    c11 = hn::MulAdd(c11, a, b);
  }
  const V sum = hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)),
                        hn::Add(hn::Add(hn::Add(c4, c5), hn::Add(c6, c7)),
                                hn::Add(hn::Add(c8, c9), hn::Add(c10, c11))));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace HWY_NAMESPACE
}  // namespace nn::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn::bench {

HWY_EXPORT(Operations);
HWY_EXPORT(Run);

uint64_t FmaOperations(size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(Operations)(rounds);
}

float RunFmas(size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(Run)(rounds);
}

}  // namespace nn::bench
#endif  // HWY_ONCE

#include "peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8/int8-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

// Independent chains, in registers: at least the product of latency and throughput of current
// processors.
constexpr size_t kChains = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 12 : 10;

// One step of a chain, and its number of multiply-adds.
struct Fma {
  using V = hn::Vec<hn::ScalableTag<float>>;
  static constexpr size_t kCount = HWY_NATIVE_FMA ? hn::MaxLanes(hn::ScalableTag<float>()) : 0;

  V a, b;

  // Factors near one, so that nothing overflows or becomes denormal.
  HWY_INLINE Fma()
      : a(hn::Set(hn::ScalableTag<float>(), 0.999f)),
        b(hn::Set(hn::ScalableTag<float>(), 0.001f)) {}

  HWY_INLINE V Start(size_t chain) const {
    return hn::Set(hn::ScalableTag<float>(), static_cast<float>(chain));
  }
  HWY_INLINE V Next(V acc) const { return hn::MulAdd(acc, a, b); }
  static HWY_INLINE float Result(V sum) {
    const hn::ScalableTag<float> d;
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }
};

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
template <class Form>
struct Dot {
  using D32 = hn::ScalableTag<int32_t>;
  using Elements = hn::Repartition<typename Form::Element, D32>;
  using V = hn::Vec<D32>;
  static constexpr size_t kCount = hn::MaxLanes(D32()) * Form::kTaps;

  hn::Vec<Elements> b;

  HWY_INLINE Dot() : b(hn::Set(Elements(), 5)) {}

  HWY_INLINE V Start(size_t chain) const { return hn::Set(D32(), static_cast<int32_t>(chain)); }
  // Each chain has its own factor, because compilers would compute common products once.
  HWY_INLINE V Next(V acc) const { return Form::Add(D32(), acc, hn::BitCast(Elements(), acc), b); }
  static HWY_INLINE float Result(V sum) {
    return static_cast<float>(hn::GetLane(hn::SumOfLanes(D32(), sum)));
  }
};
#endif

// By value, so that `op` stays in registers.
template <class Op>
HWY_NOINLINE float RunChains(Op op, size_t rounds) {
  typename Op::V chains[kChains];
  NN_UNROLL
  for (size_t i = 0; i < kChains; ++i) chains[i] = op.Start(i);
  for (size_t r = 0; r < rounds; ++r) {
    NN_UNROLL
    for (size_t i = 0; i < kChains; ++i) chains[i] = op.Next(chains[i]);
  }
  auto sum = chains[0];
  NN_UNROLL
  for (size_t i = 1; i < kChains; ++i) sum = hn::Add(sum, chains[i]);
  return Op::Result(sum);
}

uint64_t CountFmas(size_t rounds) {
  return uint64_t{kChains} * Fma::kCount * rounds;
}
float Fmas(size_t rounds) {
  return RunChains(Fma(), rounds);
}
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
uint64_t CountDots(size_t rounds) {
  uint64_t count = 0;
  WithForm(ChosenProductForm(), [&](auto form) HWY_ATTR {
    count = uint64_t{kChains} * Dot<decltype(form)>::kCount * rounds;
  });
  return count;
}
float Dots(size_t rounds) {
  float result = 0;
  WithForm(ChosenProductForm(),
           [&](auto form) HWY_ATTR { result = RunChains(Dot<decltype(form)>(), rounds); });
  return result;
}
#else
uint64_t CountDots(size_t) {
  return 0;
}
float Dots(size_t) {
  return 0;
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(CountFmas);
HWY_EXPORT(CountDots);
HWY_EXPORT(Fmas);
HWY_EXPORT(Dots);

namespace bench {

uint64_t FmasOf(size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(CountFmas)(rounds);
}
uint64_t DotsOf(size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(CountDots)(rounds);
}
float RunFmas(size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(Fmas)(rounds);
}
float RunDots(size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(Dots)(rounds);
}

}  // namespace bench
}  // namespace nn
#endif  // HWY_ONCE

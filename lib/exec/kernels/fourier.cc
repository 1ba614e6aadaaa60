// The steps of a transform combine elements of equal position in all sequences, which are adjacent,
// with the same factors. They are therefore vectors, whatever their number; from the second step
// on, those of a single sequence are adjacent, too.
#include "exec/kernels/fourier.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/fourier.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"
#include "ops/math/fourier-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_WASM
using FourierDoubles = WasmDoubles;
#else
struct FourierDoubles {
  using D = hn::CappedTag<double, 8>;
  using V = hn::Vec<D>;
  static constexpr size_t kLanes = hn::MaxLanes(D());

  static HWY_INLINE V Set(double v) { return hn::Set(D(), v); }
  static HWY_INLINE V Load(const double* p) { return hn::LoadU(D(), p); }
  static HWY_INLINE void Store(V v, double* p) { hn::StoreU(v, D(), p); }
  static HWY_INLINE V Add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V Sub(V a, V b) { return hn::Sub(a, b); }
  static HWY_INLINE V Mul(V a, V b) { return hn::Mul(a, b); }
  static HWY_INLINE V Div(V a, V b) { return hn::Div(a, b); }
};
#endif

void Fourier(const FourierTransform& transform, const FourierArrays& arrays) {
  FourierSteps<FourierDoubles>::Run(transform, arrays);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Fourier);

void RunFourierF64(const FourierTransform& transform, const FourierArrays& arrays) {
  HWY_DYNAMIC_DISPATCH(Fourier)(transform, arrays);
}

}  // namespace nn
#endif  // HWY_ONCE

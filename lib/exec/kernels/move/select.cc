#include "exec/kernels/move/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/move/select.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

void Select32(const uint8_t* condition, const uint32_t* a, bool a_scalar, const uint32_t* b,
              bool b_scalar, uint32_t* y, size_t n) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<uint32_t, 16> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto a0 = hn::Set(d, a[0]);
  const auto b0 = hn::Set(d, b[0]);
  for (; i + lanes <= n; i += lanes) {
    const auto c = hn::PromoteTo(d, hn::LoadU(d8, condition + i));
    const auto yes = a_scalar ? a0 : hn::LoadU(d, a + i);
    const auto no = b_scalar ? b0 : hn::LoadU(d, b + i);
    hn::StoreU(hn::IfThenElse(hn::Eq(c, hn::Zero(d)), no, yes), d, y + i);
  }
#endif
  for (; i < n; ++i) y[i] = condition[i] != 0 ? a[a_scalar ? 0 : i] : b[b_scalar ? 0 : i];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Select32);

void RunSelect32(const uint8_t* condition, const uint32_t* a, bool a_scalar, const uint32_t* b,
                 bool b_scalar, uint32_t* y, size_t n) {
  if (n == 0) return;
  HWY_DYNAMIC_DISPATCH(Select32)(condition, a, a_scalar, b, b_scalar, y, n);
}

}  // namespace nn
#endif  // HWY_ONCE

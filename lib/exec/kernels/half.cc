#include "exec/kernels/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/half.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using D16 = hn::Rebind<uint16_t, D>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
using I = hn::Vec<DI>;
constexpr size_t kLanes = hn::MaxLanes(D());

HWY_INLINE I Greater(I a, int32_t b) {
  return hn::VecFromMask(DI(), hn::Gt(a, M::SetI(b)));
}

struct WidenF16 {
  HWY_INLINE V operator()(I h) const {
    const I magnitude = hn::And(h, M::SetI(0x7FFF));
    const I bits = hn::ShiftLeft<13>(magnitude);
    // Rebiases the exponent, which also handles subnormals; infinity and NaN keep the largest
    // exponent.
    const I finite = M::Bits(M::Mul(M::FromBits(bits), M::Set(0x1p112f)));
    const I special = hn::Or(bits, M::SetI(0x7F800000));
    const I y = hn::IfVecThenElse(Greater(magnitude, 0x7BFF), special, finite);
    return M::FromBits(hn::Or(y, hn::ShiftLeft<16>(hn::And(h, M::SetI(0x8000)))));
  }
};

struct WidenBf16 {
  HWY_INLINE V operator()(I h) const { return M::FromBits(hn::ShiftLeft<16>(h)); }
};

struct NarrowF16 {
  HWY_INLINE I operator()(V x) const {
    const I bits = M::Bits(x);
    const I sign = hn::And(hn::ShiftRight<16>(bits), M::SetI(0x8000));
    const I magnitude = hn::And(bits, M::SetI(0x7FFFFFFF));
    const I odd = hn::And(hn::ShiftRight<13>(magnitude), M::SetI(1));
    const I up = hn::Add(hn::Add(magnitude, odd), M::SetI(0xFFF - 0x38000000));
    const I normal = hn::ShiftRight<13>(up);
    const I half = M::Bits(M::Add(M::FromBits(magnitude), M::Set(0.5f)));
    const I small = hn::Sub(half, M::SetI(0x3F000000));
    I y = hn::IfVecThenElse(Greater(magnitude, 0x387FFFFF), normal, small);
    y = hn::IfVecThenElse(Greater(magnitude, 0x477FEFFF), M::SetI(0x7C00), y);
    const I payload = hn::And(hn::ShiftRight<13>(bits), M::SetI(0x1FF));
    y = hn::IfVecThenElse(Greater(magnitude, 0x7F800000), hn::Or(payload, M::SetI(0x7E00)), y);
    return hn::Or(y, sign);
  }
};

struct NarrowBf16 {
  HWY_INLINE I operator()(V x) const {
    const I bits = M::Bits(x);
    const I high = hn::And(hn::ShiftRight<16>(bits), M::SetI(0xFFFF));
    const I odd = hn::And(high, M::SetI(1));
    const I up = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, M::SetI(0x7FFF))));
    const I magnitude = hn::And(bits, M::SetI(0x7FFFFFFF));
    const I quiet = hn::Or(high, M::SetI(0x40));
    return hn::IfVecThenElse(Greater(magnitude, 0x7F800000), quiet, hn::And(up, M::SetI(0xFFFF)));
  }
};

template <class Fn>
HWY_INLINE void Widen(const uint16_t* x, float* y, size_t n) {
  ForEachVector<kLanes>(x, y, n, [](const uint16_t* from, float* to) HWY_ATTR {
    hn::StoreU(Fn()(hn::PromoteTo(DI(), hn::LoadU(D16(), from))), D(), to);
  });
}

template <class Fn>
HWY_INLINE void Narrow(const float* x, uint16_t* y, size_t n) {
  ForEachVector<kLanes>(x, y, n, [](const float* from, uint16_t* to) HWY_ATTR {
    hn::StoreU(hn::DemoteTo(D16(), Fn()(hn::LoadU(D(), from))), D16(), to);
  });
}

void WidenF16Row(const uint16_t* x, float* y, size_t n) {
  Widen<WidenF16>(x, y, n);
}
void WidenBf16Row(const uint16_t* x, float* y, size_t n) {
  Widen<WidenBf16>(x, y, n);
}
void NarrowF16Row(const float* x, uint16_t* y, size_t n) {
  Narrow<NarrowF16>(x, y, n);
}
void NarrowBf16Row(const float* x, uint16_t* y, size_t n) {
  Narrow<NarrowBf16>(x, y, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(WidenF16Row);
HWY_EXPORT(WidenBf16Row);
HWY_EXPORT(NarrowF16Row);
HWY_EXPORT(NarrowBf16Row);

void RunWidenF16(const uint16_t* x, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(WidenF16Row)(x, y, n);
}
void RunWidenBf16(const uint16_t* x, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(WidenBf16Row)(x, y, n);
}
void RunNarrowF16(const float* x, uint16_t* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(NarrowF16Row)(x, y, n);
}
void RunNarrowBf16(const float* x, uint16_t* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(NarrowBf16Row)(x, y, n);
}

}  // namespace nn
#endif  // HWY_ONCE

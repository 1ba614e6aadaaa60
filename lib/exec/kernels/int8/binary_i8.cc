#include "exec/kernels/int8/binary_i8.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/int8/binary_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8/int8-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using Kind = BinaryI8::Kind;

#if HWY_TARGET == HWY_SCALAR

template <Kind kKind, template <class> class ScaleA, template <class> class ScaleB>
void Row(const BinaryI8& op, const BinaryI8Row& r) {
  const auto value = [&](uint8_t byte) {
    return op.result.is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
  };
  const hn::Sisd<int32_t> d;
  using Scale = Rescaler<hn::Sisd<int32_t>>;
  const auto rescale = [&](const Scale& scale, int32_t v) {
    return hn::GetLane(scale(hn::Set(d, v)));
  };
  const Scale scale_a(op.fa, 0), scale_b(op.fb, 0), scale_y(op.fy, 0);
  for (size_t i = 0; i < r.n; ++i) {
    const int32_t a = value(r.a[r.a_scalar ? 0 : i]) - op.a_zero;
    const int32_t b = value(r.b[r.b_scalar ? 0 : i]) - op.b_zero;
    int32_t v = a * b;
    if constexpr (kKind != Kind::kProduct) {
      const int32_t x = rescale(scale_a, a * (1 << op.shift));
      const int32_t z = rescale(scale_b, b * (1 << op.shift));
      v = kKind == Kind::kSum ? x + z : x - z;
    }
    r.y[i] = ToByte(op.result, rescale(scale_y, v));
  }
}

#else

using D8 = hn::CappedTag<uint8_t, 64>;
using D16 = hn::Repartition<int16_t, D8>;
using D32 = hn::Repartition<int32_t, D8>;
using V8 = hn::Vec<D8>;
using V32 = hn::Vec<D32>;
constexpr size_t kBytes = hn::MaxLanes(D8());

// A quarter of the bytes as int32: bytes 4 kPart to 4 kPart + 3 of each block of 16.
template <int kPart>
HWY_INLINE V32 Part(V8 bytes) {
  const D8 d8;
  const V8 none = hn::Zero(d8);
  const V8 pairs =
      kPart < 2 ? hn::InterleaveLower(d8, bytes, none) : hn::InterleaveUpper(d8, bytes, none);
  const D16 d16;
  const auto words = hn::BitCast(d16, pairs);
  const auto zeros = hn::Zero(d16);
  return hn::BitCast(D32(), kPart % 2 == 0 ? hn::InterleaveLower(d16, words, zeros)
                                           : hn::InterleaveUpper(d16, words, zeros));
}

template <Kind kKind, template <class> class ScaleA, template <class> class ScaleB>
void Row(const BinaryI8& op, const BinaryI8Row& r) {
  const D8 d8;
  const D32 d32;
  const ScaleA<D32> scale_a(op.fa, 0);
  const ScaleB<D32> scale_b(op.fb, 0);
  const Rescaler<D32> scale_y(op.fy, 0);
  const ToBytes<D8> to_bytes(op.result);
  const int32_t up = to_bytes.Up(op.result);
  const V32 a_zero = hn::Set(d32, op.a_zero + up);
  const V32 b_zero = hn::Set(d32, op.b_zero + up);
  const auto combine = [&](V32 a, V32 b) HWY_ATTR {
    a = hn::Sub(a, a_zero);
    b = hn::Sub(b, b_zero);
    if constexpr (kKind == Kind::kProduct) {
      return scale_y(hn::Mul(a, b));
    } else {
      const V32 x = scale_a(hn::ShiftLeftSame(a, op.shift));
      const V32 z = scale_b(hn::ShiftLeftSame(b, op.shift));
      return scale_y(kKind == Kind::kSum ? hn::Add(x, z) : hn::Sub(x, z));
    }
  };
  const auto run = [&](V8 a, V8 b) HWY_ATTR {
    a = to_bytes.Flip(a);
    b = to_bytes.Flip(b);
    return to_bytes(combine(Part<0>(a), Part<0>(b)), combine(Part<1>(a), Part<1>(b)),
                    combine(Part<2>(a), Part<2>(b)), combine(Part<3>(a), Part<3>(b)));
  };
  const V8 a_all = hn::Set(d8, r.a[0]), b_all = hn::Set(d8, r.b[0]);
  size_t i = 0;
  for (; i + kBytes <= r.n; i += kBytes)
    hn::StoreU(run(r.a_scalar ? a_all : hn::LoadU(d8, r.a + i),
                   r.b_scalar ? b_all : hn::LoadU(d8, r.b + i)),
               d8, r.y + i);
  if (i == r.n) return;
  HWY_ALIGN uint8_t piece[kBytes] = {};
  const auto load = [&](const uint8_t* p) HWY_ATTR {
    std::memcpy(piece, p + i, r.n - i);
    return hn::Load(d8, piece);
  };
  const V8 a = r.a_scalar ? a_all : load(r.a);
  const V8 b = r.b_scalar ? b_all : load(r.b);
  hn::Store(run(a, b), d8, piece);
  std::memcpy(r.y + i, piece, r.n - i);
}

#endif

template <Kind kKind>
void Sum(const BinaryI8& op, const BinaryI8Row& r) {
  if (op.fa.plain && op.fb.plain) return Row<kKind, PlainRescaler, PlainRescaler>(op, r);
  if (op.fa.plain) return Row<kKind, PlainRescaler, Rescaler>(op, r);
  if (op.fb.plain) return Row<kKind, Rescaler, PlainRescaler>(op, r);
  Row<kKind, Rescaler, Rescaler>(op, r);
}

void Binary(const BinaryI8& op, const BinaryI8Row& r) {
  switch (op.kind) {
    case Kind::kSum:
      return Sum<Kind::kSum>(op, r);
    case Kind::kDifference:
      return Sum<Kind::kDifference>(op, r);
    case Kind::kProduct:
      return Row<Kind::kProduct, Rescaler, Rescaler>(op, r);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Binary);

void RunBinaryI8(const BinaryI8& op, const BinaryI8Row& row) {
  if (row.n != 0) HWY_DYNAMIC_DISPATCH(Binary)(op, row);
}

}  // namespace nn
#endif  // HWY_ONCE

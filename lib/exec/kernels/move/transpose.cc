#include "exec/kernels/move/transpose.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/move/transpose.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The side of a block in elements: its lines stay in the L1 cache.
constexpr size_t kBlock = 32;

template <typename T>
HWY_INLINE void Scalar(const T* in, size_t in_stride, T* out, size_t out_stride, size_t rows,
                       size_t columns) {
  for (size_t c = 0; c < columns; ++c)
    for (size_t r = 0; r < rows; ++r) out[c * out_stride + r] = in[r * in_stride + c];
}

#if HWY_TARGET != HWY_SCALAR
// Four rows of four 32-bit elements.
HWY_INLINE void FourByFour(const uint32_t* in, size_t in_stride, uint32_t* out, size_t out_stride) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint64_t, 2> d64;
  const auto r0 = hn::LoadU(d, in);
  const auto r1 = hn::LoadU(d, in + in_stride);
  const auto r2 = hn::LoadU(d, in + 2 * in_stride);
  const auto r3 = hn::LoadU(d, in + 3 * in_stride);
  const auto a = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));  // 00 10 01 11
  const auto b = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));  // 20 30 21 31
  const auto e = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
  const auto f = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, a, b)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, a, b)), d, out + out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, e, f)), d, out + 2 * out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, e, f)), d, out + 3 * out_stride);
}
#endif

template <typename T>
HWY_INLINE void Block(const T* in, size_t in_stride, T* out, size_t out_stride, size_t rows,
                      size_t columns) {
  size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    for (; c + 4 <= columns; c += 4) {
      size_t r = 0;
      for (; r + 4 <= rows; r += 4)
        FourByFour(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride);
      Scalar(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride, rows - r, 4);
    }
  }
#endif
  Scalar(in + c, in_stride, out + c * out_stride, out_stride, rows, columns - c);
}

// Interleaves two to four rows, or the inverse.
template <typename T>
using DFew = hn::CappedTag<T, 64 / sizeof(T)>;

template <typename T>
void Interleave(const T* in, size_t in_stride, T* out, size_t rows, size_t columns) {
  const DFew<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    const auto v0 = hn::LoadU(d, in + c);
    const auto v1 = hn::LoadU(d, in + in_stride + c);
    if (rows == 2) {
      hn::StoreInterleaved2(v0, v1, d, out + 2 * c);
      continue;
    }
    const auto v2 = hn::LoadU(d, in + 2 * in_stride + c);
    if (rows == 3) {
      hn::StoreInterleaved3(v0, v1, v2, d, out + 3 * c);
      continue;
    }
    hn::StoreInterleaved4(v0, v1, v2, hn::LoadU(d, in + 3 * in_stride + c), d, out + 4 * c);
  }
  Scalar(in + c, in_stride, out + c * rows, rows, rows, columns - c);
}

template <typename T>
void Separate(const T* in, T* out, size_t out_stride, size_t rows, size_t columns) {
  const DFew<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t r = 0;
  for (; r + lanes <= rows; r += lanes) {
    hn::Vec<DFew<T>> v[4];
    if (columns == 2)
      hn::LoadInterleaved2(d, in + 2 * r, v[0], v[1]);
    else if (columns == 3)
      hn::LoadInterleaved3(d, in + 3 * r, v[0], v[1], v[2]);
    else
      hn::LoadInterleaved4(d, in + 4 * r, v[0], v[1], v[2], v[3]);
    hn::StoreU(v[0], d, out + r);
    hn::StoreU(v[1], d, out + out_stride + r);
    if (columns > 2) hn::StoreU(v[2], d, out + 2 * out_stride + r);
    if (columns > 3) hn::StoreU(v[3], d, out + 3 * out_stride + r);
  }
  Scalar(in + r * columns, columns, out + r, out_stride, rows - r, columns);
}

template <typename T>
void Blocks(const std::byte* in_bytes, size_t in_stride, std::byte* out_bytes, size_t out_stride,
            size_t rows, size_t columns) {
  const T* in = reinterpret_cast<const T*>(in_bytes);
  T* out = reinterpret_cast<T*>(out_bytes);
  if (rows >= 2 && rows <= 4 && out_stride == rows)
    return Interleave(in, in_stride, out, rows, columns);
  if (columns >= 2 && columns <= 4 && in_stride == columns)
    return Separate(in, out, out_stride, rows, columns);
  for (size_t r = 0; r < rows; r += kBlock)
    for (size_t c = 0; c < columns; c += kBlock)
      Block(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride,
            std::min(kBlock, rows - r), std::min(kBlock, columns - c));
}

void Matrix(const std::byte* in, size_t in_stride, std::byte* out, size_t out_stride, size_t rows,
            size_t columns, size_t element) {
  switch (element) {
    case 1:
      return Blocks<uint8_t>(in, in_stride, out, out_stride, rows, columns);
    case 2:
      return Blocks<uint16_t>(in, in_stride, out, out_stride, rows, columns);
    case 4:
      return Blocks<uint32_t>(in, in_stride, out, out_stride, rows, columns);
    case 8:
      return Blocks<uint64_t>(in, in_stride, out, out_stride, rows, columns);
    default:
      for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c)
          std::memcpy(out + (c * out_stride + r) * element, in + (r * in_stride + c) * element,
                      element);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Matrix);

void TransposeMatrix(const std::byte* in, size_t in_stride, std::byte* out, size_t out_stride,
                     size_t rows, size_t columns, size_t element) {
  HWY_DYNAMIC_DISPATCH(Matrix)(in, in_stride, out, out_stride, rows, columns, element);
}

}  // namespace nn
#endif  // HWY_ONCE

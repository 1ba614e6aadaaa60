#include "exec/kernels/matrix_i8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/matrix_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8-inl.h"
#include "exec/kernels/matrix_f32.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::CappedTag<int32_t, kPanelWidth>;
using V32 = hn::Vec<D32>;
#if HWY_TARGET != HWY_SCALAR
using D16 = hn::Repartition<int16_t, D32>;
#endif
constexpr size_t kLanes = hn::MaxLanes(D32());
constexpr size_t kPanelVectors = kPanelWidth / kLanes;

#if HWY_TARGET <= HWY_AVX3
constexpr size_t kRows = 12;
constexpr size_t kPanels = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr size_t kRows = 5;
constexpr size_t kPanels = 1;
#elif HWY_ARCH_ARM_A64
constexpr size_t kRows = 5;
constexpr size_t kPanels = 1;
#else
constexpr size_t kRows = 2;
constexpr size_t kPanels = 1;
#endif

// Elements of k that one accumulation step takes: with VNNI products of four bytes, else of two
// 16-bit integers.
constexpr size_t kStep = NN_VNNI ? 4 : 2;
using Element = std::conditional_t<NN_VNNI, uint8_t, int16_t>;

// acc += products of one step: `a` is kStep elements of a row in every lane, b a vector of columns.
NN_VNNI_ATTR HWY_INLINE V32 Accumulate(V32 acc, int32_t a, const Element* b) {
#if NN_VNNI
  return V32{_mm512_dpbusd_epi32(acc.raw, _mm512_set1_epi32(a),
                                 _mm512_load_si512(reinterpret_cast<const void*>(b)))};
#elif HWY_TARGET == HWY_SCALAR
  int16_t x[2];
  std::memcpy(x, &a, sizeof(x));
  return hn::Add(acc, hn::Set(D32(), x[0] * b[0] + x[1] * b[1]));
#else
  const D32 d;
  return AddPairDot(d, acc, hn::BitCast(D16(), hn::Set(d, a)), hn::Load(D16(), b));
#endif
}

#if HWY_TARGET != HWY_SCALAR
// Elements from bytes, both kinds as 0 to 255: the offset of int8 is part of the zero point.
template <class D8>
HWY_INLINE void StoreElements(D8 d8, hn::Vec<D8> bytes, Element* to) {
  if constexpr (NN_VNNI) {
    hn::StoreU(bytes, d8, reinterpret_cast<uint8_t*>(to));
  } else {
    const hn::Rebind<int16_t, D8> d;
    hn::StoreU(hn::PromoteTo(d, bytes), d, reinterpret_cast<int16_t*>(to));
  }
}
#endif

// `n` bytes as elements.
HWY_INLINE void CopyRun(const uint8_t* HWY_RESTRICT from, Element* HWY_RESTRICT to, size_t n,
                        uint8_t flip) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto copy = [&](auto d8, size_t at) HWY_ATTR {
    StoreElements(d8, hn::Xor(hn::LoadU(d8, from + at), hn::Set(d8, flip)), to + at);
  };
  const hn::CappedTag<uint8_t, NN_VNNI ? 64 : hn::MaxLanes(D16())> many;
  for (; i + hn::Lanes(many) <= n; i += hn::Lanes(many)) copy(many, i);
  constexpr size_t kFew = 8;
  const hn::CappedTag<uint8_t, kFew> few;
  for (; i + kFew <= n; i += kFew) copy(few, i);
  if (i < n && n >= kFew) {
    copy(few, n - kFew);  // some a second time
    return;
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<Element>(from[i] ^ flip);
}

// Copies the rows of a block so that each is contiguous, padded with zeros to whole steps. Returns
// the elements of a row.
size_t PackRows(const MatrixI8& g, Element* out) {
  const size_t depth = g.run_count * g.run_length;
  const size_t width = (depth + kStep - 1) / kStep * kStep;
  const uint8_t flip = g.result.is_signed ? 0x80 : 0;
  for (size_t m = 0; m < g.row_count; ++m) {
    Element* to = out + m * width;
    for (size_t r = 0; r < g.run_count;) {
      // Runs that follow each other are one, as the taps of a line are.
      const uint8_t* from = g.rows[r * g.row_pitch + m];
      size_t length = g.run_length;
      while (++r < g.run_count && g.rows[r * g.row_pitch + m] == from + length)
        length += g.run_length;
      CopyRun(from, to, length, flip);
      to += length;
    }
    std::fill(to, out + (m + 1) * width, Element{0});
  }
  return width;
}

#if NN_VNNI
// Sums of the bytes of each row, which are 4 n.
void SumRows(const uint8_t* a, size_t rows, size_t width, int32_t* sums) {
  const hn::CappedTag<uint8_t, 64> d8;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  constexpr uint32_t kEven = 0x00FF00FF;
  for (size_t m = 0; m < rows; ++m, a += width) {
    size_t k = 0;
    uint64_t sum = 0;
    if (width >= hn::Lanes(d8)) {
      auto lanes = hn::Zero(d64);
      for (; k + hn::Lanes(d8) <= width; k += hn::Lanes(d8))
        lanes = hn::Add(lanes, hn::SumsOf8(hn::LoadU(d8, a + k)));
      sum = hn::GetLane(hn::SumOfLanes(d64, lanes));
    }
    uint32_t pairs = 0;  // two sums of 16 bits, of less than 64 bytes
    for (; k < width; k += 4) {
      uint32_t four;
      std::memcpy(&four, a + k, sizeof(four));
      pairs += (four & kEven) + (four >> 8 & kEven);
    }
    sums[m] = static_cast<int32_t>(sum) + static_cast<int32_t>((pairs & 0xFFFF) + (pairs >> 16));
  }
}
#endif

// Rows whose bytes make a vector.
constexpr size_t kGroup = 4;

// The sums of a tile, all `columns` of them, as bytes. A row's sums are `stride` apart, and there
// are whole groups of rows.
#if HWY_TARGET == HWY_SCALAR
template <template <class> class Scale>
void Finish(const MatrixI8& g, const int32_t* sums, size_t stride, size_t rows, size_t n,
            size_t columns, uint8_t* out) {
  const D32 d;
  for (size_t c = 0; c < columns; ++c) {
    const Scale<D32> rescale(g.packed->rescale, n + c);
    for (size_t i = 0; i < rows; ++i) {
      out[i * g.out_stride + c] =
          ToByte(g.result, hn::GetLane(rescale(hn::Set(d, sums[i * stride + c]))));
    }
  }
}
#else

template <template <class> class Scale>
HWY_NOINLINE void Finish(const MatrixI8& g, const int32_t* sums, size_t stride, size_t rows,
                         size_t n, size_t columns, uint8_t* out) {
  const D32 d;
  const hn::Repartition<uint8_t, D32> d8;
  const hn::Repartition<uint32_t, D32> u32;
  const ToBytes<decltype(d8)> to_bytes(g.result);
  // From blocks of four columns of each row to rows.
  HWY_ALIGN uint32_t order[kLanes];
  for (size_t i = 0; i < kLanes; ++i)
    order[i] = static_cast<uint32_t>(i % (kLanes / kGroup) * kGroup + i / (kLanes / kGroup));
  const auto to_rows = hn::SetTableIndices(u32, order);
  HWY_ALIGN uint8_t bytes[kGroup * kLanes];
  const size_t out_stride = g.out_stride;
  for (size_t c = 0; c < columns; c += kLanes) {
    const Scale<D32> rescale(g.packed->rescale, n + c);
    const size_t have = std::min(kLanes, columns - c);
    const int32_t* HWY_RESTRICT from = sums + c;
    uint8_t* HWY_RESTRICT to = out + c;
    for (size_t i = 0; i < rows; i += kGroup, from += kGroup * stride) {
      const auto at = [&](size_t r) HWY_ATTR { return rescale(hn::Load(d, from + r * stride)); };
      const auto y = to_bytes(at(0), at(1), at(2), at(3));
      hn::Store(hn::BitCast(d8, hn::TableLookupLanes(hn::BitCast(u32, y), to_rows)), d8, bytes);
      const size_t last = std::min(kGroup, rows - i);
      for (size_t r = 0; r < last; ++r, to += out_stride) {
        if (have == kLanes)
          std::memcpy(to, bytes + r * kLanes, kLanes);
        else
          CopyPart(bytes + r * kLanes, to, have);
      }
    }
  }
}
#endif

// The same with factors in double precision.
HWY_NOINLINE void FinishByFactors(const MatrixI8& g, const int32_t* sums, size_t stride,
                                  size_t rows, size_t n, size_t columns, uint8_t* out) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t c = 0; c < columns; ++c) {
      const double v = std::round(static_cast<double>(sums[i * stride + c]) * g.factors[n + c]);
      out[i * g.out_stride + c] =
          ToByte(g.result, static_cast<int64_t>(std::clamp(v, -0x1p31, 0x1p31 - 1.0)));
    }
}

template <size_t R, size_t P>
NN_VNNI_ATTR HWY_NOINLINE void Tile(const MatrixI8& g, const Element* a, size_t width,
                                    const int32_t* row_sums, size_t m, size_t n) {
  constexpr size_t kV = P * kPanelVectors;
  const D32 d;
  const PackedI8& p = *g.packed;
  const size_t panel = width * kPanelWidth;
  const Element* HWY_RESTRICT b =
      reinterpret_cast<const Element*>(p.weights.data()) + n / kPanelWidth * panel;
  V32 acc[R][kV];
  NN_UNROLL
  for (size_t v = 0; v < kV; ++v) {
    const V32 bias = hn::LoadU(d, p.bias.data() + n + v * kLanes);
    NN_UNROLL
    for (size_t i = 0; i < R; ++i) acc[i][v] = bias;
  }
  const Element* HWY_RESTRICT rows = a + m * width;
  for (size_t k = 0; k < width; k += kStep, b += kStep * kPanelWidth) {
    NN_UNROLL
    for (size_t i = 0; i < R; ++i) {
      int32_t step;
      std::memcpy(&step, rows + i * width + k, sizeof(step));
      NN_UNROLL
      for (size_t v = 0; v < kV; ++v)
        acc[i][v] =
            Accumulate(acc[i][v], step,
                       b + (v / kPanelVectors) * panel + (v % kPanelVectors) * kLanes * kStep);
    }
  }
  if (row_sums != nullptr) {
    NN_UNROLL
    for (size_t v = 0; v < kV; ++v) {
      const V32 b_zero = hn::LoadU(d, p.b_zero.data() + n + v * kLanes);
      NN_UNROLL
      for (size_t i = 0; i < R; ++i)
        acc[i][v] = hn::Sub(acc[i][v], hn::Mul(hn::Set(d, row_sums[m + i]), b_zero));
    }
  }
  constexpr size_t kSumRows = (R + kGroup - 1) / kGroup * kGroup;
  HWY_ALIGN int32_t sums[kSumRows * kV * kLanes];
  for (size_t i = R * kV; i < kSumRows * kV; ++i) hn::Store(hn::Zero(d), d, sums + i * kLanes);
  NN_UNROLL
  for (size_t i = 0; i < R; ++i) {
    NN_UNROLL
    for (size_t v = 0; v < kV; ++v) hn::Store(acc[i][v], d, sums + (i * kV + v) * kLanes);
  }
  const size_t columns = std::min(kV * kLanes, g.first_column + g.column_count - n);
  const auto finish = g.factors != nullptr ? &FinishByFactors
                      : p.rescale.plain    ? &Finish<PlainRescaler>
                                           : &Finish<Rescaler>;
  finish(g, sums, kV * kLanes, R, n, columns, g.out + m * g.out_stride + (n - g.first_column));
}

using TileFn = void (*)(const MatrixI8&, const Element*, size_t, const int32_t*, size_t, size_t);

template <size_t P, size_t... kIndex>
TileFn PickTile(size_t rows, std::index_sequence<kIndex...>) {
  static constexpr TileFn kTable[] = {&Tile<kIndex + 1, P>...};
  return kTable[rows - 1];
}

template <size_t P>
void Rows(const MatrixI8& g, const Element* a, size_t width, const int32_t* row_sums, size_t n) {
  const size_t tiles = (g.row_count + kRows - 1) / kRows;
  const size_t base = g.row_count / tiles;
  const size_t larger = g.row_count % tiles;
  size_t m = 0;
  for (size_t t = 0; t < tiles; ++t) {
    const size_t rows = t < larger ? base + 1 : base;
    PickTile<P>(rows, std::make_index_sequence<kRows>())(g, a, width, row_sums, m, n);
    m += rows;
  }
}

void Matrix(const MatrixI8& g) {
  if (g.row_count == 0 || g.column_count == 0) return;
  thread_local std::vector<Element> a;
  const size_t depth = g.run_count * g.run_length;
  a.resize(g.row_count * (depth + kStep));
  const size_t width = PackRows(g, a.data());
  const int32_t* row_sums = nullptr;
#if NN_VNNI
  std::array<int32_t, kMatrixI8Rows> sums;
  if (g.packed->row_sums) {
    SumRows(a.data(), g.row_count, width, sums.data());
    row_sums = sums.data();
  }
#endif
  const size_t end = g.first_column + g.column_count;
  for (size_t n = g.first_column; n < end;) {
    if (kPanels > 1 && end - n > kPanelWidth) {
      Rows<kPanels>(g, a.data(), width, row_sums, n);
      n += kPanels * kPanelWidth;
    } else {
      Rows<1>(g, a.data(), width, row_sums, n);
      n += kPanelWidth;
    }
  }
}

// Whether this target's form is the dot-product one.
bool UsesDot() {
  return NN_VNNI;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Matrix);
HWY_EXPORT(UsesDot);

PackedI8 PackMatrixI8(const MatrixI8Weights& w, bool a_signed) {
  PackedI8 p;
  p.depth = w.k_offsets.size();
  p.columns = w.n;
  p.dot = HWY_DYNAMIC_DISPATCH(UsesDot)();
  const size_t step = p.dot ? 4 : 2;
  const size_t width = (p.depth + step - 1) / step * step;
  const size_t panels = (w.n + kPanelWidth - 1) / kPanelWidth;
  const size_t padded = panels * kPanelWidth;
  p.weights = Buffer(padded * width * (p.dot ? sizeof(int8_t) : sizeof(int16_t)));
  p.weights.Clear();
  p.bias.assign(padded, 0);
  p.b_zero.assign(padded, 0);
  p.rescale = RescaleTable(padded);
  // Rows of `a` are kept as 0 to 255.
  const int32_t a_zero = w.a_zero + (a_signed ? 128 : 0);
  for (size_t n = 0; n < w.n; ++n) {
    const int32_t b_zero = w.b_zero[w.b_zero.size() == 1 ? 0 : n];
    // The dot form wants signed bytes: unsigned weights move by 128, and so does their zero point.
    const int32_t move = p.dot && !w.is_signed ? 128 : 0;
    int32_t sum = 0;
    for (size_t k = 0; k < p.depth; ++k) {
      const uint8_t raw = w.b[w.k_offsets[k] + n * w.n_stride];
      const int32_t value = w.is_signed ? static_cast<int8_t>(raw) : raw;
      sum += value - b_zero;
      const size_t at = (n / kPanelWidth * width + k / step * step) * kPanelWidth +
                        n % kPanelWidth * step + k % step;
      if (p.dot)
        p.weights.as<int8_t>()[at] = static_cast<int8_t>(value - move);
      else
        p.weights.as<int16_t>()[at] = static_cast<int16_t>(value - b_zero);
    }
    // sum over k of (a - a_zero)(b - b_zero) = sum a * b' - b_zero' * sum a - a_zero * sum (b -
    // b_zero), in wrapping arithmetic.
    p.bias[n] = static_cast<int32_t>(static_cast<uint32_t>(w.bias.empty() ? 0 : w.bias[n]) -
                                     static_cast<uint32_t>(a_zero) * static_cast<uint32_t>(sum));
    p.b_zero[n] = p.dot ? b_zero - move : 0;
    p.row_sums |= p.b_zero[n] != 0;
    p.rescale.Set(n, w.multipliers[n]);
  }
  return p;
}

void RunMatrixI8(const MatrixI8& block) {
  HWY_DYNAMIC_DISPATCH(Matrix)(block);
}

}  // namespace nn
#endif  // HWY_ONCE

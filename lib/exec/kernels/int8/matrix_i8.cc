// The tiles are those of matrix_f32.cc, over packed rows. A product has one of two forms
// (product_form.h): four bytes at a time with VNNI or the AArch64 dot product, or pairs of 16-bit
// integers. Highway's targets include neither instruction, so each is one line of inline assembly.
// Function attributes were the alternative. With Clang they replace the other features of a target,
// and an AArch64 build must contain code with and without the dot product: there it is a separate
// SIMD target (NEON_DOT), selected at run time.
//
// Rescaling costs as much as the sums of a short row. Both of TensorFlow Lite's roundings are
// therefore one 64-bit shift (rescale_table.h explains why this is exact), and four vectors are
// narrowed to bytes together. With few channels the taps along a line are joined into one run, as
// for float32 (exec/steps/conv/pad_lines.h), because copying runs of three bytes costs more than
// multiplying them.
#include "exec/kernels/int8/matrix_i8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "ops/quant/requant.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/int8/matrix_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8/int8-inl.h"
#include "exec/kernels/matrix_f32.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::CappedTag<int32_t, kPanelWidth>;
using V32 = hn::Vec<D32>;
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

// acc += products of one step: `a` is Form::kTaps elements of a row in every lane, b a vector of
// columns.
template <class Form>
HWY_INLINE V32 Accumulate(V32 acc, int32_t a, const typename Form::Element* b) {
  const D32 d;
#if HWY_TARGET == HWY_SCALAR
  int16_t x[2];
  std::memcpy(x, &a, sizeof(x));
  return hn::Add(acc, hn::Set(d, x[0] * b[0] + x[1] * b[1]));
#else
  const hn::Repartition<typename Form::Element, D32> elements;
  return Form::Add(d, acc, hn::BitCast(elements, hn::Set(d, a)), hn::Load(elements, b));
#endif
}

#if HWY_TARGET != HWY_SCALAR
template <class D8>
HWY_INLINE void StoreElements(D8 d8, hn::Vec<D8> bytes, uint8_t* to) {
  hn::StoreU(bytes, d8, to);
}
template <class D8>
HWY_INLINE void StoreElements(D8, hn::Vec<D8> bytes, int16_t* to) {
  const hn::Rebind<int16_t, D8> d;
  hn::StoreU(hn::PromoteTo(d, bytes), d, to);
}
#endif

// `n` bytes as elements.
template <class Element>
HWY_INLINE void CopyRun(const uint8_t* HWY_RESTRICT from, Element* HWY_RESTRICT to, size_t n,
                        uint8_t flip) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr size_t kFew = 8;
  const auto copy = [&](auto d8, size_t at) HWY_ATTR {
    StoreElements(d8, hn::Xor(hn::LoadU(d8, from + at), hn::Set(d8, flip)), to + at);
  };
  const auto all = [&](auto d8) HWY_ATTR {
    for (; i + hn::MaxLanes(d8) <= n; i += hn::MaxLanes(d8)) copy(d8, i);
  };
  const hn::CappedTag<uint8_t, 4 * kLanes / sizeof(Element)> most;
  if (n > 2 * kFew) all(most);
  const hn::CappedTag<uint8_t, kFew> few;
  all(few);
  if (i < n && n >= kFew) {
    copy(few, n - kFew);  // some of them twice
    return;
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<Element>(from[i] ^ flip);
}

// The rows of a block, with elements of contiguous rows of `width` elements each, padded with zeros
// to whole steps: in place or a copy.
template <class Form, class Element = typename Form::Element>
const Element* PackRows(const MatrixI8& g, size_t width, std::vector<Element>& copy) {
  const uint8_t flip = g.packed->form.Flip(g.result.is_signed);
  const uint8_t* const* rows = g.rows;
  bool together = g.run_count == 1 && width == g.run_length;
  for (size_t m = 1; m < g.row_count && together; ++m) together = rows[m] == rows[m - 1] + width;
  if constexpr (sizeof(Element) == 1)
    if (together && flip == 0) return rows[0];
  copy.resize(g.row_count * width);
  Element* out = copy.data();
  if (together) {
    CopyRun(rows[0], out, g.row_count * width, flip);
    return out;
  }
  for (size_t r = 0; r < g.run_count; ++r, rows += g.row_pitch)
    for (size_t m = 0; m < g.row_count; ++m)
      CopyRun(rows[m], out + m * width + r * g.run_length, g.run_length, flip);
  for (size_t k = g.run_count * g.run_length; k < width; ++k)
    for (size_t m = 0; m < g.row_count; ++m) out[m * width + k] = 0;
  return out;
}

#if NN_QUADS
// Sums of the 4 n bytes of each row.
template <class Form>
void SumRows(const uint8_t* a, size_t rows, size_t width, int32_t* sums) {
  constexpr uint32_t kEven = 0x00FF00FF;
  // Signed bytes are also summed as 0 to 255.
  constexpr uint8_t kFlip = Form::kSignedRows ? 0x80 : 0;
  const auto moved = static_cast<int32_t>(width * kFlip);
  for (size_t m = 0; m < rows; ++m, a += width) {
    size_t k = 0;
    uint64_t sum = 0;
    const auto add = [&](auto d8) HWY_ATTR {
      const hn::Repartition<uint64_t, decltype(d8)> d64;
      if (k + hn::MaxLanes(d8) > width) return;
      auto lanes = hn::Zero(d64);
      for (; k + hn::MaxLanes(d8) <= width; k += hn::MaxLanes(d8))
        lanes = hn::Add(lanes, hn::SumsOf8(hn::Xor(hn::LoadU(d8, a + k), hn::Set(d8, kFlip))));
      sum += hn::GetLane(hn::SumOfLanes(d64, lanes));
    };
    if constexpr (kLanes > 4) add(hn::CappedTag<uint8_t, 64>());
    add(hn::CappedTag<uint8_t, 16>());
    uint32_t pairs = 0;  // two sums of 16 bits, of less than 16 bytes
    for (; k < width; k += 4) {
      uint32_t four;
      std::memcpy(&four, a + k, sizeof(four));
      four ^= kFlip * 0x01010101U;
      pairs += (four & kEven) + (four >> 8 & kEven);
    }
    sums[m] =
        static_cast<int32_t>(sum) + static_cast<int32_t>((pairs & 0xFFFF) + (pairs >> 16)) - moved;
  }
}
#endif

// The number of rows whose bytes fill a vector.
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
  // Converts blocks of four columns per row to rows.
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
      out[i * g.out_stride + c] = ToByte(g.result, CutToRange(v, -0x1p31, 0x1p31 - 1.0));
    }
}

// The sums of a tile as they are, or as float32, at element `at` of the result.
HWY_NOINLINE void StoreSums(const MatrixI8& g, const int32_t* sums, size_t stride, size_t rows,
                            size_t columns, size_t at) {
  const D32 d;
  const hn::Rebind<float, D32> reals;
  for (size_t i = 0; i < rows; ++i, sums += stride, at += g.out_stride) {
    if (g.reals == nullptr) {
      std::memcpy(g.sums + at, sums, columns * sizeof(int32_t));
      continue;
    }
    size_t c = 0;
    for (; c + kLanes <= columns; c += kLanes)
      hn::StoreU(hn::ConvertTo(reals, hn::Load(d, sums + c)), reals, g.reals + at + c);
    for (; c < columns; ++c) g.reals[at + c] = static_cast<float>(sums[c]);
  }
}

template <class Form, size_t R, size_t P>
HWY_NOINLINE void Tile(const MatrixI8& g, const typename Form::Element* a, size_t width,
                       const int32_t* row_sums, size_t m, size_t n) {
  using Element = typename Form::Element;
  constexpr size_t kStep = Form::kTaps;
  constexpr size_t kV = P * kPanelVectors;
  const D32 d;
  const PackedI8& p = *g.packed;
  const size_t panel = width * kPanelWidth;
  const Element* HWY_RESTRICT b =
      reinterpret_cast<const Element*>(p.weights.data()) + n / kPanelWidth * panel;
  const int32_t* const of_columns =
      g.bias != nullptr ? g.bias + (n - g.first_column) : p.bias.data() + n;
  V32 acc[R][kV];
  NN_UNROLL
  for (size_t v = 0; v < kV; ++v) {
    const V32 bias = hn::LoadU(d, of_columns + v * kLanes);
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
        acc[i][v] = Accumulate<Form>(
            acc[i][v], step,
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
  if (g.sums != nullptr || g.reals != nullptr)
    return StoreSums(g, sums, kV * kLanes, R, columns, m * g.out_stride + (n - g.first_column));
  const auto finish = g.factors != nullptr ? &FinishByFactors
                      : p.rescale.plain    ? &Finish<PlainRescaler>
                                           : &Finish<Rescaler>;
  finish(g, sums, kV * kLanes, R, n, columns, g.out + m * g.out_stride + (n - g.first_column));
}

template <class Form>
using TileFn = void (*)(const MatrixI8&, const typename Form::Element*, size_t, const int32_t*,
                        size_t, size_t);

template <class Form, size_t P, size_t... kIndex>
TileFn<Form> PickTile(size_t rows, std::index_sequence<kIndex...>) {
  static constexpr TileFn<Form> kTable[] = {&Tile<Form, kIndex + 1, P>...};
  return kTable[rows - 1];
}

template <class Form, size_t P>
void Rows(const MatrixI8& g, const typename Form::Element* a, size_t width, const int32_t* row_sums,
          size_t n) {
  const size_t tiles = (g.row_count + kRows - 1) / kRows;
  const size_t base = g.row_count / tiles;
  const size_t larger = g.row_count % tiles;
  size_t m = 0;
  for (size_t t = 0; t < tiles; ++t) {
    const size_t rows = t < larger ? base + 1 : base;
    PickTile<Form, P>(rows, std::make_index_sequence<kRows>())(g, a, width, row_sums, m, n);
    m += rows;
  }
}

template <class Form>
void MatrixOf(const MatrixI8& g) {
  if (g.row_count == 0 || g.column_count == 0) return;
  static PerThread<std::vector<typename Form::Element>> copies;
  auto& copy = copies.Get();
  const size_t width = RoundUp(g.run_count * g.run_length, Form::kTaps);
  const auto* a = PackRows<Form>(g, width, copy);
  const int32_t* row_sums = nullptr;
#if NN_QUADS
  std::array<int32_t, kMatrixI8Rows> sums;
  if constexpr (Form::kTaps == Quads::kTaps) {
    if (g.packed->row_sums) {
      SumRows<Form>(a, g.row_count, width, sums.data());
      row_sums = sums.data();
    }
  }
#endif
  const size_t end = g.first_column + g.column_count;
  for (size_t n = g.first_column; n < end;) {
    if (kPanels > 1 && end - n > kPanelWidth) {
      Rows<Form, kPanels>(g, a, width, row_sums, n);
      n += kPanels * kPanelWidth;
    } else {
      Rows<Form, 1>(g, a, width, row_sums, n);
      n += kPanelWidth;
    }
  }
}

void Matrix(const MatrixI8& g) {
  WithForm(g.packed->form, [&](auto form) HWY_ATTR { MatrixOf<decltype(form)>(g); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Matrix);

PackedI8 PackMatrixI8(const MatrixI8Weights& w, bool a_signed) {
  PackedI8 p;
  p.depth = w.k_offsets.size();
  p.columns = w.n;
  p.form = ChosenProductForm();
  const size_t step = p.form.taps;
  const bool bytes = p.form.of_bytes();
  const size_t width = (p.depth + step - 1) / step * step;
  const size_t panels = (w.n + kPanelWidth - 1) / kPanelWidth;
  const size_t padded = panels * kPanelWidth;
  p.weights = Buffer(padded * width * (bytes ? sizeof(int8_t) : sizeof(int16_t)));
  p.weights.Clear();
  p.bias.assign(padded, 0);
  p.b_zero.assign(padded, 0);
  p.weight_sums.assign(padded, 0);
  p.rescale = RescaleTable(w.multipliers.empty() ? 0 : padded);
  const int32_t a_zero = w.a_zero + p.form.Moved(a_signed);
  for (size_t n = 0; n < w.n; ++n) {
    const int32_t b_zero = w.b_zero[w.b_zero.size() == 1 ? 0 : n];
    // Weights must be signed bytes: unsigned weights and their zero point are shifted by 128.
    const int32_t move = bytes && !w.is_signed ? 128 : 0;
    uint32_t sum = 0;
    for (size_t k = 0; k < p.depth; ++k) {
      const uint8_t raw = w.b[w.k_offsets[k] + n * w.n_stride];
      const int32_t value = w.is_signed ? static_cast<int8_t>(raw) : raw;
      sum += static_cast<uint32_t>(value - b_zero);
      const size_t at = (n / kPanelWidth * width + k / step * step) * kPanelWidth +
                        n % kPanelWidth * step + k % step;
      if (bytes)
        p.weights.as<int8_t>()[at] = static_cast<int8_t>(value - move);
      else
        p.weights.as<int16_t>()[at] = static_cast<int16_t>(value - b_zero);
    }
    // sum over k of (a - a_zero)(b - b_zero) = sum a * b' - b_zero' * sum a - a_zero * sum (b -
    // b_zero), in wrapping arithmetic.
    p.bias[n] = static_cast<int32_t>(static_cast<uint32_t>(w.bias.empty() ? 0 : w.bias[n]) -
                                     static_cast<uint32_t>(a_zero) * sum);
    p.weight_sums[n] = static_cast<int32_t>(sum);
    p.b_zero[n] = bytes ? b_zero - move : 0;
    p.row_sums |= p.b_zero[n] != 0;
    if (!w.multipliers.empty()) p.rescale.Set(n, w.multipliers[n]);
  }
  return p;
}

void RunMatrixI8(const MatrixI8& block) {
  HWY_DYNAMIC_DISPATCH(Matrix)(block);
}

}  // namespace nn
#endif  // HWY_ONCE

#include "exec/kernels/matrix_i8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/matrix_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/matrix_f32.h"
#include "exec/kernels/requant-inl.h"
#include "hwy/highway.h"

// The 4-element dot product of AVX-512 VNNI. Highway's targets do not name the instruction set;
// with GCC an attribute adds it, with Clang it would replace what the target has, so Clang goes
// without.
#undef NN_DOT
#if HWY_TARGET <= HWY_AVX3_DL && !HWY_COMPILER_CLANG
#define NN_DOT 1
#define NN_DOT_ATTR __attribute__((target("avx512vnni")))
#else
#define NN_DOT 0
#undef NN_DOT_ATTR
#define NN_DOT_ATTR
#endif

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::CappedTag<int32_t, kPanelWidth>;
using V32 = hn::Vec<D32>;
#if HWY_TARGET != HWY_SCALAR
using D16 = hn::Repartition<int16_t, D32>;
using V16 = hn::Vec<D16>;
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

// Elements of k that one accumulation step takes.
constexpr size_t kStep = NN_DOT ? 4 : 2;
using Element = std::conditional_t<NN_DOT, uint8_t, int16_t>;

#if !NN_DOT && HWY_TARGET != HWY_SCALAR
// a[2i] * b[2i] + a[2i + 1] * b[2i + 1] for each lane i of int32.
HWY_INLINE V32 PairDot(V16 a, V16 b) {
#if HWY_TARGET == HWY_AVX2
  return V32{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX3
  return V32{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
  return V32{_mm_madd_epi16(a.raw, b.raw)};
#elif HWY_ARCH_ARM_A64
  return V32(vpaddq_s32(vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw)),
                        vmull_high_s16(a.raw, b.raw)));
#else
  const D32 d;
  HWY_ALIGN int16_t x[kLanes * 2], y[kLanes * 2];
  HWY_ALIGN int32_t z[kLanes];
  hn::Store(a, D16(), x);
  hn::Store(b, D16(), y);
  for (size_t i = 0; i < kLanes; ++i) z[i] = x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
  return hn::Load(d, z);
#endif
}
#endif

// acc += products of one step: `a` is kStep elements of a row, b a vector of columns.
NN_DOT_ATTR HWY_INLINE V32 Accumulate(V32 acc, const Element* a, const Element* b) {
  int32_t group;
  std::memcpy(&group, a, sizeof(group));
#if NN_DOT
  return V32{_mm512_dpbusd_epi32(acc.raw, _mm512_set1_epi32(group),
                                 _mm512_load_si512(reinterpret_cast<const void*>(b)))};
#elif HWY_TARGET == HWY_SCALAR
  int16_t x[2];
  std::memcpy(x, &group, sizeof(x));
  return hn::Add(acc, hn::Set(D32(), x[0] * b[0] + x[1] * b[1]));
#else
  return hn::Add(acc, PairDot(hn::BitCast(D16(), hn::Set(D32(), group)), hn::Load(D16(), b)));
#endif
}

// Copies the rows of a block so that each is contiguous, in the elements of the accumulation,
// padded with zeros to whole steps. Returns the elements of a row.
size_t PackRows(const MatrixI8& g, Element* out) {
  const size_t depth = g.run_count * g.run_length;
  const size_t width = (depth + kStep - 1) / kStep * kStep;
  const uint8_t flip = g.is_signed ? 0x80 : 0;
  for (size_t m = 0; m < g.row_count; ++m) {
    Element* to = out + m * width;
    for (size_t r = 0; r < g.run_count; ++r) {
      const uint8_t* from = g.rows[r * g.row_pitch + m];
      if constexpr (NN_DOT) {
        for (size_t i = 0; i < g.run_length; ++i) to[i] = static_cast<Element>(from[i] ^ flip);
      } else {
        // Both kinds as 0 to 255: the offset of int8 is part of the zero point.
        size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
        const D16 d16;
        const hn::Rebind<uint8_t, D16> d8;
        const auto flips = hn::Set(d8, flip);
        for (; i + hn::Lanes(d16) <= g.run_length; i += hn::Lanes(d16))
          hn::StoreU(hn::PromoteTo(d16, hn::Xor(hn::LoadU(d8, from + i), flips)), d16,
                     reinterpret_cast<int16_t*>(to) + i);
#endif
        for (; i < g.run_length; ++i) to[i] = static_cast<Element>(from[i] ^ flip);
      }
      to += g.run_length;
    }
    std::fill(to, out + (m + 1) * width, Element{0});
  }
  return width;
}

// The same with factors in double precision.
HWY_NOINLINE void FinishByFactors(const MatrixI8& g, V32 sum, size_t column, uint8_t* out,
                                  size_t have) {
  HWY_ALIGN int32_t words[kLanes];
  hn::Store(sum, D32(), words);
  for (size_t i = 0; i < have; ++i) {
    const double v = std::round(static_cast<double>(words[i]) * g.factors[column + i]);
    const auto y = static_cast<int64_t>(std::clamp(v, -0x1p31, 0x1p31 - 1.0)) + g.out_zero;
    out[i] = static_cast<uint8_t>(std::clamp<int64_t>(y, g.out_min, g.out_max));
  }
}

// Rescales sums and stores them as bytes.
HWY_INLINE void Finish(const MatrixI8& g, V32 sum, size_t column, uint8_t* out, size_t have) {
  if (g.factors != nullptr) return FinishByFactors(g, sum, column, out, have);
  const D32 d;
  const PackedI8& p = *g.packed;
  const auto lanes = RescaleLanes<D32>::Load(p.multiplier.data() + column, p.left.data() + column,
                                             p.right.data() + column);
  V32 y = hn::Add(RescaleVector(d, sum, lanes), hn::Set(d, g.out_zero));
  y = hn::Min(hn::Set(d, g.out_max), hn::Max(hn::Set(d, g.out_min), y));
  HWY_ALIGN int32_t words[kLanes];
  hn::Store(y, d, words);
  for (size_t i = 0; i < have; ++i) out[i] = static_cast<uint8_t>(words[i]);
}

template <size_t R, size_t P>
NN_DOT_ATTR HWY_NOINLINE void Tile(const MatrixI8& g, const Element* a, size_t width,
                                   const int32_t* row_sums, size_t m, size_t n) {
  constexpr size_t kV = P * kPanelVectors;
  const D32 d;
  const PackedI8& p = *g.packed;
  const size_t panel = width * kPanelWidth;
  const Element* HWY_RESTRICT b =
      reinterpret_cast<const Element*>(p.weights.data()) + n / kPanelWidth * panel;
  V32 acc[R][kV];
  for (size_t i = 0; i < R; ++i)
    for (size_t v = 0; v < kV; ++v) acc[i][v] = hn::Zero(d);
  const Element* HWY_RESTRICT rows = a + m * width;
  for (size_t k = 0; k < width; k += kStep, b += kStep * kPanelWidth)
    for (size_t i = 0; i < R; ++i)
      for (size_t v = 0; v < kV; ++v)
        acc[i][v] =
            Accumulate(acc[i][v], rows + i * width + k,
                       b + (v / kPanelVectors) * panel + (v % kPanelVectors) * kLanes * kStep);
  const size_t end = g.first_column + g.column_count;
  for (size_t v = 0; v < kV; ++v) {
    const size_t column = n + v * kLanes;
    if (column >= end) break;
    const V32 bias = hn::LoadU(d, p.bias.data() + column);
    for (size_t i = 0; i < R; ++i) {
      V32 sum = hn::Add(acc[i][v], bias);
      if (row_sums != nullptr)
        sum = hn::Sub(sum,
                      hn::Mul(hn::Set(d, row_sums[m + i]), hn::LoadU(d, p.b_zero.data() + column)));
      Finish(g, sum, column, g.out + (m + i) * g.out_stride + (column - g.first_column),
             std::min(kLanes, end - column));
    }
  }
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
  std::array<int32_t, kMatrixI8Rows> sums;
  const int32_t* row_sums = nullptr;
  if (g.packed->row_sums) {
    for (size_t m = 0; m < g.row_count; ++m) {
      int32_t sum = 0;
      for (size_t k = 0; k < depth; ++k) sum += a[m * width + k];
      sums[m] = sum;
    }
    row_sums = sums.data();
  }
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
  return NN_DOT;
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
  p.multiplier.assign(padded, 0);
  p.left.assign(padded, 0);
  p.right.assign(padded, 0);
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
    const FixedMultiplier m = w.multipliers[n];
    p.multiplier[n] = m.multiplier;
    p.left[n] = std::max(m.shift, 0);
    p.right[n] = std::max(-m.shift, 0);
  }
  return p;
}

void RunMatrixI8(const MatrixI8& block) {
  HWY_DYNAMIC_DISPATCH(Matrix)(block);
}

}  // namespace nn
#endif  // HWY_ONCE

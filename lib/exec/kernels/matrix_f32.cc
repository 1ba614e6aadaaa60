#include "exec/kernels/matrix_f32.h"

#include <algorithm>
#include <cstring>

#include "hwy/cache_control.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/matrix_f32.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "exec/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, kPanelWidth>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;

constexpr size_t kLanes = hn::MaxLanes(D());
// Vectors that cover a panel.
constexpr size_t kPanelVectors = kPanelWidth / kLanes;

// Registers for accumulators: all but one for the broadcast and those that hold a row of b.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr size_t kRegisters = 32;
#else
constexpr size_t kRegisters = 16;
#endif

// Most rows of a tile that is `vectors` wide. Without fused multiply-adds the emulation keeps the
// registers busy.
constexpr size_t MaxRows(size_t vectors) {
  if (!HWY_NATIVE_FMA) return 2;
  return std::clamp<size_t>((kRegisters - 1 - vectors) / vectors, 1, 12);
}

// Panels of the usual tile: two vectors or, where a vector is short, one panel.
constexpr size_t kPanels = kPanelVectors >= 2 ? 1 : 2;

// Depth of a block of k: a panel's slice of it stays in the first-level cache.
constexpr size_t kDepthBlock = kPanels == 2 ? 192 : 256;

// One slice of k: part of the runs, the same for all rows.
struct Slice {
  size_t first_run, last_run;  // [first, last)
  size_t offset, length;       // within each run
  bool first, last;            // of the whole k
};

// Asks for the lines that a tile's end will touch: rows lie too far apart for the processor to
// foresee them.
template <size_t R, size_t V_>
HWY_INLINE void PrefetchEnds(const MatrixF32& g, size_t m, size_t n) {
  constexpr size_t kLine = 16;  // floats
  const EpilogueF32& e = g.epilogue;
  for (size_t i = 0; i < R; ++i)
    for (size_t c = 0; c < V_ * kLanes; c += kLine) {
      hwy::Prefetch(g.out + (m + i) * g.out_stride + n + c);
      if (e.residual != nullptr) hwy::Prefetch(e.residual + (m + i) * e.residual_stride + n + c);
    }
}

// Sums R rows x V vectors over a slice: `columns` columns, the first of them g's column n, where
// the panels `b` begin.
template <size_t R, size_t V_>
HWY_NOINLINE void Tile(const MatrixF32& g, const Slice& s, const float* b, size_t panel_stride,
                       size_t m, size_t n, size_t columns) {
  const D d;
  float* out = g.out + m * g.out_stride + n;
  V acc[R][V_];
  const bool whole = columns == V_ * kLanes;
  HWY_ALIGN float scratch[V_ * kLanes];
  if (s.last) PrefetchEnds<R, V_>(g, m, n);
  if (s.first) {
    NN_UNROLL
    for (size_t i = 0; i < R; ++i) {
      NN_UNROLL
      for (size_t v = 0; v < V_; ++v) acc[i][v] = hn::Zero(d);
    }
  } else {
    NN_UNROLL
    for (size_t i = 0; i < R; ++i) {
      const float* from = out + i * g.out_stride;
      if (!whole) {
        std::memcpy(scratch, from, columns * sizeof(float));
        from = scratch;
      }
      NN_UNROLL
      for (size_t v = 0; v < V_; ++v) acc[i][v] = hn::LoadU(d, from + v * kLanes);
    }
  }
  for (size_t r = s.first_run; r < s.last_run; ++r) {
    const float* const* HWY_RESTRICT at = g.rows + r * g.row_pitch + m;
    const float* a[R];
    NN_UNROLL
    for (size_t i = 0; i < R; ++i) a[i] = at[i] + s.offset;
    const size_t number = g.run_numbers == nullptr ? r : g.run_numbers[r];
    const float* HWY_RESTRICT from = b + (number * g.run_length + s.offset) * kPanelWidth;
    for (size_t k = 0; k < s.length; ++k) {
      V bv[V_];
      NN_UNROLL
      for (size_t v = 0; v < V_; ++v)
        bv[v] =
            hn::Load(d, from + (v / kPanelVectors) * panel_stride + (v % kPanelVectors) * kLanes);
      from += kPanelWidth;
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) {
        const V av = hn::Set(d, a[i][k]);
        NN_UNROLL
        for (size_t v = 0; v < V_; ++v) acc[i][v] = M::Fma(av, bv[v], acc[i][v]);
      }
    }
  }
  if (s.last) {
    const EpilogueF32& e = g.epilogue;
    const V low = hn::Set(d, e.min);
    const V high = hn::Set(d, e.max);
    NN_UNROLL
    for (size_t v = 0; v < V_; ++v) {
      const size_t at = n + v * kLanes;
      const size_t have = columns - std::min(columns, v * kLanes);
      const auto load = [&](const float* p) {
        if (have >= kLanes) return hn::LoadU(d, p);
        HWY_ALIGN float part[kLanes] = {};
        std::memcpy(part, p, have * sizeof(float));
        return hn::Load(d, part);
      };
      const V bias = e.bias == nullptr ? hn::Zero(d) : load(e.bias + at);
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) acc[i][v] = hn::Add(acc[i][v], bias);
      if (e.scale != nullptr) {
        const V scale = load(e.scale + at);
        const V shift = load(e.shift + at);
        NN_UNROLL
        for (size_t i = 0; i < R; ++i) acc[i][v] = hn::Add(hn::Mul(acc[i][v], scale), shift);
      }
      if (e.residual != nullptr) {
        NN_UNROLL
        for (size_t i = 0; i < R; ++i)
          acc[i][v] = hn::Add(acc[i][v], load(e.residual + (m + i) * e.residual_stride + at));
      }
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) acc[i][v] = M::Min(high, M::Max(low, acc[i][v]));
    }
  }
  NN_UNROLL
  for (size_t i = 0; i < R; ++i) {
    float* to = out + i * g.out_stride;
    if (whole) {
      NN_UNROLL
      for (size_t v = 0; v < V_; ++v) hn::StoreU(acc[i][v], d, to + v * kLanes);
    } else {
      NN_UNROLL
      for (size_t v = 0; v < V_; ++v) hn::Store(acc[i][v], d, scratch + v * kLanes);
      std::memcpy(to, scratch, columns * sizeof(float));
    }
  }
}

using TileFn = void (*)(const MatrixF32&, const Slice&, const float*, size_t, size_t, size_t,
                        size_t);

template <size_t V_, size_t... kIndex>
TileFn PickTile(size_t rows, std::index_sequence<kIndex...>) {
  static constexpr TileFn kTable[] = {&Tile<kIndex + 1, V_>...};
  return kTable[rows - 1];
}

// All rows of the block against the columns that V_ vectors hold, one slice of k. Rows are spread
// evenly over the tiles, so that none is too short to hide latency.
template <size_t V_>
void Rows(const MatrixF32& g, const Slice& s, const float* b, size_t panel_stride, size_t n,
          size_t columns) {
  constexpr size_t kMost = MaxRows(V_);
  const size_t tiles = (g.row_count + kMost - 1) / kMost;
  const size_t base = g.row_count / tiles;
  const size_t larger = g.row_count % tiles;
  const auto pick = [](size_t rows) {
    return PickTile<V_>(rows, std::make_index_sequence<kMost>());
  };
  size_t m = 0;
  for (size_t t = 0; t < tiles; ++t) {
    const size_t rows = t < larger ? base + 1 : base;
    pick(rows)(g, s, b, panel_stride, m, n, columns);
    m += rows;
  }
}

// One slice of k for all columns: as many panels at a time as make enough accumulators.
void Columns(const MatrixF32& g, const Slice& s, size_t panel_stride) {
  constexpr size_t kFew = 2;  // rows that leave registers for wider tiles
  constexpr size_t kWide = kPanelVectors >= 4 ? 1 : 4 / kPanelVectors * kPanels;
  for (size_t n = 0; n < g.column_count;) {
    const float* at = g.panels + n / kPanelWidth * panel_stride;
    const size_t left = g.column_count - n;
    if (g.row_count <= kFew && kWide > kPanels && left > (kWide - 1) * kPanelWidth) {
      Rows<kWide * kPanelVectors>(g, s, at, panel_stride, n, std::min(left, kWide * kPanelWidth));
      n += kWide * kPanelWidth;
    } else if (kPanelVectors > 1 && left <= kPanelWidth / 2) {
      Rows<std::max<size_t>(kPanelVectors / 2, 1)>(g, s, at, panel_stride, n, left);
      n += left;
    } else if (kPanels > 1 && left <= kPanelWidth) {
      Rows<kPanelVectors>(g, s, at, panel_stride, n, left);
      n += left;
    } else {
      const size_t columns = std::min(left, kPanels * kPanelWidth);
      Rows<kPanels * kPanelVectors>(g, s, at, panel_stride, n, columns);
      n += columns;
    }
  }
}

void Matrix(const MatrixF32& g) {
  if (g.row_count == 0 || g.column_count == 0) return;
  const size_t depth = g.run_count * g.run_length;
  const size_t panel_runs = g.run_numbers == nullptr ? g.run_count : g.panel_runs;
  const size_t panel_stride = panel_runs * g.run_length * kPanelWidth;
  // Slices: several whole runs, or one of the equal parts of one.
  const size_t pieces = (g.run_length + kDepthBlock - 1) / kDepthBlock;
  const size_t piece = pieces == 0 ? 0 : (g.run_length + pieces - 1) / pieces;
  const size_t runs_per_slice =
      pieces > 1 ? 1 : std::max<size_t>(1, kDepthBlock / std::max<size_t>(piece, 1));
  size_t k = 0;
  do {
    Slice s;
    if (pieces > 1) {
      s.first_run = k / g.run_length;
      s.last_run = s.first_run + 1;
      s.offset = k % g.run_length;
      s.length = std::min(piece, g.run_length - s.offset);
    } else {
      s.first_run = g.run_length == 0 ? 0 : k / g.run_length;
      s.last_run = std::min(g.run_count, s.first_run + runs_per_slice);
      s.offset = 0;
      s.length = g.run_length;
    }
    const size_t step = (s.last_run - s.first_run) * s.length;
    s.first = k == 0;
    s.last = k + step >= depth;
    Columns(g, s, panel_stride);
    k += step;
  } while (k < depth);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Matrix);

void RunMatrixF32(const MatrixF32& block) {
  HWY_DYNAMIC_DISPATCH(Matrix)(block);
}

size_t PackedSize(size_t k, size_t n) {
  return k * ((n + kPanelWidth - 1) / kPanelWidth) * kPanelWidth;
}

void PackPanels(const std::byte* b, size_t k, size_t n, size_t k_stride, size_t n_stride,
                float* out) {
  for (size_t p = 0; p < n; p += kPanelWidth) {
    const size_t width = std::min(kPanelWidth, n - p);
    for (size_t i = 0; i < k; ++i, out += kPanelWidth) {
      for (size_t j = 0; j < width; ++j)
        std::memcpy(out + j, b + (i * k_stride + (p + j) * n_stride) * sizeof(float),
                    sizeof(float));
      for (size_t j = width; j < kPanelWidth; ++j) out[j] = 0;
    }
  }
}

}  // namespace nn
#endif  // HWY_ONCE

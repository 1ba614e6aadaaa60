// Panels of b have 16 columns (kPanelWidth). A tile of rows by two panels is held in registers.
// Rows of `a` are read in place through pointers, one per kernel position of a convolution.
// Positions that are padding for all rows of a work item are skipped. Measurements determined the
// rest:
//
// - AVX-512 has enough registers for 14 rows of sums, but not for 14 addresses. With 128 or more
//   columns, the rows of a slice of k (512 deep) are therefore staged: copied once into lines that
//   map to different cache sets. With fewer columns the copy costs more than it saves (a tenth at
//   64), and tiles of 10 rows are read in place.
// - A loop with two multiply-adds per cycle has few issue slots left for other instructions,
//   especially if the other hardware thread of the core is busy. Most broadcasts of a staged tile
//   are therefore memory operands of the multiply-adds, as many as the two loads per cycle allow.
//   This needs inline assembly, because compilers load a value with two uses only once.
// - Panels of large weights come from the last-level cache or from memory. While a strip of columns
//   is computed, the panels of the next strip are prefetched, a few lines per eight steps of k.
// - A work item should have many rows and many columns (exec/steps/blocks.h): it reads a panel once
// for
//   all its rows and stages a row once for all its columns.
// - Panels of integers are unpacked for one strip and slice at a time, into memory that stays in
// the
//   first or second cache. All rows of the work item use them. With few rows, the slice is short.
// - Loops over arrays of vectors need NN_UNROLL: otherwise GCC unrolls them too late to keep the
//   arrays in registers. That costs little in long sums and half the speed in sums of 16 terms.
#include "exec/kernels/matrix_f32.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/file/blob.h"
#include "base/per_thread.h"
#include "hwy/cache_control.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/matrix_f32.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "exec/kernels/int8/unpack-inl.h"
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

// Registers for accumulators: all except one for the broadcast and those that hold a row of b.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr size_t kRegisters = 32;
#else
constexpr size_t kRegisters = 16;
#endif

// AVX-512 has vector registers for the sums of more rows than there are address registers. The rows
// of a slice are therefore staged: copied once for all columns, kStagePitch apart (an odd number of
// cache lines, so that they map to different sets). This pays off if there are enough columns.
constexpr bool kStages = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;
constexpr size_t kStagedDepth = 512;
constexpr size_t kStagePitch = kStagedDepth + 16;

// The maximum number of rows of a tile that is `vectors` wide. Without fused multiply-adds the
// emulation keeps the registers busy.
constexpr size_t MaxRows(size_t vectors, bool staged) {
  if (!HWY_NATIVE_FMA) return 2;
  return std::clamp<size_t>((kRegisters - 1 - vectors) / vectors, 1, staged ? 14 : 10);
}

// Panels of the usual tile: two vectors or, with short vectors, one panel.
constexpr size_t kPanels = kPanelVectors >= 2 ? 1 : 2;

// Depth of a slice of k if rows are read in place: a tile's panels stay in the L1 cache.
constexpr size_t kDepthInPlace = kPanels == 2 ? 192 : 256;

// One slice of k: part of the runs, the same for all rows.
struct Slice {
  size_t first_run, last_run;  // [first, last)
  size_t offset, length;       // within each run
  bool first, last;            // of the whole k
  const float* staged;         // row 0; null if rows are read in place
  size_t panel_begin = 0;      // the k at which the panels of the strip begin

  size_t depth() const { return (last_run - first_run) * length; }
};

// Prefetches the lines that the end of a tile will access: rows are too far apart for the hardware
// prefetcher.
template <size_t R, size_t V_>
HWY_INLINE void PrefetchEnds(const MatrixF32& g, const Slice& s, size_t m, size_t n) {
  constexpr size_t kLine = 16;  // floats
  const float* residual = s.last ? g.epilogue.residual : nullptr;
  for (size_t i = 0; i < R; ++i)
    for (size_t c = 0; c < V_ * kLanes; c += kLine) {
      __builtin_prefetch(g.out + (m + i) * g.out_stride + n + c, 1);
      if (residual != nullptr)
        hwy::Prefetch(residual + (m + i) * g.epilogue.residual_stride + n + c);
    }
}

// Whether row i of R uses a broadcast operand in the multiply-add: this saves an instruction and
// costs a load for each vector after the first. As many rows use it as two loads per cycle allow.
// Otherwise processors whose other hardware thread is busy decode too few instructions.
template <size_t R, size_t V_>
constexpr bool BroadcastsWithin(size_t i) {
  if (V_ == 1) return false;
  constexpr size_t kLoads = R * V_ * 15 / 16;
  constexpr size_t kLeast = R + V_;
  constexpr size_t kRows = kLoads < kLeast ? 0 : std::min(R, (kLoads - kLeast) / (V_ - 1));
  return i * kRows / R != (i + 1) * kRows / R;
}

// acc + *a * b with an embedded broadcast: compilers would load *a once for all its uses.
[[maybe_unused]] HWY_INLINE V FmaWithin(const float* a, V b, V acc) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(acc.raw) : "v"(b.raw), "m"(*a));
  return acc;
#else
  return M::Fma(hn::Set(D(), *a), b, acc);
#endif
}

// The columns of a tile and the panels that hold them.
struct Strip {
  static constexpr int kSecondLevel = 2;  // of caches, for __builtin_prefetch

  size_t n, columns;    // the first column and their number
  const float* panels;  // the start of the first panel
  size_t panel_stride;  // floats from one panel to the next

  // If rows are staged, the panels of the next strip are prefetched meanwhile, a part with every
  // tile: [ahead, ahead_end) of each panel remains to be fetched.
  const float* ahead = nullptr;
  const float* ahead_end = nullptr;
  size_t ahead_lines = 0;  // at each kAheadStep of k

  template <size_t kPanelCount>
  HWY_INLINE void FetchAhead() {
    constexpr size_t kLine = 16;  // floats
    for (size_t l = 0; l < ahead_lines && ahead < ahead_end; ++l, ahead += kLine) {
      NN_UNROLL
      for (size_t p = 0; p < kPanelCount; ++p)
        __builtin_prefetch(ahead + p * panel_stride, 0, kSecondLevel);
    }
  }
};
constexpr size_t kAheadStep = 8;

// Sums R rows x V vectors, those of a strip, over a slice.
template <size_t R, size_t V_, bool kStaged>
HWY_NOINLINE void Tile(const MatrixF32& g, const Slice& s, Strip& strip, size_t m) {
  const D d;
  const size_t n = strip.n;
  const size_t columns = strip.columns;
  float* out = g.out + m * g.out_stride + n;
  V acc[R][V_];
  // The number of columns in vector v.
  const auto have = [&](size_t v) { return columns - std::min(columns, v * kLanes); };
  const auto load = [&](const float* p, size_t v)
                        HWY_ATTR { return LoadSome(d, p + v * kLanes, have(v)); };
  if (s.first || s.last) PrefetchEnds<R, V_>(g, s, m, n);
  if (s.first) {
    NN_UNROLL
    for (size_t i = 0; i < R; ++i) {
      NN_UNROLL
      for (size_t v = 0; v < V_; ++v) acc[i][v] = hn::Zero(d);
    }
  } else {
    NN_UNROLL
    for (size_t v = 0; v < V_; ++v) {
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) acc[i][v] = load(out + i * g.out_stride, v);
    }
  }
  // One k: row(i) points to the element of row i.
  const auto multiply = [&](const auto& row, const float* HWY_RESTRICT from) HWY_ATTR {
    V bv[V_];
    NN_UNROLL
    for (size_t v = 0; v < V_; ++v)
      bv[v] = hn::Load(
          d, from + (v / kPanelVectors) * strip.panel_stride + (v % kPanelVectors) * kLanes);
    ForEachNumber<R>([&](auto number) HWY_ATTR {
      constexpr size_t i = decltype(number)::value;
      if constexpr (kStaged && BroadcastsWithin<R, V_>(i)) {
        NN_UNROLL
        for (size_t v = 0; v < V_; ++v) acc[i][v] = FmaWithin(row(i), bv[v], acc[i][v]);
      } else {
        const V av = hn::Set(d, *row(i));
        NN_UNROLL
        for (size_t v = 0; v < V_; ++v) acc[i][v] = M::Fma(av, bv[v], acc[i][v]);
      }
    });
  };
  for (size_t r = s.first_run; r < s.last_run; ++r) {
    const size_t number = g.run_numbers == nullptr ? r : g.run_numbers[r];
    const float* HWY_RESTRICT from =
        strip.panels + (number * g.run_length + s.offset - s.panel_begin) * kPanelWidth;
    if constexpr (kStaged) {
      const float* staged = s.staged + m * kStagePitch + (r - s.first_run) * s.length;
      for (size_t k = 0; k < s.length;) {
        strip.template FetchAhead<std::max<size_t>(1, V_ / kPanelVectors)>();
        const size_t end = std::min(s.length, k + kAheadStep);
        for (; k < end; ++k, from += kPanelWidth, ++staged)
          multiply([&](size_t i) { return staged + i * kStagePitch; }, from);
      }
    } else {
      const float* const* at = g.rows + r * g.row_pitch + m;
      const float* a[R];
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) a[i] = at[i] + s.offset;
      for (size_t k = 0; k < s.length; ++k, from += kPanelWidth)
        multiply([&](size_t i) { return a[i] + k; }, from);
    }
  }
  if (s.last) {
    const EpilogueF32& e = g.epilogue;
    const V low = hn::Set(d, e.min);
    const V high = hn::Set(d, e.max);
    NN_UNROLL
    for (size_t v = 0; v < V_; ++v) {
      const V bias = e.bias == nullptr ? hn::Zero(d) : load(e.bias + n, v);
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) acc[i][v] = hn::Add(acc[i][v], bias);
      if (e.scale != nullptr) {
        const V scale = load(e.scale + n, v);
        const V shift = load(e.shift + n, v);
        NN_UNROLL
        for (size_t i = 0; i < R; ++i) acc[i][v] = hn::Add(hn::Mul(acc[i][v], scale), shift);
      }
      if (e.residual != nullptr) {
        NN_UNROLL
        for (size_t i = 0; i < R; ++i)
          acc[i][v] = hn::Add(acc[i][v], load(e.residual + (m + i) * e.residual_stride + n, v));
      }
      if (e.bounded()) {
        NN_UNROLL
        for (size_t i = 0; i < R; ++i) acc[i][v] = M::Min(high, M::Max(low, acc[i][v]));
      }
    }
  }
  NN_UNROLL
  for (size_t v = 0; v < V_; ++v) {
    float* to = out + v * kLanes;
    // Checked once for all rows: it matters for sums of few terms.
    if (have(v) >= kLanes) {
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) hn::StoreU(acc[i][v], d, to + i * g.out_stride);
    } else {
      NN_UNROLL
      for (size_t i = 0; i < R; ++i) StoreSome(acc[i][v], d, to + i * g.out_stride, have(v));
    }
  }
}

using TileFn = void (*)(const MatrixF32&, const Slice&, Strip&, size_t);

template <size_t V_, bool kStaged, size_t... kIndex>
TileFn PickTile(size_t rows, std::index_sequence<kIndex...>) {
  static constexpr TileFn kTable[] = {&Tile<kIndex + 1, V_, kStaged>...};
  return kTable[rows - 1];
}

// All rows of the block times a strip held by V_ vectors, one slice of k. Rows are spread evenly
// over the tiles, so that none is too short to hide latency.
template <size_t V_, bool kStaged>
void RowTiles(const MatrixF32& g, const Slice& s, Strip& strip) {
  constexpr size_t kMax = MaxRows(V_, kStaged);
  const size_t tiles = CeilDiv(g.row_count, kMax);
  const size_t base = g.row_count / tiles;
  const size_t larger = g.row_count % tiles;
  // A single tile is limited by the bandwidth of its panels.
  strip.ahead_lines = tiles == 1 ? 0 : CeilDiv(kAheadStep, tiles);
  size_t m = 0;
  for (size_t t = 0; t < tiles; ++t) {
    const size_t rows = t < larger ? base + 1 : base;
    PickTile<V_, kStaged>(rows, std::make_index_sequence<kMax>())(g, s, strip, m);
    m += rows;
  }
}
template <size_t V_>
void Rows(const MatrixF32& g, const Slice& s, Strip& strip) {
  if constexpr (kStages)
    if (s.staged != nullptr) return RowTiles<V_, true>(g, s, strip);
  RowTiles<V_, false>(g, s, strip);
}

// Depth of a slice of unpacked panels for few rows.
constexpr size_t kUnpackedDepth = 64;

// Rows that leave registers for wider tiles, and the panels of these.
constexpr size_t kFew = 2;
constexpr size_t kWide = kPanelVectors >= 4 ? 1 : 4 / kPanelVectors * kPanels;

// Memory of the calling thread for the unpacked panels of a strip.
float* UnpackingRoom() {
  constexpr size_t kSteps =
      std::max(kWide * kUnpackedDepth, kPanels * std::max(kStagedDepth, kDepthInPlace));
  static PerThread<Buffer> rooms;
  Buffer& room = rooms.Get();
  if (room.size() == 0) room = Buffer(kSteps * kPanelWidth * sizeof(float));
  return room.as<float>().data();
}

// Unpacks a slice of the panels of a strip, and makes both refer to it.
void UnpackStrip(const MatrixF32& g, Strip& strip, Slice& s) {
  float* to = UnpackingRoom();
  strip.panels = to;
  strip.panel_stride = s.depth() * kPanelWidth;
  s.panel_begin = s.offset;
  const size_t first = g.first_panel + strip.n / kPanelWidth;
  for (size_t p = 0; p < CeilDiv(strip.columns, kPanelWidth); ++p, to += strip.panel_stride)
    UnpackPanel<D>(*g.blocks, first + p, s.offset, s.offset + s.depth(), to);
}

// One slice of k for all columns: as many panels at a time as give enough accumulators. `next`: the
// following slice, if this is not the last.
void Columns(const MatrixF32& g, Slice s, const Slice& next) {
  const size_t panel_runs = g.run_numbers == nullptr ? g.run_count : g.panel_runs;
  const size_t panel_stride = panel_runs * g.run_length * kPanelWidth;
  const auto begin_of = [&](const Slice& slice) {
    const size_t r = slice.first_run;
    return ((g.run_numbers == nullptr ? r : g.run_numbers[r]) * g.run_length + slice.offset) *
           kPanelWidth;
  };
  for (size_t n = 0; n < g.column_count;) {
    const size_t left = g.column_count - n;
    const bool wide = g.row_count <= kFew && kWide > kPanels && left > (kWide - 1) * kPanelWidth;
    const size_t panels = wide ? kWide : kPanels;
    Strip strip = {n, std::min(left, panels * kPanelWidth), nullptr, panel_stride};
    if (g.blocks == nullptr) strip.panels = g.panels + n / kPanelWidth * panel_stride;
    n += strip.columns;
    const bool more = n < g.column_count;
    if (g.blocks != nullptr) {
      UnpackStrip(g, strip, s);
    } else if (s.staged != nullptr && s.depth() != 0 && (more || !s.last)) {
      const Slice& after = more ? s : next;
      strip.ahead = (more ? strip.panels + panels * panel_stride : g.panels) + begin_of(after);
      strip.ahead_end = strip.ahead + after.depth() * kPanelWidth;
    }
    if (wide)
      Rows<kWide * kPanelVectors>(g, s, strip);
    else if (kPanelVectors > 1 && strip.columns <= kPanelWidth / 2)
      Rows<std::max<size_t>(kPanelVectors / 2, 1)>(g, s, strip);
    else if (kPanels > 1 && strip.columns <= kPanelWidth)
      Rows<kPanelVectors>(g, s, strip);
    else
      Rows<kPanels * kPanelVectors>(g, s, strip);
  }
}

// The slice that starts at k, of at most `most` of k: several whole runs, or one of the equal parts
// of a run.
Slice SliceAt(const MatrixF32& g, size_t k, size_t most) {
  Slice s = {0, g.run_count, 0, g.run_length, k == 0, true, nullptr};
  if (g.run_length == 0) return s;
  const size_t pieces = CeilDiv(g.run_length, most);
  s.first_run = k / g.run_length;
  if (pieces > 1) {
    constexpr size_t kMaxSteps = 4;  // of a line of integers
    const size_t piece = CeilDiv(CeilDiv(g.run_length, pieces), kMaxSteps) * kMaxSteps;
    s.last_run = s.first_run + 1;
    s.offset = k % g.run_length;
    s.length = std::min(piece, g.run_length - s.offset);
  } else {
    s.last_run = std::min(g.run_count, s.first_run + most / g.run_length);
  }
  s.last = k + s.depth() >= g.run_count * g.run_length;
  return s;
}

// Staging memory of the calling thread, for the maximum rows of a block.
float* StagingRoom() {
  static PerThread<Buffer> rooms;
  Buffer& room = rooms.Get();
  if (room.size() == 0) room = Buffer(kMatrixF32Rows * kStagePitch * sizeof(float));
  return room.as<float>().data();
}

// Copies all rows of a slice to `to` and makes the slice read them from there.
void Stage(const MatrixF32& g, float* to, Slice& s) {
  const D d;
  for (size_t m = 0; m < g.row_count; ++m) {
    float* at = to + m * kStagePitch;
    for (size_t r = s.first_run; r < s.last_run; ++r, at += s.length) {
      const float* from = g.rows[r * g.row_pitch + m] + s.offset;
      for (size_t k = 0; k < s.length; k += kLanes)
        StoreSome(LoadSome(d, from + k, s.length - k), d, at + k, s.length - k);
    }
  }
  s.staged = to;
  // Joins runs that are also adjacent in the panels.
  if (g.run_numbers == nullptr) {
    s.length = s.depth();
    s.last_run = s.first_run + 1;
  }
}

void Matrix(const MatrixF32& g) {
  if (g.row_count == 0 || g.column_count == 0) return;
  const bool stages = kStages && g.row_count > kMatrixF32FewRows && g.row_count <= kMatrixF32Rows &&
                      g.column_count >= kMatrixF32ManyColumns;
  const bool unpacks_few = g.blocks != nullptr && g.row_count <= kFew;
  const size_t most = stages ? kStagedDepth : unpacks_few ? kUnpackedDepth : kDepthInPlace;
  Slice next = SliceAt(g, 0, most);
  for (size_t k = 0;;) {
    Slice s = next;
    k += s.depth();
    if (!s.last) next = SliceAt(g, k, most);
    if (stages) Stage(g, StagingRoom(), s);
    Columns(g, s, next);
    if (s.last) break;
  }
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

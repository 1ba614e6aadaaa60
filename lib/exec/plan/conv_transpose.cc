// Transposed convolution of float32. The output positions reached by the same kernel positions,
// which are a stride apart, form a class. Each class is a convolution of stride 1 with some of the
// kernel positions, on the matrix kernel or, with one channel per group, on the depthwise kernel.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked_math.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/kernels/window/depthwise_f32.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/conv/conv_geometry.h"
#include "exec/steps/conv/conv_step.h"
#include "exec/steps/post_ops.h"
#include "ops/nn/conv_transpose.h"

namespace nn {
namespace {

// Positions first, first + period, ... of one output axis: position first + j * period reads input
// position j + sources[i] with kernel position taps[i], for each i.
struct AxisClass {
  int64_t first = 0, count = 0;
  std::vector<int64_t> taps, sources;

  // The part [begin, end) of j whose positions are in [from, to).
  std::pair<int64_t, int64_t> Part(int64_t period, int64_t from, int64_t to) const {
    return {std::max<int64_t>(0, CeilDiv(from - first, period)),
            std::min(count, std::max<int64_t>(0, CeilDiv(to - first, period)))};
  }
};

struct AxisClasses {
  int64_t period = 1;
  std::vector<AxisClass> classes;  // class c starts at position c
};

// Kernel positions that reach only padding are skipped.
AxisClasses ClassesOf(const ConstWindow& w) {
  AxisClasses axis;
  // With a single input position, no two output positions share a kernel position.
  axis.period = w.input == 1 ? std::max<int64_t>(1, w.output) : w.stride;
  for (int64_t first = 0; first < std::min(axis.period, w.output); ++first) {
    AxisClass c{first, CeilDiv(w.output - first, axis.period), {}, {}};
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t scaled = first + w.pad_begin - k * w.dilation;
      const int64_t source = FloorDiv(scaled, w.stride);
      if (source * w.stride != scaled || source + c.count <= 0 || source >= w.input) continue;
      c.taps.push_back(k);
      c.sources.push_back(source);
    }
    axis.classes.push_back(std::move(c));
  }
  return axis;
}

using AxisClasses3 = std::array<AxisClasses, 3>;
using Class3 = std::array<const AxisClass*, 3>;

// Calls fn(class) for every class, in order of its number.
template <typename Fn>
void ForEachClass(const AxisClasses3& axes, Fn fn) {
  for (const AxisClass& d : axes[0].classes)
    for (const AxisClass& h : axes[1].classes)
      for (const AxisClass& w : axes[2].classes) fn(Class3{&d, &h, &w});
}

// Kernel positions of a class in order, each with its index in the filter.
std::vector<size_t> TapsOf(const Spatial3& s, const Class3& c) {
  std::vector<size_t> taps;
  for (const int64_t d : c[0]->taps)
    for (const int64_t h : c[1]->taps)
      for (const int64_t w : c[2]->taps)
        taps.push_back(static_cast<size_t>((d * s[1].kernel + h) * s[2].kernel + w));
  return taps;
}

// A work item has whole periods of a line or of lines, so that its results are contiguous.
class TransposeStepBase : public ConvStepBase {
 public:
  AxisClasses3 axes;
  std::vector<size_t> packed_at;  // offset of the filter of each class, in floats
  RowBlocks lines;                // in periods of lines
  RowBlocks pieces;               // in periods of a line

  size_t out_lines() const { return static_cast<size_t>(s[0].output * s[1].output); }

 protected:
  // Lines [line, last_line), positions [first, last) of each.
  struct Box {
    size_t line, last_line;
    int64_t first, last;
  };
  Box BoxOf(size_t line_item, size_t piece) const {
    const size_t block = lines.block * static_cast<size_t>(axes[1].period);
    const int64_t length = static_cast<int64_t>(pieces.block) * axes[2].period;
    const auto first = static_cast<int64_t>(piece) * length;
    return {line_item * block, std::min(out_lines(), (line_item + 1) * block), first,
            std::min(s[2].output, first + length)};
  }
  const float* PackedOf(const Memory& memory, const Class3& c) const {
    const auto number = (c[0]->first * static_cast<int64_t>(axes[1].classes.size()) + c[1]->first) *
                            static_cast<int64_t>(axes[2].classes.size()) +
                        c[2]->first;
    return reinterpret_cast<const float*>(memory.data(packed)) +
           packed_at[static_cast<size_t>(number)];
  }
  void RunPostOps(const Memory& memory, const Box& box, size_t batch, size_t channel,
                  size_t channels) const {
    if (post_ops.empty()) return;
    const auto width = static_cast<size_t>(s[2].output);
    for (size_t l = box.line; l < box.last_line; ++l) {
      const size_t row = (batch * out_lines() + l) * width + static_cast<size_t>(box.first);
      post_ops.Run(memory, out.As<float>(memory) + row * out.row_stride + channel, out.row_stride,
                   row, static_cast<size_t>(box.last - box.first), channel, channels);
    }
  }
};

// ---- Matrix

class MatrixTransposeStep : public TransposeStepBase {
 public:
  static constexpr size_t kMaxRows = kMatrixF32Rows;
  static constexpr size_t kScratch = 16384;  // results of one call of the kernel

  ColumnBlocks columns;      // output channels of a work item
  std::vector<float> zeros;  // read for padded taps

  size_t grid() const override {
    return static_cast<size_t>(g.batch * g.groups) * lines.items * pieces.items * columns.items;
  }

  void Run(const Memory& memory, size_t item) const override {
    const Box box = BoxOf(item / pieces.items % lines.items, item % pieces.items);
    item /= pieces.items * lines.items;
    const size_t column = item % columns.items * columns.block;
    item /= columns.items;
    const Part part{item / static_cast<size_t>(g.groups), item % static_cast<size_t>(g.groups),
                    column, std::min(columns.block, static_cast<size_t>(g.out_channels) - column)};
    ForEachClass(axes, [&](const Class3& c) { RunClass(memory, box, part, c); });
    RunPostOps(memory, box, part.batch, Channel(part), part.columns);
  }

 private:
  // The batch, group and columns that a work item computes for the positions of its box.
  struct Part {
    size_t batch, group;
    size_t column, columns;  // of the group
  };
  size_t Channel(const Part& part) const {
    return part.group * static_cast<size_t>(g.out_channels) + part.column;
  }
  // Rows of one call of the kernel: input pointers of each tap, and positions of the results.
  struct Rows {
    size_t count = 0;
    std::array<std::array<int64_t, 3>, kMaxRows> at;  // j of each axis
    std::array<size_t, kMaxRows> position;            // in the output of one image
  };

  // Calls fn(d, h) for the lines of a box that belong to a class, without visiting the others:
  // there may be as many classes as lines.
  template <typename Fn>
  void ForEachLine(const Box& box, const Class3& c, Fn fn) const {
    const int64_t height = s[1].output;
    const auto first = static_cast<int64_t>(box.line), last = static_cast<int64_t>(box.last_line);
    const auto from = [](const AxisClass& of, int64_t period, int64_t at) {
      return of.first + period * std::max<int64_t>(0, CeilDiv(at - of.first, period));
    };
    const int64_t dp = axes[0].period, hp = axes[1].period;
    for (int64_t d = from(*c[0], dp, first / height); d * height < last; d += dp)
      for (int64_t h = from(*c[1], hp, first - d * height); h < std::min(height, last - d * height);
           h += hp)
        fn(d, h);
  }

  void RunClass(const Memory& memory, const Box& box, const Part& part, const Class3& c) const {
    const size_t taps = c[0]->taps.size() * c[1]->taps.size() * c[2]->taps.size();
    const size_t most =
        std::clamp<size_t>(kMaxTapPointers / std::max<size_t>(taps, 1), 1, kMaxRows);
    const auto places = c[2]->Part(axes[2].period, box.first, box.last);
    Rows rows;
    ForEachLine(box, c, [&](int64_t d, int64_t h) {
      for (int64_t j = places.first; j < places.second; ++j) {
        rows.at[rows.count] = {d / axes[0].period, h / axes[1].period, j};
        rows.position[rows.count] =
            static_cast<size_t>((d * s[1].output + h) * s[2].output + PositionOf(c, j));
        if (++rows.count == most) {
          RunRows(memory, part, c, taps, rows);
          rows.count = 0;
        }
      }
    });
    if (rows.count > 0) RunRows(memory, part, c, taps, rows);
  }
  int64_t PositionOf(const Class3& c, int64_t j) const { return c[2]->first + j * axes[2].period; }

  void FillPointers(const float* x, const Class3& c, const Rows& rows,
                    const float** pointers) const {
    const auto stride = static_cast<int64_t>(in.row_stride);
    const auto inside = [](const ConstWindow& w, int64_t at) { return at >= 0 && at < w.input; };
    for (size_t r = 0; r < rows.count; ++r) {
      const float** to = pointers + r;
      for (const int64_t sd : c[0]->sources) {
        const int64_t d = rows.at[r][0] + sd;
        for (const int64_t sh : c[1]->sources) {
          const int64_t h = rows.at[r][1] + sh;
          const bool line = inside(s[0], d) && inside(s[1], h);
          for (const int64_t sw : c[2]->sources) {
            const int64_t w = rows.at[r][2] + sw;
            *to = line && inside(s[2], w) ? x + ((d * s[1].input + h) * s[2].input + w) * stride
                                          : zeros.data();
            to += rows.count;
          }
        }
      }
    }
  }

  void RunRows(const Memory& memory, const Part& part, const Class3& c, size_t taps,
               const Rows& rows) const {
    const auto in_channels = static_cast<size_t>(g.in_channels);
    const auto out_channels = static_cast<size_t>(g.out_channels);
    std::array<const float*, kMaxTapPointers> pointers;
    FillPointers(in.As<const float>(memory) +
                     part.batch * static_cast<size_t>(InPositions(s)) * in.row_stride +
                     part.group * in_channels,
                 c, rows, pointers.data());
    alignas(64) std::array<float, kScratch> scratch;
    const size_t depth = taps * in_channels;
    const size_t most =
        std::max<size_t>(kPanelWidth, kScratch / rows.count / kPanelWidth * kPanelWidth);
    MatrixF32 m;
    m.rows = pointers.data();
    m.row_pitch = rows.count;
    m.run_count = taps;
    m.run_length = taps == 0 ? 0 : in_channels;
    m.row_count = rows.count;
    m.out = scratch.data();
    const float* filter = PackedOf(memory, c) + part.group * PackedSize(depth, out_channels);
    float* y = out.As<float>(memory) +
               part.batch * out_lines() * static_cast<size_t>(s[2].output) * out.row_stride;
    for (size_t n = 0; n < part.columns; n += most) {
      const size_t channel = Channel(part) + n;
      m.panels = filter + (part.column + n) * depth;
      m.column_count = std::min(most, part.columns - n);
      m.out_stride = m.column_count;
      m.epilogue = EpilogueAt(memory, 0, channel);
      RunMatrixF32(m);
      for (size_t r = 0; r < rows.count; ++r)
        std::memcpy(y + rows.position[r] * out.row_stride + channel, m.out + r * m.out_stride,
                    m.column_count * sizeof(float));
    }
  }
};

Buffer PackMatrices(const Tensor& filter, FilterLayout layout, MatrixTransposeStep& step) {
  const ConvGeometry& g = step.g;
  const auto in_channels = static_cast<size_t>(g.in_channels);
  const auto out_channels = static_cast<size_t>(g.out_channels);
  size_t size = 0;
  ForEachClass(step.axes, [&](const Class3& c) {
    step.packed_at.push_back(size);
    size += static_cast<size_t>(g.groups) *
            PackedSize(TapsOf(step.s, c).size() * in_channels, out_channels);
  });
  Buffer packed(size * sizeof(float));
  const FilterStrides strides(filter, layout);
  float* to = packed.as<float>().data();
  ForEachClass(step.axes, [&](const Class3& c) {
    const auto taps = TapsOf(step.s, c);
    for (size_t group = 0; group < static_cast<size_t>(g.groups); ++group)
      for (size_t column = 0; column < out_channels; column += kPanelWidth)
        for (const size_t tap : taps) {
          PackPanels(filter.blob().data() + (group * in_channels * strides.input +
                                             column * strides.output + tap * strides.tap) *
                                                sizeof(float),
                     in_channels, std::min(kPanelWidth, out_channels - column), strides.input,
                     strides.output, to);
          to += in_channels * kPanelWidth;
        }
  });
  return packed;
}

// Splits the output into work items of about `positions` positions of each class.
void CutOutput(TransposeStepBase& step, size_t positions) {
  const auto periods = [&](size_t size, size_t axis) {
    return static_cast<size_t>(CeilDiv(static_cast<int64_t>(size), step.axes[axis].period));
  };
  step.pieces = RowBlocks(periods(static_cast<size_t>(step.s[2].output), 2), positions);
  step.lines =
      RowBlocks(periods(step.out_lines(), 1), std::max<size_t>(1, positions / step.pieces.block));
}

std::unique_ptr<TransposeStepBase> MakeMatrixStep(PlanContext& ctx, const ConvGeometry& g,
                                                  AxisClasses3 axes) {
  const Node& node = ctx.node();
  auto step = std::make_unique<MatrixTransposeStep>();
  step->g = g;
  step->s = ToThree(g.windows);
  step->axes = std::move(axes);
  step->zeros.assign(static_cast<size_t>(g.in_channels), 0.0f);
  step->packed = ctx.AddConstant(Blob(PackMatrices(
      node.input(1)->constant(), node.attrs<ConvTransposeAttrs>().filter_layout, *step)));
  CutOutput(*step, MatrixTransposeStep::kMaxRows);
  // Few positions: split the columns into work items.
  constexpr size_t kEnoughItems = 8;
  const size_t items =
      static_cast<size_t>(g.batch * g.groups) * step->lines.items * step->pieces.items;
  step->columns = ColumnBlocks(static_cast<size_t>(g.out_channels),
                               std::max<size_t>(1, kEnoughItems / std::max<size_t>(items, 1)));
  return step;
}

// ---- Depthwise

class DepthwiseTransposeStep : public TransposeStepBase {
 public:
  static constexpr size_t kMaxRows = 256;

  size_t grid() const override { return static_cast<size_t>(g.batch) * lines.items * pieces.items; }

  void Run(const Memory& memory, size_t item) const override {
    const Box box = BoxOf(item / pieces.items % lines.items, item % pieces.items);
    const size_t batch = item / (pieces.items * lines.items);
    for (size_t line = box.line; line < box.last_line; ++line) {
      const int64_t d = static_cast<int64_t>(line) / s[1].output;
      const int64_t h = static_cast<int64_t>(line) % s[1].output;
      const AxisClass& cd = axes[0].classes[static_cast<size_t>(d % axes[0].period)];
      const AxisClass& ch = axes[1].classes[static_cast<size_t>(h % axes[1].period)];
      for (const AxisClass& cw : axes[2].classes)
        RunLine(memory, box, batch, line, {&cd, &ch, &cw}, d / axes[0].period, h / axes[1].period);
    }
    RunPostOps(memory, box, batch, 0, static_cast<size_t>(g.groups));
  }

 private:
  void RunLine(const Memory& memory, const Box& box, size_t batch, size_t line, const Class3& c,
               int64_t d, int64_t h) const {
    const auto [begin, end] = c[2]->Part(axes[2].period, box.first, box.last);
    if (begin >= end) return;
    const float* x =
        in.As<const float>(memory) + batch * static_cast<size_t>(InPositions(s)) * in.row_stride;
    std::array<const float*, kMaxRows> rows;
    size_t count = 0;
    for (const int64_t sd : c[0]->sources)
      for (const int64_t sh : c[1]->sources) {
        const bool inside =
            d + sd >= 0 && d + sd < s[0].input && h + sh >= 0 && h + sh < s[1].input;
        rows[count++] =
            inside ? x + static_cast<size_t>(((d + sd) * s[1].input + h + sh) * s[2].input) *
                             in.row_stride
                   : nullptr;
      }
    const auto& columns = c[2]->sources;
    const size_t row = (batch * out_lines() + line) * static_cast<size_t>(s[2].output) +
                       static_cast<size_t>(c[2]->first + begin * axes[2].period);
    DepthwiseF32 r;
    r.rows = rows.data();
    r.row_count = count;
    r.input_width = s[2].input;
    r.in_stride = in.row_stride;
    r.kernel = static_cast<int64_t>(columns.size());
    r.dilation = columns.size() < 2 ? 1 : columns[1] - columns[0];
    r.pad = columns.empty() ? 0 : -columns[0];
    r.filter = PackedOf(memory, c);
    r.channels = static_cast<size_t>(g.groups);
    r.filter_stride = PackedSize(1, r.channels);
    r.out = out.As<float>(memory) + row * out.row_stride;
    r.out_stride = static_cast<size_t>(axes[2].period) * out.row_stride;
    r.first = begin;
    r.count = end - begin;
    r.epilogue = EpilogueAt(memory, 0, 0);
    RunDepthwiseF32(r);
  }
};

std::unique_ptr<TransposeStepBase> MakeDepthwiseStep(PlanContext& ctx, const ConvGeometry& g,
                                                     AxisClasses3 axes) {
  constexpr size_t kPositions = 256;
  const Node& node = ctx.node();
  auto step = std::make_unique<DepthwiseTransposeStep>();
  step->g = g;
  step->s = ToThree(g.windows);
  step->axes = std::move(axes);
  const Tensor& filter = node.input(1)->constant();
  const FilterStrides strides(filter, node.attrs<ConvTransposeAttrs>().filter_layout);
  const auto channels = static_cast<size_t>(g.groups);
  const size_t width = PackedSize(1, channels);
  std::vector<size_t> taps;
  ForEachClass(step->axes, [&](const Class3& c) {
    step->packed_at.push_back(taps.size() * width);
    const auto more = TapsOf(step->s, c);
    taps.insert(taps.end(), more.begin(), more.end());
  });
  Buffer packed(taps.size() * width * sizeof(float));
  packed.Clear();
  for (size_t t = 0; t < taps.size(); ++t)
    for (size_t c = 0; c < channels; ++c)
      packed.as<float>()[t * width + c] =
          LoadFloat(filter.blob().data(), c * strides.input + taps[t] * strides.tap);
  step->packed = ctx.AddConstant(Blob(std::move(packed)));
  CutOutput(*step, kPositions);
  return step;
}

// The classes of all axes; false if their tables would be large.
bool FindClasses(const Spatial3& s, AxisClasses3& axes) {
  constexpr int64_t kMax = int64_t{1} << 22;
  int64_t classes = 1;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t period = s[i].input == 1 ? s[i].output : std::min(s[i].stride, s[i].output);
    if (period > kMax || s[i].kernel > kMax / std::max<int64_t>(1, period)) return false;
    classes *= std::max<int64_t>(1, period);
    if (classes > kMax) return false;
  }
  for (size_t i = 0; i < 3; ++i) axes[i] = ClassesOf(s[i]);
  return true;
}

Result<bool> PlanConvTranspose(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ConvTransposeAttrs>();
  if (!HasConstantFilter(node, a.layout)) return false;
  const Tensor& filter = node.input(1)->constant();
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, ShapeOf(node.input(0)), filter.dims()));
  if (!TakesFilter(g, filter, kMaxTapPointers)) return false;
  const Spatial3 s = ToThree(g.windows);
  AxisClasses3 axes;
  PostOpProgram post_ops;
  if (!FindClasses(s, axes) || !post_ops.AddPostOps(ctx)) return false;
  auto step = IsDepthwise(g, DepthwiseTransposeStep::kMaxRows)
                  ? MakeDepthwiseStep(ctx, g, std::move(axes))
                  : MakeMatrixStep(ctx, g, std::move(axes));
  step->in = ctx.ViewOf(node.input(0));
  step->multiply_adds =
      g.batch * g.groups * g.in_channels * InPositions(s) * g.out_channels * g.taps();
  AddConvStep(ctx, std::move(step), std::move(post_ops), /*rows_follow=*/false);
  return true;
}

}  // namespace

void AddConvTransposeKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "conv_transpose",
                     .plan = PlanConvTranspose,
                     .takes_post_ops = true,
                     .strided_input = true,
                     .strided_output = true});
}

}  // namespace nn

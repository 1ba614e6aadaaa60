// Convolution of float32: on the matrix kernel, where each kernel position is a run of a row of the
// left matrix, read in place; or, with one channel per group, on the depthwise kernel.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked_math.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/kernels/window/depthwise_f32.h"
#include "exec/plan/conv.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/conv/conv_geometry.h"
#include "exec/steps/conv/conv_step.h"
#include "exec/steps/conv/pad_lines.h"
#include "exec/steps/post_ops.h"

namespace nn {
namespace {

// ---- Matrix

class MatrixConvStep : public ConvStepBase {
 public:
  size_t run_length = 0;     // contiguous elements of a tap
  size_t packed_group = 0;   // floats of one group's panels
  ProductBlocks blocks;      // one product per batch and group
  std::vector<float> zeros;  // read for padded taps
  bool skips_taps = false;   // that are in the padding for all rows of a work item

  size_t grid() const override { return blocks.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const auto [product, first, count, column, columns] = blocks.At(item);
    const size_t group = product % static_cast<size_t>(g.groups);
    const size_t batch = product / static_cast<size_t>(g.groups);
    const auto positions = static_cast<size_t>(g.out_positions());
    const auto channels = static_cast<size_t>(g.out_channels);
    const auto taps = static_cast<size_t>(Taps(s));

    std::array<const float*, kMaxTapPointers> pointers;
    FillTapPointers(s,
                    in.As<const float>(memory) +
                        batch * static_cast<size_t>(InPositions(s)) * in.row_stride +
                        group * static_cast<size_t>(g.in_channels),
                    in.row_stride, zeros.data(), first, count, count, 1, pointers.data());
    const size_t row = batch * positions + first;
    const size_t channel = group * channels + column;
    MatrixF32 m;
    m.rows = pointers.data();
    m.row_pitch = count;
    m.run_count = taps;
    std::array<uint16_t, kMaxTapPointers> live;
    if (skips_taps) {
      m.run_count = LiveTaps(taps, count, pointers.data(), live.data());
      m.run_numbers = live.data();
      m.panel_runs = taps;
    }
    m.run_length = run_length;
    m.row_count = count;
    m.panels = reinterpret_cast<const float*>(memory.data(packed)) + group * packed_group +
               column / kPanelWidth * (taps * run_length * kPanelWidth);
    m.column_count = columns;
    m.out = out.As<float>(memory) + row * out.row_stride + channel;
    m.out_stride = out.row_stride;
    m.epilogue = EpilogueAt(memory, row, channel);
    RunMatrixF32(m);
    if (!post_ops.empty())
      post_ops.Run(memory, m.out, m.out_stride, row, count, channel, m.column_count);
  }

 private:
  // Keeps the taps that are not in the padding for all of the rows; stores their numbers and count.
  size_t LiveTaps(size_t taps, size_t count, const float** pointers, uint16_t* numbers) const {
    size_t live = 0;
    for (size_t tap = 0; tap < taps; ++tap) {
      const float** of_tap = pointers + tap * count;
      if (std::all_of(of_tap, of_tap + count, [&](const float* p) { return p == zeros.data(); }))
        continue;
      if (live != tap) std::copy_n(of_tap, count, pointers + live * count);
      numbers[live++] = static_cast<uint16_t>(tap);
    }
    return live;
  }
};

Buffer PackFilter(const Tensor& filter, FilterLayout layout, const ConvGeometry& g) {
  const auto taps = static_cast<size_t>(g.taps());
  const auto in_channels = static_cast<size_t>(g.in_channels);
  const auto out_channels = static_cast<size_t>(g.out_channels);
  const size_t group_size = PackedSize(taps * in_channels, out_channels);
  Buffer packed(group_size * static_cast<size_t>(g.groups) * sizeof(float));
  const FilterStrides strides(filter, layout);
  float* to = packed.as<float>().data();
  for (size_t group = 0; group < static_cast<size_t>(g.groups); ++group)
    for (size_t column = 0; column < out_channels; column += kPanelWidth)
      for (size_t tap = 0; tap < taps; ++tap, to += in_channels * kPanelWidth)
        PackPanels(filter.blob().data() +
                       ((group * out_channels + column) * strides.output + tap * strides.tap) *
                           sizeof(float),
                   in_channels, std::min(kPanelWidth, out_channels - column), strides.input,
                   strides.output, to);
  return packed;
}

std::unique_ptr<ConvStepBase> MakeMatrixConv(PlanContext& ctx, const ConvGeometry& g) {
  const Node& node = ctx.node();
  auto step = std::make_unique<MatrixConvStep>();
  step->g = g;
  step->s = ToThree(g.windows);
  step->in = ctx.ViewOf(node.input(0));
  step->run_length = static_cast<size_t>(g.in_channels);
  JoinTaps(ctx, g, sizeof(float), std::byte{0}, step->s, step->in, step->run_length);
  step->zeros.assign(step->run_length, 0.0f);
  const size_t depth = static_cast<size_t>(g.taps() * g.in_channels);
  const auto out_channels = static_cast<size_t>(g.out_channels);
  step->packed_group = PackedSize(depth, out_channels);
  step->packed = ctx.AddConstant(
      Blob(PackFilter(node.input(1)->constant(), node.attrs<ConvAttrs>().filter_layout, g)));
  const auto positions = static_cast<size_t>(g.out_positions());
  const auto runs = static_cast<size_t>(Taps(step->s));
  constexpr size_t kDilatedRows =
      48;  // few enough that whole taps are in the padding for all of them
  const auto is_dilated = [](const ConstWindow& w) { return w.dilation > 1 && w.kernel > 1; };
  const bool dilated = std::any_of(step->s.begin(), step->s.end(), is_dilated);
  step->skips_taps = std::any_of(step->s.begin(), step->s.end(), [](const ConstWindow& w) {
    return w.pad_begin > 0 || w.pad_end > 0;
  });
  step->blocks = ProductBlocks(
      static_cast<size_t>(g.batch * g.groups), positions, out_channels, depth,
      std::clamp<size_t>(kMaxTapPointers / runs, 1, dilated ? kDilatedRows : kMatrixF32Rows));
  return step;
}

// ---- Depthwise

class DepthwiseConvStep : public ConvStepBase {
 public:
  static constexpr size_t kMaxRows = 256;

  // A work item: several lines of an image, or a segment of a long line.
  size_t line_block = 1;
  size_t segment = 0;  // outputs along a line

  size_t grid() const override { return planes() * blocks() * segments(); }

  void Run(const Memory& memory, size_t item) const override {
    const auto& [d, h, w] = s;
    const auto width = static_cast<size_t>(w.output);
    const size_t first = item % segments() * segment;
    item /= segments();
    const size_t line = item % blocks() * line_block;
    const size_t plane = item / blocks();
    const size_t lines = std::min(line_block, static_cast<size_t>(h.output) - line);
    const size_t batch = plane / static_cast<size_t>(d.output);
    const auto pd = static_cast<int64_t>(plane % static_cast<size_t>(d.output));
    const float* x =
        in.As<const float>(memory) + batch * static_cast<size_t>(InPositions(s)) * in.row_stride;
    std::array<const float*, kMaxRows> rows;
    size_t count = 0;
    const int64_t read_lines = (static_cast<int64_t>(lines) - 1) * h.stride + h.kernel;
    // Lines are consecutive in the input if there is one plane and no dilation; otherwise there is
    // one line, and its rows are those of every plane.
    for (int64_t kd = 0; kd < d.kernel; ++kd) {
      const int64_t id = SourceOf(d, pd, kd);
      for (int64_t r = 0; r < read_lines; ++r) {
        const int64_t ih = SourceOf(h, static_cast<int64_t>(line), r);
        rows[count++] = id < 0 || ih < 0 ? nullptr
                                         : x + static_cast<size_t>((id * h.input + ih) * w.input) *
                                                   in.row_stride;
      }
    }
    const size_t row = (plane * static_cast<size_t>(h.output) + line) * width + first;
    DepthwiseF32 r;
    r.rows = rows.data();
    r.row_count = static_cast<size_t>(d.kernel * h.kernel);
    r.lines = lines;
    r.line_step = static_cast<size_t>(h.stride);
    r.input_width = w.input;
    r.in_stride = in.row_stride;
    r.kernel = w.kernel;
    r.stride = w.stride;
    r.dilation = w.dilation;
    r.pad = w.pad_begin;
    r.filter = reinterpret_cast<const float*>(memory.data(packed));
    r.group = static_cast<size_t>(g.in_channels);
    r.channels = static_cast<size_t>(g.groups) * r.group;
    r.filter_stride = PackedSize(1, r.channels);
    r.out = out.As<float>(memory) + row * out.row_stride;
    r.out_stride = out.row_stride;
    r.line_pitch = width;
    r.first = static_cast<int64_t>(first);
    r.count = static_cast<int64_t>(std::min(segment, width - first));
    r.epilogue = EpilogueAt(memory, row, 0);
    RunDepthwiseF32(r);
    if (!post_ops.empty())
      post_ops.Run(memory, r.out, r.out_stride, row,
                   (lines - 1) * width + static_cast<size_t>(r.count), 0, r.channels);
  }

  // Splits the output into work items, of several lines if the kernel can share their input.
  void Cut() {
    constexpr size_t kSegment = 256;
    constexpr size_t kLines = 4;
    const auto& [d, h, w] = s;
    const bool shares =
        d.kernel == 1 && h.dilation == 1 && w.output <= static_cast<int64_t>(kSegment) &&
        (static_cast<int64_t>(kLines) - 1) * h.stride + h.kernel <= static_cast<int64_t>(kMaxRows);
    line_block = !shares ? 1 : h.output >= static_cast<int64_t>(2 * kLines) ? kLines : 2;
    segment = std::clamp<size_t>(static_cast<size_t>(w.output), 1, kSegment);
  }

 private:
  size_t planes() const { return static_cast<size_t>(g.batch * s[0].output); }
  size_t blocks() const { return CeilDiv(static_cast<size_t>(s[1].output), line_block); }
  size_t segments() const { return CeilDiv(static_cast<size_t>(s[2].output), segment); }
};

std::unique_ptr<ConvStepBase> MakeDepthwiseConv(PlanContext& ctx, const ConvGeometry& g) {
  const Node& node = ctx.node();
  auto step = std::make_unique<DepthwiseConvStep>();
  step->g = g;
  step->s = ToThree(g.windows);
  step->in = ctx.ViewOf(node.input(0));
  const Tensor& filter = node.input(1)->constant();
  const FilterStrides strides(filter, node.attrs<ConvAttrs>().filter_layout);
  const auto inputs = static_cast<size_t>(g.in_channels);
  const size_t channels = static_cast<size_t>(g.groups) * inputs;
  const auto taps = static_cast<size_t>(g.taps());
  const size_t width = PackedSize(1, channels);
  Buffer packed(taps * inputs * width * sizeof(float));
  packed.Clear();
  for (size_t tap = 0; tap < taps; ++tap)
    for (size_t i = 0; i < inputs; ++i)
      for (size_t c = 0; c < channels; ++c)
        packed.as<float>()[(tap * inputs + i) * width + c] = LoadFloat(
            filter.blob().data(), c * strides.output + i * strides.input + tap * strides.tap);
  step->packed = ctx.AddConstant(Blob(std::move(packed)));
  step->Cut();
  return step;
}

// Groups of which several share a vector, as supported by the depthwise kernel.
bool HasSmallGroups(const ConvGeometry& g) {
  const ConstWindow w = ToThree(g.windows)[2];
  return g.groups > 1 && g.in_channels == g.out_channels &&
         (g.in_channels == 4 || g.in_channels == 8) &&
         g.groups * g.in_channels % static_cast<int64_t>(kPanelWidth) == 0 && w.kernel == 3 &&
         (w.stride == 1 || w.stride == 2) && w.dilation == 1 &&
         g.taps() / w.kernel <= static_cast<int64_t>(DepthwiseConvStep::kMaxRows);
}

Result<bool> PlanConv(PlanContext& ctx) {
  const Node& node = ctx.node();
  if (node.output()->type().quantized()) return PlanQuantConv(ctx);
  const auto& a = node.attrs<ConvAttrs>();
  if (!HasConstantFilter(node, a.layout)) return false;
  const Tensor& filter = node.input(1)->constant();
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, ShapeOf(node.input(0)), filter.dims()));
  PostOpProgram post_ops;
  if (filter.elements() == 0 || !TakesFilter(g, filter, kMaxTapPointers) ||
      !post_ops.AddPostOps(ctx))
    return false;
  auto step = IsDepthwise(g, DepthwiseConvStep::kMaxRows) || HasSmallGroups(g)
                  ? MakeDepthwiseConv(ctx, g)
                  : MakeMatrixConv(ctx, g);
  step->multiply_adds =
      g.batch * g.groups * g.out_channels * g.out_positions() * g.taps() * g.in_channels;
  AddConvStep(ctx, std::move(step), std::move(post_ops), /*rows_follow=*/true);
  return true;
}

}  // namespace

void AddConvKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "conv",
                     .plan = PlanConv,
                     .takes_post_ops = true,
                     .strided_input = true,
                     .strided_output = true});
}

}  // namespace nn

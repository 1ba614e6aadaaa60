// Convolution of 8-bit integers with TensorFlow Lite's arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "exec/kernels/int8/depthwise_i8.h"
#include "exec/kernels/int8/matrix_i8.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/plan/conv.h"
#include "exec/plan/quant/elementwise_8bit.h"
#include "exec/steps/blocks.h"
#include "exec/steps/conv/conv_geometry.h"
#include "exec/steps/conv/conv_step.h"
#include "exec/steps/conv/pad_lines.h"
#include "numeric/functions.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"

namespace nn {
namespace {

// Shared by both kinds of step.
class QuantConvStep : public Step {
 public:
  ConvGeometry g;
  Spatial3 s;
  MemoryView in, out;
  ByteResult result;
  std::vector<uint8_t> padding;  // channels that hold the input's zero point

  // Called once the members above are set: splits the step into work items.
  virtual void Prepare(PlanContext& ctx) = 0;

 protected:
  const uint8_t* Input(const Memory& memory, size_t batch) const {
    return in.As<const uint8_t>(memory) +
           batch * static_cast<size_t>(InPositions(s)) * in.row_stride;
  }
};

class MatrixStep : public QuantConvStep {
 public:
  size_t run_length = 0;         // contiguous elements of a tap
  std::vector<PackedI8> packed;  // one per group
  ProductBlocks blocks;          // one product per batch and group

  size_t grid() const override { return blocks.items(); }
  void Run(const Memory& memory, size_t item) const override {
    const auto [product, first, count, column, columns] = blocks.At(item);
    const size_t group = product % static_cast<size_t>(g.groups);
    const size_t batch = product / static_cast<size_t>(g.groups);
    const auto positions = static_cast<size_t>(OutPositions(s));
    const auto channels = static_cast<size_t>(g.out_channels);
    std::array<const uint8_t*, kMaxTapPointers> pointers;
    FillTapPointers(s, Input(memory, batch) + group * static_cast<size_t>(g.in_channels),
                    in.row_stride, padding.data(), first, count, count, 1, pointers.data());
    MatrixI8 m;
    m.rows = pointers.data();
    m.row_pitch = count;
    m.run_count = static_cast<size_t>(Taps(s));
    m.run_length = run_length;
    m.row_count = count;
    m.packed = &packed[group];
    m.first_column = column;
    m.column_count = columns;
    m.out = out.As<uint8_t>(memory) + (batch * positions + first) * out.row_stride +
            group * channels + column;
    m.out_stride = out.row_stride;
    m.result = result;
    RunMatrixI8(m);
  }

  void Prepare(PlanContext& ctx) override {
    run_length = static_cast<size_t>(g.in_channels);
    JoinTaps(ctx, g, 1, std::byte{padding[0]}, s, in, run_length);
    padding.resize(std::max(padding.size(), run_length), padding[0]);
    blocks = ProductBlocks(
        static_cast<size_t>(g.batch * g.groups), static_cast<size_t>(g.out_positions()),
        static_cast<size_t>(g.out_channels), static_cast<size_t>(g.taps() * g.in_channels),
        std::clamp<size_t>(kMaxTapPointers / static_cast<size_t>(Taps(s)), 1, kMatrixI8Rows));
  }
};

class DepthwiseStep : public QuantConvStep {
 public:
  static constexpr size_t kMaxRows = 256;

  DepthwiseI8Filter filter;

  size_t grid() const override { return lines_.items * segments(); }
  void Run(const Memory& memory, size_t item) const override {
    const auto& [d, h, w] = s;
    const auto width = static_cast<size_t>(w.output);
    const size_t at = item % segments() * segment_;
    const size_t first = item / segments() * lines_.block;
    const auto* x = in.As<const uint8_t>(memory);
    const uint8_t* ends = CopyEnds(x);
    std::array<const uint8_t*, kMaxRows> rows;
    rows.fill(padding.data());
    DepthwiseI8 r;
    r.rows = rows.data();
    r.padding = padding.data();
    r.input_width = w.input;
    r.in_stride = in.row_stride;
    r.stride = w.stride;
    r.dilation = w.dilation;
    r.pad = w.pad_begin;
    r.filter = &filter;
    r.out_stride = out.row_stride;
    r.first = static_cast<int64_t>(at);
    r.count = std::min(segment_, width - at);
    r.result = result;
    for (size_t line = first; line < std::min(lines(), first + lines_.block); ++line) {
      const auto plane = static_cast<int64_t>(line) / h.output;
      for (int64_t kd = 0, row = 0; kd < d.kernel; ++kd)
        for (int64_t kh = 0; kh < h.kernel; ++kh, ++row)
          rows[static_cast<size_t>(row)] =
              Line(x, ends, plane / d.output, SourceOf(d, plane % d.output, kd),
                   SourceOf(h, static_cast<int64_t>(line) % h.output, kh));
      r.out = out.As<uint8_t>(memory) + (line * width + at) * out.row_stride;
      RunDepthwiseI8(r);
    }
  }

  void Prepare(PlanContext&) override {
    constexpr size_t kSegment = 256;               // outputs along a line
    constexpr size_t kProducts = size_t{1} << 16;  // per work item: fewer are not worth a thread
    segment_ = std::clamp<size_t>(static_cast<size_t>(s[2].output), 1, kSegment);
    lines_ = RowBlocks(lines(),
                       FitIn(kProducts, segment_ * filter.channels * filter.rows * filter.kernel));
    padding.resize(line_bytes() + kDepthwiseChannels, padding[0]);
    const size_t beyond = kDepthwiseChannels - std::min(filter.channels, kDepthwiseChannels);
    const size_t lines = CeilDiv(beyond, std::max<size_t>(line_bytes(), 1));
    near_end_ = input_lines() - std::min(lines, input_lines());
  }

 private:
  size_t lines() const { return static_cast<size_t>(g.batch * s[0].output * s[1].output); }
  size_t segments() const { return CeilDiv(static_cast<size_t>(s[2].output), segment_); }

  size_t line_bytes() const { return static_cast<size_t>(s[2].input) * in.row_stride; }
  size_t input_lines() const { return static_cast<size_t>(g.batch * s[0].input * s[1].input); }

  // A line of the input, or of padding if an index is negative.
  const uint8_t* Line(const uint8_t* x, const uint8_t* ends, int64_t batch, int64_t depth,
                      int64_t line) const {
    if (depth < 0 || line < 0) return padding.data();
    const auto number = static_cast<size_t>((batch * s[0].input + depth) * s[1].input + line);
    return number < near_end_ ? x + number * line_bytes()
                              : ends + (number - near_end_) * line_bytes();
  }

  // A copy of the last lines of the input, followed by readable memory.
  const uint8_t* CopyEnds(const uint8_t* x) const {
    if (near_end_ == input_lines()) return nullptr;
    static PerThread<std::vector<uint8_t>> all_ends;
    std::vector<uint8_t>& ends = all_ends.Get();
    const size_t size = (input_lines() - near_end_) * line_bytes();
    ends.resize(size + kDepthwiseChannels);
    std::memcpy(ends.data(), x + near_end_ * line_bytes(), size - in.row_stride + filter.channels);
    return ends.data();
  }

  size_t segment_ = 1;
  RowBlocks lines_;
  size_t near_end_ = 0;  // the first line from which the kernel reads beyond the input
};

std::vector<int32_t> Int32Of(const Value* bias) {
  std::vector<int32_t> out;
  if (bias != nullptr)
    for (int64_t i = 0; i < bias->constant().elements(); ++i)
      out.push_back(static_cast<int32_t>(bias->constant().GetInt(i)));
  return out;
}

std::vector<int32_t> ZeroPoints(const Quant& q) {
  if (q.zero_points.empty()) return {0};
  return {q.zero_points.begin(), q.zero_points.end()};
}

// The part of a per-channel list for a group; a list of one applies to all.
template <typename T>
std::vector<T> OfGroup(const std::vector<T>& list, size_t first, size_t count) {
  if (list.size() <= 1) return list;
  return {list.begin() + static_cast<std::ptrdiff_t>(first),
          list.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

std::unique_ptr<QuantConvStep> MakeDepthwise(const Node& node, const ConvGeometry& g,
                                             std::vector<FixedMultiplier> multipliers) {
  auto step = std::make_unique<DepthwiseStep>();
  const Tensor filter = InBytes(node.input(1)->constant());
  const FilterStrides strides(filter, node.attrs<ConvAttrs>().filter_layout);
  const Quant& xq = *node.input(0)->type().quant;
  DepthwiseI8Weights w;
  w.w = reinterpret_cast<const uint8_t*>(filter.blob().data());
  w.kernel = static_cast<size_t>(g.windows.back().kernel);
  w.rows = static_cast<size_t>(g.taps()) / w.kernel;
  w.channels = static_cast<size_t>(g.groups);
  w.tap_stride = strides.tap;
  w.channel_stride = strides.output;
  w.is_signed = filter.dtype() == DType::kI8;
  w.in_zero = static_cast<int32_t>(xq.zero_point());
  w.in_signed = node.input(0)->dtype() == DType::kI8;
  w.zero = ZeroPoints(*node.input(1)->type().quant);
  w.bias = Int32Of(node.input(2));
  w.multipliers = std::move(multipliers);
  step->filter = PackDepthwiseI8(w);
  step->packed_bytes = step->filter.words.size();
  return step;
}

std::unique_ptr<QuantConvStep> MakeMatrix(const Node& node, const ConvGeometry& g,
                                          const std::vector<FixedMultiplier>& multipliers) {
  auto step = std::make_unique<MatrixStep>();
  const Tensor filter = InBytes(node.input(1)->constant());
  const FilterStrides strides(filter, node.attrs<ConvAttrs>().filter_layout);
  const Quant& xq = *node.input(0)->type().quant;
  const std::vector<int32_t> bias = Int32Of(node.input(2));
  const std::vector<int32_t> zero = ZeroPoints(*node.input(1)->type().quant);
  const auto n = static_cast<size_t>(g.out_channels);
  MatrixI8Weights w;
  for (size_t tap = 0; tap < static_cast<size_t>(g.taps()); ++tap)
    for (size_t c = 0; c < static_cast<size_t>(g.in_channels); ++c)
      w.k_offsets.push_back(tap * strides.tap + c * strides.input);
  w.n = n;
  w.n_stride = strides.output;
  w.is_signed = filter.dtype() == DType::kI8;
  w.a_zero = static_cast<int32_t>(xq.zero_point());
  for (size_t group = 0; group < static_cast<size_t>(g.groups); ++group) {
    w.b = reinterpret_cast<const uint8_t*>(filter.blob().data()) + group * n * strides.output;
    w.b_zero = OfGroup(zero, group * n, n);
    w.bias = OfGroup(bias, group * n, n);
    w.multipliers = OfGroup(multipliers, group * n, n);
    step->packed.push_back(PackMatrixI8(w, node.input(0)->dtype() == DType::kI8));
    step->packed_bytes += step->packed.back().weights.size();
  }
  return step;
}

}  // namespace

Result<bool> PlanQuantConv(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ConvAttrs>();
  const Value* x = node.input(0);
  const Value* filter = node.input(1);
  const Value* bias = node.input(2);
  const DType dtype = x->dtype();
  if ((dtype != DType::kU8 && dtype != DType::kI8) ||
      (filter->dtype() != dtype && !(dtype == DType::kI8 && IsNarrowSigned(filter->dtype()))) ||
      node.output()->dtype() != dtype || a.layout != Layout::kNxc || !filter->is_constant() ||
      (bias != nullptr && !bias->is_constant()) || !x->type().quantized())
    return false;
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, ShapeOf(x), filter->constant().dims()));
  // int32 sums must not overflow: each product is below 2^16.
  if (g.windows.size() > 3 || static_cast<size_t>(g.taps()) > kMaxTapPointers ||
      g.taps() * g.in_channels > 32000 || filter->constant().elements() == 0)
    return false;
  const std::optional<ByteResult> result = ByteResultOf(ctx.group());
  if (!result) return false;
  const Quant& yq = *node.output()->type().quant;
  const Quant& wq = *filter->type().quant;
  std::vector<FixedMultiplier> multipliers;
  for (int64_t c = 0; c < g.groups * g.out_channels; ++c)
    multipliers.push_back(
        ProductMultiplier(dtype, *x->type().quant, wq, static_cast<size_t>(c), yq));
  auto step = IsDepthwise(g, DepthwiseStep::kMaxRows)
                  ? MakeDepthwise(node, g, std::move(multipliers))
                  : MakeMatrix(node, g, multipliers);
  step->g = g;
  step->s = ToThree(g.windows);
  step->result = *result;
  const auto zero = static_cast<uint8_t>(x->type().quant->zero_point());
  step->padding.assign(static_cast<size_t>(g.in_channels * g.groups), zero);
  step->in = ctx.ViewOf(x);
  step->out = ctx.ViewOf(ctx.group().result());
  step->Prepare(ctx);
  step->multiply_adds =
      g.batch * g.groups * g.out_channels * g.out_positions() * g.taps() * g.in_channels;
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace nn

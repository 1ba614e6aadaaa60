// Convolution of float32 on the matrix kernel: each kernel position is a run of a row of the left
// matrix, read in place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "exec/kernel_table.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/tail.h"
#include "ops/conv.h"

namespace nn {
namespace {

// Up to three spatial axes, outermost first; missing ones are trivial.
struct Spatial3 {
  std::array<ConstWindow, 3> axis;
};

Spatial3 ToThree(const std::vector<ConstWindow>& windows) {
  Spatial3 s;
  s.axis.fill(ConstWindow{1, 1, 1, 1, 0, 0, 1});
  std::copy(windows.begin(), windows.end(),
            s.axis.end() - static_cast<std::ptrdiff_t>(windows.size()));
  return s;
}

// Reads element (o, i, tap) of a filter in any layout, from possibly unaligned bytes.
class FilterReader {
 public:
  FilterReader(const Tensor& filter, FilterLayout layout) : data_(filter.blob().data()) {
    const auto strides = Strides(filter.dims());
    const int rank = filter.rank();
    const FilterAxes axes = AxesOf(layout, rank);
    output_ = static_cast<size_t>(strides[static_cast<size_t>(axes.output)]);
    input_ = static_cast<size_t>(strides[static_cast<size_t>(axes.input)]);
    // The spatial axes are neighbours, so that taps have one stride.
    tap_ = static_cast<size_t>(strides[static_cast<size_t>(axes.spatial + rank - 3)]);
  }
  const std::byte* At(size_t o, size_t i, size_t tap) const {
    return data_ + (o * output_ + i * input_ + tap * tap_) * sizeof(float);
  }
  size_t output_stride() const { return output_; }
  size_t input_stride() const { return input_; }

 private:
  const std::byte* data_;
  size_t output_, input_, tap_;
};

bool AllFinite(const Tensor& t) {
  for (int64_t i = 0; i < t.elements(); ++i) {
    float v;
    std::memcpy(&v, t.blob().data() + static_cast<size_t>(i) * sizeof(float), sizeof(v));
    if (!std::isfinite(v)) return false;
  }
  return true;
}

std::vector<float> FloatsOf(const Tensor& t) {
  std::vector<float> v(static_cast<size_t>(t.elements()));
  std::memcpy(v.data(), t.blob().data(), v.size() * sizeof(float));
  return v;
}

class ConvStep : public Step {
 public:
  ConvGeometry g;
  Spatial3 s;
  Place in, out;
  BufferId packed = 0;
  size_t packed_group = 0;     // floats of one group's panels
  size_t row_block = 0;        // output positions of an item
  size_t column_block = 0;     // output channels of an item, a multiple of the panel width
  size_t row_items = 0, column_items = 0;
  std::vector<float> zeros;    // read for padded taps
  EpilogueF32 epilogue;
  EpilogueSources sources;
  TailProgram tail;

  size_t grid() const override {
    return static_cast<size_t>(g.batch * g.groups) * row_items * column_items;
  }

  void Run(const Memory& memory, size_t item) const override {
    const size_t row_item = item % row_items;
    const size_t column_item = item / row_items % column_items;
    const size_t group = item / (row_items * column_items) % static_cast<size_t>(g.groups);
    const size_t batch = item / (row_items * column_items) / static_cast<size_t>(g.groups);
    const auto positions = static_cast<size_t>(g.out_positions());
    const auto channels = static_cast<size_t>(g.out_channels);
    const auto in_channels = static_cast<size_t>(g.in_channels);
    const size_t first = row_item * row_block;
    const size_t rows = std::min(row_block, positions - first);
    const size_t column = column_item * column_block;
    const auto taps = static_cast<size_t>(g.taps());

    std::array<const float*, kMaxPointers> pointers;
    const float* x = in.As<const float>(memory) +
                     batch * static_cast<size_t>(in_positions()) * in.row_stride +
                     group * in_channels;
    FillPointers(x, first, rows, pointers.data());

    MatrixF32 m;
    m.rows = pointers.data();
    m.row_pitch = rows;
    m.run_count = taps;
    m.run_length = in_channels;
    m.row_count = rows;
    m.panels = reinterpret_cast<const float*>(memory.data(packed)) + group * packed_group +
               column / kPanelWidth * (taps * in_channels * kPanelWidth);
    m.column_count = std::min(column_block, channels - column);
    const size_t row = batch * positions + first;
    const size_t channel = group * channels + column;
    m.out = out.As<float>(memory) + row * out.row_stride + channel;
    m.out_stride = out.row_stride;
    m.epilogue = epilogue;
    if (!sources.bias.empty()) m.epilogue.bias = sources.bias.data() + channel;
    if (!sources.scale.empty()) {
      m.epilogue.scale = sources.scale.data() + channel;
      m.epilogue.shift = sources.shift.data() + channel;
    }
    if (sources.residual) {
      m.epilogue.residual = sources.residual->As<const float>(memory) +
                            row * sources.residual->row_stride + channel;
      m.epilogue.residual_stride = sources.residual->row_stride;
    }
    RunMatrixF32(m);
    if (!tail.empty())
      tail.Run(memory, m.out, m.out_stride, row, rows, channel, m.column_count);
  }

  static constexpr size_t kMaxPointers = 4096;

 private:
  int64_t in_positions() const { return s.axis[0].input * s.axis[1].input * s.axis[2].input; }

  // pointers[tap * rows + r]: where kernel position `tap` of output position first + r reads.
  void FillPointers(const float* x, size_t first, size_t rows, const float** pointers) const {
    const auto& [d, h, w] = s.axis;
    const auto stride = static_cast<int64_t>(in.row_stride);
    auto p = static_cast<int64_t>(first);
    int64_t pw = p % w.output;
    int64_t ph = p / w.output % h.output;
    int64_t pd = p / w.output / h.output;
    for (size_t r = 0; r < rows; ++r) {
      const float** to = pointers + r;
      for (int64_t kd = 0; kd < d.kernel; ++kd) {
        const int64_t id = pd * d.stride + kd * d.dilation - d.pad_begin;
        const bool in_d = id >= 0 && id < d.input;
        for (int64_t kh = 0; kh < h.kernel; ++kh) {
          const int64_t ih = ph * h.stride + kh * h.dilation - h.pad_begin;
          const bool in_h = in_d && ih >= 0 && ih < h.input;
          const int64_t line = (id * h.input + ih) * w.input;
          int64_t iw = pw * w.stride - w.pad_begin;
          for (int64_t kw = 0; kw < w.kernel; ++kw, iw += w.dilation, to += rows)
            *to = in_h && iw >= 0 && iw < w.input ? x + (line + iw) * stride : zeros.data();
        }
      }
      if (++pw == w.output) {
        pw = 0;
        if (++ph == h.output) {
          ph = 0;
          ++pd;
        }
      }
    }
  }
};

Result<bool> PlanConv(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ConvAttrs>();
  const Value* filter = node.input(1);
  const Value* bias = node.input(2);
  if (node.output()->dtype() != DType::kF32 || a.layout != Layout::kNxc || !filter->is_constant() ||
      (bias != nullptr && !bias->is_constant()))
    return false;
  NN_ASSIGN(const ConvGeometry g,
            GeometryOf(a, ShapeOf(node.input(0)), filter->constant().dims()));
  if (g.windows.size() > 3 || static_cast<size_t>(g.taps()) > ConvStep::kMaxPointers ||
      !AllFinite(filter->constant()))
    return false;

  auto step = std::make_unique<ConvStep>();
  step->g = g;
  step->s = ToThree(g.windows);
  step->in = ctx.PlaceOf(node.input(0));
  step->zeros.assign(static_cast<size_t>(g.in_channels), 0.0f);

  const auto taps = static_cast<size_t>(g.taps());
  const auto in_channels = static_cast<size_t>(g.in_channels);
  const auto out_channels = static_cast<size_t>(g.out_channels);
  const size_t depth = taps * in_channels;
  step->packed_group = PackedSize(depth, out_channels);
  Buffer packed(step->packed_group * static_cast<size_t>(g.groups) * sizeof(float));
  const FilterReader reader(filter->constant(), a.filter_layout);
  for (size_t group = 0; group < static_cast<size_t>(g.groups); ++group) {
    float* to = packed.as<float>().data() + group * step->packed_group;
    for (size_t column = 0; column < out_channels; column += kPanelWidth)
      for (size_t tap = 0; tap < taps; ++tap, to += in_channels * kPanelWidth)
        PackPanels(reader.At(group * out_channels + column, 0, tap), in_channels,
                   std::min(kPanelWidth, out_channels - column), reader.input_stride(),
                   reader.output_stride(), to);
  }
  step->packed = ctx.AddConstant(Blob(std::move(packed)));
  if (bias != nullptr) step->sources.bias = FloatsOf(bias->constant());

  const Value* value = node.output();
  for (const Node* n : ctx.group().tail) {
    if (!step->tail.Add(ctx, value, *n)) return false;
    value = n->output();
  }
  std::vector<BufferId> reads = {step->in.buffer, step->packed};
  reads.insert(reads.end(), step->tail.reads().begin(), step->tail.reads().end());
  step->tail.MoveInto(step->epilogue, step->sources);
  step->out = ctx.PlaceOf(ctx.group().result());

  const auto positions = static_cast<size_t>(g.out_positions());
  step->row_block =
      std::clamp<size_t>(ConvStep::kMaxPointers / taps, 1, std::min(kMatrixRowBlock, std::max<size_t>(positions, 1)));
  step->column_block = RoundUp(static_cast<int64_t>(std::max<size_t>(out_channels, 1)), kPanelWidth);
  step->row_items = (positions + step->row_block - 1) / step->row_block;
  step->column_items = 1;
  step->multiply_adds = g.batch * g.groups * g.out_channels * g.out_positions() *
                        static_cast<int64_t>(depth);
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

}  // namespace

void AddConvKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({"conv", PlanConv, true, false, true, true});
}

}  // namespace nn

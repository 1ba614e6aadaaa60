// Resizing by interpolation of float32, channels last: one axis after the other, the last spatial
// axis first, each in a pass over the whole tensor with tables of offsets and weights.
#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "exec/kernels/window/resample.h"
#include "exec/plan/array/movement.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/nn/resize/resize.h"

namespace nn {
namespace {

// The approximate number of results per work item.
constexpr size_t kResampleItem = 8192;

// Interpolates one axis: each slab `in_size` to `out_size` times `inner` rows of channels.
class AxisPassStep : public Step {
 public:
  MemoryView in, out;
  size_t channels = 0;
  std::vector<size_t> slabs;  // the slabs that later passes read
  size_t in_size = 1, out_size = 1, inner = 1;
  size_t taps = 1;
  std::vector<int64_t> offsets;  // [out_size][taps], elements of the input
  std::vector<float> weights;    // [out_size][taps]
  size_t block = 1;              // positions of all slabs per work item

  size_t grid() const override { return (slabs.size() * out_size + block - 1) / block; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t end = std::min(slabs.size() * out_size, (item + 1) * block);
    for (size_t p = item * block; p < end;) {
      const size_t slab = slabs[p / out_size];
      const size_t first = p % out_size;
      const size_t count = std::min(end - p, out_size - first);
      WeightedRowsF32 rows;
      rows.x = in.As<const float>(memory) + slab * in_size * inner * in.row_stride;
      rows.offsets = offsets.data() + first * taps;
      rows.weights = weights.data() + first * taps;
      rows.taps = taps;
      rows.count = count;
      rows.out = out.As<float>(memory) + (slab * out_size + first) * inner * out.row_stride;
      rows.out_stride = inner * out.row_stride;
      RunRows(rows);
      p += count;
    }
  }

 private:
  void RunRows(WeightedRowsF32& rows) const {
    if (in.row_stride == channels && out.row_stride == channels) {
      rows.n = inner * channels;
      RunWeightedRowsF32(rows);
      return;
    }
    rows.n = channels;
    for (size_t r = 0; r < inner; ++r) {
      RunWeightedRowsF32(rows);
      rows.x += in.row_stride;
      rows.out += out.row_stride;
    }
  }
};

// The same along lines of few channels, element by element.
class LinePassStep : public Step {
 public:
  MemoryView in, out;
  std::vector<size_t> lines;  // the lines that later passes read
  size_t in_line = 0;         // elements
  size_t taps = 1;
  size_t width = 0;              // elements of a line of the result
  std::vector<int32_t> offsets;  // [taps][width]
  std::vector<float> weights;    // [taps][width]
  size_t block = 1;

  size_t grid() const override { return (lines.size() + block - 1) / block; }

  void Run(const Memory& memory, size_t item) const override {
    for (size_t i = item * block; i < std::min(lines.size(), (item + 1) * block); ++i)
      RunWeightedElementsF32({in.As<const float>(memory) + lines[i] * in_line, offsets.data(),
                              weights.data(), taps, width,
                              out.As<float>(memory) + lines[i] * width});
  }
};

// Writes a value to the positions that lie outside the input.
class FillOutsideStep : public Step {
 public:
  MemoryView out;
  size_t channels = 0;
  std::vector<size_t> rows;  // of all positions
  float value = 0;

  size_t grid() const override { return 1; }
  void Run(const Memory& memory, size_t) const override {
    for (const size_t r : rows)
      std::fill_n(out.As<float>(memory) + r * out.row_stride, channels, value);
  }
};

// A tensor between two passes.
struct Stage {
  MemoryView view;
  std::vector<int64_t> dims;
};

// The slabs before axis `at` that the passes of the axes before it read.
std::vector<size_t> SlabsRead(const std::vector<int64_t>& dims, size_t at,
                              const std::vector<ResizeAxis>& axes) {
  std::vector<std::vector<bool>> read;
  for (size_t d = 0; d < at; ++d) {
    const bool passes = d > 0 && !axes[d - 1].IsIdentity(dims[d]);
    read.emplace_back(static_cast<size_t>(dims[d]), !passes);
    if (passes)
      for (const int64_t i : axes[d - 1].index) read.back()[static_cast<size_t>(i)] = true;
  }
  const size_t count = ElementsOf(dims, 0, at);
  std::vector<size_t> slabs;
  for (size_t s = 0; s < count; ++s) {
    bool is_read = true;
    size_t rest = s;
    for (size_t d = at; d-- > 0;) {
      is_read &= read[d][rest % read[d].size()];
      rest /= read[d].size();
    }
    if (is_read) slabs.push_back(s);
  }
  return slabs;
}

std::unique_ptr<Step> MakeAxisPass(const Stage& from, const Stage& to, size_t at,
                                   const std::vector<ResizeAxis>& axes) {
  const ResizeAxis& axis = axes[at - 1];
  auto step = std::make_unique<AxisPassStep>();
  step->in = from.view;
  step->out = to.view;
  step->channels = static_cast<size_t>(to.dims.back());
  step->slabs = SlabsRead(from.dims, at, axes);
  step->in_size = static_cast<size_t>(from.dims[at]);
  step->out_size = static_cast<size_t>(to.dims[at]);
  step->inner = ElementsOf(to.dims, at + 1, to.dims.size() - 1);
  step->taps = static_cast<size_t>(axis.taps);
  const auto row = static_cast<int64_t>(step->inner * from.view.row_stride);
  for (const int64_t i : axis.index) step->offsets.push_back(i * row);
  step->weights = axis.weight;
  step->block = FitIn(kResampleItem, step->inner * step->channels);
  return step;
}

std::unique_ptr<Step> MakeLinePass(const Stage& from, const Stage& to, size_t at,
                                   const std::vector<ResizeAxis>& axes) {
  const ResizeAxis& axis = axes[at - 1];
  auto step = std::make_unique<LinePassStep>();
  const auto channels = static_cast<size_t>(to.dims.back());
  step->in = from.view;
  step->out = to.view;
  step->lines = SlabsRead(from.dims, at, axes);
  step->in_line = static_cast<size_t>(from.dims[at]) * from.view.row_stride;
  step->taps = static_cast<size_t>(axis.taps);
  step->width = static_cast<size_t>(to.dims[at]) * channels;
  for (size_t t = 0; t < step->taps; ++t)
    for (size_t i = 0; i < static_cast<size_t>(to.dims[at]); ++i)
      for (size_t c = 0; c < channels; ++c) {
        const size_t tap = i * step->taps + t;
        step->offsets.push_back(
            static_cast<int32_t>(axis.index[tap] * static_cast<int64_t>(from.view.row_stride) +
                                 static_cast<int64_t>(c)));
        step->weights.push_back(axis.weight[tap]);
      }
  step->block = FitIn(kResampleItem, step->width);
  return step;
}

std::unique_ptr<Step> MakePass(const Stage& from, const Stage& to, size_t at,
                               const std::vector<ResizeAxis>& axes) {
  constexpr int64_t kFewChannels = 8;
  constexpr auto kMax = static_cast<int64_t>(std::numeric_limits<int32_t>::max());
  const bool lines = at + 2 == to.dims.size() && to.dims.back() < kFewChannels &&
                     to.view.row_stride == static_cast<size_t>(to.dims.back()) &&
                     from.dims[at] < kMax / static_cast<int64_t>(from.view.row_stride);
  return lines ? MakeLinePass(from, to, at, axes) : MakeAxisPass(from, to, at, axes);
}

// Fills the positions outside the input on any axis.
void AddFill(PlanContext& ctx, const Stage& result, const std::vector<ResizeAxis>& axes,
             float value) {
  auto step = std::make_unique<FillOutsideStep>();
  const size_t rows = ElementsOf(result.dims, 0, result.dims.size() - 1);
  for (size_t r = 0; r < rows; ++r) {
    size_t rest = r;
    bool outside = false;
    for (size_t k = axes.size(); k-- > 0;) {
      outside |= axes[k].outside[rest % axes[k].outside.size()] != 0;
      rest /= axes[k].outside.size();
    }
    if (outside) step->rows.push_back(r);
  }
  if (step->rows.empty()) return;
  step->out = result.view;
  step->channels = static_cast<size_t>(result.dims.back());
  step->value = value;
  ctx.AddStep(std::move(step), {}, {result.view.buffer});
}

Result<std::vector<ResizeAxis>> AxesOf(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const auto spatial = [](std::vector<int64_t> dims) {
    return std::vector<int64_t>(dims.begin() + 1, dims.end() - 1);
  };
  ResizeNumbers numbers{a.scales, {}, a.roi};
  for (const Dim& d : a.sizes) numbers.sizes.push_back(d.value());
  return ResizeAxes(a, node.arithmetic(), numbers, spatial(ShapeOf(node.input(0))),
                    spatial(ShapeOf(node.output())));
}

// Whether all numbers are attributes.
bool KnowsNumbers(const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr) return false;
  const auto& sizes = node.attrs<ResizeAttrs>().sizes;
  return std::all_of(sizes.begin(), sizes.end(), [](const Dim& d) { return d.is_const(); });
}

Result<bool> PlanResize(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.mode == ResizeMode::kNearest) return PlanMove(ctx);
  const Value* y = node.output();
  if (y->dtype() != DType::kF32 || a.layout != Layout::kNxc || !KnowsNumbers(node)) return false;
  if (CheckedElements(ShapeOf(y)) == 0) {
    ctx.ViewOf(y);
    return true;
  }
  Stage stage{ctx.ViewOf(node.input(0)), ShapeOf(node.input(0))};
  NN_ASSIGN(const std::vector<ResizeAxis> axes, AxesOf(node));
  std::vector<size_t> passes;
  for (size_t k = axes.size(); k-- > 0;)
    if (!axes[k].IsIdentity(stage.dims[1 + k])) passes.push_back(k);
  if (passes.empty()) return PlanMove(ctx);
  const Stage result{ctx.ViewOf(y), ShapeOf(y)};
  const auto channels = static_cast<size_t>(stage.dims.back());
  for (size_t i = 0; i < passes.size(); ++i) {
    const size_t at = 1 + passes[i];
    Stage next = result;
    if (i + 1 < passes.size()) {
      next.dims = stage.dims;
      next.dims[at] = result.dims[at];
      const auto elements = CheckedElements(next.dims);
      if (!elements) return false;
      next.view = {ctx.AddScratch(static_cast<size_t>(*elements) * sizeof(float)), 0, channels};
    }
    ctx.AddStep(MakePass(stage, next, at, axes), {stage.view.buffer}, {next.view.buffer});
    stage = next;
  }
  AddFill(ctx, result, axes, a.extrapolation_value);
  return true;
}

}  // namespace

void AddResampleKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back(
      {.op = "resize", .plan = PlanResize, .strided_input = true, .strided_output = true});
}

}  // namespace nn

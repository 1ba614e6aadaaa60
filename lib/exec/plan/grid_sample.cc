// Sampling at the positions of a grid, float32, channels last.
#include <algorithm>
#include <array>
#include <limits>

#include "base/checked_math.h"
#include "exec/kernels/window/grid_sample.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/nn/resize/grid_sample.h"

namespace nn {
namespace {

// A work item is a piece of the points of all images.
class GridSampleStep : public Step {
 public:
  GridSampleAttrs attrs;
  std::vector<int64_t> sizes;  // of the spatial axes of x
  size_t images = 0;
  size_t image_points = 0;
  size_t channels = 0;
  MemoryView in, grid_in, out;
  size_t pieces = 1;  // of an image

  size_t grid() const override { return images * pieces; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t axes = sizes.size();
    const size_t image = item / pieces;
    const size_t first = item % pieces * kGridPoints;
    const size_t point = image * image_points + first;
    GridPointsF32 g;
    g.n = std::min(kGridPoints, image_points - first);
    std::array<GridTapsF32, 3> taps;
    auto stride = static_cast<int32_t>(in.row_stride);
    for (size_t k = axes; k-- > 0;) {
      // The last axis comes first.
      RunGridAxisF32({attrs.mode, attrs.padding, attrs.align_corners, sizes[k]},
                     grid_in.As<const float>(memory) + point * axes + axes - 1 - k, axes, g.n,
                     taps[k]);
      g.strides[k] = stride;
      stride *= static_cast<int32_t>(sizes[k]);
    }
    g.mode = attrs.mode;
    g.axes = axes;
    g.taps = taps.data();
    g.x = in.As<const float>(memory) + image * static_cast<size_t>(stride);
    g.channels = channels;
    g.out = out.As<float>(memory) + point * out.row_stride;
    g.out_stride = out.row_stride;
    RunGridPointsF32(g);
  }
};

Result<bool> PlanGridSample(PlanContext& ctx) {
  constexpr int64_t kLongest = int64_t{1} << 24;
  const Node& node = ctx.node();
  const auto& a = node.attrs<GridSampleAttrs>();
  const Value* x = node.input(0);
  const Value* grid = node.input(1);
  const auto shape = ShapeOf(x);
  if (x->dtype() != DType::kF32 || grid->dtype() != DType::kF32 || a.layout != Layout::kNxc ||
      shape.size() > 5 || CheckedElements(shape) == 0)
    return false;
  auto step = std::make_unique<GridSampleStep>();
  step->attrs = a;
  step->in = ctx.ViewOf(x);
  step->grid_in = ctx.ViewOf(grid);
  auto elements = static_cast<int64_t>(step->in.row_stride);
  for (size_t k = 1; k + 1 < shape.size(); ++k) {
    if (shape[k] >= kLongest) return false;
    elements *= shape[k];
    if (elements > std::numeric_limits<int32_t>::max()) return false;
    step->sizes.push_back(shape[k]);
  }
  const auto y_shape = ShapeOf(node.output());
  step->images = static_cast<size_t>(y_shape.front());
  step->channels = static_cast<size_t>(y_shape.back());
  step->image_points = 1;
  for (size_t k = 1; k + 1 < y_shape.size(); ++k)
    step->image_points *= static_cast<size_t>(y_shape[k]);
  step->pieces = (step->image_points + kGridPoints - 1) / kGridPoints;
  step->out = ctx.ViewOf(node.output());
  const std::vector<BufferId> reads = {step->in.buffer, step->grid_in.buffer};
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), reads, {out});
  return true;
}

}  // namespace

void AddGridSampleKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back(
      {.op = "grid_sample", .plan = PlanGridSample, .strided_input = true, .strided_output = true});
}

}  // namespace nn

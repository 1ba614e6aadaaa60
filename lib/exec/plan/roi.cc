// roi_align of float32, channels last.
#include <string>
#include <vector>

#include "exec/kernels/window/roi.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/nn/detect/roi.h"

namespace nn {
namespace {

// A work item is a region.
class RoiAlignStep : public Step {
 public:
  std::string node;  // for errors
  RoiAlignAttrs attrs;
  size_t regions = 0;
  int64_t images = 0, height = 0, width = 0, channels = 0;
  bool wide = true;  // image numbers are i64, otherwise i32
  MemoryView in, rois, batch, out;

  size_t grid() const override { return regions; }

  void Run(const Memory& memory, size_t item) const override {
    const int64_t image = wide ? batch.As<const int64_t>(memory)[item]
                               : int64_t{batch.As<const int32_t>(memory)[item]};
    const auto roi = static_cast<int64_t>(item);
    if (const Status s = CheckRoiImage(roi, static_cast<double>(image), images); !s) {
      memory.error().Report(item, [&] { return s.error().In(node); });
      return;
    }
    const float* r = rois.As<const float>(memory) + item * 4;
    const RoiAxis<float> rows(attrs, r[1], r[3], attrs.height, height, width * channels);
    const RoiAxis<float> columns(attrs, r[0], r[2], attrs.width, width, channels);
    RoiBinF32 bin;
    bin.x = in.As<const float>(memory) + image * height * width * channels;
    bin.mode = attrs.mode;
    bin.count = static_cast<float>(rows.count()) * static_cast<float>(columns.count());
    bin.channels = static_cast<size_t>(channels);
    bin.out = out.As<float>(memory) + roi * attrs.height * attrs.width * channels;
    for (const RoiBin<float>& row : rows.bins())
      for (const RoiBin<float>& column : columns.bins()) {
        bin.rows = &row;
        bin.columns = &column;
        RunRoiBinF32(bin);
        bin.out += channels;
      }
  }
};

Result<bool> PlanRoiAlign(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<RoiAlignAttrs>();
  const Value *const x = node.input(0), *const batch = node.input(2);
  const bool wide = batch->dtype() == DType::kI64;
  if (x->dtype() != DType::kF32 || a.layout != Layout::kNxc ||
      (!wide && batch->dtype() != DType::kI32))
    return false;
  const auto shape = ShapeOf(x);
  auto step = std::make_unique<RoiAlignStep>();
  step->node = node.Describe();
  step->attrs = a;
  step->regions = static_cast<size_t>(ShapeOf(node.output())[0]);
  step->images = shape[0];
  step->height = shape[1];
  step->width = shape[2];
  step->channels = shape[3];
  step->wide = wide;
  step->in = ctx.ViewOf(x);
  step->rois = ctx.ViewOf(node.input(1));
  step->batch = ctx.ViewOf(batch);
  step->out = ctx.ViewOf(node.output());
  const std::vector<BufferId> reads = {step->in.buffer, step->rois.buffer, step->batch.buffer};
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), reads, {out});
  return true;
}

}  // namespace

void AddRoiKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "roi_align", .plan = PlanRoiAlign});
}

}  // namespace nn

// Tensors that hold one of two values: one_hot.
#include <algorithm>

#include "base/checked_math.h"
#include "exec/kernels/move/move.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/array/generate.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// y[o, d, i] of [outer, depth, inner] elements is values[1] where the index [o, i] is d.
class OneHotStep : public Step {
 public:
  MemoryView indices, values, out;
  bool wide = true;  // indices are i64, else i32
  bool wrap = true;
  size_t element = 0;
  size_t outer = 1, depth = 1, inner = 1;
  size_t block = 1;  // indices of `outer` per work item

  size_t grid() const override { return CeilDiv(outer, block); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * block;
    const size_t end = std::min(outer, first + block);
    const auto size = static_cast<int64_t>(depth);
    const std::byte* value = values.As<const std::byte>(memory);
    std::byte* y = out.As<std::byte>(memory);
    FillElements(y + first * depth * inner * element, (end - first) * depth * inner, value,
                 element);
    for (size_t i = first * inner; i < end * inner; ++i) {
      int64_t at = wide ? indices.As<const int64_t>(memory)[i]
                        : int64_t{indices.As<const int32_t>(memory)[i]};
      if (wrap && at < 0) at += size;
      if (at < 0 || at >= size) continue;
      const size_t to = (i / inner * depth + static_cast<size_t>(at)) * inner + i % inner;
      std::copy_n(value + element, element, y + to * element);
    }
  }
};

Result<bool> PlanOneHot(PlanContext& ctx) {
  constexpr size_t kItemBytes = 65536;
  const Node& node = ctx.node();
  const auto& a = node.attrs<OneHotAttrs>();
  const DType index = node.input(0)->dtype();
  const Value* y = node.output();
  const auto shape = ShapeOf(y);
  if ((index != DType::kI32 && index != DType::kI64) || DTypeBits(y->dtype()) < 8 ||
      node.input(2)->dtype() != y->dtype())
    return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(shape.size())));
  const auto at = static_cast<size_t>(axis);
  auto step = std::make_unique<OneHotStep>();
  step->wide = index == DType::kI64;
  step->wrap = a.wrap;
  step->element = ElementSize(y);
  step->outer = ElementsOf(shape, 0, at);
  step->depth = static_cast<size_t>(shape[at]);
  step->inner = ElementsOf(shape, at + 1, shape.size());
  step->block = FitIn(kItemBytes, step->depth * step->inner * step->element);
  step->indices = ctx.ViewOf(node.input(0));
  step->values = ctx.ViewOf(node.input(2));
  step->out = ctx.ViewOf(y);
  const std::vector<BufferId> reads = {step->indices.buffer, step->values.buffer};
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), reads, {out});
  return true;
}

}  // namespace

void AddGenerateKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "one_hot", .plan = PlanOneHot});
}

}  // namespace nn

// Kernels of scans.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "base/checked_math.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/reduce/scan.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// Scans along an axis of `length` elements with `inner` elements between them.
template <typename T, typename Combine, int kFirst>
class ScanStep : public Step {
 public:
  MemoryView in, out;
  bool exclusive = false, reverse = false;
  size_t outer = 1, length = 1, inner = 1;
  size_t block = 1;  // adjacent results per work item

  size_t grid() const override { return outer * CeilDiv(inner, block); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t blocks = CeilDiv(inner, block);
    const size_t first = item % blocks * block;
    const size_t start = item / blocks * length * inner + first;
    const size_t n = std::min(block, inner - first);
    const T* x = in.As<const T>(memory) + start;
    T* y = out.As<T>(memory) + start;
    std::array<T, kBlock> results;
    results.fill(T{kFirst});
    for (size_t i = 0; i < length; ++i) {
      const size_t at = (reverse ? length - 1 - i : i) * inner;
      if (exclusive) std::copy_n(results.data(), n, y + at);
      for (size_t c = 0; c < n; ++c) results[c] = Combine()(results[c], x[at + c]);
      if (!exclusive) std::copy_n(results.data(), n, y + at);
    }
  }

  static constexpr size_t kBlock = 256;
};

template <typename T, typename Combine, int kFirst>
void AddScan(PlanContext& ctx, const ScanAttrs& a, size_t axis) {
  const Node& node = ctx.node();
  const auto shape = ShapeOf(node.input(0));
  auto step = std::make_unique<ScanStep<T, Combine, kFirst>>();
  step->exclusive = a.exclusive;
  step->reverse = a.reverse;
  step->outer = ElementsOf(shape, 0, axis);
  step->length = static_cast<size_t>(shape[axis]);
  step->inner = ElementsOf(shape, axis + 1, shape.size());
  step->block = ScanStep<T, Combine, kFirst>::kBlock;
  step->in = ctx.ViewOf(node.input(0));
  step->out = ctx.ViewOf(node.output());
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
}

template <typename Combine, int kFirst>
Result<bool> PlanScan(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ScanAttrs>();
  const Value* x = node.input(0);
  if (node.input(1) != nullptr || x->type().quantized()) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(ShapeOf(x).size())));
  const auto at = static_cast<size_t>(axis);
  switch (x->dtype()) {
    case DType::kF32:
      AddScan<float, Combine, kFirst>(ctx, a, at);
      return true;
    case DType::kF64:
      AddScan<double, Combine, kFirst>(ctx, a, at);
      return true;
    case DType::kI32:
      AddScan<uint32_t, Combine, kFirst>(ctx, a, at);  // integers wrap
      return true;
    case DType::kI64:
      AddScan<uint64_t, Combine, kFirst>(ctx, a, at);
      return true;
    default:
      return false;
  }
}

}  // namespace

void AddScanKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "cum_sum", .plan = PlanScan<std::plus<>, 0>});
  kernels.push_back({.op = "cum_prod", .plan = PlanScan<std::multiplies<>, 1>});
}

}  // namespace nn

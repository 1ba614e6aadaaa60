// bit_cast: a copy in which every NaN is the one NaN.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked_math.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ir/tensor.h"
#include "ir/types/one_nan.h"

namespace nn {
namespace {

class BitCastStep : public Step {
 public:
  MemoryView in, out;
  DType from = DType::kF32;
  size_t count = 0;  // elements of the input
  size_t width = 4;  // bytes of one

  size_t grid() const override { return CeilDiv(count, kItem); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * kItem;
    const size_t n = std::min(kItem, count - first);
    std::byte* const y = out.As<std::byte>(memory) + first * width;
    std::memcpy(y, in.As<const std::byte>(memory) + first * width, n * width);
    SetOneNan(from, y, n);
  }

 private:
  static constexpr size_t kItem = 65536;
};

Result<bool> PlanBitCast(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const DType from = x->dtype();
  // Packed elements, and bytes that are to be bool, are rare.
  if (DTypeBits(from) < 8 || node.output()->dtype() == DType::kBool) return false;
  auto step = std::make_unique<BitCastStep>();
  step->in = ctx.ViewOf(x);
  step->out = ctx.ViewOf(node.output());
  step->from = from;
  const auto shape = ShapeOf(x);
  step->count = ElementsOf(shape, 0, shape.size());
  step->width = static_cast<size_t>(DTypeBits(from)) / 8;
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

void AddBitCastKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "bit_cast", .plan = PlanBitCast});
}

}  // namespace nn

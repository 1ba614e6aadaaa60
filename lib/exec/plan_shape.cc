#include <cstring>

#include "exec/kernel_table.h"
#include "ops/shape.h"

namespace nn {
namespace {

constexpr size_t kItemElements = 16384;

// Copies elements so that axis k of the result is a given axis of the input.
class TransposeStep : public Step {
 public:
  Place in, out;
  std::vector<int64_t> dims;   // of the result
  std::vector<int64_t> steps;  // strides of the input, in the result's order of axes
  size_t element_size = 4;
  size_t rows = 0;             // all axes but the last
  size_t row_block = 1;

  size_t grid() const override { return (rows + row_block - 1) / row_block; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t columns = static_cast<size_t>(dims.back());
    const auto step = static_cast<size_t>(steps.back());
    const std::byte* x = in.As<const std::byte>(memory);
    std::byte* y = out.As<std::byte>(memory);
    for (size_t r = item * row_block; r < std::min(rows, (item + 1) * row_block); ++r) {
      size_t offset = 0;
      size_t rest = r;
      for (size_t i = dims.size() - 1; i-- > 0;) {
        offset += rest % static_cast<size_t>(dims[i]) * static_cast<size_t>(steps[i]);
        rest /= static_cast<size_t>(dims[i]);
      }
      const std::byte* from = x + offset * element_size;
      std::byte* to = y + r * columns * element_size;
      for (size_t c = 0; c < columns; ++c)
        std::memcpy(to + c * element_size, from + c * step * element_size, element_size);
    }
  }
};

Result<bool> PlanTranspose(PlanContext& ctx) {
  const Node& node = ctx.node();
  const int bits = DTypeBits(node.output()->dtype());
  const auto shape = ShapeOf(node.output());
  if (bits < 8 || shape.empty()) return false;
  auto step = std::make_unique<TransposeStep>();
  step->in = ctx.PlaceOf(node.input(0));
  step->out = ctx.PlaceOf(node.output());
  step->dims = shape;
  step->element_size = static_cast<size_t>(bits / 8);
  const auto strides = Strides(ShapeOf(node.input(0)));
  for (const int64_t p : node.attrs<TransposeAttrs>().perm)
    step->steps.push_back(strides[static_cast<size_t>(p)]);
  step->rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) step->rows *= static_cast<size_t>(shape[i]);
  step->row_block = std::max<size_t>(1, kItemElements / std::max<size_t>(1, static_cast<size_t>(shape.back())));
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

void AddShapeKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({"transpose", PlanTranspose});
}

}  // namespace nn

// dft and stft of float32 and f64.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "exec/kernels/fourier.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/math/dft.h"
#include "ops/math/fourier_rows.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// A work item is as many transforms as a vector has lanes, or fewer if they are long.
class FourierStepOfRows : public Step {
 public:
  FourierStepOfRows(const FourierRows& of_rows, bool inverse)
      : rows(of_rows), transform(static_cast<size_t>(of_rows.n), inverse) {
    constexpr size_t kCacheBytes = size_t{512} << 10;
    constexpr size_t kMax = 8;
    width = std::clamp<size_t>(kCacheBytes / (4 * sizeof(double) * transform.room()), 1, kMax);
  }

  FourierRows rows;
  FourierTransform transform;
  size_t width;
  DType type = DType::kF32;
  MemoryView in, out;
  std::optional<MemoryView> window;

  size_t grid() const override { return CeilDiv(static_cast<size_t>(rows.count), width); }

  void Run(const Memory& memory, size_t item) const override {
    type == DType::kF32 ? RunItem<float>(memory, item) : RunItem<double>(memory, item);
  }

 private:
  template <typename T>
  void RunItem(const Memory& memory, size_t item) const {
    static PerThread<std::vector<double>> rooms;
    std::vector<double>& room = rooms.Get();
    const size_t first = item * width;
    const size_t lanes = std::min(width, static_cast<size_t>(rows.count) - first);
    const size_t n = transform.room() * lanes;
    if (room.size() < 4 * n) room.resize(4 * n);
    double* const at = room.data();
    const FourierArrays arrays = {at, at + n, at + 2 * n, at + 3 * n, lanes};
    const T* factors = window ? window->As<const T>(memory) : nullptr;
    for (size_t l = 0; l < lanes; ++l)
      rows.Read(in.As<const T>(memory), factors, static_cast<int64_t>(first + l), arrays, l);
    RunFourierF64(transform, arrays);
    for (size_t l = 0; l < lanes; ++l)
      rows.Write(arrays, l, static_cast<int64_t>(first + l), out.As<T>(memory));
  }
};

// The number in an input; nullopt if only a run knows it.
std::optional<int64_t> NumberIn(const Value* v) {
  if (!v->is_constant() || v->constant().elements() != 1) return std::nullopt;
  return v->constant().GetInt(0);
}

bool AddFourierStep(PlanContext& ctx, const FourierRows& rows, bool inverse, const Value* window) {
  const Node& node = ctx.node();
  auto step = std::make_unique<FourierStepOfRows>(rows, inverse);
  step->type = node.output()->dtype();
  step->in = ctx.ViewOf(node.input(0));
  step->out = ctx.ViewOf(node.output());
  step->multiply_adds = CheckedMul(*FourierTransform::Products(rows.n), rows.count).value_or(0);
  std::vector<BufferId> reads = {step->in.buffer};
  if (window != nullptr) {
    step->window = ctx.ViewOf(window);
    reads.push_back(step->window->buffer);
  }
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

bool HasPlan(const Node& node) {
  constexpr int64_t kLongest = int64_t{1} << 26;
  const DType type = node.output()->dtype();
  const auto shape = ShapeOf(node.output());
  return (type == DType::kF32 || type == DType::kF64) && ElementsOf(shape, 0, shape.size()) != 0 &&
         std::ranges::all_of(shape, [](int64_t d) { return d <= kLongest; });
}

Result<bool> PlanDft(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<DftAttrs>();
  const auto shape = ShapeOf(node.input(0));
  if (!HasPlan(node)) return false;
  const auto given_axis = node.input(2) == nullptr ? a.axis : NumberIn(node.input(2));
  if (!given_axis) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(*given_axis, static_cast<int>(shape.size())));
  const auto n = node.input(1) == nullptr ? DftSize(a, shape, axis) : NumberIn(node.input(1));
  if (!n || *n < 1) return false;
  return AddFourierStep(ctx, DftRows(a, shape, ShapeOf(node.output()), axis, *n), a.inverse,
                        nullptr);
}

Result<bool> PlanStft(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value *const window = node.input(2), *const length = node.input(3);
  const auto signal = ShapeOf(node.input(0));
  const auto step = NumberIn(node.input(1));
  if (!HasPlan(node) || !step || *step < 1) return false;
  std::optional<int64_t> n = window == nullptr ? signal[1] : ShapeOf(window)[0];
  if (length != nullptr) n = NumberIn(length);
  if (!n || *n < 1 || (window != nullptr && ShapeOf(window)[0] != *n)) return false;
  return AddFourierStep(ctx, StftRows(signal, ShapeOf(node.output()), *n, *step), false, window);
}

}  // namespace

void AddDftKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "dft", .plan = PlanDft});
  kernels.push_back({.op = "stft", .plan = PlanStft});
}

}  // namespace nn

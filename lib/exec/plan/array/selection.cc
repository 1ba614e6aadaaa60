// Kernels of arg_max, arg_min, hardmax and top_k.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "exec/kernels/move/arg.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/top_k.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/selection.h"
#include "ops/support/types.h"

namespace nn {
namespace {

constexpr size_t kSelectionItem = 16384;

// Whether x comes before y in order: NaN before all numbers.
template <bool kLargest, typename T>
bool Before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    if (x != x || y != y) return x != x && y == y;
  return kLargest ? x > y : x < y;
}

// A result that is an index: i64 if wide, else i32.
void PutIndex(const Memory& memory, const MemoryView& out, bool wide, size_t i, int64_t index) {
  if (wide)
    out.As<int64_t>(memory)[i] = index;
  else
    out.As<int32_t>(memory)[i] = static_cast<int32_t>(index);
}

// Along an axis of `length` elements with `inner` elements between them.
class ArgStep : public Step {
 public:
  MemoryView in, out;
  DType type = DType::kF32;
  bool wide_out = true;  // i64, otherwise i32
  bool largest = true, last = false;
  bool one_hot = false;  // hardmax: 1 at the index, 0 elsewhere
  size_t outer = 1, length = 1, inner = 1;
  size_t block = 1;  // results per work item

  size_t grid() const override { return (outer * inner + block - 1) / block; }

  void Run(const Memory& memory, size_t item) const override {
    if (type == DType::kF32 && length < kMaxOfKernel)
      RunKernel(memory, item);
    else if (type == DType::kF32)
      RunItem<float>(memory, item);
    else if (type == DType::kI32)
      RunItem<int32_t>(memory, item);
    else
      RunItem<int64_t>(memory, item);
  }

 private:
  static constexpr size_t kMaxOfKernel = size_t{1} << 26;

  void RunKernel(const Memory& memory, size_t item) const {
    constexpr size_t kColumns = 256;
    std::array<int32_t, kColumns> views;
    const size_t end = std::min(outer * inner, (item + 1) * block);
    for (size_t r = item * block; r < end;) {
      ArgColumnsF32 g;
      g.x = in.As<const float>(memory) + r / inner * length * inner + r % inner;
      g.length = length;
      g.step = inner;
      g.column_step = inner == 1 ? length : 1;
      g.count = std::min(end - r, kColumns);
      if (inner != 1) g.count = std::min(g.count, inner - r % inner);
      g.largest = largest;
      g.last = last;
      g.out = views.data();
      RunArgColumnsF32(g);
      for (size_t k = 0; k < g.count; ++k, ++r) Put(memory, r, views[k]);
    }
  }
  void Put(const Memory& memory, size_t r, int64_t view) const {
    if (one_hot) {
      float* y = out.As<float>(memory) + r / inner * length * inner + r % inner;
      for (size_t i = 0; i < length; ++i)
        y[i * inner] = i == static_cast<size_t>(view) ? 1.0f : 0.0f;
      return;
    }
    PutIndex(memory, out, wide_out, r, view);
  }

  template <typename T>
  void RunItem(const Memory& memory, size_t item) const {
    for (size_t r = item * block; r < std::min(outer * inner, (item + 1) * block); ++r) {
      const T* x = in.As<const T>(memory) + r / inner * length * inner + r % inner;
      Put(memory, r, largest ? Find<true>(x) : Find<false>(x));
    }
  }
  template <bool kLargest, typename T>
  int64_t Find(const T* x) const {
    size_t best = 0;
    T value = x[0];
    for (size_t i = 1; i < length; ++i) {
      const T v = x[i * inner];
      if (Before<kLargest>(v, value) || (last && !Before<kLargest>(value, v))) {
        best = i;
        value = v;
      }
    }
    return static_cast<int64_t>(best);
  }
};

// The first or last extreme element along an axis. hardmax marks it, the others return its index.
Result<bool> PlanExtreme(PlanContext& ctx, int64_t given, bool largest, bool last, bool hardmax) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  const bool known = x->dtype() == DType::kF32 ||
                     (!hardmax && (x->dtype() == DType::kI32 || x->dtype() == DType::kI64));
  if (!known || x->type().quantized()) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(given, static_cast<int>(shape.size())));
  if (shape[static_cast<size_t>(axis)] == 0) return false;  // there is no first element
  auto step = std::make_unique<ArgStep>();
  step->in = ctx.ViewOf(x);
  step->out = ctx.ViewOf(node.output());
  step->type = x->dtype();
  step->wide_out = node.output()->dtype() == DType::kI64;
  step->largest = largest;
  step->last = last;
  step->one_hot = hardmax;
  const auto at = static_cast<size_t>(axis);
  for (size_t d = 0; d < shape.size(); ++d)
    (d < at ? step->outer : d == at ? step->length : step->inner) *= static_cast<size_t>(shape[d]);
  step->block = FitIn(kSelectionItem, step->length);
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

template <bool largest>
Result<bool> PlanArg(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<ArgAttrs>();
  return PlanExtreme(ctx, a.axis, largest, a.select_last_index, false);
}

Result<bool> PlanHardmax(PlanContext& ctx) {
  return PlanExtreme(ctx, ctx.node().attrs<AlongAxisAttrs>().axis, true, false, true);
}

// Calls fn with a value of the C++ type, if it is supported.
template <typename Fn>
void WithComparable(DType type, const Fn& fn) {
  switch (type) {
    case DType::kF32:
      return fn(float{});
    case DType::kF64:
      return fn(double{});
    case DType::kI8:
      return fn(int8_t{});
    case DType::kU8:
      return fn(uint8_t{});
    case DType::kI32:
      return fn(int32_t{});
    case DType::kI64:
      return fn(int64_t{});
    default:
      return;
  }
}

// The k first elements in order along an axis.
class TopKStep : public Step {
 public:
  MemoryView in, out;
  std::optional<MemoryView> views;
  DType type = DType::kF32;
  bool wide = true;  // indices are i64, otherwise i32
  bool largest = true;
  size_t rows = 1, length = 1, inner = 1, k = 0;
  size_t block = 1;  // rows per work item

  size_t grid() const override { return CeilDiv(rows, block); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t end = std::min(rows, (item + 1) * block);
    WithComparable(type, [&](auto zero) {
      for (size_t r = item * block; r < end; ++r) Row<decltype(zero)>(memory, r);
    });
  }

 private:
  template <typename T>
  void Row(const Memory& memory, size_t r) const {
    static PerThread<std::vector<uint32_t>> orders;
    std::vector<uint32_t>& order = orders.Get();
    order.resize(k);
    const T* x = in.As<const T>(memory) + r / inner * length * inner + r % inner;
    SelectTopK(TopKRow<T>{x, length, inner, k, largest}, order.data());
    for (size_t i = 0; i < k; ++i) {
      const size_t to = r / inner * k * inner + i * inner + r % inner;
      out.As<T>(memory)[to] = x[order[i] * inner];
      if (views) PutIndex(memory, *views, wide, to, order[i]);
    }
  }
};

Result<bool> PlanTopK(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<TopKAttrs>();
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  bool known = false;
  WithComparable(x->dtype(), [&](auto) { known = true; });
  if (!known) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(shape.size())));
  const auto at = static_cast<size_t>(axis);
  auto step = std::make_unique<TopKStep>();
  step->type = x->dtype();
  step->largest = a.largest;
  step->length = static_cast<size_t>(shape[at]);
  if (step->length > std::numeric_limits<uint32_t>::max()) return false;
  step->k = static_cast<size_t>(ShapeOf(node.output(0))[at]);
  step->inner = ElementsOf(shape, at + 1, shape.size());
  step->rows = ElementsOf(shape, 0, at) * step->inner;
  step->block = FitIn(kSelectionItem, step->length);
  step->in = ctx.ViewOf(x);
  step->out = ctx.ViewOf(node.output(0));
  std::vector<BufferId> writes = {step->out.buffer};
  if (node.outputs().size() > 1) {
    step->views = ctx.ViewOf(node.output(1));
    step->wide = node.output(1)->dtype() == DType::kI64;
    writes.push_back(step->views->buffer);
  }
  const BufferId in = step->in.buffer;
  ctx.AddStep(std::move(step), {in}, std::move(writes));
  return true;
}

}  // namespace

void AddSelectionKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "arg_max", .plan = PlanArg<true>});
  kernels.push_back({.op = "arg_min", .plan = PlanArg<false>});
  kernels.push_back({.op = "hardmax", .plan = PlanHardmax});
  kernels.push_back({.op = "top_k", .plan = PlanTopK});
}

}  // namespace nn

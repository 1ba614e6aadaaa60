// Elements at indices computed at run time: scatter_nd and slices, scatter_elements and
// gather_elements.
#include <algorithm>

#include "base/checked_math.h"
#include "exec/kernels/move/move.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/copy_step.h"
#include "exec/steps/indices.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/scatter.h"
#include "ops/support/types.h"

namespace nn {
namespace {

constexpr size_t kScatterItemElements = 16384;

// y[i] = the reduction of y[i] and u[i] for n elements.
using Update = void (*)(std::byte* y, const std::byte* u, size_t n);

template <typename T, typename Fn>
void UpdateEach(std::byte* y, const std::byte* u, size_t n, const Fn& fn) {
  T* to = reinterpret_cast<T*>(y);
  const T* from = reinterpret_cast<const T*>(u);
  for (size_t i = 0; i < n; ++i) to[i] = fn(to[i], from[i]);
}

// Integers wrap.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

template <typename T>
Update UpdateOf(Reduction reduction) {
  using W = Wrapping<T>;
  switch (reduction) {
    case Reduction::kNone:
      break;
    case Reduction::kAdd:
      return [](std::byte* y, const std::byte* u, size_t n) {
        UpdateEach<W>(y, u, n, [](W a, W b) { return static_cast<W>(a + b); });
      };
    case Reduction::kMul:
      return [](std::byte* y, const std::byte* u, size_t n) {
        // Two short factors would be promoted to int and multiplied as signed integers.
        using P = std::conditional_t<(sizeof(W) < sizeof(int)), unsigned, W>;
        UpdateEach<W>(y, u, n, [](W a, W b) {
          return static_cast<W>(static_cast<P>(a) * static_cast<P>(b));
        });
      };
    case Reduction::kMin:
      return [](std::byte* y, const std::byte* u, size_t n) {
        UpdateEach<T>(y, u, n, [](T a, T b) { return a < b ? a : b; });
      };
    case Reduction::kMax:
      return [](std::byte* y, const std::byte* u, size_t n) {
        UpdateEach<T>(y, u, n, [](T a, T b) { return a > b ? a : b; });
      };
  }
  return nullptr;
}

// The update function for elements of a type; null if it is not supported.
Update UpdateOf(const Value* x, Reduction reduction) {
  if (reduction == Reduction::kNone) {
    switch (DTypeBits(x->dtype())) {
      case 8:
        return &CopyElements<1>;
      case 16:
        return &CopyElements<2>;
      case 32:
        return &CopyElements<4>;
      case 64:
        return &CopyElements<8>;
      case 128:
        return &CopyElements<16>;
      default:
        return nullptr;
    }
  }
  if (x->type().quantized()) return nullptr;
  switch (x->dtype()) {
    case DType::kF32:
      return UpdateOf<float>(reduction);
    case DType::kF64:
      return UpdateOf<double>(reduction);
    case DType::kI8:
      return UpdateOf<int8_t>(reduction);
    case DType::kU8:
      return UpdateOf<uint8_t>(reduction);
    case DType::kI16:
      return UpdateOf<int16_t>(reduction);
    case DType::kU16:
      return UpdateOf<uint16_t>(reduction);
    case DType::kI32:
      return UpdateOf<int32_t>(reduction);
    case DType::kU32:
      return UpdateOf<uint32_t>(reduction);
    case DType::kI64:
      return UpdateOf<int64_t>(reduction);
    case DType::kU64:
      return UpdateOf<uint64_t>(reduction);
    default:
      return nullptr;  // 16-bit floats are rounded once, after all updates
  }
}

// Base of the steps in this file.
class IndexedStep : public Step {
 public:
  IndexedStep(PlanContext& ctx, const Value* indices_value) : indices(ctx, indices_value) {}

  Indices indices;
  size_t element = 0;
  MemoryView in, out;
};

// Sets the views that the step reads and writes besides the indices, and adds it.
void AddIndexed(PlanContext& ctx, std::unique_ptr<IndexedStep> step, const Value* in) {
  step->element = ElementSize(in);
  step->in = ctx.ViewOf(in);
  step->out = ctx.ViewOf(ctx.node().output());
  const std::vector<BufferId> reads = {step->in.buffer, step->indices.buffer()};
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), reads, {out});
}

// The same for a step that writes updates to a copy of the first input, or in place if the first
// input shares the memory of the result.
void AddScatter(PlanContext& ctx, std::unique_ptr<IndexedStep> step) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  const MemoryView from = ctx.ViewOf(x);
  const MemoryView to = ctx.ViewOf(node.output());
  if (from.buffer != to.buffer || from.offset != to.offset) {
    auto copy = std::make_unique<CopyStep>();
    copy->in = from;
    copy->out = to;
    copy->size = ElementsOf(shape, 0, shape.size()) * ElementSize(x);
    ctx.AddStep(std::move(copy), {from.buffer}, {to.buffer});
  }
  AddIndexed(ctx, std::move(step), node.input(2));
}

// Updates runs of elements of y, each addressed by several indices.
class ScatterRunsStep : public IndexedStep {
 public:
  using IndexedStep::IndexedStep;

  Update update = nullptr;
  size_t count = 0, run = 0;                  // runs, and elements per run
  std::vector<int64_t> sizes, runs_of_index;  // of the addressed axes

  // A work item has a part of every run: several updates may target the same run.
  size_t grid() const override { return CeilDiv(run, Block()); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * Block();
    const size_t n = std::min(Block(), run - first);
    std::byte* y = out.As<std::byte>(memory) + first * element;
    const std::byte* u = in.As<const std::byte>(memory) + first * element;
    for (size_t i = 0; i < count; ++i) {
      size_t to = 0;
      for (size_t d = 0; d < sizes.size(); ++d)
        to += static_cast<size_t>(indices.At(memory, i * sizes.size() + d, sizes[d]) *
                                  runs_of_index[d]);
      update(y + to * run * element, u + i * run * element, n);
    }
  }

 private:
  size_t Block() const {
    constexpr size_t kLeast = 64;
    return std::clamp<size_t>(kScatterItemElements / std::max<size_t>(count, 1), kLeast,
                              std::max(run, kLeast));
  }
};

Result<bool> PlanScatterNd(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  const auto chosen = ShapeOf(node.input(1));
  const Update update = UpdateOf(x, node.attrs<ScatterNdAttrs>().reduction);
  if (update == nullptr || !Indices::Takes(node.input(1)) ||
      ElementsOf(shape, 0, shape.size()) == 0)
    return false;
  auto step = std::make_unique<ScatterRunsStep>(ctx, node.input(1));
  step->update = update;
  const auto k = static_cast<size_t>(chosen.back());
  step->count = ElementsOf(chosen, 0, chosen.size() - 1);
  step->run = ElementsOf(shape, k, shape.size());
  for (size_t d = 0; d < k; ++d) {
    step->sizes.push_back(shape[d]);
    step->runs_of_index.push_back(static_cast<int64_t>(ElementsOf(shape, d + 1, k)));
  }
  AddScatter(ctx, std::move(step));
  return true;
}

// A tensor of indices on one axis of another tensor, and the offsets of its rows in that tensor.
struct Elements {
  std::vector<int64_t> dims, strides;  // of the indices; of the other tensor, 0 on the axis
  size_t axis = 0;
  int64_t size = 0, stride = 0;  // of the axis

  // nullopt if the other tensor has no elements, of which an index out of range would be replaced
  // by the first, or if the indices are larger on another axis.
  static std::optional<Elements> Of(const Value* other, const Value* indices, int64_t axis) {
    const auto shape = ShapeOf(other);
    const auto at = NormalizeAxis(axis, static_cast<int>(shape.size()));
    if (!at) return std::nullopt;
    Elements e;
    e.dims = ShapeOf(indices);
    e.strides = Strides(shape);
    e.axis = static_cast<size_t>(*at);
    for (size_t d = 0; d < e.dims.size(); ++d)
      if (d != e.axis && e.dims[d] > shape[d]) return std::nullopt;
    if (ElementsOf(shape, 0, shape.size()) == 0) return std::nullopt;
    e.size = shape[e.axis];
    e.stride = e.strides[e.axis];
    e.strides[e.axis] = 0;
    return e;
  }

  size_t columns() const { return static_cast<size_t>(dims.back()); }
  size_t rows() const { return ElementsOf(dims, 0, dims.size() - 1); }
  bool along_rows() const { return axis + 1 == dims.size(); }
  // Rows with the same indices on all axes before the addressed one.
  size_t together() const { return along_rows() ? 1 : ElementsOf(dims, axis, dims.size() - 1); }
  // The offset in the other tensor of row r, whose indices on the axis are 0.
  size_t Start(size_t r) const {
    size_t start = 0;
    for (size_t d = dims.size() - 1; d-- > 0;) {
      const auto n = static_cast<size_t>(dims[d]);
      start += r % n * static_cast<size_t>(strides[d]);
      r /= n;
    }
    return start;
  }
};

// Calls fn(position among the indices, offset in the other tensor) for columns [column, column + n)
// of rows [first, end), in order.
template <typename Fn>
void ForEachElement(const Memory& memory, const Elements& e, const Indices& indices,
                    const RowPieces::Part& part, const Fn& fn) {
  for (size_t r = part.first; r < part.end; ++r) {
    const size_t start = e.Start(r);
    for (size_t c = part.column; c < part.column + part.n; ++c) {
      const size_t i = r * e.columns() + c;
      const auto chosen = static_cast<size_t>(indices.At(memory, i, e.size) * e.stride);
      fn(i, start + chosen + (e.along_rows() ? 0 : c));
    }
  }
}

class GatherElementsStep : public IndexedStep {
 public:
  GatherElementsStep(PlanContext& ctx, const Value* indices_value, Elements elements)
      : IndexedStep(ctx, indices_value),
        e(std::move(elements)),
        pieces(e.rows(), e.columns(), kScatterItemElements) {}

  Elements e;
  RowPieces pieces;

  size_t grid() const override { return pieces.items(); }
  void Run(const Memory& memory, size_t item) const override {
    WithElement(element, [&](auto value) {
      using T = decltype(value);
      const T* x = in.As<const T>(memory);
      T* y = out.As<T>(memory);
      ForEachElement(memory, e, indices, pieces.At(item),
                     [&](size_t i, size_t at) { y[i] = x[at]; });
    });
  }
};

class ScatterElementsStep : public IndexedStep {
 public:
  ScatterElementsStep(PlanContext& ctx, const Value* indices_value, Elements elements)
      : IndexedStep(ctx, indices_value),
        e(std::move(elements)),
        pieces(e.rows() / e.together(), e.along_rows() ? 1 : e.columns(),
               FitIn(kScatterItemElements, e.along_rows() ? e.columns() : e.together())) {}

  Elements e;
  // All rows that can update the same element belong to one work item; so does a whole addressed
  // row.
  RowPieces pieces;
  Update update = nullptr;

  size_t grid() const override { return pieces.items(); }
  void Run(const Memory& memory, size_t item) const override {
    auto part = pieces.At(item);
    part.first *= e.together();
    part.end *= e.together();
    if (e.along_rows()) part.n = e.columns();
    std::byte* y = out.As<std::byte>(memory);
    const std::byte* u = in.As<const std::byte>(memory);
    ForEachElement(memory, e, indices, part,
                   [&](size_t i, size_t at) { update(y + at * element, u + i * element, 1); });
  }
};

Result<bool> PlanGatherElements(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const Value* y = node.output();
  auto e = Elements::Of(x, node.input(1), node.attrs<GatherElementsAttrs>().axis);
  if (!e || !Indices::Takes(node.input(1)) || DTypeBits(x->dtype()) < 8 ||
      y->dtype() != x->dtype() || e->rows() * e->columns() == 0)
    return false;
  AddIndexed(ctx, std::make_unique<GatherElementsStep>(ctx, node.input(1), std::move(*e)), x);
  return true;
}

Result<bool> PlanScatterElements(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ScatterElementsAttrs>();
  const Value* x = node.input(0);
  auto e = Elements::Of(x, node.input(1), a.axis);
  const Update update = UpdateOf(x, a.reduction);
  if (!e || update == nullptr || !Indices::Takes(node.input(1)) || e->rows() * e->columns() == 0)
    return false;
  auto step = std::make_unique<ScatterElementsStep>(ctx, node.input(1), std::move(*e));
  step->update = update;
  AddScatter(ctx, std::move(step));
  return true;
}

}  // namespace

void AddScatterKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "gather_elements", .plan = PlanGatherElements});
  for (const auto& [op, plan] : {std::pair("scatter_elements", &PlanScatterElements),
                                 std::pair("scatter_nd", &PlanScatterNd)})
    kernels.push_back({.op = op, .plan = plan, .changes_input = true});
}

}  // namespace nn

// Places of the largest and smallest elements.
#include <algorithm>
#include <array>

#include "exec/kernel_table.h"
#include "exec/kernels/arg.h"
#include "ops/order.h"
#include "ops/types.h"

namespace nn {
namespace {

constexpr size_t kOrderItem = 16384;

// Whether x comes before y in order: NaN before all numbers.
template <bool kLargest, typename T>
bool Before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    if (x != x || y != y) return x != x && y == y;
  return kLargest ? x > y : x < y;
}

// Along an axis of `length` elements with `inner` elements between them.
class ArgStep : public Step {
 public:
  Place in, out;
  DType type = DType::kF32;
  bool wide_out = true;  // i64, else i32
  bool largest = true, last = false;
  size_t outer = 1, length = 1, inner = 1;
  size_t block = 1;  // results of an item

  size_t grid() const override { return (outer * inner + block - 1) / block; }

  void Run(const Memory& memory, size_t item) const override {
    if (type == DType::kF32 && length < kMostOfKernel)
      RunKernel(memory, item);
    else if (type == DType::kF32)
      RunItem<float>(memory, item);
    else if (type == DType::kI32)
      RunItem<int32_t>(memory, item);
    else
      RunItem<int64_t>(memory, item);
  }

 private:
  static constexpr size_t kMostOfKernel = size_t{1} << 26;

  void RunKernel(const Memory& memory, size_t item) const {
    constexpr size_t kColumns = 256;
    std::array<int32_t, kColumns> places;
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
      g.out = places.data();
      RunArgColumnsF32(g);
      for (size_t k = 0; k < g.count; ++k, ++r) Put(memory, r, places[k]);
    }
  }
  void Put(const Memory& memory, size_t r, int64_t place) const {
    if (wide_out)
      out.As<int64_t>(memory)[r] = place;
    else
      out.As<int32_t>(memory)[r] = static_cast<int32_t>(place);
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

Result<bool> PlanArg(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ArgAttrs>();
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  const bool known =
      x->dtype() == DType::kF32 || x->dtype() == DType::kI32 || x->dtype() == DType::kI64;
  if (!known || x->type().quantised()) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(shape.size())));
  auto step = std::make_unique<ArgStep>();
  step->in = ctx.PlaceOf(x);
  step->out = ctx.PlaceOf(node.output());
  step->type = x->dtype();
  step->wide_out = node.output()->dtype() == DType::kI64;
  step->largest = node.Is("arg_max");
  step->last = a.select_last_index;
  const auto at = static_cast<size_t>(axis);
  for (size_t d = 0; d < shape.size(); ++d)
    (d < at ? step->outer : d == at ? step->length : step->inner) *= static_cast<size_t>(shape[d]);
  step->block = FitIn(kOrderItem, step->length);
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

void AddOrderKernels(std::vector<KernelInfo>& kernels) {
  for (const char* op : {"arg_max", "arg_min"}) kernels.push_back({.op = op, .plan = PlanArg});
}

}  // namespace nn

// Reductions over axes of float32, and of 8-bit integers with TensorFlow Lite's arithmetic.
#include <algorithm>
#include <bit>
#include <limits>

#include "base/checked_math.h"
#include "exec/kernel_table.h"
#include "exec/kernels/elementwise.h"
#include "exec/kernels/reduce.h"
#include "exec/plan.h"
#include "ops/quant_reduce.h"
#include "ops/quantised.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "ops/requant.h"

namespace nn {
namespace {

// What a reduction walks over. The kept axes behind the last reduced one are columns, which lie
// side by side; each index of the other kept axes starts a row of them.
struct RowPlan {
  size_t columns = 1;
  std::vector<int64_t> starts;   // of the rows, in elements of x
  std::vector<int64_t> offsets;  // of the reduced elements, from a row's start, in logical order
  bool contiguous = false;       // one column, whose elements are neighbours

  RowPlan(std::vector<int64_t> dims, std::span<const int> axes) {
    int last = -1;
    for (const int a : axes) last = std::max(last, a);
    while (static_cast<int>(dims.size()) > last + 1) {
      columns *= static_cast<size_t>(dims.back());
      dims.pop_back();
    }
    const Rows rows(dims, axes);
    const auto width = static_cast<int64_t>(columns);
    rows.ForEach([&](int64_t, int64_t start) { starts.push_back(start * width); });
    if (starts.empty() || columns == 0) return;
    contiguous = columns == 1;
    for (int64_t i = 0; i < rows.length(); ++i) {
      contiguous &= rows.offset(i) == i;
      offsets.push_back(rows.offset(i) * width);
    }
  }
};

// An item is a block of the columns of a row, or several rows of one column.
class ReduceStepBase : public Step {
 public:
  explicit ReduceStepBase(RowPlan plan) : rows(std::move(plan)) {
    constexpr size_t kColumns = 128;
    constexpr size_t kItemElements = 16384;
    column_block = std::min(rows.columns, kColumns);
    column_items = rows.columns == 0 ? 0 : (rows.columns + column_block - 1) / column_block;
    const size_t row = std::max<size_t>(1, rows.offsets.size() * column_block);
    row_block = std::max<size_t>(1, kItemElements / row);
  }

  RowPlan rows;
  Place in, out;
  size_t column_block = 1, column_items = 1, row_block = 1;

  size_t grid() const override {
    return (rows.starts.size() + row_block - 1) / row_block * column_items;
  }
  void Run(const Memory& memory, size_t item) const override {
    const size_t column = item % column_items * column_block;
    const size_t n = std::min(column_block, rows.columns - column);
    const size_t first = item / column_items * row_block;
    for (size_t r = first; r < std::min(first + row_block, rows.starts.size()); ++r)
      RunRow(memory, static_cast<size_t>(rows.starts[r]) + column, r * rows.columns + column, n);
  }

 protected:
  // Reduces `columns` columns: x at element `from`, y at element `to`.
  virtual void RunRow(const Memory& memory, size_t from, size_t to, size_t columns) const = 0;
};

class ReduceStep : public ReduceStepBase {
 public:
  using ReduceStepBase::ReduceStepBase;
  Reduction reduction = Reduction::kSum;
  bool mean = false;
  bool root = false;

 private:
  void RunRow(const Memory& memory, size_t from, size_t to, size_t columns) const override {
    const float* x = in.As<const float>(memory) + from;
    float* y = out.As<float>(memory) + to;
    const size_t n = rows.offsets.size();
    if (rows.contiguous)
      *y = ReduceRowF32(reduction, x, n);
    else
      ReduceColumnsF32(reduction, x, rows.offsets.data(), n, y, columns);
    static const size_t kDiv = *BinaryFunctionId("div");
    static const size_t kSqrt = *UnaryFunctionId("sqrt");
    const auto count = static_cast<float>(static_cast<int64_t>(n));
    if (mean) RunBinaryF32(kDiv, BinaryForm::kVectorScalar, y, &count, y, columns);
    if (root) RunUnaryF32(kSqrt, {}, y, y, columns);
  }
};

// Sum or mean of 8-bit integers.
class QuantReduceStep : public ReduceStepBase {
 public:
  using ReduceStepBase::ReduceStepBase;
  DType dtype = DType::kU8;
  FixedMultiplier multiplier;
  int64_t in_zero = 0, out_zero = 0;

 private:
  void RunRow(const Memory& memory, size_t from, size_t to, size_t columns) const override {
    std::array<int32_t, 128> sums;
    SumColumns8(dtype == DType::kI8, in.As<const uint8_t>(memory) + from, rows.offsets.data(),
                rows.offsets.size(), sums.data(), columns);
    uint8_t* y = out.As<uint8_t>(memory) + to;
    const auto zero = static_cast<int32_t>(in_zero * static_cast<int64_t>(rows.offsets.size()));
    for (size_t c = 0; c < columns; ++c)
      y[c] = static_cast<uint8_t>(
          ClampTo(dtype, int64_t{Rescale(sums[c] - zero, multiplier)} + out_zero));
  }
};

struct ReduceKernel {
  std::string_view op;
  Reduction reduction;
  bool mean = false;
  bool root = false;
};
constexpr ReduceKernel kReduceKernels[] = {
    {"reduce_sum", Reduction::kSum},
    {"reduce_mean", Reduction::kSum, true},
    {"reduce_max", Reduction::kMax},
    {"reduce_min", Reduction::kMin},
    {"reduce_prod", Reduction::kProduct},
    {"reduce_l1", Reduction::kSumOfMagnitudes},
    {"reduce_l2", Reduction::kSumOfSquares, false, true},
    {"reduce_sum_square", Reduction::kSumOfSquares},
};

std::unique_ptr<ReduceStepBase> MakeStep(const Node& node, RowPlan rows) {
  const ReduceKernel& k = *std::find_if(std::begin(kReduceKernels), std::end(kReduceKernels),
                                        [&](const ReduceKernel& r) { return node.Is(r.op); });
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  const auto n = static_cast<int64_t>(rows.offsets.size());
  if (x.dtype == DType::kF32) {
    auto step = std::make_unique<ReduceStep>(std::move(rows));
    step->reduction = k.reduction;
    step->mean = k.mean;
    step->root = k.root;
    return step;
  }
  const bool bytes = x.dtype == DType::kU8 || x.dtype == DType::kI8;
  if (!bytes || k.reduction != Reduction::kSum || !x.quantised() || !y.quantised() ||
      x.quant->per_axis() || y.quant->per_axis() || node.arithmetic() != Arithmetic::kTflite ||
      n == 0 || n > int64_t{1} << 22)
    return nullptr;
  auto step = std::make_unique<QuantReduceStep>(std::move(rows));
  step->dtype = x.dtype;
  step->multiplier = ReductionMultiplier(*x.quant, *y.quant, k.mean ? n : 1);
  step->in_zero = x.quant->zero_point();
  step->out_zero = y.quant->zero_point();
  return step;
}

Result<bool> PlanReduce(PlanContext& ctx) {
  const Node& node = ctx.node();
  if (node.input(1) != nullptr) return false;
  const auto shape = ShapeOf(node.input(0));
  NN_ASSIGN(const auto axes,
            ReducedAxes(node.attrs<ReduceAttrs>().axes, static_cast<int>(shape.size())));
  auto step = MakeStep(node, RowPlan(shape, axes));
  if (step == nullptr) return false;
  step->in = ctx.PlaceOf(node.input(0));
  step->out = ctx.PlaceOf(node.output());
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

void AddReduceKernels(std::vector<KernelInfo>& kernels) {
  for (const ReduceKernel& k : kReduceKernels) kernels.push_back({.op = k.op, .plan = PlanReduce});
}

}  // namespace nn

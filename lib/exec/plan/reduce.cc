// Reductions over axes of float32, of 8-bit integers with TensorFlow Lite's arithmetic, and of
// bool.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/per_thread.h"
#include "exec/kernels/elementwise.h"
#include "exec/kernels/reduce.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/runtime/planning/plan.h"
#include "exec/steps/conv/row_plan.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/reduce/quant_reduce.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduction.h"

namespace nn {
namespace {

// A work item is a block of the columns of a row, or several rows of one column.
class ReduceStepBase : public Step {
 public:
  static constexpr size_t kColumns = 128;  // per work item, at most

  explicit ReduceStepBase(RowPlan plan) : rows(std::move(plan)) {
    constexpr size_t kItemElements = 16384;
    column_block = std::min(rows.columns, kColumns);
    // Few long rows: use narrower blocks to have work for several threads.
    while (column_block > 32 && rows.starts.size() * (rows.columns / column_block) < 8 &&
           rows.offsets.size() * column_block >= kItemElements)
      column_block /= 2;
    column_items = rows.columns == 0 ? 0 : (rows.columns + column_block - 1) / column_block;
    const size_t row = std::max<size_t>(1, rows.offsets.size() * column_block);
    row_block = std::max<size_t>(1, kItemElements / row);
  }

  RowPlan rows;
  MemoryView in, out;
  size_t column_block = 1, column_items = 1, row_block = 1;

  size_t grid() const override {
    return (rows.starts.size() + row_block - 1) / row_block * column_items;
  }
  void Run(const Memory& memory, size_t item) const override {
    const size_t column = item % column_items * column_block;
    const size_t first = item / column_items * row_block;
    RunRows(memory, first, std::min(row_block, rows.starts.size() - first), column,
            std::min(column_block, rows.columns - column));
  }

 protected:
  // Reduces columns [column, column + columns) of rows [first, first + count).
  virtual void RunRows(const Memory& memory, size_t first, size_t count, size_t column,
                       size_t columns) const = 0;
};

class ReduceStep : public ReduceStepBase {
 public:
  using ReduceStepBase::ReduceStepBase;
  RowReduction reduction = RowReduction::kSum;
  bool mean = false;
  std::optional<size_t> then;  // a function applied to the results

 private:
  void RunRows(const Memory& memory, size_t first, size_t count, size_t column,
               size_t columns) const override {
    const float* x = in.As<const float>(memory) + column;
    float* y = out.As<float>(memory) + first * rows.columns + column;
    const size_t n = rows.offsets.size();
    if (rows.contiguous) {
      ReduceRowsF32(reduction, x + rows.starts[first], n, count, n, y);
      Finish(y, count);
      return;
    }
    for (size_t r = first; r < first + count; ++r, y += rows.columns) {
      ReduceColumnsF32(reduction, x + rows.starts[r], rows.offsets.data(), n, y, columns);
      Finish(y, columns);
    }
  }
  // The post-processing of sums.
  void Finish(float* y, size_t n) const {
    static const size_t kDiv = *BinaryFunctionId("div");
    const auto length = static_cast<float>(static_cast<int64_t>(rows.offsets.size()));
    if (mean) RunBinaryF32(kDiv, BinaryForm::kVectorScalar, y, &length, y, n);
    if (then) RunUnaryF32(*then, {}, y, y, n);
  }
};

class LogSumExpStep : public ReduceStepBase {
 public:
  using ReduceStepBase::ReduceStepBase;

 private:
  void RunRows(const Memory& memory, size_t first, size_t count, size_t column,
               size_t columns) const override {
    static const size_t kSub = *BinaryFunctionId("sub");
    static const size_t kAdd = *BinaryFunctionId("add");
    static const size_t kExp = *UnaryFunctionId("exp");
    static const size_t kLog = *UnaryFunctionId("log");
    const size_t n = rows.offsets.size();
    static PerThread<std::vector<float>> all_terms;
    static PerThread<std::vector<int64_t>> all_offsets;
    std::vector<float>& terms = all_terms.Get();  // of all columns, one element after the other
    std::vector<int64_t>& offsets = all_offsets.Get();
    terms.resize(n * columns);
    offsets.resize(n);
    for (size_t i = 0; i < n; ++i) offsets[i] = static_cast<int64_t>(i * columns);
    std::array<float, kColumns> shift;
    float* y = out.As<float>(memory) + first * rows.columns + column;
    for (size_t r = first; r < first + count; ++r, y += rows.columns) {
      const float* x = in.As<const float>(memory) + rows.starts[r] + column;
      ReduceColumnsF32(RowReduction::kMax, x, rows.offsets.data(), n, shift.data(), columns);
      for (size_t c = 0; c < columns; ++c)
        if (!std::isfinite(shift[c])) shift[c] = 0;
      if (rows.contiguous) {
        RunBinaryF32(kSub, BinaryForm::kVectorScalar, x, shift.data(), terms.data(), n);
      } else {
        for (size_t i = 0; i < n; ++i)
          RunBinaryF32(kSub, BinaryForm::kVectorVector, x + rows.offsets[i], shift.data(),
                       terms.data() + i * columns, columns);
      }
      RunUnaryF32(kExp, {}, terms.data(), terms.data(), n * columns);
      ReduceColumnsF32(RowReduction::kSum, terms.data(), offsets.data(), n, y, columns);
      RunUnaryF32(kLog, {}, y, y, columns);
      RunBinaryF32(kAdd, BinaryForm::kVectorVector, y, shift.data(), y, columns);
    }
  }
};

// Whether any, or all, bool elements are true.
class TruthStep : public ReduceStepBase {
 public:
  using ReduceStepBase::ReduceStepBase;
  bool any = true;  // otherwise all

 private:
  void RunRows(const Memory& memory, size_t first, size_t count, size_t column,
               size_t columns) const override {
    uint8_t* y = out.As<uint8_t>(memory) + first * rows.columns + column;
    for (size_t r = first; r < first + count; ++r, y += rows.columns) {
      const uint8_t* x = in.As<const uint8_t>(memory) + rows.starts[r] + column;
      std::fill_n(y, columns, static_cast<uint8_t>(any ? 0 : 1));
      for (const int64_t offset : rows.offsets)
        for (size_t c = 0; c < columns; ++c)
          y[c] = any ? std::max(y[c], x[offset + static_cast<int64_t>(c)])
                     : std::min(y[c], x[offset + static_cast<int64_t>(c)]);
    }
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
  void RunRows(const Memory& memory, size_t first, size_t count, size_t column,
               size_t columns) const override {
    std::array<int32_t, kColumns> sums;
    const auto zero = static_cast<int32_t>(in_zero * static_cast<int64_t>(rows.offsets.size()));
    uint8_t* y = out.As<uint8_t>(memory) + first * rows.columns + column;
    for (size_t r = first; r < first + count; ++r, y += rows.columns) {
      SumColumns8(dtype == DType::kI8, in.As<const uint8_t>(memory) + rows.starts[r] + column,
                  rows.offsets.data(), rows.offsets.size(), sums.data(), columns);
      for (size_t c = 0; c < columns; ++c)
        y[c] = static_cast<uint8_t>(
            ClampTo(dtype, int64_t{Rescale(sums[c] - zero, multiplier)} + out_zero));
    }
  }
};

struct ReduceKernel {
  std::string_view op;
  RowReduction reduction;
  bool mean = false;
  std::string_view then = {};
};
constexpr ReduceKernel kReduceKernels[] = {
    {"reduce_sum", RowReduction::kSum},
    {"reduce_mean", RowReduction::kSum, true},
    {"reduce_max", RowReduction::kMax},
    {"reduce_min", RowReduction::kMin},
    {"reduce_prod", RowReduction::kProduct},
    {"reduce_l1", RowReduction::kSumOfMagnitudes},
    {"reduce_l2", RowReduction::kSumOfSquares, false, "sqrt"},
    {"reduce_log_sum", RowReduction::kSum, false, "log"},
    {"reduce_sum_square", RowReduction::kSumOfSquares},
};

template <bool any>
std::unique_ptr<ReduceStepBase> MakeTruthStep(const Node& node, RowPlan rows) {
  if (node.input(0)->dtype() != DType::kBool) return nullptr;
  auto step = std::make_unique<TruthStep>(std::move(rows));
  step->any = any;
  return step;
}

std::unique_ptr<ReduceStepBase> MakeLogSumExpStep(const Node& node, RowPlan rows) {
  if (node.input(0)->dtype() != DType::kF32) return nullptr;
  return std::make_unique<LogSumExpStep>(std::move(rows));
}

std::unique_ptr<ReduceStepBase> MakeReduceStep(const Node& node, RowPlan rows) {
  const ReduceKernel& k = *std::find_if(std::begin(kReduceKernels), std::end(kReduceKernels),
                                        [&](const ReduceKernel& r) { return node.Is(r.op); });
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  const auto n = static_cast<int64_t>(rows.offsets.size());
  if (x.dtype == DType::kF32) {
    auto step = std::make_unique<ReduceStep>(std::move(rows));
    step->reduction = k.reduction;
    step->mean = k.mean;
    if (!k.then.empty()) step->then = *UnaryFunctionId(k.then);
    return step;
  }
  const bool bytes = x.dtype == DType::kU8 || x.dtype == DType::kI8;
  if (!bytes || k.reduction != RowReduction::kSum || !k.then.empty() || !x.quantized() ||
      !y.quantized() || x.quant->per_axis() || y.quant->per_axis() ||
      node.arithmetic() != Arithmetic::kTflite || n == 0 || n > int64_t{1} << 22)
    return nullptr;
  auto step = std::make_unique<QuantReduceStep>(std::move(rows));
  step->dtype = x.dtype;
  step->multiplier = ReductionMultiplier(*x.quant, *y.quant, k.mean ? n : 1);
  step->in_zero = x.quant->zero_point();
  step->out_zero = y.quant->zero_point();
  return step;
}

template <auto make>
Result<bool> PlanReduce(PlanContext& ctx) {
  const Node& node = ctx.node();
  if (node.input(1) != nullptr) return false;
  const auto shape = ShapeOf(node.input(0));
  NN_ASSIGN(const auto axes,
            ReducedAxes(node.attrs<ReduceAttrs>().axes, static_cast<int>(shape.size())));
  std::unique_ptr<ReduceStepBase> step = make(node, RowPlan(shape, axes));
  if (step == nullptr) return false;
  step->in = ctx.ViewOf(node.input(0));
  step->out = ctx.ViewOf(node.output());
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

void AddReduceKernels(std::vector<KernelInfo>& kernels) {
  for (const ReduceKernel& k : kReduceKernels)
    kernels.push_back({.op = k.op, .plan = PlanReduce<MakeReduceStep>});
  kernels.push_back({.op = "reduce_log_sum_exp", .plan = PlanReduce<MakeLogSumExpStep>});
  kernels.push_back({.op = "reduce_any", .plan = PlanReduce<MakeTruthStep<true>>});
  kernels.push_back({.op = "reduce_all", .plan = PlanReduce<MakeTruthStep<false>>});
}

}  // namespace nn

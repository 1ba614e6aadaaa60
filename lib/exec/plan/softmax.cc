// softmax and log_softmax of float32 along any axis; softmax of 8-bit integers.
#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/reduce.h"
#include "exec/kernels/softmax.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/runtime/planning/plan.h"
#include "numeric/scalar_functions.h"
#include "ops/nn/softmax.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// Rows along an axis: `outer` blocks of `length` lines of `inner` adjacent elements.
struct AxisRows {
  size_t outer = 1, length = 1, inner = 1;

  AxisRows(const std::vector<int64_t>& shape, size_t axis) {
    for (size_t i = 0; i < shape.size(); ++i)
      (i < axis ? outer : i > axis ? inner : length) *= static_cast<size_t>(shape[i]);
  }
  size_t elements() const { return outer * length * inner; }
};

// Base of both element types. A work item is several rows of adjacent elements (inner == 1) or a
// block of columns of one row.
class SoftmaxStepBase : public Step {
 public:
  static constexpr size_t kColumns = 64;

  explicit SoftmaxStepBase(AxisRows axis_rows) : rows(axis_rows) {
    constexpr size_t kItemElements = 8192;
    column_items = (rows.inner + kColumns - 1) / kColumns;
    row_block = rows.inner == 1 ? FitIn(kItemElements, rows.length) : 1;
  }

  AxisRows rows;
  MemoryView in, out;
  size_t column_items = 1, row_block = 1;

  size_t grid() const override {
    if (rows.elements() == 0) return 0;
    return (rows.outer + row_block - 1) / row_block * column_items;
  }
  void Run(const Memory& memory, size_t item) const override {
    const size_t column = item % column_items * kColumns;
    const size_t first = item / column_items * row_block;
    const size_t count = std::min(row_block, rows.outer - first);
    if (rows.inner == 1) return RunRows(memory, first * rows.length, count);
    for (size_t r = first; r < first + count; ++r)
      RunColumns(memory, r * rows.length * rows.inner + column,
                 std::min(kColumns, rows.inner - column));
  }

 protected:
  // Rows of adjacent elements, starting at element `start`.
  virtual void RunRows(const Memory& memory, size_t start, size_t count) const = 0;
  // The rows that start at elements [start, start + columns).
  virtual void RunColumns(const Memory& memory, size_t start, size_t columns) const = 0;
};

class SoftmaxStep : public SoftmaxStepBase {
 public:
  explicit SoftmaxStep(AxisRows axis_rows) : SoftmaxStepBase(axis_rows), offsets(rows.length) {
    for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<int64_t>(i * rows.inner);
  }

  bool logarithm = false;
  float beta = 1.0f;
  std::vector<int64_t> offsets;  // of the elements of a row

 private:
  void RunRows(const Memory& memory, size_t start, size_t count) const override {
    SoftmaxRowsF32(in.As<const float>(memory) + start, out.As<float>(memory) + start, count,
                   rows.length, beta, logarithm);
  }
  void RunColumns(const Memory& memory, size_t start, size_t columns) const override {
    const float* x = in.As<const float>(memory) + start;
    float* y = out.As<float>(memory) + start;
    std::array<float, kColumns> largest;
    std::array<float, kColumns> sums;
    Reduce(RowReduction::kLargest, x, largest.data(), columns);
    for (const int64_t at : offsets)
      RunExpOfDifferencesF32(x + at, largest.data(), beta, y + at, columns);
    Reduce(RowReduction::kSum, y, sums.data(), columns);
    static const size_t kSub = *BinaryFunctionId("sub");
    static const size_t kDiv = *BinaryFunctionId("div");
    const auto combine = [&](size_t function, const float* a, const float* b, float* to) {
      RunBinaryF32(function, BinaryForm::kVectorVector, a, b, to, columns);
    };
    if (logarithm)
      for (size_t c = 0; c < columns; ++c) sums[c] = ScalarFunctions::Log(sums[c]);
    for (const int64_t at : offsets) {
      if (!logarithm) {
        combine(kDiv, y + at, sums.data(), y + at);
        continue;
      }
      combine(kSub, x + at, largest.data(), y + at);
      combine(kSub, y + at, sums.data(), y + at);
    }
  }
  void Reduce(RowReduction reduction, const float* x, float* y, size_t columns) const {
    ReduceColumnsF32(reduction, x, offsets.data(), offsets.size(), y, columns);
  }
};

class QuantSoftmaxStep : public SoftmaxStepBase {
 public:
  using SoftmaxStepBase::SoftmaxStepBase;
  DType dtype = DType::kU8;
  std::vector<int32_t> exponentials;

 private:
  void RunRows(const Memory& memory, size_t start, size_t count) const override {
    for (size_t r = 0; r < count; ++r) RunColumns(memory, start + r * rows.length, 1);
  }
  void RunColumns(const Memory& memory, size_t start, size_t columns) const override {
    for (size_t c = start; c < start + columns; ++c)
      SoftmaxRow8(exponentials, dtype, in.As<const std::byte>(memory) + c,
                  out.As<std::byte>(memory) + c, rows.length, rows.inner);
  }
};

template <bool logarithm>
Result<bool> PlanSoftmax(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Type& x = node.input(0)->type();
  const auto shape = ShapeOf(node.input(0));
  using A = std::conditional_t<logarithm, AlongAxisAttrs, SoftmaxAttrs>;
  const A& attrs = node.attrs<A>();
  float beta = 1;
  if constexpr (!logarithm) beta = attrs.beta;
  NN_ASSIGN(const int axis, NormalizeAxis(attrs.axis, static_cast<int>(shape.size())));
  const AxisRows rows(shape, static_cast<size_t>(axis));
  std::unique_ptr<SoftmaxStepBase> base;
  if (x.dtype == DType::kF32) {
    auto step = std::make_unique<SoftmaxStep>(rows);
    step->logarithm = logarithm;
    step->beta = beta;
    base = std::move(step);
  } else if ((x.dtype == DType::kU8 || x.dtype == DType::kI8) && x.quantized() && !logarithm &&
             node.arithmetic() == Arithmetic::kTflite && !x.quant->per_axis() &&
             node.output()->dtype() == x.dtype && HasSoftmaxRange(x.dtype, node.output()->type())) {
    auto step = std::make_unique<QuantSoftmaxStep>(rows);
    NN_ASSIGN(step->exponentials, SoftmaxExponentials8(x.quant->scale(), beta));
    step->dtype = x.dtype;
    base = std::move(step);
  } else {
    return false;
  }
  base->in = ctx.ViewOf(node.input(0));
  base->out = ctx.ViewOf(node.output());
  const BufferId in = base->in.buffer;
  const BufferId out = base->out.buffer;
  ctx.AddStep(std::move(base), {in}, {out});
  return true;
}

}  // namespace

void AddSoftmaxKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "softmax", .plan = PlanSoftmax<false>});
  kernels.push_back({.op = "log_softmax", .plan = PlanSoftmax<true>});
}

}  // namespace nn

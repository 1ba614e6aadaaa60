// Elementwise operators whose operands or results are not float32: integer arithmetic, comparisons,
// logic, casts; and select of any type.
#include <algorithm>
#include <array>

#include "exec/kernels/move/rows.h"
#include "exec/plan/array/rows.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/post_ops.h"

namespace nn {
namespace {

// The approximate number of elements per work item.
constexpr size_t kRowsItem = 16384;

class RowsStep : public Step {
 public:
  struct Operand {
    MemoryView view;
    RowMap rows;
    size_t element = 1;
  };
  std::vector<Operand> in;
  MemoryView out;
  size_t out_element = 1;
  RowPieces pieces;
  RowFn fn = nullptr;

  size_t grid() const override { return pieces.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const auto [first, end, column, n] = pieces.At(item);
    RowOperands r;
    r.n = n;
    for (size_t k = 0; k < in.size(); ++k) r.scalar[k] = in[k].rows.scalar();
    for (size_t i = first; i < end; ++i) {
      for (size_t k = 0; k < in.size(); ++k)
        r.in[k] =
            in[k].view.As<const std::byte>(memory) + in[k].rows.Offset(i, column) * in[k].element;
      r.out = out.As<std::byte>(memory) + (i * out.row_stride + column) * out_element;
      fn(r);
    }
  }
};

RowFn SelectFunction(const Node& node) {
  return FindSelectFn(ElementSize(node.output()));
}

RowFn FunctionOf(const Node& node) {
  for (const Value* v : node.inputs())
    if (v->dtype() != node.input(0)->dtype()) return nullptr;
  return FindRowFn(node.op_name(), node.input(0)->dtype(), node.output()->dtype());
}

Result<bool> PlanRowsWith(PlanContext& ctx, RowFn (*function_of)(const Node&)) {
  const Node& node = ctx.node();
  const Value* y = node.output();
  if (!ctx.group().post_ops.empty() || y->type().quantized()) return false;
  for (const Value* v : node.inputs())
    if (v == nullptr || v->type().quantized() || DTypeBits(v->dtype()) < 8) return false;
  auto step = std::make_unique<RowsStep>();
  step->fn = function_of(node);
  if (step->fn == nullptr) return false;
  step->out = ctx.ViewOf(y);
  step->out_element = ElementSize(y);
  std::vector<MemoryView> views;
  std::vector<BufferId> reads;
  for (const Value* v : node.inputs()) {
    views.push_back(ctx.ViewOf(v));
    reads.push_back(views.back().buffer);
  }
  const JoinedRows joined(node, views, step->out);
  for (size_t k = 0; k < views.size(); ++k)
    step->in.push_back({views[k], joined.operands[k], ElementSize(node.input(k))});
  step->pieces = RowPieces(joined.rows, joined.columns, kRowsItem);
  step->out.row_stride = joined.out_stride;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

Result<bool> PlanSelect(PlanContext& ctx) {
  return PlanRowsWith(ctx, SelectFunction);
}

}  // namespace

Result<bool> PlanRows(PlanContext& ctx) {
  return PlanRowsWith(ctx, FunctionOf);
}

void AddRowKernels(std::vector<KernelInfo>& kernels) {
  for (const char* op : {"floor_div", "mod", "fmod", "equal", "not_equal", "less", "less_equal",
                         "greater", "greater_equal", "and", "or", "xor", "not", "cast"})
    kernels.push_back({.op = op, .plan = PlanRows, .strided_input = true, .strided_output = true});
  kernels.push_back(
      {.op = "select", .plan = PlanSelect, .strided_input = true, .strided_output = true});
}

}  // namespace nn

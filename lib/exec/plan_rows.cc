// Elementwise operators whose operands or results are not float32: integer arithmetic, comparisons,
// logic, casts; and select of any type.
#include <algorithm>
#include <array>

#include "exec/kernel_table.h"
#include "exec/kernels/rows.h"
#include "exec/plan_rows.h"
#include "exec/tail.h"

namespace nn {
namespace {

// Elements of an item, about.
constexpr size_t kRowsItem = 16384;

class RowsStep : public Step {
 public:
  struct Operand {
    Place place;
    RowMap rows;
    size_t element = 1;
  };
  std::vector<Operand> in;
  Place out;
  size_t out_element = 1, out_stride = 0;
  size_t rows = 1, columns = 0, row_block = 1;
  RowFn fn = nullptr;

  size_t grid() const override { return columns == 0 ? 0 : (rows + row_block - 1) / row_block; }

  void Run(const Memory& memory, size_t item) const override {
    RowOperands r;
    r.n = columns;
    for (size_t k = 0; k < in.size(); ++k) r.scalar[k] = in[k].rows.scalar();
    for (size_t i = item * row_block; i < std::min(rows, (item + 1) * row_block); ++i) {
      for (size_t k = 0; k < in.size(); ++k)
        r.in[k] = in[k].place.As<const std::byte>(memory) + in[k].rows.Offset(i) * in[k].element;
      r.out = out.As<std::byte>(memory) + i * out_stride * out_element;
      fn(r);
    }
  }
};

RowFn FunctionOf(const Node& node) {
  if (node.Is("select")) return FindSelectFn(ElementSize(node.output()));
  for (const Value* v : node.inputs())
    if (v->dtype() != node.input(0)->dtype()) return nullptr;
  return FindRowFn(node.op_name(), node.input(0)->dtype(), node.output()->dtype());
}

}  // namespace

Result<bool> PlanRows(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* y = node.output();
  if (!ctx.group().tail.empty() || y->type().quantised()) return false;
  for (const Value* v : node.inputs())
    if (v == nullptr || v->type().quantised() || DTypeBits(v->dtype()) < 8) return false;
  auto step = std::make_unique<RowsStep>();
  step->fn = FunctionOf(node);
  if (step->fn == nullptr) return false;
  const auto shape = RowShape(y);
  step->out = ctx.PlaceOf(y);
  step->out_element = ElementSize(y);
  bool dense = step->out.row_stride == static_cast<size_t>(shape.back());
  std::vector<std::vector<int64_t>> shapes;
  std::vector<BufferId> reads;
  for (const Value* v : node.inputs()) {
    shapes.push_back(RowShape(v));
    step->in.push_back({ctx.PlaceOf(v), {}, ElementSize(v)});
    reads.push_back(step->in.back().place.buffer);
    dense &= step->in.back().place.row_stride == static_cast<size_t>(shapes.back().back());
  }
  const AxisGroups groups(shape, shapes, dense);
  const auto joined = groups.Join(shape);
  for (size_t k = 0; k < shapes.size(); ++k) {
    const auto operand = groups.Join(shapes[k]);
    step->in[k].rows =
        RowMap(joined, operand,
               dense ? static_cast<size_t>(operand.back()) : step->in[k].place.row_stride);
  }
  step->columns = static_cast<size_t>(joined.back());
  for (size_t i = 0; i + 1 < joined.size(); ++i) step->rows *= static_cast<size_t>(joined[i]);
  step->out_stride = dense ? step->columns : step->out.row_stride;
  step->row_block = FitIn(kRowsItem, step->columns);
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

void AddRowKernels(std::vector<KernelInfo>& kernels) {
  for (const char* op : {"floor_div", "mod", "fmod", "equal", "not_equal", "less", "less_equal",
                         "greater", "greater_equal", "and", "or", "xor", "not", "cast", "select"})
    kernels.push_back({.op = op, .plan = PlanRows, .strided_input = true, .strided_output = true});
}

}  // namespace nn

// Elementwise operators on 8-bit operands, by tables that the reference evaluation fills: a
// function of one operand has 256 results, one of two has 65536. And quantize from float32.
#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "exec/kernel_table.h"
#include "exec/kernels/quantize.h"
#include "exec/plan_elementwise_8bit.h"
#include "exec/tail.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/elementwise.h"

namespace nn {
namespace {

// Below this many elements a table of two operands costs more than it saves.
constexpr int64_t kMinElementsForTable2 = 4096;
constexpr size_t kBytesItem = 16384;

bool Is8Bit(const Value* v) {
  return v->dtype() == DType::kU8 || v->dtype() == DType::kI8;
}

// The rows of a result: all axes but the last.
struct Rows {
  size_t count = 1, columns = 1, block = 1;

  explicit Rows(const std::vector<int64_t>& shape) {
    for (size_t i = 0; i + 1 < shape.size(); ++i) count *= static_cast<size_t>(shape[i]);
    columns = static_cast<size_t>(shape.back());
    block = FitIn(kBytesItem, columns);
  }
  size_t grid() const { return (count + block - 1) / block; }
};

// The node's results for other operands of the same types.
Result<Tensor> ResultsFor(const Node& node, const std::vector<Tensor>& operands) {
  Graph scratch;
  std::vector<Value*> values;
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    values.push_back(scratch.AddConstant(operands[i], {}, node.input(i)->type().quant));
    inputs.push_back(&operands[i]);
  }
  Node* copy = scratch.AddNode(node.op(), std::move(values), node.attrs());
  copy->set_arithmetic(node.arithmetic());
  Type declared = node.output()->type();
  declared.dims.reset();
  copy->output()->set_type(std::move(declared));
  NN_RETURN_IF_ERROR(InferNode(*copy));
  NN_ASSIGN(auto outputs, EvalNode(*copy, inputs));
  return outputs[0];
}

// All bytes in order, `repeat` times over; or each `repeat` times.
Tensor AllBytes(DType dtype, std::vector<int64_t> dims, bool each) {
  std::vector<uint8_t> bytes(dims.size() == 1 ? 256 : 65536);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(each ? i / 256 : i % 256);
  return Tensor(dtype, std::move(dims), Blob::CopyOf(bytes));
}

// The results of the group for all operands; nullopt where some have none (a division by zero), or
// a node of the tail is not a function of one 8-bit operand.
std::optional<Tensor> TableOf(const Group& group) {
  const Node& node = *group.node;
  const bool two = node.inputs().size() == 2;
  std::vector<Tensor> operands;
  if (two) {
    operands.push_back(AllBytes(node.input(0)->dtype(), {256, 256}, true));
    operands.push_back(AllBytes(node.input(1)->dtype(), {256, 256}, false));
  } else {
    operands.push_back(AllBytes(node.input(0)->dtype(), {256}, false));
  }
  auto table = ResultsFor(node, operands);
  if (!table) return std::nullopt;
  for (const Node* n : group.tail) {
    if (n->inputs().size() != 1 || !Is8Bit(n->input(0))) return std::nullopt;
    table = ResultsFor(*n, {*table});
    if (!table) return std::nullopt;
  }
  return table->Aligned();
}

template <typename Out>
class Table1Step : public Step {
 public:
  Place in, out;
  Rows rows{{1}};
  Tensor table;

  size_t grid() const override { return rows.grid(); }

  void Run(const Memory& memory, size_t item) const override {
    const Out* t = table.As<Out>().data();
    const size_t end = std::min(rows.count, (item + 1) * rows.block);
    for (size_t r = item * rows.block; r < end; ++r) {
      const uint8_t* x = in.As<const uint8_t>(memory) + r * in.row_stride;
      Out* y = out.As<Out>(memory) + r * out.row_stride;
      for (size_t i = 0; i < rows.columns; ++i) y[i] = t[x[i]];
    }
  }
};

class Table2Step : public Step {
 public:
  Place a, b, out;
  RowMap a_rows, b_rows;
  Rows rows{{1}};
  Tensor table;

  size_t grid() const override { return rows.grid(); }

  void Run(const Memory& memory, size_t item) const override {
    const uint8_t* t = table.As<uint8_t>().data();
    const size_t a_step = a_rows.scalar() ? 0 : 1;
    const size_t b_step = b_rows.scalar() ? 0 : 1;
    const size_t end = std::min(rows.count, (item + 1) * rows.block);
    for (size_t r = item * rows.block; r < end; ++r) {
      const uint8_t* x = a.As<const uint8_t>(memory) + a_rows.Offset(r);
      const uint8_t* z = b.As<const uint8_t>(memory) + b_rows.Offset(r);
      uint8_t* y = out.As<uint8_t>(memory) + r * out.row_stride;
      for (size_t i = 0; i < rows.columns; ++i)
        y[i] = t[static_cast<size_t>(x[i * a_step]) << 8 | z[i * b_step]];
    }
  }
};

template <typename Out>
void AddTable1(PlanContext& ctx, const Tensor& table) {
  auto step = std::make_unique<Table1Step<Out>>();
  const Value* result = ctx.group().result();
  step->in = ctx.PlaceOf(ctx.node().input(0));
  step->out = ctx.PlaceOf(result);
  step->rows = Rows(ShapeOf(result));
  step->table = table;
  const BufferId in = step->in.buffer, out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
}

void AddTable2(PlanContext& ctx, Tensor table) {
  auto step = std::make_unique<Table2Step>();
  const Value* result = ctx.group().result();
  const auto shape = ShapeOf(result);
  const auto operand = [&](size_t i, Place& place, RowMap& rows) {
    const Value* v = ctx.node().input(i);
    place = ctx.PlaceOf(v);
    rows = RowMap(shape, ShapeOf(v), place.row_stride);
  };
  operand(0, step->a, step->a_rows);
  operand(1, step->b, step->b_rows);
  step->out = ctx.PlaceOf(result);
  step->rows = Rows(shape);
  step->table = std::move(table);
  const BufferId a = step->a.buffer, b = step->b.buffer, out = step->out.buffer;
  ctx.AddStep(std::move(step), {a, b}, {out});
}

class QuantizeStep : public Step {
 public:
  Place in, out;
  Rows rows{{1}};
  QuantizeParams params;

  size_t grid() const override { return rows.grid(); }

  void Run(const Memory& memory, size_t item) const override {
    const size_t end = std::min(rows.count, (item + 1) * rows.block);
    for (size_t r = item * rows.block; r < end; ++r)
      RunQuantizeF32(params, in.As<const float>(memory) + r * in.row_stride,
                     out.As<uint8_t>(memory) + r * out.row_stride, rows.columns);
  }
};

Result<bool> PlanQuantize(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const Value* y = node.output();
  if (Is8Bit(x)) return PlanElementwise8Bit(ctx);
  if (x->dtype() != DType::kF32 || !Is8Bit(y) || !y->type().quantised() ||
      y->type().quant->per_axis() || ShapeOf(y).empty())
    return false;
  const Quant& q = *y->type().quant;
  const auto& a = node.attrs<QuantizeAttrs>();
  auto step = std::make_unique<QuantizeStep>();
  if (q.zero_point() < MinInteger(y->dtype()) || q.zero_point() > MaxInteger(y->dtype()))
    return false;
  step->params = {q.scale(), static_cast<int32_t>(q.zero_point()), IsSigned(y->dtype()),
                  a.rounding == Rounding::kHalfEven};
  step->in = ctx.PlaceOf(x);
  step->out = ctx.PlaceOf(y);
  step->rows = Rows(ShapeOf(y));
  const BufferId in = step->in.buffer, out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

Result<bool> PlanElementwise8Bit(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* result = ctx.group().result();
  if (ShapeOf(result).empty() || node.inputs().size() > 2) return false;
  for (const Value* v : node.inputs()) {
    if (!Is8Bit(v)) return false;
    if (v->type().quantised() && v->type().quant->per_axis()) return false;
  }
  if (result->type().quantised() && result->type().quant->per_axis()) return false;
  const bool two = node.inputs().size() == 2;
  const int bits = DTypeBits(result->dtype());
  if (two && (bits != 8 || *CheckedElements(ShapeOf(result)) < kMinElementsForTable2)) return false;
  auto table = TableOf(ctx.group());
  if (!table) return false;
  if (two)
    AddTable2(ctx, *std::move(table));
  else if (bits == 8)
    AddTable1<uint8_t>(ctx, *std::move(table));
  else if (bits == 16)
    AddTable1<uint16_t>(ctx, *std::move(table));
  else if (bits == 32)
    AddTable1<uint32_t>(ctx, *std::move(table));
  else
    return false;
  return true;
}

void AddQuantizeKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({"quantize", PlanQuantize, false, false, true, true});
  kernels.push_back({"dequantize", PlanElementwise8Bit, false, false, true, true});
}

}  // namespace nn

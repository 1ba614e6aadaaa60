// Elementwise operators on 8-bit operands: sums and products by arithmetic, others by tables filled
// by the reference evaluation (256 results for one operand, 65536 for two). And quantize from
// float32.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/checked_math.h"
#include "exec/kernels/int8/binary_i8.h"
#include "exec/kernels/int8/quantize.h"
#include "exec/plan/families.h"
#include "exec/plan/quant/elementwise_8bit.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/post_ops.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "numeric/functions.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/tflite_elementwise.h"

namespace nn {
namespace {

// Below this many elements a table of two operands costs more than it saves.
constexpr int64_t kMinElementsForTable2 = 4096;
constexpr size_t kBytesItem = 16384;

bool Is8Bit(const Value* v) {
  return v->dtype() == DType::kU8 || v->dtype() == DType::kI8;
}

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

// The results of the group for all operands; nullopt if some operands have no result (a division by
// zero), or a post-op is not a function of one 8-bit operand.
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
  for (const Node* n : group.post_ops) {
    if (n->inputs().size() != 1 || !Is8Bit(n->input(0))) return std::nullopt;
    table = ResultsFor(*n, {*table});
    if (!table) return std::nullopt;
  }
  return table->Aligned();
}

template <typename Out>
class Table1Step : public Step {
 public:
  MemoryView in, out;
  RowPieces pieces;
  Tensor table;

  size_t grid() const override { return pieces.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const Out* const t = table.As<Out>().data();
    const auto [first, end, column, n] = pieces.At(item);
    for (size_t r = first; r < end; ++r) {
      const uint8_t* x = in.As<const uint8_t>(memory) + r * in.row_stride + column;
      Out* y = out.As<Out>(memory) + r * out.row_stride + column;
      for (size_t i = 0; i < n; ++i) y[i] = t[x[i]];
    }
  }
};

// A step of two operands; one element of either may apply to a whole row.
class TwoOperandStep : public Step {
 public:
  MemoryView a, b, out;
  RowMap a_rows, b_rows;
  RowPieces pieces;

  size_t grid() const override { return pieces.items(); }

 protected:
  // fn(a, b, y, n) for each row, or part of one.
  template <typename Fn>
  void ForEachRow(const Memory& memory, size_t item, Fn fn) const {
    const auto [first, end, column, n] = pieces.At(item);
    for (size_t r = first; r < end; ++r)
      fn(a.As<const uint8_t>(memory) + a_rows.Offset(r, column),
         b.As<const uint8_t>(memory) + b_rows.Offset(r, column),
         out.As<uint8_t>(memory) + r * out.row_stride + column, n);
  }
};

class Table2Step : public TwoOperandStep {
 public:
  Tensor table;

  void Run(const Memory& memory, size_t item) const override {
    const uint8_t* const t = table.As<uint8_t>().data();
    const size_t a_step = a_rows.scalar() ? 0 : 1;
    const size_t b_step = b_rows.scalar() ? 0 : 1;
    ForEachRow(memory, item, [&](const uint8_t* x, const uint8_t* z, uint8_t* y, size_t n) {
      for (size_t i = 0; i < n; ++i)
        y[i] = t[static_cast<size_t>(x[i * a_step]) << 8 | z[i * b_step]];
    });
  }
};

// Sums, differences and products as in TensorFlow Lite: faster than a table of two operands, which
// exceeds the L1 cache and takes longer to fill than small results.
class BinaryStep : public TwoOperandStep {
 public:
  BinaryI8 binary;

  void Run(const Memory& memory, size_t item) const override {
    ForEachRow(memory, item, [&](const uint8_t* x, const uint8_t* z, uint8_t* y, size_t n) {
      RunBinaryI8(binary, {x, z, a_rows.scalar(), b_rows.scalar(), y, n});
    });
  }
};

// nullopt for other operators.
std::optional<BinaryI8> BinaryOf(const Group& group) {
  const Node& node = *group.node;
  if (node.arithmetic() != Arithmetic::kTflite || node.inputs().size() != 2) return std::nullopt;
  const Type& a = node.input(0)->type();
  const Type& b = node.input(1)->type();
  const Type& y = node.output()->type();
  if (y.dtype != a.dtype || !a.quantized() || !b.quantized() || !y.quantized() ||
      !TfliteBinary(node, a, b, y))
    return std::nullopt;
  using Row = std::pair<std::string_view, BinaryI8::Kind>;
  static constexpr Row kKinds[] = {{"mul", BinaryI8::Kind::kProduct},
                                   {"add", BinaryI8::Kind::kSum},
                                   {"sub", BinaryI8::Kind::kDifference}};
  const auto* const row = std::ranges::find(kKinds, node.op_name(), &Row::first);
  if (row == std::end(kKinds)) return std::nullopt;
  BinaryI8 out;
  out.kind = row->second;
  if (out.kind == BinaryI8::Kind::kProduct) {
    out.fa = out.fb = SameRescale({});
    out.fy = SameRescale(MulFactor(a, b, y));
  } else {
    const auto factors = SumFactorsOf(a, b, y);
    if (!factors) return std::nullopt;
    out.shift = factors->shift;
    out.fa = SameRescale(factors->a);
    out.fb = SameRescale(factors->b);
    out.fy = SameRescale(factors->y);
  }
  const auto result = ByteResultOf(group);
  if (!result) return std::nullopt;
  out.result = *result;
  out.a_zero = static_cast<int32_t>(a.quant->zero_point());
  out.b_zero = static_cast<int32_t>(b.quant->zero_point());
  return out;
}

// For operators of one operand: contiguous rows are treated as a single row.
RowPieces PiecesOfOne(const std::vector<int64_t>& shape, const MemoryView& in,
                      const MemoryView& out) {
  const size_t all = ElementsOf(shape, 0, shape.size());
  if (IsDense(in, shape) && IsDense(out, shape)) return {1, all, kBytesItem};
  const auto columns = static_cast<size_t>(shape.back());
  return {ElementsOf(shape, 0, shape.size() - 1), columns, kBytesItem};
}

template <typename Out>
void AddTable1(PlanContext& ctx, const Tensor& table) {
  auto step = std::make_unique<Table1Step<Out>>();
  const Value* result = ctx.group().result();
  step->in = ctx.ViewOf(ctx.node().input(0));
  step->out = ctx.ViewOf(result);
  step->pieces = PiecesOfOne(ShapeOf(result), step->in, step->out);
  step->table = table;
  const BufferId in = step->in.buffer, out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
}

// Sets the views of a step of two operands and adds it.
template <class TwoStep>
void AddTwo(PlanContext& ctx, std::unique_ptr<TwoStep> step) {
  step->a = ctx.ViewOf(ctx.node().input(0));
  step->b = ctx.ViewOf(ctx.node().input(1));
  step->out = ctx.ViewOf(ctx.group().result());
  const std::array<MemoryView, 2> views = {step->a, step->b};
  const JoinedRows joined(ctx.node(), views, step->out);
  step->a_rows = joined.operands[0];
  step->b_rows = joined.operands[1];
  step->pieces = RowPieces(joined.rows, joined.columns, kBytesItem);
  step->out.row_stride = joined.out_stride;
  const BufferId a = step->a.buffer, b = step->b.buffer, out = step->out.buffer;
  ctx.AddStep(std::move(step), {a, b}, {out});
}

class QuantizeStep : public Step {
 public:
  MemoryView in, out;
  RowPieces pieces;
  QuantizeParams params;

  size_t grid() const override { return pieces.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const auto [first, end, column, n] = pieces.At(item);
    for (size_t r = first; r < end; ++r)
      RunQuantizeF32(params, in.As<const float>(memory) + r * in.row_stride + column,
                     out.As<uint8_t>(memory) + r * out.row_stride + column, n);
  }
};

Result<bool> PlanQuantize(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const Value* y = node.output();
  if (Is8Bit(x)) return PlanElementwise8Bit(ctx);
  if (x->dtype() != DType::kF32 || !Is8Bit(y) || !y->type().quantized() ||
      y->type().quant->per_axis() || ShapeOf(y).empty())
    return false;
  const Quant& q = *y->type().quant;
  const auto& a = node.attrs<QuantizeAttrs>();
  auto step = std::make_unique<QuantizeStep>();
  if (q.zero_point() < MinInteger(y->dtype()) || q.zero_point() > MaxInteger(y->dtype()))
    return false;
  step->params = {q.scale(), static_cast<int32_t>(q.zero_point()), IsSigned(y->dtype()),
                  a.rounding == Rounding::kHalfEven};
  step->in = ctx.ViewOf(x);
  step->out = ctx.ViewOf(y);
  step->pieces = PiecesOfOne(ShapeOf(y), step->in, step->out);
  const BufferId in = step->in.buffer, out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

std::optional<ByteResult> ByteResultOf(const Group& group) {
  const Type& type = group.node->output()->type();
  const Quant& q = *type.quant;
  ByteResult r{IsSigned(type.dtype), static_cast<int32_t>(q.zero_point()),
               static_cast<int32_t>(MinInteger(type.dtype)),
               static_cast<int32_t>(MaxInteger(type.dtype))};
  const auto bound = [&](double value) {
    return QuantizeBound(static_cast<float>(value), q.scale(), q.zero_point());
  };
  for (const Node* n : group.post_ops) {
    const Quant* out = n->output()->type().quant.get();
    if (out == nullptr || !out->SameMapping(q)) return std::nullopt;
    if (n->op().clamp == nullptr) return std::nullopt;
    const Interval clamp = n->op().clamp(*n);
    if (std::isfinite(clamp.min)) r.min = std::max(r.min, bound(clamp.min));
    if (std::isfinite(clamp.max)) r.max = std::min(r.max, bound(clamp.max));
  }
  return r;
}

Result<bool> PlanElementwise8Bit(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* result = ctx.group().result();
  if (ShapeOf(result).empty() || node.inputs().size() > 2) return false;
  for (const Value* v : node.inputs()) {
    if (!Is8Bit(v)) return false;
    if (v->type().quantized() && v->type().quant->per_axis()) return false;
  }
  if (result->type().quantized() && result->type().quant->per_axis()) return false;
  if (auto binary = BinaryOf(ctx.group())) {
    auto step = std::make_unique<BinaryStep>();
    step->binary = *std::move(binary);
    AddTwo(ctx, std::move(step));
    return true;
  }
  const bool two = node.inputs().size() == 2;
  const int bits = DTypeBits(result->dtype());
  if (two && (bits != 8 || *CheckedElements(ShapeOf(result)) < kMinElementsForTable2)) return false;
  auto table = TableOf(ctx.group());
  if (!table) return false;
  if (two) {
    auto step = std::make_unique<Table2Step>();
    step->table = *std::move(table);
    AddTwo(ctx, std::move(step));
  } else if (bits == 8)
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

// Operators that only move elements, of any type: concat, split, and all operators with one source
// position per axis (ops/support/movement.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "exec/kernels/move/move.h"
#include "exec/plan/array/movement.h"
#include "exec/plan/families.h"
#include "exec/runtime/alias.h"
#include "exec/runtime/kernel_table.h"
#include "ir/eval.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// ---- Copies of boxes

// `blocks` blocks of `rows` rows of `run` bytes; distances in bytes.
class CopyRowsStep : public Step {
 public:
  MemoryView in, out;
  size_t blocks = 1, rows = 1, run = 0;
  size_t in_block = 0, in_row = 0, out_block = 0, out_row = 0;
  size_t row_block = 1;  // rows per work item

  size_t grid() const override {
    return run == 0 ? 0 : (blocks * rows + row_block - 1) / row_block;
  }
  void Run(const Memory& memory, size_t item) const override {
    const std::byte* x = in.As<const std::byte>(memory);
    std::byte* y = out.As<std::byte>(memory);
    const size_t first = item * row_block;
    for (size_t r = first; r < std::min(first + row_block, blocks * rows); ++r)
      std::memcpy(y + r / rows * out_block + r % rows * out_row,
                  x + r / rows * in_block + r % rows * in_row, run);
  }

  // Joins rows that are contiguous on both sides and chooses the work items.
  void Finish() {
    constexpr size_t kItemBytes = 65536;
    if (rows > 1 && in_row == run && out_row == run) {
      run *= rows;
      rows = 1;
    }
    if (rows == 1 && blocks > 1 && in_block == run && out_block == run) {
      run *= blocks;
      blocks = 1;
    }
    row_block = FitIn(kItemBytes, run);
  }
};

// Copies between a value and a box of another that differs in shape only on `axis`.
void AddCopy(PlanContext& ctx, const Value* value, const MemoryView& in, const MemoryView& out,
             size_t axis, const std::vector<int64_t>& in_shape,
             const std::vector<int64_t>& out_shape) {
  const auto shape = ShapeOf(value);
  const size_t element = ElementSize(value);
  auto step = std::make_unique<CopyRowsStep>();
  step->in = in;
  step->out = out;
  if (shape.empty()) {
    step->run = element;
  } else {
    step->blocks = ElementsOf(shape, 0, axis);
    step->rows = axis + 1 == shape.size() ? 1 : ElementsOf(shape, axis, shape.size() - 1);
    step->run = static_cast<size_t>(shape.back()) * element;
    step->in_row = in.row_stride * element;
    step->out_row = out.row_stride * element;
    const auto rows_of = [&](const std::vector<int64_t>& whole) {
      return axis + 1 == whole.size() ? 1 : ElementsOf(whole, axis, whole.size() - 1);
    };
    step->in_block = rows_of(in_shape) * step->in_row;
    step->out_block = rows_of(out_shape) * step->out_row;
  }
  step->Finish();
  ctx.AddStep(std::move(step), {in.buffer}, {out.buffer});
}

bool SameView(const MemoryView& a, const MemoryView& b) {
  return a.buffer == b.buffer && a.offset == b.offset;
}

// The first element of the part of `whole` that starts at index `first` of `axis`.
MemoryView StartOf(const MemoryView& whole, const Value* value, size_t axis, int64_t first) {
  const auto shape = ShapeOf(value);
  MemoryView view = whole;
  const size_t step = axis + 1 == shape.size()
                          ? 1
                          : ElementsOf(shape, axis + 1, shape.size() - 1) * whole.row_stride;
  view.offset += static_cast<size_t>(first) * step * ElementSize(value);
  return view;
}

Result<bool> PlanConcat(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* y = node.output();
  const auto shape = ShapeOf(y);
  if (DTypeBits(y->dtype()) < 8) return false;
  const Quant* to = y->type().quant.get();
  for (const Value* x : node.inputs()) {
    const Quant* from = x->type().quant.get();
    if (from != nullptr && (to == nullptr || !from->SameMapping(*to))) return false;
  }
  NN_ASSIGN(const int axis,
            NormalizeAxis(node.attrs<ConcatAttrs>().axis, static_cast<int>(shape.size())));
  const auto at = static_cast<size_t>(axis);
  const MemoryView whole = ctx.ViewOf(y);
  int64_t first = 0;
  for (const Value* x : node.inputs()) {
    const auto x_shape = ShapeOf(x);
    const MemoryView in = ctx.ViewOf(x);
    const MemoryView out = StartOf(whole, y, at, first);
    first += x_shape[at];
    if (!SameView(in, out)) AddCopy(ctx, x, in, out, at, x_shape, shape);
  }
  return true;
}

Result<bool> PlanSplit(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  if (DTypeBits(x->dtype()) < 8) return false;
  NN_ASSIGN(const int axis,
            NormalizeAxis(node.attrs<SplitAttrs>().axis, static_cast<int>(shape.size())));
  const auto at = static_cast<size_t>(axis);
  const MemoryView whole = ctx.ViewOf(x);
  int64_t first = 0;
  for (const Value* y : node.outputs()) {
    const auto y_shape = ShapeOf(y);
    const int64_t begin = first;
    first += y_shape[at];
    const auto part = PartOf(whole, x, at, begin);
    const bool dense = part && part->row_stride == static_cast<size_t>(y_shape.back());
    if (part && !ctx.HasView(y) && (dense || UsersAcceptStrides(y))) {
      ctx.SetView(y, *part);
      continue;
    }
    AddCopy(ctx, y, StartOf(whole, x, at, begin), ctx.ViewOf(y), at, shape, y_shape);
  }
  return true;
}

// A reshape or similar node whose result cannot share the memory of its input.
Result<bool> PlanView(PlanContext& ctx) {
  const Node& node = ctx.node();
  if (!IsView(node) || DTypeBits(node.output()->dtype()) < 8) return false;
  const Value* x = node.input(0);
  const MemoryView in = ctx.ViewOf(x);
  MemoryView out = ctx.ViewOf(node.output());
  const auto y_shape = ShapeOf(node.output());
  const auto shape = ShapeOf(x);
  if (!y_shape.empty() && out.row_stride != static_cast<size_t>(y_shape.back())) return false;
  if (SameView(in, out)) return true;
  out.row_stride = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  AddCopy(ctx, x, in, out, 0, shape, shape);
  return true;
}

// ---- Moves by tables

// A result whose element (i, j, ...) is the input's at from[0][i] + from[1][j] + ..., or the fill
// value if one of them is kFillPosition.
struct Moves {
  std::vector<std::vector<int64_t>> from;
};

// Recovers the moves from a result of positions. Each element holds the input's position plus 1, or
// 0 for the fill value. nullopt if they do not have that form.
std::optional<Moves> MovesOf(const Tensor& positions) {
  const auto& dims = positions.dims();
  const std::span<const int32_t> p = positions.As<int32_t>();
  const auto strides = Strides(dims);
  Moves moves;
  for (const int64_t d : dims) moves.from.emplace_back(static_cast<size_t>(d), kFillPosition);
  const auto known = std::find_if(p.begin(), p.end(), [](int32_t v) { return v != 0; });
  if (known == p.end()) return moves;
  const auto origin = known - p.begin();
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t at = origin / strides[d] % dims[d];
    for (int64_t i = 0; i < dims[d]; ++i) {
      const int32_t v = p[static_cast<size_t>(origin + (i - at) * strides[d])];
      // The first axis holds the origin's own position.
      if (v != 0)
        moves.from[d][static_cast<size_t>(i)] = d == 0 ? v - int64_t{1} : int64_t{v} - *known;
    }
  }
  // Every element must match the tables.
  std::vector<int64_t> index(dims.size(), 0);
  for (const int32_t v : p) {
    int64_t sum = 0;
    bool filled = false;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t f = moves.from[d][static_cast<size_t>(index[d])];
      filled |= f == kFillPosition;
      if (!filled) sum += f;
    }
    if (filled ? v != 0 : sum + 1 != v) return std::nullopt;
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
  return moves;
}

// The element beside those of the input; null: zero.
const Value* FillerOf(const Node& node) {
  return node.attrs().Is<PadAttrs>() ? node.input(1) : nullptr;
}

// Finds the source positions by running the reference evaluation on positions. Positions refer to
// the memory of the input, whose rows are row_stride apart.
Result<std::vector<Tensor>> MovePositions(const Node& node, size_t row_stride) {
  const auto shape = ShapeOf(node.input(0));
  NN_ASSIGN(TensorBuilder builder, TensorBuilder::Create(DType::kI32, shape));
  const auto row = shape.empty() ? int64_t{1} : shape.back();
  const std::span<int32_t> p = builder.As<int32_t>();
  for (size_t i = 0; i < p.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    p[i] = static_cast<int32_t>(at / row * static_cast<int64_t>(row_stride) + at % row + 1);
  }
  Graph scratch;
  std::vector<Value*> inputs;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (v == nullptr)
      inputs.push_back(nullptr);
    else if (i == 0)
      inputs.push_back(scratch.AddConstant(builder.Finish()));
    else if (i == 1 && v == FillerOf(node))
      inputs.push_back(scratch.AddConstant(Tensor::Scalar(int32_t{0})));
    else
      inputs.push_back(scratch.AddConstant(v->constant()));
  }
  NN_ASSIGN(Node* const moved,
            scratch.Append(node.op_name(), std::move(inputs), node.attrs(), node.outputs().size()));
  std::vector<const Tensor*> tensors;
  for (const Value* v : moved->inputs()) tensors.push_back(v == nullptr ? nullptr : &v->constant());
  moved->set_arithmetic(node.arithmetic());
  return EvalNode(*moved, tensors);
}

// Joins the axes of a result so that rows are long: a work item is a block of rows.
class MoveStep : public Step {
 public:
  MemoryView in, out;
  size_t element = 4;
  std::vector<std::vector<int64_t>> outer;  // tables of all axes except the rows
  std::vector<int64_t> row;                 // table of a row
  std::vector<MoveRun> runs;                // the same as runs
  bool by_runs = false;
  size_t rows = 1, row_block = 1;
  size_t out_row = 0;  // elements between rows of the result
  std::array<std::byte, 16> fill{};

  size_t grid() const override { return row.empty() ? 0 : (rows + row_block - 1) / row_block; }

  void Run(const Memory& memory, size_t item) const override {
    const std::byte* x = in.As<const std::byte>(memory);
    const size_t first = item * row_block;
    for (size_t r = first; r < std::min(first + row_block, rows); ++r) {
      std::byte* y = out.As<std::byte>(memory) + r * out_row * element;
      int64_t base = 0;
      bool filled = false;
      size_t rest = r;
      for (size_t d = outer.size(); d-- > 0;) {
        const int64_t from = outer[d][rest % outer[d].size()];
        rest /= outer[d].size();
        filled |= from == kFillPosition;
        if (!filled) base += from;
      }
      if (filled)
        FillElements(y, row.size(), fill.data(), element);
      else if (by_runs)
        MoveByRuns(runs, x + base * static_cast<int64_t>(element), y, fill.data(), element);
      else
        MoveByPositions(row, x + base * static_cast<int64_t>(element), y, fill.data(), element);
    }
  }
};

// Joins the last axes of the tables into rows of at least `least` elements.
std::vector<int64_t> JoinRows(std::vector<std::vector<int64_t>>& from, bool joins) {
  constexpr size_t kLongest = 8192;
  std::vector<int64_t> row = {0};
  if (from.empty()) return row;
  row = std::move(from.back());
  from.pop_back();
  while (joins && !from.empty() && from.back().size() * row.size() <= kLongest) {
    std::vector<int64_t> longer;
    longer.reserve(from.back().size() * row.size());
    for (const int64_t a : from.back())
      for (const int64_t b : row)
        longer.push_back(a == kFillPosition || b == kFillPosition ? kFillPosition : a + b);
    row = std::move(longer);
    from.pop_back();
  }
  return row;
}

// The memory of a result that is a view of its input, with the input's row stride; nullopt if the
// elements are not in the same layout.
std::optional<MemoryView> PlaceWithin(const MemoryView& in, const Value* y, const Moves& moves) {
  const auto shape = ShapeOf(y);
  if (shape.empty() || CheckedElements(shape) == 0) return std::nullopt;
  MemoryView view = in;
  int64_t base = 0;
  auto step = int64_t{1};
  for (size_t d = shape.size(); d-- > 0;) {
    const auto& from = moves.from[d];
    if (from[0] == kFillPosition) return std::nullopt;
    base += from[0];
    for (size_t i = 1; i < from.size(); ++i)
      if (from[i] == kFillPosition || from[i] != from[i - 1] + step) return std::nullopt;
    step = d + 1 == shape.size() ? static_cast<int64_t>(in.row_stride) : step * shape[d];
  }
  const auto row = static_cast<size_t>(shape.back());
  if (row != in.row_stride && !UsersAcceptStrides(y)) return std::nullopt;
  view.offset += static_cast<size_t>(base) * ElementSize(y);
  return view;
}

void AddMove(PlanContext& ctx, const Value* y, Moves moves, const MemoryView& in,
             const std::array<std::byte, 16>& fill) {
  constexpr size_t kItemElements = 16384;
  constexpr size_t kLongRun = 8;
  auto step = std::make_unique<MoveStep>();
  const auto shape = ShapeOf(y);
  step->in = in;
  step->out = ctx.ViewOf(y);
  step->element = ElementSize(y);
  step->fill = fill;
  const bool dense = shape.empty() || step->out.row_stride == static_cast<size_t>(shape.back());
  step->row = JoinRows(moves.from, dense);
  step->outer = std::move(moves.from);
  step->out_row = dense ? step->row.size() : step->out.row_stride;
  for (const auto& table : step->outer) step->rows *= table.size();
  step->runs = RunsOf(step->row);
  step->by_runs = step->runs.size() * kLongRun <= step->row.size();
  step->row_block = FitIn(kItemElements, step->row.size());
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in.buffer}, {out});
}

// The bytes of the fill element.
Result<std::array<std::byte, 16>> FillOf(const Node& node) {
  std::array<std::byte, 16> bytes{};
  const Value* const filler = FillerOf(node);
  Tensor zero;
  if (filler == nullptr) {
    NN_ASSIGN(zero, ZeroElement(node.output()->type()));
  }
  const Tensor& element = filler != nullptr ? filler->constant() : zero;
  std::memcpy(bytes.data(), element.blob().data(), element.byte_size());
  return bytes;
}

// A cropping resize has a separate value outside the input. Interpolating resizes are not planned
// here.
bool MovesOnly(const Node& node) {
  return !node.attrs().Is<ResizeAttrs>() ||
         node.attrs<ResizeAttrs>().coordinates != Coordinates::kCrop;
}

// The shape of the result with the axes joined that have one source position per index only
// together: the axes of the indices of a gather.
Result<std::vector<int64_t>> JoinedShape(const Node& node) {
  std::vector<int64_t> shape = ShapeOf(node.output());
  if (!node.attrs().Is<GatherAttrs>() || node.input(1)->type().rank() < 2 ||
      node.attrs<GatherAttrs>().batch_dims != 0)
    return shape;
  NN_ASSIGN(const int axis,
            NormalizeAxis(node.attrs<GatherAttrs>().axis, node.input(0)->type().rank()));
  const auto first = shape.begin() + axis;
  const auto last = first + node.input(1)->type().rank();
  *first = std::accumulate(first, last, int64_t{1}, std::multiplies<>());
  shape.erase(first + 1, last);
  return shape;
}

}  // namespace

Result<bool> PlanMove(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const int bits = DTypeBits(x->dtype());
  const auto elements = CheckedElements(ShapeOf(x));
  // Positions are computed once, at planning time.
  constexpr int64_t kMaxPositions = int64_t{1} << 28;
  if (CheckedElements(ShapeOf(node.output())) > kMaxPositions) return false;
  if (bits < 8 || bits > 128 || node.output()->dtype() != x->dtype() || !MovesOnly(node))
    return false;
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) return false;
  const MemoryView in = ctx.ViewOf(x);
  const auto shape = ShapeOf(x);
  const int64_t last = shape.empty() || *elements == 0 ? 1 : shape.back();
  if (*elements / last * static_cast<int64_t>(in.row_stride) >= std::numeric_limits<int32_t>::max())
    return false;
  NN_ASSIGN(const auto fill, FillOf(node));
  const auto moved = MovePositions(node, in.row_stride);
  if (!moved || (*moved)[0].dims() != ShapeOf(node.output())) return false;
  NN_ASSIGN(const auto joined, JoinedShape(node));
  NN_ASSIGN(const Tensor positions, (*moved)[0].Reshaped(joined));
  auto moves = MovesOf(positions);
  if (!moves) return false;
  const Value* y = node.output();
  if (joined != ShapeOf(y)) {
    if (ctx.ViewOf(y).row_stride != static_cast<size_t>(ShapeOf(y).back())) return false;
  } else if (const auto part = PlaceWithin(in, y, *moves); part && !ctx.HasView(y)) {
    ctx.SetView(y, *part);
    return true;
  }
  AddMove(ctx, node.output(), *std::move(moves), in, fill);
  return true;
}

void AddMovementKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "concat",
                     .plan = PlanConcat,
                     .strided_input = true,
                     .strided_output = true,
                     .strided_others = true});
  kernels.push_back(
      {.op = "split", .plan = PlanSplit, .strided_input = true, .strided_output = true});
  for (const char* op : {"reshape", "expand_dims", "squeeze", "assume_shape"})
    kernels.push_back({.op = op, .plan = PlanView, .strided_input = true});
  for (const char* op : {"slice", "reverse", "pad", "tile", "expand", "depth_to_space",
                         "space_to_depth", "space_to_batch_nd", "batch_to_space_nd"})
    kernels.push_back({.op = op, .plan = PlanMove, .strided_input = true, .strided_output = true});
}

}  // namespace nn

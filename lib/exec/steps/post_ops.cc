#include "exec/steps/post_ops.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"

namespace nn {
namespace {

// The shape with leading axes of size 1.
std::vector<int64_t> Padded(const std::vector<int64_t>& shape, size_t rank) {
  std::vector<int64_t> padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  return padded;
}

}  // namespace

AxisGroups::AxisGroups(const std::vector<int64_t>& result,
                       std::span<const std::vector<int64_t>> operands, bool joins_rows)
    : rank_(result.size()) {
  enum class Form : uint8_t { kUnknown, kFull, kRepeated };
  std::vector<std::vector<int64_t>> shapes;
  for (const auto& shape : operands) shapes.push_back(Padded(shape, rank_));
  std::vector<Form> uses(shapes.size(), Form::kUnknown);
  starts_.assign(rank_, true);
  for (size_t axis = rank_; axis-- > 0;) {
    std::vector<Form> here(shapes.size(), Form::kUnknown);
    bool joins = axis + 1 < rank_ && (joins_rows || axis + 2 < rank_);
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (result[axis] != 1)
        here[i] = shapes[i][axis] == result[axis] ? Form::kFull : Form::kRepeated;
      joins &= here[i] == Form::kUnknown || uses[i] == Form::kUnknown || here[i] == uses[i];
    }
    if (axis + 1 < rank_) starts_[axis + 1] = !joins;
    for (size_t i = 0; i < shapes.size(); ++i)
      if (!joins || uses[i] == Form::kUnknown) uses[i] = here[i];
  }
}

std::vector<int64_t> AxisGroups::Join(const std::vector<int64_t>& shape) const {
  if (rank_ == 0) return shape;
  const auto padded = Padded(shape, rank_);
  std::vector<int64_t> joined;
  for (size_t axis = 0; axis < rank_; ++axis) {
    if (starts_[axis])
      joined.push_back(padded[axis]);
    else
      joined.back() *= padded[axis];
  }
  return joined;
}

RowMap::RowMap(const std::vector<int64_t>& result, const std::vector<int64_t>& operand,
               size_t row_stride) {
  const auto padded = Padded(operand, result.size());
  const bool broadcast_row = !result.empty() && padded.back() == 1 && result.back() != 1;
  scalar_ = broadcast_row || result.empty();
  const size_t rank = result.empty() ? 0 : result.size() - 1;
  size_t step = row_stride;
  axes_.resize(rank);
  for (size_t i = rank; i-- > 0;) {
    axes_[i].size = static_cast<size_t>(result[i]);
    if (padded[i] != 1) {
      axes_[i].step = step;
      step *= static_cast<size_t>(padded[i]);
    }
  }
  // Simple form: the operand varies along the leading axes and repeats along the rest.
  size_t last = 0;
  for (size_t i = 0; i < rank; ++i)
    if (axes_[i].step != 0) last = i + 1;
  divisor_ = 1;
  for (size_t i = last; i < rank; ++i) divisor_ *= axes_[i].size;
  stride_ = last == 0 ? 0 : axes_[last - 1].step;
  size_t expected = stride_;
  for (size_t i = last; i-- > 0;) {
    if (axes_[i].size != 1 && axes_[i].step != expected) simple_ = false;
    expected *= axes_[i].size;
  }
  if (divisor_ == 0) divisor_ = 1;
  if (simple_) axes_ = {};
}

JoinedRows::JoinedRows(const Node& node, std::span<const MemoryView> views, const MemoryView& out)
    : out_stride(out.row_stride) {
  const auto shape = RowShape(node.output());
  bool dense = IsDense(out, shape);
  std::vector<std::vector<int64_t>> shapes;
  for (size_t k = 0; k < views.size(); ++k) {
    shapes.push_back(RowShape(node.input(k)));
    dense &= IsDense(views[k], shapes.back());
  }
  const AxisGroups groups(shape, shapes, dense);
  const auto joined = groups.Join(shape);
  for (size_t k = 0; k < views.size(); ++k) {
    const auto own = groups.Join(shapes[k]);
    operands.emplace_back(joined, own,
                          dense ? static_cast<size_t>(own.back()) : views[k].row_stride);
  }
  rows = ElementsOf(joined, 0, joined.size() - 1);
  columns = static_cast<size_t>(joined.back());
  if (dense) out_stride = columns;
}

size_t RowMap::General(size_t r) const {
  size_t offset = 0;
  for (size_t i = axes_.size(); i-- > 0;) {
    offset += r % axes_[i].size * axes_[i].step;
    r /= axes_[i].size;
  }
  return offset;
}

namespace {

// The columns of a row that have the factors of a single channel: its axes are joined.
constexpr size_t kOneChannelColumns = 1024;

// scale and shift of a batch_norm on constants, channels last.
bool FoldBatchNorm(const Node& node, PostOpProgram::Op& op) {
  if (node.attrs<BatchNormAttrs>().layout != Layout::kNxc) return false;
  const auto factors = BatchNormFactors(node);
  if (!factors) return false;
  op.other = std::make_unique<PostOpProgram::Operand>();
  auto& [view, rows, scale, shift] = *op.other;
  for (const ScaleShift& f : *factors) {
    scale.push_back(f.scale);
    shift.push_back(f.shift);
  }
  op.one_channel = factors->size() == 1;
  if (op.one_channel) {
    scale.assign(kOneChannelColumns, scale[0]);
    shift.assign(kOneChannelColumns, shift[0]);
  }
  return true;
}

RowMap RowsOf(const MemoryView& view, const std::vector<int64_t>& result,
              const std::vector<int64_t>& operand, const AxisGroups* groups) {
  if (groups == nullptr) return {result, operand, view.row_stride};
  const auto joined = groups->Join(operand);
  const bool keeps_rows = operand.empty() || joined.back() == operand.back();
  return {groups->Join(result), joined,
          keeps_rows ? view.row_stride : static_cast<size_t>(joined.back())};
}

}  // namespace

EpilogueF32 EpilogueSources::At(const Memory& memory, EpilogueF32 e, size_t row,
                                size_t column) const {
  if (!bias.empty()) e.bias = bias.data() + column;
  if (!scale.empty()) {
    e.scale = scale.data() + column;
    e.shift = shift.data() + column;
  }
  if (residual) {
    e.residual = residual->As<const float>(memory) + row * residual->row_stride + column;
    e.residual_stride = residual->row_stride;
  }
  return e;
}

bool PostOpProgram::Add(PlanContext& ctx, const Value* input, const Node& node,
                        const AxisGroups* groups) {
  if (node.output()->dtype() != DType::kF32 || input->dtype() != DType::kF32) return false;
  const auto shape = ShapeOf(node.output());
  if (ShapeOf(input) != shape) return false;  // the chain's own value must not be broadcast
  if (TakesProductWithOperand(input, node)) {
    ops_.back().times_x = true;
    return true;
  }
  Op op;
  if (node.Is<BatchNormAttrs>()) {
    op.kind = Op::Kind::kMulAdd;
    if (node.input(0) != input || !FoldBatchNorm(node, op)) return false;
  } else if (const auto unary = UnaryFunctionId(node.op_name())) {
    op.function = *unary;
    op.params = ParamsOf(node);
  } else if (const auto binary = BinaryFunctionId(node.op_name())) {
    op.kind = Op::Kind::kBinary;
    op.function = *binary;
    op.other_is_left = node.input(1) == input;
    const Value* other = node.input(op.other_is_left ? 0 : 1);
    if (other->dtype() != DType::kF32) return false;
    op.with_itself = other == input;
    op.kept = Keep(other);
    if (!op.with_itself && !op.kept) {
      const MemoryView view = ctx.ViewOf(other);
      reads_.push_back(view.buffer);
      op.other = std::make_unique<Operand>(
          Operand{view, RowsOf(view, shape, ShapeOf(other), groups), {}, {}});
    }
  } else {
    return false;
  }
  ops_.push_back(std::move(op));
  values_.push_back(input);
  return true;
}

bool PostOpProgram::TakesProductWithOperand(const Value* input, const Node& node) const {
  if (ops_.empty() || !node.Is("mul") || input->uses().size() != 1) return false;
  const Op& last = ops_.back();
  return last.kind == Op::Kind::kUnary && !last.times_x &&
         node.input(node.input(0) == input ? 1 : 0) == values_.back();
}

bool PostOpProgram::AddPostOps(PlanContext& ctx, const AxisGroups* groups) {
  const Value* value = ctx.node().output(0);
  ops_.reserve(ops_.size() + ctx.group().post_ops.size());
  values_.reserve(ops_.capacity());
  for (const Node* n : ctx.group().post_ops) {
    if (!Add(ctx, value, *n, groups)) return false;
    value = n->output();
  }
  return true;
}

std::optional<size_t> PostOpProgram::Keep(const Value* value) {
  const auto it = std::find(values_.begin(), values_.end(), value);
  if (it == values_.end()) return std::nullopt;
  const auto op = static_cast<size_t>(it - values_.begin());
  const auto known = std::find(kept_.begin(), kept_.end(), op);
  if (known != kept_.end()) return static_cast<size_t>(known - kept_.begin());
  kept_.push_back(op);
  return kept_.size() - 1;
}

void PostOpProgram::Run(const Memory& memory, const RowsF32& rows, size_t first,
                        size_t column) const {
  if (kept_.empty()) return RunBlock(memory, rows, first, column, {});
  // Pieces whose kept values stay in the L1 cache.
  constexpr size_t kKeptElements = 4096;
  std::array<float, kKeptElements> data;
  const size_t piece = kKeptElements / kept_.size();
  const size_t columns = std::min(rows.n, piece);
  const size_t count = std::min(rows.count, FitIn(piece, columns));
  for (size_t r = 0; r < rows.count; r += count) {
    for (size_t c = 0; c < rows.n; c += columns) {
      RowsF32 part = rows;
      part.x += r * rows.x_stride + c;
      part.y += r * rows.y_stride + c;
      part.count = std::min(count, rows.count - r);
      part.n = std::min(columns, rows.n - c);
      RunBlock(memory, part, first + r, column + c, {data.data(), count, columns});
    }
  }
}

void PostOpProgram::RunBlock(const Memory& memory, RowsF32 rows, size_t first, size_t column,
                             const Kept& kept) const {
  // The operand is already in the caches and may stay there.
  rows.streams = rows.streams && rows.x != rows.y;
  for (size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    for (size_t k = 0; k < kept_.size(); ++k)
      if (kept_[k] == i)
        for (size_t r = 0; r < rows.count; ++r)
          std::copy_n(rows.x + r * rows.x_stride, rows.n, kept.Row(k, r));
    switch (op.kind) {
      case Op::Kind::kUnary:
        rows.times_x = op.times_x;
        RunUnaryRowsF32(op.function, op.params, rows);
        break;
      case Op::Kind::kMulAdd:
        RunMulAdd(op, rows, column);
        break;
      case Op::Kind::kBinary:
        RunBinary(memory, op, rows, first, column, kept);
        break;
    }
    // In place from here on.
    rows.x = rows.y;
    rows.x_stride = rows.y_stride;
  }
}

void PostOpProgram::RunMulAdd(const Op& op, const RowsF32& rows, size_t column) {
  if (!op.one_channel)
    return RunMulAddRowsF32(rows, op.other->scale.data() + column, op.other->shift.data() + column);
  for (size_t c = 0; c < rows.n; c += kOneChannelColumns) {
    RowsF32 part = rows;
    part.x += c;
    part.y += c;
    part.n = std::min(kOneChannelColumns, rows.n - c);
    RunMulAddRowsF32(part, op.other->scale.data(), op.other->shift.data());
  }
}

void PostOpProgram::RunBinary(const Memory& memory, const Op& op, const RowsF32& rows, size_t first,
                              size_t column, const Kept& kept) {
  constexpr size_t kAtOnce = 64;
  std::array<const float*, kAtOnce> others;
  const bool scalar = op.other != nullptr && op.other->rows.scalar();
  const float* other = op.other == nullptr
                           ? nullptr
                           : op.other->view.As<const float>(memory) + (scalar ? 0 : column);
  for (size_t r = 0; r < rows.count; r += kAtOnce) {
    RowsF32 part = rows;
    part.count = std::min(kAtOnce, rows.count - r);
    part.x += r * rows.x_stride;
    part.y += r * rows.y_stride;
    for (size_t i = 0; i < part.count; ++i)
      others[i] = op.kept          ? kept.Row(*op.kept, r + i)
                  : op.with_itself ? part.x + i * rows.x_stride
                                   : other + op.other->rows.Offset(first + r + i);
    RunBinaryRowsF32(op.function, part,
                     {.rows = others.data(), .scalar = scalar, .left = op.other_is_left});
  }
}

void PostOpProgram::MoveInto(EpilogueF32& epilogue, EpilogueSources& sources, bool rows_follow) {
  const size_t relu = *UnaryFunctionId("relu");
  const size_t clip = *UnaryFunctionId("clip");
  const size_t add = *BinaryFunctionId("add");
  // The epilogue applies scale, residual, bounds: take the ops that follow this order.
  int stage = 0;
  size_t taken = 0;
  for (Op& op : ops_) {
    // The kept value is the result of the epilogue.
    if (std::find(kept_.begin(), kept_.end(), taken) != kept_.end()) break;
    if (op.kind == Op::Kind::kMulAdd && stage < 1) {
      sources.scale = std::move(op.other->scale);
      sources.shift = std::move(op.other->shift);
      stage = 1;
    } else if (op.kind == Op::Kind::kBinary && op.function == add && op.other != nullptr &&
               stage < 2 && rows_follow && !op.other->rows.scalar() &&
               op.other->rows.IsIdentity()) {
      sources.residual = op.other->view;
      stage = 2;
    } else if (op.kind == Op::Kind::kUnary && !op.times_x && stage < 3 &&
               (op.function == relu || op.function == clip)) {
      epilogue.min = op.function == relu ? 0.0f : op.params[0];
      if (op.function == clip) epilogue.max = op.params[1];
      stage = 3;
    } else {
      break;
    }
    ++taken;
  }
  ops_.erase(ops_.begin(), ops_.begin() + static_cast<std::ptrdiff_t>(taken));
  values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(taken));
  for (size_t& k : kept_) k -= taken;
}

}  // namespace nn

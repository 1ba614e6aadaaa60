#include "exec/tail.h"

#include <algorithm>
#include <numeric>

#include "exec/kernels/elementwise.h"
#include "ops/elementwise.h"
#include "ops/norm.h"

namespace nn {

RowMap::RowMap(const std::vector<int64_t>& result, const std::vector<int64_t>& operand,
               size_t row_stride) {
  // The operand's shape with leading axes of size 1, so that both have the same rank.
  std::vector<int64_t> padded(result.size() - operand.size(), 1);
  padded.insert(padded.end(), operand.begin(), operand.end());
  const bool broadcast_row = !result.empty() && padded.back() == 1 && result.back() != 1;
  scalar_ = broadcast_row || result.empty();
  const size_t rank = result.empty() ? 0 : result.size() - 1;
  size_t step = row_stride;
  steps_.assign(rank, 0);
  dims_.assign(rank, 1);
  for (size_t i = rank; i-- > 0;) {
    dims_[i] = static_cast<size_t>(result[i]);
    if (padded[i] != 1) {
      steps_[i] = step;
      step *= static_cast<size_t>(padded[i]);
    }
  }
  // Simple form: the operand follows the leading axes and repeats over the rest.
  size_t last = 0;
  for (size_t i = 0; i < rank; ++i)
    if (steps_[i] != 0) last = i + 1;
  divisor_ = 1;
  for (size_t i = last; i < rank; ++i) divisor_ *= dims_[i];
  stride_ = last == 0 ? 0 : steps_[last - 1];
  size_t expected = stride_;
  for (size_t i = last; i-- > 0;) {
    if (dims_[i] != 1 && steps_[i] != expected) simple_ = false;
    expected *= dims_[i];
  }
  if (divisor_ == 0) divisor_ = 1;
}

size_t RowMap::General(size_t r) const {
  size_t offset = 0;
  for (size_t i = dims_.size(); i-- > 0;) {
    offset += r % dims_[i] * steps_[i];
    r /= dims_[i];
  }
  return offset;
}

namespace {

// scale and shift of a batch_norm on constants, channels last.
bool FoldBatchNorm(const Node& node, TailProgram::Op& op) {
  if (node.attrs<BatchNormAttrs>().layout != Layout::kNxc) return false;
  const auto factors = BatchNormFactors(node);
  if (!factors) return false;
  for (const ScaleShift& f : *factors) {
    op.scale.push_back(f.scale);
    op.shift.push_back(f.shift);
  }
  return true;
}

}  // namespace

bool TailProgram::Add(PlanContext& ctx, const Value* input, const Node& node) {
  if (node.output()->dtype() != DType::kF32 || input->dtype() != DType::kF32) return false;
  const auto shape = ShapeOf(node.output());
  if (ShapeOf(input) != shape) return false;  // the chain's own value is never broadcast
  Op op;
  if (node.Is("batch_norm")) {
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
    if (other != input) {
      op.other = ctx.PlaceOf(other);
      reads_.push_back(op.other.buffer);
      op.rows = RowMap(shape, ShapeOf(other), op.other.row_stride);
    } else {
      return false;  // x op x: as a step of its own
    }
  } else {
    return false;
  }
  ops_.push_back(std::move(op));
  return true;
}

void TailProgram::Run(const Memory& memory, float* data, size_t stride, size_t first, size_t count,
                      size_t column, size_t n) const {
  for (const Op& op : ops_) {
    for (size_t r = 0; r < count; ++r) {
      float* y = data + r * stride;
      switch (op.kind) {
        case Op::Kind::kUnary:
          RunUnaryF32(op.function, op.params, y, y, n);
          break;
        case Op::Kind::kMulAdd:
          RunMulAddF32(y, op.scale.data() + column, op.shift.data() + column, y, n);
          break;
        case Op::Kind::kBinary: {
          const float* other = op.other.As<const float>(memory) + op.rows.Offset(first + r) +
                               (op.rows.scalar() ? 0 : column);
          if (op.other_is_left)
            RunBinaryF32(op.function,
                         op.rows.scalar() ? BinaryForm::kScalarVector : BinaryForm::kVectorVector,
                         other, y, y, n);
          else
            RunBinaryF32(op.function,
                         op.rows.scalar() ? BinaryForm::kVectorScalar : BinaryForm::kVectorVector,
                         y, other, y, n);
          break;
        }
      }
    }
  }
}

void TailProgram::MoveInto(EpilogueF32& epilogue, EpilogueSources& sources) {
  const size_t relu = *UnaryFunctionId("relu");
  const size_t clip = *UnaryFunctionId("clip");
  const size_t add = *BinaryFunctionId("add");
  // The epilogue's own order is scale, residual, bounds: take what follows it.
  int stage = 0;
  size_t taken = 0;
  for (Op& op : ops_) {
    if (op.kind == Op::Kind::kMulAdd && stage < 1) {
      sources.scale = op.scale;
      sources.shift = op.shift;
      stage = 1;
    } else if (op.kind == Op::Kind::kBinary && op.function == add && stage < 2 &&
               !op.rows.scalar() && op.rows.IsIdentity()) {
      sources.residual = op.other;
      stage = 2;
    } else if (op.kind == Op::Kind::kUnary && stage < 3 &&
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
}

}  // namespace nn

// Post-ops: elementwise operations applied to rows of memory, either the post-ops of a group or a
// group of their own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/runtime/planning/plan.h"
#include "exec/runtime/step.h"
#include "numeric/functions.h"

namespace nn {

// Neighboring axes of a result that act as one: every operand either has all elements along them or
// repeats one.
class AxisGroups {
 public:
  // joins_rows: whether the last axis may be joined with the one before, because all rows are
  // contiguous.
  AxisGroups(const std::vector<int64_t>& result, std::span<const std::vector<int64_t>> operands,
             bool joins_rows);

  // The shape of an operand, or of the result, with the axes of a group joined.
  std::vector<int64_t> Join(const std::vector<int64_t>& shape) const;

 private:
  size_t rank_;
  std::vector<bool> starts_;  // whether a group starts at the axis
};

// Maps row r of the result to the row of a broadcast operand.
class RowMap {
 public:
  // Rows are all axes except the last.
  RowMap() = default;
  RowMap(const std::vector<int64_t>& result, const std::vector<int64_t>& operand,
         size_t row_stride);

  // Element offset of the operand's row for result row r.
  size_t Offset(size_t r) const {
    if (simple_) return r / divisor_ * stride_;
    return General(r);
  }
  // The same for a column of that row.
  size_t Offset(size_t r, size_t column) const { return Offset(r) + (scalar_ ? 0 : column); }
  // Whether every result row has its own operand row, in order.
  bool IsIdentity() const { return simple_ && divisor_ == 1 && stride_ != 0; }
  // Whether one element applies to the whole row.
  bool scalar() const { return scalar_; }

 private:
  struct Axis {
    size_t size = 0;
    size_t step = 0;
  };
  size_t General(size_t r) const;

  bool scalar_ = false;
  bool simple_ = true;  // offset = r / divisor * stride
  size_t divisor_ = 1;
  size_t stride_ = 0;
  std::vector<Axis> axes_;  // general form, outermost first
};

// The operands of a node with one result and no absent operands, as rows of the result; adjacent
// axes are joined if all operands allow it.
struct JoinedRows {
  // `views`: the views of the operands.
  JoinedRows(const Node& node, std::span<const MemoryView> views, const MemoryView& out);

  std::vector<RowMap> operands;
  size_t rows = 1, columns = 0;
  size_t out_stride = 0;  // elements between rows of the result
};

// The values that a matrix step sets in its epilogue for each block.
struct EpilogueSources {
  std::vector<float> bias, scale, shift;  // empty: none
  std::optional<MemoryView> residual;

  // The epilogue of a block that starts at a row and a column of the result.
  EpilogueF32 At(const Memory& memory, EpilogueF32 e, size_t row, size_t column) const;
};

// A chain of elementwise operations on the rows of one value.
class PostOpProgram {
 public:
  // kUnary: y = f(y). kBinary: y = f(y, other) or f(other, y). kMulAdd: y = y * scale + shift.
  struct Operand {
    MemoryView view;
    RowMap rows;
    std::vector<float> scale, shift;  // of the columns
  };
  struct Op {
    enum class Kind : uint8_t { kUnary, kBinary, kMulAdd } kind = Kind::kUnary;
    size_t function = 0;
    FunctionParams params{};
    bool times_x = false;  // for a function of one operand: x f(x)
    bool other_is_left = false;
    bool with_itself = false;    // f(y, y): no other operand
    bool one_channel = false;    // kMulAdd: any number of columns, which all have the first factors
    std::optional<size_t> kept;  // the other operand is this kept value
    // kBinary: the other operand in memory; null: there is none. kMulAdd: the factors. A chain can
    // have a million ops, most of them without either.
    std::unique_ptr<Operand> other;
  };

  bool empty() const { return ops_.empty(); }
  // Whether the chain is a single pass over the rows.
  bool single() const { return ops_.size() == 1; }
  const std::vector<BufferId>& reads() const { return reads_; }

  // Compiles a node; false if it has no row kernel. With `groups`, rows refer to joined shapes.
  bool Add(PlanContext& ctx, const Value* input, const Node& node,
           const AxisGroups* groups = nullptr);
  // The same for all post-ops of the group.
  bool AddPostOps(PlanContext& ctx, const AxisGroups* groups = nullptr);

  // Applies the chain, which must not be empty, to columns [column, column + n) of rows [first,
  // first + count) of the result.
  void Run(const Memory& memory, const RowsF32& rows, size_t first, size_t column) const;
  // The same in place.
  void Run(const Memory& memory, float* data, size_t stride, size_t first, size_t count,
           size_t column, size_t n) const {
    Run(memory, {data, stride, data, stride, count, n}, first, column);
  }

  // Moves as many leading ops as possible to a matrix kernel's epilogue; additions of other values
  // only if the rows of a block of results are contiguous.
  void MoveInto(EpilogueF32& epilogue, EpilogueSources& sources, bool rows_follow = true);

 private:
  // Whether the node multiplies the last function's result, which has no other use, by its operand.
  bool TakesProductWithOperand(const Value* input, const Node& node) const;
  // Memory for the kept values of a block.
  struct Kept {
    float* data = nullptr;
    size_t rows = 0;
    size_t stride = 0;

    float* Row(size_t value, size_t r) const { return data + (value * rows + r) * stride; }
  };

  void RunBlock(const Memory& memory, RowsF32 rows, size_t first, size_t column,
                const Kept& kept) const;
  static void RunMulAdd(const Op& op, const RowsF32& rows, size_t column);
  static void RunBinary(const Memory& memory, const Op& op, const RowsF32& rows, size_t first,
                        size_t column, const Kept& kept);
  // The index among the kept values of a value of the chain; nullopt for other values.
  std::optional<size_t> Keep(const Value* value);

  std::vector<const Value*> values_;  // the input of each op
  std::vector<size_t> kept_;          // ops whose input is kept, because a later op uses it too
  std::vector<Op> ops_;
  std::vector<BufferId> reads_;
};

}  // namespace nn

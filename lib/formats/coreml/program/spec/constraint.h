// The constraints of label.h as functions.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/coreml/program/spec/facts.h"

namespace nn::coreml::program {

// A constraint on an operation, with the operands that the row names, and the misfits so far.
class ConstraintAt {
 public:
  ConstraintAt(const OperationFacts& facts, const Constraint& constraint, std::vector<Misfit>& out)
      : facts_(facts), constraint_(constraint), out_(out) {}

  const OperationFacts& facts() const { return facts_; }
  size_t size() const { return constraint_.operands.size(); }
  // Operand i of the constraint; "" if it has fewer.
  std::string_view Name(size_t i) const {
    return i < size() ? constraint_.operands[i] : std::string_view();
  }
  bool Has(size_t i) const { return facts_.Has(Name(i)); }
  // Those of OperationFacts.
  std::optional<Sizes> SizesOf(size_t i) const { return facts_.SizesOf(Name(i)); }
  std::optional<int64_t> RankOf(size_t i) const { return facts_.RankOf(Name(i)); }
  int64_t SizeOf(size_t i, int64_t axis) const { return facts_.SizeOf(Name(i), axis); }
  std::optional<std::vector<int64_t>> Ints(size_t i, int64_t count = 1) const {
    return facts_.Ints(Name(i), count);
  }
  std::optional<int64_t> Int(size_t i) const { return facts_.Int(Name(i)); }
  std::optional<bool> Bool(size_t i) const { return facts_.Bool(Name(i)); }
  std::optional<std::string> Text(size_t i) const { return facts_.Text(Name(i)); }
  std::optional<int64_t> Axis(size_t i, int64_t rank) const { return facts_.Axis(Name(i), rank); }

  // A misfit of the operands.
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) const {
    Append(Misfit::About::kOperand, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void AddResult(fmt::format_string<Args...> format, Args&&... args) const {
    Append(Misfit::About::kResult, fmt::format(format, std::forward<Args>(args)...));
  }
  // "input bias has 3 elements; it needs 4, ..." if both are known and differ.
  void NeedSize(size_t i, int64_t axis, int64_t size, std::string_view why) const;
  // Whether the axis, operand i, is in range.
  bool NeedAxis(size_t i, int64_t rank) const;
  // A misfit of result i if it does not have these sizes.
  void NeedResult(size_t i, const std::optional<Sizes>& sizes) const;

 private:
  void Append(Misfit::About about, std::string text) const;

  const OperationFacts& facts_;
  const Constraint& constraint_;
  std::vector<Misfit>& out_;
};

struct ConstraintRow {
  Label label;
  void (*check)(const ConstraintAt& c);
};

// nullptr if the label is not checked by a function of its own.
const ConstraintRow* RowOf(Label label);

// The parts of the table (program/constraints/*.cc).
std::span<const ConstraintRow> NumberConstraints();
std::span<const ConstraintRow> LikenessConstraints();
std::span<const ConstraintRow> AxisConstraintRows();
std::span<const ConstraintRow> ShapeConstraintRows();
std::span<const ConstraintRow> SliceConstraintRows();
std::span<const ConstraintRow> BlockConstraintRows();
std::span<const ConstraintRow> ControlConstraintRows();
std::span<const ConstraintRow> ProductConstraintRows();
std::span<const ConstraintRow> WindowConstraintRows();
std::span<const ConstraintRow> RecurrentConstraintRows();
std::span<const ConstraintRow> IndexConstraintRows();
std::span<const ConstraintRow> ImageConstraintRows();
std::span<const ConstraintRow> CompressedConstraintRows();

}  // namespace nn::coreml::program

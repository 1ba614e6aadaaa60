// The constraints of NNAPI 1.0 on operations and operands (types.hal), each with a label.
//
// Signatures (signature.h) name the constraints of each operation. Rules report the violations in a
// file; legalization writes each node on trial and refuses a node that violates one. The exporter
// therefore accepts exactly what the rules accept.
//
// Design: docs/design/034-trial-writes.md.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/nnapi/file/operation.h"

namespace nn::nnapi {

// A constraint that a model breaks.
struct Misfit {
  Label label;
  Site site;
  std::string text;  // "input 0 of operation 3 (RELU) has rank 5 instead of 1 to 4"
};

// Collects the violations of one constraint.
class Misfits {
 public:
  Misfits(Label label, std::vector<Misfit>& out) : label_(label), out_(out) {}

  template <typename... Args>
  void Add(Site site, fmt::format_string<Args...> format, Args&&... args) {
    out_.push_back({label_, std::move(site), fmt::format(format, std::forward<Args>(args)...)});
  }

 private:
  Label label_;
  std::vector<Misfit>& out_;
};

// An operand, whatever operations it belongs to.
struct OperandAt {
  const ModelView& view;
  size_t index;

  const Operand& operand() const { return view.native().operands[index]; }
  std::string Title() const { return view.OperandTitle(index); }
  Site At(std::string_view field) const { return {OperandPath(index, field)}; }
};

struct Constraint {
  Label label;
  // One of them is null.
  void (*check)(const OperationAt& op, Misfits& f) = nullptr;
  void (*check_operand)(const OperandAt& o, Misfits& f) = nullptr;
};

// The parts of the table (constraints/*.cc).
std::span<const Constraint> OperandConstraints();
std::span<const Constraint> ArgumentConstraints();  // of every operation, from its signature
std::span<const Constraint> ElementwiseConstraints();
std::span<const Constraint> WindowConstraints();
std::span<const Constraint> ShapeConstraints();
std::span<const Constraint> LookupConstraints();
std::span<const Constraint> MatrixConstraints();

const Constraint& ConstraintOf(Label label);

// Visits the violations of some constraints: first those of operands, then operation by operation.
// A hostile model may have millions of them.
void FindMisfits(const ModelView& model, std::span<const Label> labels,
                 const std::function<void(const Misfit&)>& visit);

// The first constraint that a model of one operation breaks, as a reason against the operation.
std::optional<Misfit> FirstMisfit(const Model& trial);

}  // namespace nn::nnapi

#include "formats/nnapi/spec/constraint.h"

#include <array>

namespace nn::nnapi {
namespace {

using Table = std::array<Constraint, kLabels>;

const Table& Constraints() {
  static const Table table = [] {
    Table all{};
    for (const auto& list :
         {OperandConstraints(), ArgumentConstraints(), ElementwiseConstraints(),
          WindowConstraints(), ShapeConstraints(), LookupConstraints(), MatrixConstraints()})
      for (const Constraint& c : list) all[static_cast<size_t>(c.label)] = c;
    return all;
  }();
  return table;
}

bool Applies(const Constraint& c, const OperationAt& op) {
  // The constraints of every operation look at the signature themselves.
  return c.label <= Label::kLastOfAll || (op.signature != nullptr && op.signature->Has(c.label));
}

}  // namespace

const Constraint& ConstraintOf(Label label) {
  return Constraints()[static_cast<size_t>(label)];
}

void FindMisfits(const ModelView& model, std::span<const Label> labels,
                 const std::function<void(const Misfit&)>& visit) {
  std::vector<Misfit> found;
  const auto visit_found = [&] {
    for (const Misfit& m : found) visit(m);
    found.clear();
  };
  std::vector<Constraint> of_operands, of_operations;
  for (const Label label : labels) {
    const Constraint& c = ConstraintOf(label);
    (c.check_operand != nullptr ? of_operands : of_operations).push_back(c);
  }
  for (const Constraint& c : of_operands)
    for (size_t i = 0; i < model.native().operands.size(); ++i) {
      Misfits misfits(c.label, found);
      c.check_operand({model, i}, misfits);
      visit_found();
    }
  for (const OperationAt& op : model.operations())
    for (const Constraint& c : of_operations) {
      if (!Applies(c, op)) continue;
      Misfits misfits(c.label, found);
      c.check(op, misfits);
      visit_found();
    }
}

std::optional<Misfit> FirstMisfit(const Model& trial) {
  const ModelView view(trial, true);
  std::optional<Misfit> first;
  for (size_t i = 0; i < kLabels && !first; ++i) {
    const auto label = static_cast<Label>(i);
    FindMisfits(view, std::span(&label, 1), [&](const Misfit& m) {
      if (!first) first = m;
    });
  }
  return first;
}

}  // namespace nn::nnapi

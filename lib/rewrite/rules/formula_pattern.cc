// Formulas as patterns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "ir/op_def.h"
#include "rewrite/rules/formula.h"
#include "rewrite/rules/formula_parts.h"

namespace nn {
namespace {

using Expression = Formula::Expression;
using Kind = Expression::Kind;

bool IsCall(const Expression& e, std::string_view op) {
  return e.kind == Kind::kCall && e.name == op;
}

// Whether it only keeps infinities out of a product or quotient.
bool IsGuard(const Expression& e) {
  const auto is_extreme = [](const auto& attr) {
    return std::abs(attr.value.number) == std::numeric_limits<float>::max();
  };
  return IsCall(e, "clip") && !e.attrs.empty() && std::ranges::all_of(e.attrs, is_extreme);
}

// The number of an expression of numbers; nullopt if attributes are among them.
std::optional<double> ConstantOf(const Expression& e) {
  if (e.kind == Kind::kNumber) return e.number;
  if (e.kind != Kind::kCall || !e.is_number) return std::nullopt;
  std::vector<double> operands;
  for (const Expression& operand : e.operands) {
    const auto number = ConstantOf(operand);
    if (!number) return std::nullopt;
    operands.push_back(*number);
  }
  return NumberOf(e.name, operands);
}

// Writes a pattern. What patterns lack makes it incomplete.
class PatternWriter {
 public:
  PatternWriter(const std::vector<std::string>& operands,
                const std::vector<const Expression*>& definitions)
      : operands_(operands), definitions_(definitions) {}

  std::string Write(const Expression& e) {
    if (const auto number = ConstantOf(e)) return fmt::format("{}", *number);
    if (IsGuard(e)) return Write(e.operands[0]);
    if (e.kind == Kind::kOperand) return operands_[e.index];
    if (e.kind == Kind::kDefinition) return Write(*definitions_[e.index]);
    if (e.kind != Kind::kCall) {
      complete_ = false;
      return {};
    }
    if (e.name == "mul" || e.name == "div" || e.name == "neg") return WriteProduct(e);
    std::vector<std::string> parts;
    for (const Expression& operand : e.operands) parts.push_back(Write(operand));
    for (const auto& [name, value] : e.attrs) {
      const auto number = ConstantOf(value);
      complete_ &= number.has_value();
      parts.push_back(fmt::format("{} = {}", name, number.value_or(0)));
    }
    return fmt::format("{}({})", e.name, fmt::join(parts, ", "));
  }

  bool complete() const { return complete_; }

 private:
  std::string WriteProduct(const Expression& e) {
    double number = 1;
    std::vector<std::string> factors;
    AddFactors(e, /*inverse=*/false, number, factors);
    if (number != 1) factors.insert(factors.begin(), fmt::format("{}", number));
    return fmt::format("product({})", fmt::join(factors, ", "));
  }

  void AddFactors(const Expression& e, bool inverse, double& number,
                  std::vector<std::string>& factors) {
    if (const auto constant = ConstantOf(e)) {
      number *= inverse ? 1 / *constant : *constant;
    } else if (e.kind == Kind::kDefinition) {
      AddFactors(*definitions_[e.index], inverse, number, factors);
    } else if (IsCall(e, "mul") || IsCall(e, "div")) {
      AddFactors(e.operands[0], inverse, number, factors);
      AddFactors(e.operands[1], inverse != (e.name == "div"), number, factors);
    } else if (IsCall(e, "neg")) {
      number = -number;
      AddFactors(e.operands[0], inverse, number, factors);
    } else {
      factors.push_back(inverse ? fmt::format("inverse({})", Write(e)) : Write(e));
    }
  }

  const std::vector<std::string>& operands_;
  const std::vector<const Expression*>& definitions_;
  bool complete_ = true;
};

void AddOperators(const Expression& e, std::vector<std::string>& out) {
  for (const Expression& operand : e.operands) AddOperators(operand, out);
  if (e.kind == Kind::kCall && !e.is_number && !std::ranges::count(out, e.name))
    out.push_back(e.name);
}

}  // namespace

std::vector<std::string> Formula::Operators() const {
  std::vector<std::string> out;
  for (const Definition& d : definitions_) AddOperators(d.value, out);
  AddOperators(*result_, out);
  return out;
}

std::optional<std::string> Formula::AsPattern() const {
  std::vector<const Expression*> definitions;
  for (const Definition& d : definitions_) definitions.push_back(&d.value);
  PatternWriter writer(operands_, definitions);
  std::string out = writer.Write(*result_);
  return writer.complete() ? std::optional(std::move(out)) : std::nullopt;
}

Result<Attrs> Formula::AttrsOfEquations() const {
  Attrs out(Ops().Find(op_)->attrs);
  for (const Expression& condition : conditions_) {
    if (!IsCall(condition, "equal") || condition.operands[0].kind != Kind::kAttribute) continue;
    const Expression& value = condition.operands[1];
    const AttrValue wanted = value.kind == Kind::kWord
                                 ? AttrValue(EnumValue{value.name})
                                 : AttrValue(static_cast<float>(ConstantOf(value).value_or(0)));
    NN_ASSIGN(out, out.With(condition.operands[0].name, wanted));
  }
  return out;
}

}  // namespace nn

// Applying formulas to nodes.
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/checked_math.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/support/insert_before.h"
#include "rewrite/rules/formula.h"
#include "rewrite/rules/formula_parts.h"

namespace nn {
namespace {

using Expression = Formula::Expression;
using Kind = Expression::Kind;

double NumberOfAttribute(const Node& node, const std::string& name) {
  const AttrValue value = *node.attrs().Get(name);
  if (const auto* const v = std::get_if<float>(&value)) return *v;
  if (const auto* const v = std::get_if<int64_t>(&value)) return static_cast<double>(*v);
  const auto* const v = std::get_if<bool>(&value);
  return v != nullptr && *v ? 1 : 0;
}

// A number as the value of an attribute of the same kind as another value.
AttrValue NumberLike(const AttrValue& like, double number) {
  if (std::holds_alternative<int64_t>(like)) return static_cast<int64_t>(number);
  if (std::holds_alternative<bool>(like)) return number != 0;
  return static_cast<float>(number);
}

bool IsOfType(const std::string& name, DType dtype) {
  if (name == "float") return IsFloat(dtype);
  if (name == "integer") return IsInteger(dtype);
  return ParseDType(name) == dtype;
}

bool HasQuantized(std::span<Value* const> values) {
  return std::ranges::any_of(values,
                             [](const Value* v) { return v != nullptr && v->type().quantized(); });
}

// What a formula makes of a node. Values are those of the definitions so far.
class FormulaRun : public InsertBefore {
 public:
  using InsertBefore::InsertBefore;

  // A number, or a value.
  using Item = std::variant<double, Value*>;

  Status Define(const Expression& value) {
    NN_ASSIGN(Item item, Evaluate(value));
    definitions_.push_back(item);
    return {};
  }

  Result<Item> Evaluate(const Expression& e) {
    switch (e.kind) {
      case Kind::kOperand:
        return node_.input(e.index);
      case Kind::kDefinition:
        return definitions_[e.index];
      case Kind::kAttribute:
        return NumberOfAttribute(node_, e.name);
      case Kind::kCall:
        return Call(e);
      default:
        return e.number;
    }
  }

  std::vector<Node*> TakeNodes() { return std::move(nodes_); }

 private:
  Result<Item> Call(const Expression& e) {
    std::vector<Item> operands;
    for (const Expression& operand : e.operands) {
      NN_ASSIGN(const Item item, Evaluate(operand));
      operands.push_back(item);
    }
    if (e.is_number) return *NumberOf(e.name, Numbers(operands));
    std::vector<Term> terms;
    for (const Item& item : operands)
      terms.push_back(std::visit([](const auto& v) { return Term(v); }, item));
    NN_ASSIGN(std::vector<Value*> inputs, BuildOperands(e.name, std::move(terms)));
    NN_ASSIGN(Attrs attrs, AttrsOf(e));
    NN_ASSIGN(Node* const n, AddNode(e.name, std::move(inputs), std::move(attrs), 1));
    if (auto folded = Folded(*n)) {
      graph_.Erase(n);
      return graph_.AddConstant(*std::move(folded));
    }
    nodes_.push_back(n);
    return n->output();
  }

  // The result for constants.
  static std::optional<Tensor> Folded(const Node& n) {
    constexpr int64_t kMaxElements = int64_t{1} << 20;
    const auto dims = n.output()->type().const_dims();
    if (!dims || CheckedElements(*dims).value_or(kMaxElements + 1) > kMaxElements)
      return std::nullopt;
    std::vector<const Tensor*> inputs;
    for (const Value* v : n.inputs()) {
      if (!v->is_constant() || v->constant().elements() > kMaxElements) return std::nullopt;
      inputs.push_back(&v->constant());
    }
    auto results = EvalNode(n, inputs);
    return results ? std::optional(std::move(results->front())) : std::nullopt;
  }

  static std::vector<double> Numbers(const std::vector<Item>& items) {
    std::vector<double> out;
    for (const Item& item : items) out.push_back(std::get<double>(item));
    return out;
  }

  Result<Attrs> AttrsOf(const Expression& call) {
    Attrs out(Ops().Find(call.name)->attrs);
    for (const auto& [name, e] : call.attrs) {
      NN_ASSIGN(const AttrValue value, AttributeOf(e, *out.Get(name)));
      NN_ASSIGN(out, out.With(name, value));
    }
    return out;
  }

  // The value of an attribute, of which `like` is another value.
  Result<AttrValue> AttributeOf(const Expression& e, const AttrValue& like) {
    if (e.kind == Kind::kAttribute) return *node_.attrs().Get(e.name);
    if (e.kind == Kind::kWord && e.name == "dtype") return node_.input(0)->dtype();
    if (e.kind == Kind::kWord && std::holds_alternative<DType>(like)) return *ParseDType(e.name);
    if (e.kind == Kind::kWord) return EnumValue{e.name};
    if (e.kind != Kind::kList) {
      NN_ASSIGN(const Item number, Evaluate(e));
      return NumberLike(like, std::get<double>(number));
    }
    std::vector<int64_t> list;
    for (const Expression& element : e.operands) {
      NN_ASSIGN(const Item number, Evaluate(element));
      list.push_back(static_cast<int64_t>(std::get<double>(number)));
    }
    return list;
  }

  std::vector<Item> definitions_;
  std::vector<Node*> nodes_;
};

// `element`: of the operand.
double NumberIn(const Expression& e, const Node& node, double element = 0) {
  if (e.kind == Kind::kOperand) return element;
  if (e.kind == Kind::kAttribute) return NumberOfAttribute(node, e.name);
  if (e.kind != Kind::kCall) return e.number;
  std::vector<double> operands;
  for (const Expression& operand : e.operands) operands.push_back(NumberIn(operand, node, element));
  return *NumberOf(e.name, operands);
}

// Whether a condition holds for all elements of a constant operand.
bool HoldsForElements(const Expression& condition, const Node& node, const Value& operand) {
  if (!operand.is_constant()) return false;
  const Tensor& t = operand.constant();
  for (int64_t i = 0; i < t.elements(); ++i)
    if (NumberIn(condition, node, t.GetDouble(i)) == 0) return false;
  return true;
}

}  // namespace

bool Formula::Holds(const Expression& condition, const Node& node) const {
  if (condition.kind == Kind::kTypes)
    return std::ranges::any_of(condition.operands, [&](const Expression& type) {
      return IsOfType(type.name, node.input(0)->dtype());
    });
  std::vector<size_t> operands;
  AddOperands(condition, operands);
  if (!operands.empty()) return HoldsForElements(condition, node, *node.input(operands.front()));
  if (condition.kind != Kind::kCall || condition.operands.back().kind != Kind::kWord)
    return NumberIn(condition, node) != 0;
  const AttrValue value = *node.attrs().Get(condition.operands[0].name);
  const bool same = value == AttrValue(EnumValue{condition.operands[1].name});
  return same == (condition.name == "equal");
}

bool Formula::AppliesTo(const Node& node) const {
  const auto present = [](const Value* v) { return v != nullptr; };
  return node.Is(op_) && node.outputs().size() == 1 &&
         static_cast<size_t>(std::ranges::count_if(node.inputs(), present)) == operands_.size() &&
         std::ranges::all_of(node.inputs().first(operands_.size()), present) &&
         !HasQuantized(node.inputs()) && !HasQuantized(node.outputs()) &&
         (uses_all_operands_ || node.input(0)->type().dims == node.output()->type().dims) &&
         std::ranges::all_of(conditions_,
                             [&](const Expression& condition) { return Holds(condition, node); });
}

Result<Formula::Built> Formula::Build(Graph& graph, Node& node) const {
  FormulaRun run(graph, node);
  for (const Definition& d : definitions_) NN_RETURN_IF_ERROR(run.Define(d.value));
  NN_ASSIGN(const FormulaRun::Item result, run.Evaluate(*result_));
  return Built{std::get<Value*>(result), run.TakeNodes()};
}

}  // namespace nn

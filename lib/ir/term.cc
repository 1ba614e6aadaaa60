#include "ir/term.h"

#include "ir/op_def.h"
#include "ir/text/number.h"

namespace nn {

struct Term::Application {
  std::string_view op;
  Terms operands;
  Attrs attrs;
  size_t results;
  Node* node = nullptr;  // null: not added yet
};

struct Term::Constant {
  Tensor tensor;
  Value* value = nullptr;  // null: not added yet
};

Term::Term(Tensor constant)
    : item_(std::make_shared<Constant>(Constant{.tensor = std::move(constant)})) {}

bool Term::is_absent() const {
  const auto* const v = std::get_if<Value*>(&item_);
  return v != nullptr && *v == nullptr;
}

std::vector<Term> ApplyAll(std::string_view op, Terms operands, Attrs attrs, size_t results) {
  const auto application = std::make_shared<Term::Application>(
      Term::Application{op, std::move(operands), std::move(attrs), results});
  std::vector<Term> out;
  out.reserve(results);
  for (size_t i = 0; i < results; ++i) out.push_back(Term(Term::Part{application, i}));
  return out;
}

Term Apply(std::string_view op, Terms operands, Attrs attrs) {
  return Term(Term::Part{std::make_shared<Term::Application>(
                             Term::Application{op, std::move(operands), std::move(attrs), 1}),
                         0});
}

Term operator+(Term a, Term b) {
  return Apply("add", {std::move(a), std::move(b)});
}

Term operator-(Term a, Term b) {
  return Apply("sub", {std::move(a), std::move(b)});
}

Term operator*(Term a, Term b) {
  return Apply("mul", {std::move(a), std::move(b)});
}

Term operator/(Term a, Term b) {
  return Apply("div", {std::move(a), std::move(b)});
}

Term operator-(Term a) {
  return Apply("neg", {std::move(a)});
}

Result<Value*> NodeInserter::Build(const Term& term) {
  if (const auto* const v = std::get_if<Value*>(&term.item_)) return *v;
  if (const auto* const number = std::get_if<double>(&term.item_))
    return BuildNumber(*number, DType::kF32);
  if (const auto* const c = std::get_if<std::shared_ptr<Term::Constant>>(&term.item_)) {
    Term::Constant& constant = **c;
    if (constant.value == nullptr) constant.value = graph_of_terms().AddConstant(constant.tensor);
    return constant.value;
  }
  const auto& part = std::get<Term::Part>(term.item_);
  Term::Application& a = *part.of;
  if (a.node == nullptr) {
    NN_ASSIGN(std::vector<Value*> inputs, BuildOperands(a.op, a.operands));
    NN_ASSIGN(a.node, InsertNode(a.op, std::move(inputs), a.attrs, a.results));
  }
  return a.node->output(part.result);
}

Result<std::vector<Value*>> NodeInserter::BuildOperands(std::string_view op, const Terms& terms) {
  std::vector<Value*> values;
  values.reserve(terms.list().size());
  for (const Term& term : terms.list()) {
    const bool is_number = std::holds_alternative<double>(term.item_);
    NN_ASSIGN(Value* const v, is_number ? Result<Value*>(nullptr) : Build(term));
    values.push_back(v);
  }
  const OpDef* const def = Ops().Find(op);
  const auto has_own_type = [&](size_t i) {
    return def != nullptr && i < def->inputs.size() && def->inputs[i].has_own_type;
  };
  size_t typed = 0;
  while (typed < values.size() && (values[typed] == nullptr || has_own_type(typed))) ++typed;
  const DType dtype = typed < values.size() ? values[typed]->dtype() : DType::kF32;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto* const number = std::get_if<double>(&terms.list()[i].item_);
    if (number == nullptr) continue;
    NN_ASSIGN(values[i], BuildNumber(*number, dtype));
  }
  return values;
}

Result<Value*> NodeInserter::BuildNumber(double number, DType dtype) {
  NN_ASSIGN(Tensor tensor, Number(dtype, number));
  return graph_of_terms().AddConstant(std::move(tensor));
}

}  // namespace nn

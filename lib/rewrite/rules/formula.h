// Formulas: what an operator is in terms of others, as text.
//
//   formula    = head '=' body [ 'where' condition { ',' condition } ]
//   head       = operator '(' operand { ',' operand } ')'
//   body       = { name '=' expression ';' } expression
//   expression = number | name | call | expressions with + - * / < <= > >= == != and parentheses
//   call       = operator '(' expression { ',' expression } { ',' attribute '=' value } ')'
//   value      = expression | '[' expression { ',' expression } ']' | enumerator | type
//   condition  = type { '|' type } | expression
//
// A name is an operand, a definition of the body, an attribute of the head's operator, or one of
// the numbers `inf`, `pi`, `lowest`, `largest` and `least_normal`, of which the last three are
// those of float32. What consists of numbers only is computed in double when the formula is
// applied. A number beside a value has the element type of that value. As the value of an
// attribute, `dtype` is the element type of the first operand.
//
// A formula can be a helper of others, which call it like an operator. Its nodes precede those of
// the expression that the call is in.
//
// A node that the formula is for has exactly the inputs of the head, and no quantized values. A
// condition on types is about the first operand; `float` and `integer` are groups of types.
// Other conditions hold if they are not 0; a bool is 0 or 1. An attribute can be compared with its
// enumerators: `approximate == tanh`. A condition on an operand holds if the operand is constant
// and the condition holds for each of its elements: `exponent == 2`. An operand that is only in
// conditions must not give the result another shape than that of the first operand.
//
// Nodes are added in the order of the text: definitions before what follows them, operands from
// left to right before their operator. Operations on constants are constants, unless those are very
// large.
//
// Design: docs/design/070-rules.md.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

class Formula {
 public:
  struct Expression;  // a part of a formula

  // kUsage if the text is no formula, or names an unknown operator, attribute, enumerator or value.
  static Result<Formula> Parse(std::string_view text, std::span<const Formula> helpers = {});
  // The same for one whose head is no operator.
  static Result<Formula> ParseHelper(std::string_view text, std::span<const Formula> helpers = {});
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;
  ~Formula();

  // The operator that it is a formula of.
  const std::string& op() const { return op_; }
  // The inputs of the operator, by the names that the formula gives them.
  const std::vector<std::string>& operands() const { return operands_; }
  // The operators of the body, in order, each once.
  std::vector<std::string> Operators() const;

  // Whether a node is of the operator, and the conditions hold.
  bool AppliesTo(const Node& node) const;
  struct Built {
    Value* result;
    std::vector<Node*> nodes;
  };
  // Adds the nodes of the body before the node, with its source. Requires AppliesTo().
  Result<Built> Build(Graph& graph, Node& node) const;

  // The body as a pattern (pattern.h) whose variables are the operands: products match in any order
  // and nesting, and a clip at `lowest` or `largest` matches without it. nullopt if patterns do not
  // have what it consists of.
  std::optional<std::string> AsPattern() const;
  // The attributes of the operator for which the conditions hold: those of equations, and defaults.
  Result<Attrs> AttrsOfEquations() const;

 private:
  friend class FormulaReader;
  struct Definition;

  Formula();
  bool Holds(const Expression& condition, const Node& node) const;

  std::string op_;
  std::vector<std::string> operands_;
  std::vector<Definition> definitions_;
  std::unique_ptr<Expression> result_;
  std::vector<Expression> conditions_;
  bool uses_all_operands_ = true;  // in the body
};

}  // namespace nn

// Nodes as expressions: what imports and rewrites add to a graph.
//
//   NN_ASSIGN(Value* const y, inserter.Build(Apply("tanh", {x * 2.0}) + bias));
//
// Design: docs/design/071-terms.md.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"

namespace nn {

class Terms;

// A value, a constant, or an operator applied to terms, whose node NodeInserter::Build() adds.
// Terms are cheap to copy. All copies become the same node, which is added once, so a term belongs
// to one graph, which must not erase the node while the term is in use.
class Term {
 public:
  Term() = default;             // an absent optional operand
  Term(Value* v) : item_(v) {}  // NOLINT(google-explicit-constructor): null: absent
  Term(Tensor constant);        // NOLINT(google-explicit-constructor)
  // A scalar of the element type of the other operands, which must represent it; f32 without any.
  template <typename T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) Term(T number)
      : item_(static_cast<double>(number)) {}  // NOLINT(google-explicit-constructor)

  bool is_absent() const;

 private:
  friend class NodeInserter;
  friend Term Apply(std::string_view op, Terms operands, Attrs attrs);
  friend std::vector<Term> ApplyAll(std::string_view op, Terms operands, Attrs attrs,
                                    size_t results);

  struct Application;
  struct Constant;
  struct Part {
    std::shared_ptr<Application> of;
    size_t result;
  };
  explicit Term(Part part) : item_(std::move(part)) {}

  std::variant<Value*, double, std::shared_ptr<Constant>, Part> item_ = nullptr;
};

// The operands of an operator.
class Terms {
 public:
  Terms() = default;
  Terms(std::initializer_list<Term> terms) : terms_(terms) {}
  Terms(std::vector<Term> terms) : terms_(std::move(terms)) {}                     // NOLINT
  Terms(std::span<Value* const> values) : terms_(values.begin(), values.end()) {}  // NOLINT
  Terms(const std::vector<Value*>& values) : Terms(std::span(values)) {}           // NOLINT

  std::span<const Term> list() const { return terms_; }

 private:
  std::vector<Term> terms_;
};

// The result of an operator with one result. The name must outlive the term.
Term Apply(std::string_view op, Terms operands, Attrs attrs = {});
// All results of an operator with several ones.
std::vector<Term> ApplyAll(std::string_view op, Terms operands, Attrs attrs, size_t results);

// add, sub, mul, div and neg.
Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator-(Term a);

// Adds the nodes of terms to a graph. Derived classes say where, and what else a node has.
class NodeInserter {
 public:
  // The value of a term, after adding nodes for those of its parts that have none yet: operands
  // from left to right, then their operator. Recursive; loops build a term in each iteration. Null
  // for an absent operand. The error of inference if an operator does not accept its operands; some
  // nodes may then have been added.
  Result<Value*> Build(const Term& term);
  // The value of a new operator with one result.
  Result<Value*> Add(std::string_view op, Terms operands, Attrs attrs = {}) {
    return Build(Apply(op, std::move(operands), std::move(attrs)));
  }
  // The values of operands. Numbers get the element type of the others, `op` being their operator.
  Result<std::vector<Value*>> BuildOperands(std::string_view op, const Terms& terms);

 protected:
  ~NodeInserter() = default;

  virtual Graph& graph_of_terms() = 0;
  // Adds a node with inferred types.
  virtual Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                   size_t results) = 0;

 private:
  Result<Value*> BuildNumber(double number, DType dtype);
};

}  // namespace nn

// Formulas as nodes of a graph, for rewrites (rewrites.h).
// Design: docs/design/038-nnapi-arithmetic.md.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "rewrite/expand.h"

namespace nn::nnapi {

class Term;

// Builds a formula before a node. After an error all further terms are null.
//
// A compiler may evaluate either operand of + and * first. The finished nodes are in the order of a
// walk from the result, so that all compilers write the same models.
class Terms {
 public:
  Terms(Graph& graph, Node& node) : graph_(graph), node_(node), e_(graph, node) {}

  Term Of(Value* v);
  Term Apply(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {});
  Term Shaped(Value* v, const std::vector<int64_t>& dims);
  Value* Number(double v) { return e_.Constant(Tensor::Scalar(static_cast<float>(v))); }
  Value* Constant(Tensor tensor) { return e_.Constant(std::move(tensor)); }
  // The value of a formula, or the error of one of its parts.
  Result<Value*> ValueOf(Term y);
  // Replaces the node.
  Result<bool> Replace(Term y);

 private:
  // The result of a new node.
  Term Keep(Result<Value*> v);
  // Puts the new nodes that `y` needs in order, before the other ones.
  void Arrange(Value* y);

  Graph& graph_;
  Node& node_;
  Expansion e_;
  std::vector<Node*> unordered_;
  Status status_;
};

class Term {
 public:
  Term(Terms* terms, Value* value) : terms_(terms), value_(value) {}

  Terms& terms() const { return *terms_; }
  Value* value() const { return value_; }
  Term Function(std::string_view op, Attrs attrs = {}) const {
    return terms_->Apply(op, {value_}, std::move(attrs));
  }

  friend Term operator+(Term a, Term b) { return a.terms_->Apply("add", {a.value_, b.value_}); }
  friend Term operator*(Term a, Term b) { return a.terms_->Apply("mul", {a.value_, b.value_}); }
  friend Term operator+(Term a, double b) {
    return a.terms_->Apply("add", {a.value_, a.terms_->Number(b)});
  }
  friend Term operator*(Term a, double b) {
    return b == 1 ? a : a.terms_->Apply("mul", {a.value_, a.terms_->Number(b)});
  }
  friend Term operator-(Term a) { return a * -1.0; }

 private:
  Terms* terms_;
  Value* value_;
};

Term Relu(Term x);
// |x|.
Term Magnitude(Term x);
// min(x, 1) of numbers that are not below -1.
Term AtMostOne(Term x);
// x within [-1, 1].
Term Unit(Term x);
// 1 where x > 0, 0 where it is not, exactly.
Term Step(Term x);
// -1, 0 or 1.
Term SignOf(Term x);
// 0, and infinity where a step is 1.
Term InfiniteAt(Term step);

}  // namespace nn::nnapi

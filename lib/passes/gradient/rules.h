// The derivatives of operators, for passes/gradient/gradient.h.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// The derivatives of y with respect to the values on which it depends, and the nodes that compute
// them. After an error, all functions return null, and status() has the first error.
class Adjoints {
 public:
  explicit Adjoints(Graph& graph) : graph_(graph) {}

  const Status& status() const { return status_; }
  Value* Fail(Error error);

  Value* Op(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {});
  // The outputs of an operator with several; as many null pointers after an error.
  std::vector<Value*> Outputs(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                              size_t count);
  Value* Add(Value* a, Value* b) { return Op("add", {a, b}); }
  Value* Sub(Value* a, Value* b) { return Op("sub", {a, b}); }
  Value* Mul(Value* a, Value* b) { return Op("mul", {a, b}); }
  Value* Div(Value* a, Value* b) { return Op("div", {a, b}); }
  Value* Neg(Value* a) { return Op("neg", {a}); }
  Value* Square(Value* a) { return Mul(a, a); }
  Value* Select(Value* condition, Value* a, Value* b) { return Op("select", {condition, a, b}); }
  Value* Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  // A scalar of the type of `like`.
  Value* Number(const Value* like, double v);
  Value* Plus(Value* a, double v) { return Add(a, Number(a, v)); }
  Value* Times(Value* a, double v) { return Mul(a, Number(a, v)); }
  Value* Less(Value* a, double v) { return Op("less", {a, Number(a, v)}); }
  Value* Greater(Value* a, double v) { return Op("greater", {a, Number(a, v)}); }
  // `a` where the condition holds, else 0.
  Value* Where(Value* condition, Value* a) { return Select(condition, a, Number(a, 0)); }
  // `a` where the condition does not hold, else 0.
  Value* Unless(Value* condition, Value* a) { return Select(condition, Number(a, 0), a); }
  Value* Cast(Value* a, DType dtype);
  Value* Zeros(Value* like) { return Expanded(Number(like, 0), like); }

  // The elements of v in the shape of `like`; in one axis.
  Value* Reshaped(Value* v, Value* like);
  Value* Flat(Value* v);
  // v broadcast to the shape of `like`.
  Value* Expanded(Value* v, Value* like);
  // The sum over the axes along which `like` is broadcast to v.
  Value* SummedLike(Value* v, Value* like);

  // Whether the derivative with respect to a value is needed.
  bool Wants(const Value* v) const { return v != nullptr && wanted_.contains(v); }
  void Want(const Value* v) { wanted_.insert(v); }
  // Adds `part`, of the shape of v, to the derivative with respect to v, if that is needed.
  void Pass(const Value* v, Value* part);
  // The same for an operand that is broadcast.
  void PassBroadcast(Value* v, Value* part);
  // The derivative with respect to a value; null if it is zero.
  Value* Of(const Value* v) const;

 private:
  Graph& graph_;
  Status status_;
  std::unordered_set<const Value*> wanted_;
  std::unordered_map<const Value*, Value*> derivatives_;
};

// Passes the derivatives with respect to the outputs, `dy`, on to the inputs. An output without a
// derivative has null, but not all of them.
using GradientRule = void (*)(Adjoints& g, const Node& node, std::span<Value* const> dy);
// For operators of one input: the derivative with respect to it, or null if it is zero.
using UnaryGradient = Value* (*)(Adjoints& g, const Node& node, Value* dy);

struct GradientRow {
  std::string_view op;
  GradientRule rule = nullptr;
  UnaryGradient unary = nullptr;  // instead of `rule`
};

// gradient_elementwise.cc, gradient_array.cc, gradient_products.cc, gradient_windows.cc
std::span<const GradientRow> ElementwiseGradients();
std::span<const GradientRow> ArrayGradients();
std::span<const GradientRow> ProductGradients();
std::span<const GradientRow> WindowGradients();

}  // namespace nn

#include "passes/gradient/gradient.h"

#include <algorithm>

#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "passes/gradient/rules.h"
#include "rewrite/rules/rules.h"

namespace nn {
namespace {

using GradientTable = std::unordered_map<std::string_view, GradientRow>;

const GradientTable& GradientRules() {
  static const GradientTable table = [] {
    GradientTable t;
    for (const auto rows :
         {ElementwiseGradients(), ArrayGradients(), ProductGradients(), WindowGradients()})
      for (const GradientRow& row : rows) t.emplace(row.op, row);
    return t;
  }();
  return table;
}

// The nodes on which y depends, each after those of its operands, up to the values that are wanted.
std::vector<Node*> NodesBefore(const Value* y, const Adjoints& g) {
  struct Open {
    Node* node;
    size_t next = 0;
  };
  std::vector<Node*> order;
  std::unordered_set<const Node*> seen;
  std::vector<Open> stack;
  const auto open = [&](const Value* v) {
    if (v == nullptr || v->def() == nullptr || g.Wants(v)) return;
    if (seen.insert(v->def()).second) stack.push_back({v->def()});
  };
  open(y);
  while (!stack.empty()) {
    Open& top = stack.back();
    if (top.next < top.node->inputs().size()) {
      open(top.node->input(top.next++));
      continue;
    }
    order.push_back(top.node);
    stack.pop_back();
  }
  return order;
}

bool HasGradient(const Node* node) {
  return GradientRules().contains(node->op_name());
}

// Whether derivatives pass through the node, or none arrive, as at a comparison.
bool TakesGradient(const Node* node) {
  return HasGradient(node) || !IsFloat(node->output()->dtype());
}

// Wants the derivatives with respect to the outputs that depend on a wanted input.
void WantOutputs(Adjoints& g, const Node& node) {
  if (std::ranges::none_of(node.inputs(), [&](const Value* v) { return g.Wants(v); })) return;
  for (const Value* v : node.outputs())
    if (IsFloat(v->dtype()) || v->dtype() == DType::kUnknown) g.Want(v);
}

// The nodes of a rule for a node (rewrite/rules/rules.h), before it, if all have derivatives.
Result<std::optional<Formula::Built>> BuildRule(Graph& graph, Node& node) {
  for (const FormulaRule* const rule : RulesOf(node.op_name())) {
    if (!rule->formula.AppliesTo(node)) continue;
    NN_ASSIGN(Formula::Built built, rule->formula.Build(graph, node));
    if (std::ranges::all_of(built.nodes, TakesGradient)) return built;
    for (auto it = built.nodes.rbegin(); it != built.nodes.rend(); ++it) graph.Erase(*it);
  }
  return std::nullopt;
}

// Passes the derivatives of a node's outputs to its inputs.
void PassThrough(Graph& graph, Adjoints& g, Node& node) {
  std::vector<Value*> dy;
  for (const Value* output : node.outputs()) dy.push_back(g.Of(output));
  if (std::ranges::all_of(dy, [](const Value* v) { return v == nullptr; })) return;
  if (HasGradient(&node)) {
    const GradientRow& row = GradientRules().at(node.op_name());
    if (row.unary == nullptr) return row.rule(g, node, dy);
    if (Value* const dx = row.unary(g, node, dy[0])) g.Pass(node.input(0), dx);
    return;
  }
  const auto built = BuildRule(graph, node);
  if (!built || !*built) {
    g.Fail(built ? UnsupportedError("Gradient through {} is unsupported", node.Describe()).value()
                 : built.error());
    return;
  }
  for (const Node* n : (*built)->nodes) WantOutputs(g, *n);
  g.Pass((*built)->result, dy[0]);
  for (auto n = (*built)->nodes.rbegin(); g.status() && n != (*built)->nodes.rend(); ++n)
    PassThrough(graph, g, **n);
}

}  // namespace

Value* Adjoints::Fail(Error error) {
  if (status_) status_ = tl::unexpected(std::move(error));
  return nullptr;
}

Value* Adjoints::Op(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  if (!status_) return nullptr;
  auto node = graph_.Append(op, std::move(inputs), std::move(attrs));
  return node ? (*node)->output() : Fail(std::move(node).error());
}

std::vector<Value*> Adjoints::Outputs(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                      size_t count) {
  if (status_) {
    auto node = graph_.Append(op, std::move(inputs), std::move(attrs), count);
    if (node) return {(*node)->outputs().begin(), (*node)->outputs().end()};
    Fail(std::move(node).error());
  }
  return std::vector<Value*>(count, nullptr);
}

Value* Adjoints::Number(const Value* like, double v) {
  if (!status_) return nullptr;
  auto number = nn::Number(like->dtype(), v);
  return number ? Constant(*std::move(number)) : Fail(std::move(number).error());
}

Value* Adjoints::Cast(Value* a, DType dtype) {
  if (!status_ || a->dtype() == dtype) return a;
  return Op("cast", {a}, CastAttrs{.to = dtype});
}

Value* Adjoints::Reshaped(Value* v, Value* like) {
  if (!status_) return nullptr;
  if (like->type().const_dims()) return Op("reshape", {v}, ReshapeAttrs{*like->type().dims, false});
  Value* const shape = Op("shape_of", {like}, ShapeOfAttrs{});
  return Op("reshape", {v, shape}, ReshapeAttrs{});
}

Value* Adjoints::Flat(Value* v) {
  return Op("reshape", {v}, ReshapeAttrs{{Dim(-1)}, false});
}

Value* Adjoints::Expanded(Value* v, Value* like) {
  if (!status_) return nullptr;
  if (like->type().const_dims()) {
    if (v->type().dims == like->type().dims) return v;
    return Op("expand", {v}, ExpandAttrs{*like->type().dims});
  }
  Value* const shape = Op("shape_of", {like}, ShapeOfAttrs{});
  return Op("expand", {v, shape}, ExpandAttrs{});
}

Value* Adjoints::SummedLike(Value* v, Value* like) {
  if (!status_) return nullptr;
  const Type &from = v->type(), &to = like->type();
  const auto unknown = [&] {
    return Fail(UnsupportedError("Gradient of a broadcast of {} to {} is unsupported: the axes "
                                 "that repeat are unknown",
                                 to.ToString(), from.ToString())
                    .value());
  };
  if (!from.ranked() || !to.ranked() || to.rank() > from.rank()) return unknown();
  const int extra = from.rank() - to.rank();
  std::vector<int64_t> axes, leading;
  for (int i = 0; i < from.rank(); ++i) {
    if (i < extra) {
      leading.push_back(i);
      axes.push_back(i);
      continue;
    }
    const Dim &wide = from.dim(i), &own = to.dim(i - extra);
    if (wide == own) continue;
    if (!own.is_const() || own.value() != 1) return unknown();
    axes.push_back(i);
  }
  if (!axes.empty()) v = Op("reduce_sum", {v}, ReduceAttrs{axes, true});
  if (!leading.empty()) v = Op("squeeze", {v}, AxesAttrs{leading});
  return v;
}

void Adjoints::Pass(const Value* v, Value* part) {
  if (!status_ || !Wants(v)) return;
  Value*& sum = derivatives_[v];
  sum = sum == nullptr ? part : Add(sum, part);
}

void Adjoints::PassBroadcast(Value* v, Value* part) {
  if (status_ && Wants(v)) Pass(v, SummedLike(part, v));
}

Value* Adjoints::Of(const Value* v) const {
  const auto it = derivatives_.find(v);
  return it == derivatives_.end() ? nullptr : it->second;
}

Result<std::vector<Value*>> AddGradient(Graph& graph, Value* y, std::span<Value* const> xs) {
  Adjoints g(graph);
  for (const Value* v : xs) {
    if (!IsFloat(v->dtype()))
      return ModelError("the derivative with respect to {} does not exist", v->type().ToString());
    g.Want(v);
  }
  if (!IsFloat(y->dtype()))
    return ModelError("the derivative of {} does not exist", y->type().ToString());
  const std::vector<Node*> nodes = NodesBefore(y, g);
  for (const Node* node : nodes) WantOutputs(g, *node);
  g.Pass(y, g.Expanded(g.Number(y, 1), y));
  for (auto node = nodes.rbegin(); g.status() && node != nodes.rend(); ++node)
    PassThrough(graph, g, **node);
  std::vector<Value*> out;
  for (Value* x : xs) {
    Value* const dx = g.Of(x);
    out.push_back(dx != nullptr ? dx : g.Zeros(x));
  }
  NN_RETURN_IF_ERROR(g.status());
  return out;
}

}  // namespace nn

#include "exec/steps/half.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "exec/runtime/planning/plan.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

bool IsHalf(const Value* v) {
  return v != nullptr && !v->type().quantized() &&
         (v->dtype() == DType::kF16 || v->dtype() == DType::kBF16);
}

bool HasHalf(const Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(), IsHalf) ||
         std::any_of(node.outputs().begin(), node.outputs().end(), IsHalf);
}

// Conversions to other types stay, except those of a cast from 16 bits, which give the same result
// from float32. Conversions to 16 bits would round twice.
bool IsConversion(const Node& node) {
  if (!node.op().converts) return false;
  return !node.Is<CastAttrs>() || !IsHalf(node.input(0)) || IsHalf(node.output()) ||
         node.output()->dtype() == DType::kF32;
}

class Widening {
 public:
  explicit Widening(Graph& graph) : graph_(graph) {}

  // Whether every 16-bit operand is already available in float32 or is constant.
  bool IsWide(const Node& node) const {
    return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) {
      return !IsHalf(v) || v->is_constant() || made_.contains(v);
    });
  }

  // Replaces the node by a float32 node; `rounds`: its results must be rounded to 16 bits. Returns
  // false and changes nothing if there is no such node.
  Result<bool> Widen(Node& node, bool rounds) {
    std::vector<Value*> inputs;
    for (Value* v : node.inputs()) {
      if (IsHalf(v)) {
        NN_ASSIGN(v, InFloat(v, node));
      }
      inputs.push_back(v);
    }
    Node* wide =
        graph_.AddNode(node.op(), std::move(inputs), node.attrs(), node.outputs().size(), &node);
    wide->set_arithmetic(node.arithmetic());
    wide->set_name(node.name());
    wide->set_source(node.source());
    const bool inferred = InferNode(*wide).has_value();
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* y = node.output(i);
      const DType want = IsHalf(y) ? DType::kF32 : y->dtype();
      if (inferred && wide->output(i)->dtype() == want) continue;
      graph_.Erase(wide);
      return false;
    }
    std::vector<Value*> results;
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      Value* y = wide->output(i);
      if (IsHalf(node.output(i))) {
        NN_ASSIGN(y, Narrow(y, node.output(i)->dtype(), rounds, node));
      }
      results.push_back(y);
    }
    graph_.Replace(&node, results);
    return true;
  }

  // Removes casts that are no longer used.
  void Clean() {
    std::vector<Node*> unused;
    for (Node& node : graph_.nodes())
      if (node.Is<CastAttrs>() && made_.contains(node.output()) && !graph_.HasUses(node.output()))
        unused.push_back(&node);
    for (Node* node : unused) graph_.Erase(node);
    graph_.EraseDeadValues();
  }

 private:
  Result<Value*> InFloat(Value* v, Node& before) {
    if (const auto it = made_.find(v); it != made_.end()) return it->second;
    CastAttrs to_float;
    to_float.to = DType::kF32;
    // Next to the value, so that it precedes all users.
    Node* at = v->def() == nullptr && !graph_.nodes().empty() ? &graph_.nodes().front()
               : v->def() == nullptr                          ? &before
                                                              : graph_.After(v);
    NN_ASSIGN(Node* const cast, graph_.Append("cast", {v}, to_float, 1, at));
    made_[v] = cast->output();
    return cast->output();
  }

  Result<Value*> Narrow(Value* y, DType type, bool rounds, Node& before) {
    if (rounds) {
      NN_ASSIGN(Node* const round, graph_.Append(type == DType::kF16 ? "round_f16" : "round_bf16",
                                                 {y}, {}, 1, &before));
      y = round->output();
    }
    CastAttrs to_half;
    to_half.to = type;
    NN_ASSIGN(Node* const cast, graph_.Append("cast", {y}, to_half, 1, &before));
    made_[cast->output()] = y;
    return cast->output();
  }

  Graph& graph_;
  std::unordered_map<const Value*, Value*> made_;  // the float32 version of each 16-bit value
};

}  // namespace

Result<bool> ComputeHalfInFloat(Graph& graph, const std::unordered_set<const Node*>& computed) {
  std::vector<Node*> nodes;
  for (Node& n : graph.nodes())
    if (HasHalf(n) && !IsConversion(n) && !IsChecked(n) && !n.op().is_check) nodes.push_back(&n);
  Widening widening(graph);
  bool changed = false;
  for (Node* n : nodes) {
    const bool rounds = computed.contains(n);
    if (rounds ? FindKernel(n->op_name()) == nullptr : !widening.IsWide(*n)) continue;
    NN_ASSIGN(const bool done, widening.Widen(*n, rounds));
    changed |= done;
  }
  widening.Clean();
  return changed;
}

}  // namespace nn

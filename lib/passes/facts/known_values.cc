#include "passes/facts/known_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/math/random.h"

namespace nn {

bool IsFoldable(const Node& node) {
  return node.op().eval != nullptr && node.regions().empty() && !node.op().is_check &&
         !IsRandom(node);
}

Result<std::optional<Tensor>> TensorOfElements(const Value& value) {
  if (value.elements() == nullptr) return std::nullopt;
  const auto numbers = ConstDims(*value.elements());
  const auto dims = value.type().const_dims();
  if (!numbers || !dims) return std::nullopt;
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(value.dtype(), *dims));
  if (static_cast<size_t>(b.elements()) != numbers->size()) return std::nullopt;
  for (size_t i = 0; i < numbers->size(); ++i) b.SetInt(static_cast<int64_t>(i), (*numbers)[i]);
  return b.Finish();
}

namespace {

// What the node itself says against an evaluation.
bool MayBeKnown(const Node& node) {
  if (!IsFoldable(node)) return false;
  for (size_t i = 0; i < node.outputs().size(); ++i)
    if (MostBytesOf(node, i) > KnownValues::kMaxBytes) return false;
  return true;
}

}  // namespace

const Tensor* KnownValues::Of(const Value* value) {
  if (value == nullptr) return nullptr;
  if (value->is_constant()) return &value->constant();
  std::vector<const Value*> open = {value};
  while (!open.empty()) {
    const Value* const v = open.back();
    if (v == nullptr || v->is_constant() || known_.contains(v->id())) {
      open.pop_back();
      continue;
    }
    if (auto elements = TensorOfElements(*v); elements && *elements) {
      known_[v->id()] = *std::move(elements);
      continue;
    }
    const Node* const node = v->def();
    if (node == nullptr || !MayBeKnown(*node)) {
      known_[v->id()] = std::nullopt;
      continue;
    }
    // One input at a time: the rest is of no interest once one is unknown.
    const auto inputs = node->inputs();
    const auto next = std::ranges::find_if(inputs, [&](const Value* x) {
      if (x == nullptr || x->is_constant()) return false;
      const auto it = known_.find(x->id());
      return it == known_.end() || !it->second;
    });
    if (next == inputs.end())
      Evaluate(*node);
    else if (known_.contains((*next)->id()))
      known_[v->id()] = std::nullopt;
    else
      open.push_back(*next);
  }
  const auto& known = known_.at(value->id());
  return known ? &*known : nullptr;
}

void KnownValues::Evaluate(const Node& node) {
  for (const Value* v : node.outputs()) known_[v->id()] = std::nullopt;
  std::vector<const Tensor*> inputs;
  uint64_t cost = kEvaluation;
  for (const Value* v : node.inputs()) {
    inputs.push_back(v == nullptr       ? nullptr
                     : v->is_constant() ? &v->constant()
                                        : &*known_.at(v->id()));
    if (v != nullptr) cost += static_cast<uint64_t>(inputs.back()->elements());
  }
  if (cost > work_) return;
  work_ -= cost;
  EvalBudget budget{.bytes = kMaxBytes, .work = work_};
  auto outputs = EvalNode(node, inputs, &budget);
  work_ = budget.work;
  if (!outputs) return;  // a run reports the error
  for (size_t i = 0; i < outputs->size(); ++i)
    known_[node.output(i)->id()] = std::move((*outputs)[i]);
}

std::optional<int64_t> KnownValues::Int(const Value* value) {
  const Tensor* const t = Of(value);
  if (t == nullptr || t->elements() != 1 || !(IsInteger(t->dtype()) || t->dtype() == DType::kBool))
    return std::nullopt;
  return t->GetInt(0);
}

std::optional<bool> KnownValues::Bool(const Value* value) {
  const Tensor* const t = Of(value);
  if (t == nullptr || t->elements() != 1) return std::nullopt;
  if (IsFloat(t->dtype())) return t->GetDouble(0) != 0;
  if (IsInteger(t->dtype()) || t->dtype() == DType::kBool) return t->GetInt(0) != 0;
  return std::nullopt;
}

}  // namespace nn

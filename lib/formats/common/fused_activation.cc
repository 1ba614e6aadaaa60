#include "formats/common/fused_activation.h"

#include <cmath>

#include "ir/op_def.h"

namespace nn {
namespace {

bool HaveSameMapping(const Type& a, const Type& b) {
  if (a.quantized() != b.quantized()) return false;
  return !a.quantized() || a.quant->SameMapping(*b.quant);
}

}  // namespace

std::optional<ClampOption> ClampOptionOf(const Node& node) {
  if (node.op().clamp == nullptr) return std::nullopt;
  const auto [min, max] = node.op().clamp(node);
  if (min == 0 && std::isinf(max)) return ClampOption::kRelu;
  if (min == 0 && max == 6) return ClampOption::kRelu6;
  if (min == -1 && max == 1) return ClampOption::kRelu1;
  return std::nullopt;
}

void FusedActivations::Add(const Graph& graph, const Node& node) {
  const Value* const y = node.output();
  if (node.outputs().size() != 1 || y->uses().size() != 1 || graph.IsOutput(y)) return;
  const Node* const next = y->uses()[0].node;
  if (!ClampOptionOf(*next) || !HaveSameMapping(y->type(), next->output()->type())) return;
  after_[&node] = next;
  fused_.insert(next);
}

const Node* FusedActivations::Of(const Node& node) const {
  const auto it = after_.find(&node);
  return it == after_.end() ? nullptr : it->second;
}

const Value* FusedActivations::ResultOf(const Node& node, size_t i) const {
  const Node* const activation = Of(node);
  return activation == nullptr ? node.output(i) : activation->output(i);
}

}  // namespace nn

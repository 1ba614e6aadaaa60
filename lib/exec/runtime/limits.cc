#include "exec/runtime/limits.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "ir/eval.h"
#include "ir/value_table.h"

namespace nn {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

uint64_t Sum(uint64_t a, uint64_t b) {
  return CheckedAdd(a, b).value_or(kMax);
}

// Constants do not count toward a run.
uint64_t BytesOf(const Value* v) {
  return v->is_constant() ? 0 : BytesOf(v->type());
}

}  // namespace

bool ShapesAreKnown(const Graph& graph) {
  return std::all_of(graph.values().begin(), graph.values().end(), [](const Value& v) {
    return v.type().const_dims() && v.dtype() != DType::kString;
  });
}

uint64_t LiveBytes(const Graph& graph) {
  ValueTable<size_t> uses(graph);
  for (const Value& v : graph.values()) uses[&v] = v.uses().size();
  for (const Port& p : graph.outputs()) ++uses[p.value];
  uint64_t alive = 0;
  for (const Port& p : graph.inputs()) alive = Sum(alive, BytesOf(p.value));
  uint64_t most = alive;
  for (const Node& n : graph.nodes()) {
    for (const Value* v : n.outputs()) alive = Sum(alive, BytesOf(v));
    most = std::max(most, alive);
    if (most == kMax) return most;
    for (const Value* v : n.outputs())
      if (uses[v] == 0) alive -= BytesOf(v);
    for (const Value* v : n.inputs())
      // Inputs belong to the caller and stay alive.
      if (v != nullptr && --uses[v] == 0 && !v->is_input()) alive -= BytesOf(v);
  }
  return most;
}

uint64_t PlannedBytes(const Graph& graph, const Plan& plan) {
  uint64_t total = Sum(plan.arena_bytes, plan.packed_bytes);
  for (const Port& p : graph.inputs()) total = Sum(total, BytesOf(p.value));
  for (const Port& p : graph.outputs()) total = Sum(total, BytesOf(p.value));
  return total;
}

uint64_t ReferenceWork(const Graph& graph) {
  uint64_t total = 0;
  for (const Node& n : graph.nodes()) {
    const auto work = WorkOf(n);
    if (work) total = Sum(total, CheckedMul(*work, RunLimits::kReferenceWork).value_or(kMax));
  }
  return total;
}

uint64_t PlannedWork(const Plan& plan) {
  uint64_t total = 0;
  std::vector<std::pair<const Node*, uint64_t>> nodes;  // with the cost of one operation
  for (const auto& step : plan.steps)
    for (const Node* n : step->nodes)
      nodes.emplace_back(n, step->reference ? RunLimits::kReferenceWork : 1);
  // A node may have several steps.
  std::sort(nodes.begin(), nodes.end(), std::less<>());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto [node, each] = nodes[i];
    if (i + 1 < nodes.size() && nodes[i + 1].first == node) continue;
    const auto work = WorkOf(*node);  // unknown work is charged during the run
    if (work) total = Sum(total, CheckedMul(*work, each).value_or(kMax));
  }
  return total;
}

EvalBudget BudgetOf(const RunLimits& limits) {
  EvalBudget budget;
  budget.bytes = limits.max_memory;
  if (limits.max_work != RunLimits::kAnyWork)
    budget.work = limits.max_work / RunLimits::kReferenceWork;
  budget.iterations = limits.max_steps;
  return budget;
}

uint64_t FreeForRuns() {
  const auto available = AvailableMemory();
  return available ? *available / 5 * 4 : kMax;
}

Status CheckRunLimits(uint64_t bytes, uint64_t work, const RunLimits& limits) {
  if (bytes > limits.max_memory)
    return LimitError("a run needs {} of memory, the limit is {} (see max-memory)",
                      bytes == kMax ? "an overflowing number of bytes" : HumanBytes(bytes),
                      HumanBytes(limits.max_memory));
  if (work > limits.max_work)
    return LimitError("a run needs {:.3g} operations, the limit is {:.3g} (see max-work)",
                      static_cast<double>(work), static_cast<double>(limits.max_work));
  return {};
}

}  // namespace nn

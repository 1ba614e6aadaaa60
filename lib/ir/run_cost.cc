#include "ir/run_cost.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"

namespace nn {
namespace {

// What a run decides before it needs a node: the id of a condition, and the operand that it takes.
using Choice = std::pair<int64_t, int>;
// From the outermost decision to the innermost; empty if every run needs the node.
using Choices = std::vector<Choice>;

// Whether the node takes one of the results of two branches that were imported side by side, rather
// than being a selection of the file.
bool JoinsBranches(const Node& node) {
  if (!node.Is("select") || node.source().index < 0) return false;
  const Value* const condition = node.input(0);
  const auto dims = condition->type().const_dims();
  if (condition->is_constant() || !dims ||
      !std::ranges::all_of(*dims, [](int64_t d) { return d == 1; }))
    return false;
  return std::ranges::none_of(
      node.op().formats, [&](const FormatName& f) { return f.path == node.source().op.view(); });
}

// Those on which all uses of the node's results agree.
Choices ChoicesOf(const Graph& graph, const Node& node,
                  const std::unordered_map<const Node*, Choices>& known) {
  std::optional<Choices> common;
  for (const Value* y : node.outputs()) {
    if (graph.IsOutput(y)) return {};
    for (const Use& use : y->uses()) {
      const auto at = known.find(use.node);
      if (at == known.end() || use.node->source().index != node.source().index) return {};
      Choices path = at->second;
      if (use.index > 0 && JoinsBranches(*use.node))
        path.emplace_back(use.node->input(0)->id(), use.index);
      if (common) {
        const auto differ = std::ranges::mismatch(*common, path);
        path.erase(differ.in2, path.end());
      }
      common = std::move(path);
    }
  }
  return common.value_or(Choices());
}

// Replaces the costs of both operands of the innermost decisions by the larger one, until no
// decision is left.
std::optional<uint64_t> LargestRun(std::map<Choices, uint64_t> costs) {
  for (;;) {
    const auto deepest =
        std::ranges::max_element(costs, {}, [](const auto& entry) { return entry.first.size(); });
    if (deepest == costs.end()) return 0;
    const size_t depth = deepest->first.size();
    if (depth == 0) return deepest->second;
    std::map<Choices, uint64_t> larger;  // by what leads to a decision, and its condition
    std::map<Choices, uint64_t> outer;
    for (auto& [path, cost] : costs) {
      if (path.size() < depth) {
        outer.emplace(path, cost);
        continue;
      }
      Choices decision = path;
      decision.back().second = 0;
      uint64_t& most = larger[std::move(decision)];
      most = std::max(most, cost);
    }
    for (const auto& [decision, cost] : larger) {
      uint64_t& sum = outer[Choices(decision.begin(), decision.end() - 1)];
      const auto more = CheckedAdd(sum, cost);
      if (!more) return std::nullopt;
      sum = *more;
    }
    costs = std::move(outer);
  }
}

std::optional<uint64_t> OwnMultiplyAdds(const Node& node, bool count_opaque) {
  if (node.op().is_opaque) return count_opaque ? std::nullopt : std::optional<uint64_t>(0);
  uint64_t total = 0;
  if (node.op().multiply_adds != nullptr) {
    const auto n = node.op().multiply_adds(node);
    if (!n || *n < 0) return std::nullopt;
    total = static_cast<uint64_t>(*n);
  }
  uint64_t largest = 0, sum = 0;
  for (const auto& region : node.regions()) {
    const auto inner = MultiplyAddsOf(*region, count_opaque);
    const auto more = inner ? CheckedAdd(sum, *inner) : std::nullopt;
    if (!more) return std::nullopt;
    sum = *more;
    largest = std::max(largest, *inner);
  }
  return CheckedAdd(total, node.Is("branch") ? largest : sum);
}

}  // namespace

std::optional<uint64_t> MultiplyAddsOf(const Node& node) {
  return OwnMultiplyAdds(node, true);
}

std::optional<uint64_t> MultiplyAddsOf(const Graph& graph, std::span<const Node* const> nodes,
                                       bool count_opaque) {
  const bool joins =
      std::ranges::any_of(nodes, [](const Node* node) { return JoinsBranches(*node); });
  std::unordered_map<const Node*, Choices> choices;
  std::map<Choices, uint64_t> costs;
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node& node = *nodes[i];
    Choices path;
    if (joins) path = choices[&node] = ChoicesOf(graph, node, choices);
    const auto own = OwnMultiplyAdds(node, count_opaque);
    uint64_t& sum = costs[std::move(path)];
    const auto more = own ? CheckedAdd(sum, *own) : std::nullopt;
    if (!more) return std::nullopt;
    sum = *more;
  }
  return LargestRun(std::move(costs));
}

std::optional<uint64_t> MultiplyAddsOf(const Graph& graph, bool count_opaque) {
  std::vector<const Node*> nodes;
  nodes.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) nodes.push_back(&node);
  return MultiplyAddsOf(graph, nodes, count_opaque);
}

}  // namespace nn

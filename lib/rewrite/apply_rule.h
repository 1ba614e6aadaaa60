// Legalizes nodes by the rules for all formats (rewrite/rules/rules.h).
// Design: docs/design/070-rules.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn {

// The place of the rules among the rewrites of a target (Target::rewrites), which has no function
// of its own.
inline constexpr Rewrite kSharedRules = {"", "rules", nullptr};

// What a target makes of the nodes of a rule.
struct RuleTarget {
  std::function<std::optional<std::string>(const Node&)> why_illegal;  // nullopt: it is legal
  // Whether the target has a rewrite for the operator, which is trusted to apply.
  std::function<bool(const Node&)> has_rewrite;
};

// Replaces an illegal node by the rule whose nodes are legal, or become so by further rules, at the
// least cost. The name of the rule; empty if there is none.
//
// The cost is 1 for a legal node, 2 for one with a rewrite of the target, and one more than the sum
// of its rule's nodes for another one. A rewrite does not count for a node that is illegal for the
// very reason of the one that is replaced. The nodes that a rule adds thus cost less than the one
// that they replace, so that rules come to an end, also those of operators that are defined by each
// other.
Result<std::string_view> ApplyRule(Graph& graph, Node& node, const RuleTarget& target);

// Whether there are rules for the operator.
bool HasRules(const Node& node);

}  // namespace nn

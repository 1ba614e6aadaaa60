// Legalizes nodes by the rewrites of a target and the rules for all formats (rewrite/rules).
// Design: docs/design/070-rules.md.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/target.h"

namespace nn {

// The places among the rewrites of a target (Target::rewrites) at which the shared ones are tried:
// its forms, the functions that look at neighbors, all functions, and the formulas.
inline constexpr Rewrite kForms = {"", "forms", nullptr};
inline constexpr Rewrite kEarlyFunctions = {"", "early functions", nullptr};
inline constexpr Rewrite kSharedFunctions = {"", "functions", nullptr};
inline constexpr Rewrite kSharedRules = {"", "rules", nullptr};

// What a target makes of the nodes of a rule.
struct RuleTarget {
  std::function<std::optional<std::string>(const Node&)> why_illegal;  // nullopt: it is legal
  // Whether the target has a rewrite for the operator, which is trusted to apply unless it is rare.
  std::function<bool(const Node&)> has_rewrite;
  bool (*takes_function)(const Node&, const FunctionRow&) = nullptr;  // Target::takes_function
  TargetForms forms = {};
};

// Applies the first of the rewrites that changes the node, which may erase it. Its name; empty if
// there is none.
Result<std::string_view> ApplyRewrites(Graph& graph, Node& node, std::span<const Rewrite> rewrites,
                                       const RuleTarget& target);

// Replaces an illegal node by the rule whose nodes are legal, or become so by further rules, at the
// least cost. The name of the rule; empty if there is none.
//
// The cost is 1 for a legal node, 2 for one with a rewrite of the target, and one more than the sum
// of its rule's nodes for another one. A rewrite does not count for a node that is illegal for the
// very reason of the one that is replaced. The nodes that a rule adds thus cost less than the one
// that they replace, so that rules come to an end, also those of operators that are defined by each
// other.
Result<std::string_view> ApplyRule(Graph& graph, Node& node, const RuleTarget& target);

// Whether the rank of an input or output of the node is unknown. Functions and the rewrites of
// Target::rewrites never see such nodes.
bool HasUnranked(const Node& node);

// Whether there are rules for the operator.
bool HasRules(const Node& node);
// The operators with rules that lead to those for which `has` is true, whatever their attributes
// and types are.
std::set<std::string_view> OperatorsWithRulesTo(const std::function<bool(std::string_view)>& has);

// Whether one of the rewrites is for the operator of the node, or one of the shared functions is
// that the target takes. Forms do not count: an operator that a target lacks, it lacks in any form.
bool HasRewrite(std::span<const Rewrite> rewrites, const Node& node,
                bool (*takes_function)(const Node&, const FunctionRow&));
bool HasRewrite(const Target& target, const Node& node);

}  // namespace nn

// A graph of one node and the expansion of it (rewrite/expand.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"

namespace nn::test {

using Expand = Result<bool> (*)(Graph&, Node&);

struct ExpansionRow {
  const char* name;
  Expand expand;
  std::string graph;
  std::vector<std::vector<double>> inputs = {};
  double tolerance = 0;  // of the larger of 1 and the result; 0: the same bits
};

// A graph of an operator on %x.
std::string OnX(std::string_view type, std::string_view op);

// Replaces the node by the cheapest rule for the target; false if there is none.
Result<bool> ExpandFor(const RuleTarget& target, Graph& graph, Node& node);

// Replaces the node by the rule (rewrite/rules/rules.h) for a target that lacks its operator with
// its attributes, and nothing else.
Result<bool> ExpandByRule(Graph& graph, Node& node);

// Checks that the expansion applies, and that it computes the same everywhere.
void CheckExpansion(const ExpansionRow& row);

// Checks that the expansion leaves the graph unchanged.
void CheckNotExpanded(Expand expand, const std::string& graph);

}  // namespace nn::test

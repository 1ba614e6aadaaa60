#include "rewrite/expansion.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/text/text.h"
#include "rewrite/functions.h"
#include "support/run_graph.h"

namespace nn::test {

std::string OnX(std::string_view type, std::string_view op) {
  return fmt::format("graph {{ in %x: {} %y = {} out \"y\" = %y }}", type, op);
}

Result<bool> ExpandFor(const RuleTarget& target, Graph& graph, Node& node) {
  return ApplyRule(graph, node, target).map([](std::string_view rule) { return !rule.empty(); });
}

Result<bool> ExpandByRule(Graph& graph, Node& node) {
  const std::string op(node.op_name());
  const Attrs attrs = node.attrs();
  const RuleTarget target = {
      [&](const Node& n) {
        return n.Is(op) && n.attrs() == attrs ? std::optional<std::string>("absent") : std::nullopt;
      },
      [](const Node& /*n*/) { return false; },
  };
  return ExpandFor(target, graph, node);
}

void CheckExpansion(const ExpansionRow& row) {
  CAPTURE(row.name);
  CAPTURE(row.graph);
  Graph g = Parse(row.graph);
  const auto inputs = InputsOf(g, row.inputs);
  const auto before = RunEverywhere(g, inputs);
  Node& node = g.nodes().front();
  const std::string op(node.op_name());
  for (const FunctionRow& function : FunctionRows())
    if (function.op == op && function.apply == row.expand && function.error == RuleError::kExact)
      CHECK(row.tolerance == 0);
  // Some become a form of the same operator that more targets have.
  const bool same_op = op.starts_with("arg_") || op.ends_with("_pool") || op == "top_k" ||
                       op == "scatter_nd" || op == "gather_nd" || op == "reshape" ||
                       op == "slice" || op == "pad" || op == "elu" || op == "clip" ||
                       op == "bitwise_xor";
  const auto expanded = row.expand(g, node);
  REQUIRE(expanded.has_value());
  REQUIRE(*expanded);
  for (const Node& n : g.nodes()) CHECK((same_op || n.op_name() != op));
  const auto after = RunEverywhere(g, inputs);
  REQUIRE(after.size() == before.size());
  for (size_t k = 0; k < after.size(); ++k) {
    REQUIRE(after[k].dims() == before[k].dims());
    CHECK(after[k].dtype() == before[k].dtype());
    if (row.tolerance == 0) {
      CHECK(after[k].Identical(before[k]));
      continue;
    }
    const auto want = before[k].ToDoubles(), got = after[k].ToDoubles();
    for (size_t i = 0; i < want.size(); ++i)
      if (want[i] != got[i] && !(std::isnan(want[i]) && std::isnan(got[i])))
        CHECK(std::abs(got[i] - want[i]) <= row.tolerance * std::max(1.0, std::abs(want[i])));
  }
}

void CheckNotExpanded(Expand expand, const std::string& graph) {
  CAPTURE(graph);
  Graph g = Parse(graph);
  const std::string before = PrintGraph(g);
  const auto expanded = expand(g, g.nodes().front());
  REQUIRE(expanded.has_value());
  CHECK_FALSE(*expanded);
  CHECK(PrintGraph(g) == before);
}

}  // namespace nn::test

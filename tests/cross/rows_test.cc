// Checks of the rows themselves, before anything is proven with them.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cross/rows.h"
#include "exec/program.h"
#include "ir/op_def.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "support/open_sizes.h"
#include "support/run_graph.h"

namespace nn::test::rows_test {
namespace {

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = [] {
    auto read = ReadRows(RowsFolder());
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    return *std::move(read);
  }();
  return rows;
}

bool HasNode(const Graph& graph, std::string_view op) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [&](const Node& node) { return node.Is(op); });
}

// "op.attribute" for each attribute of the graph's nodes that differs from its default.
void CollectAttrs(const Graph& graph, std::set<std::string>& set) {
  for (const Node& node : graph.nodes()) {
    const Attrs defaults(node.op().attrs);
    for (const AttrField& field : node.op().attrs->fields) {
      const auto value = node.attrs().Get(field.name);
      if (value && *value != defaults.Get(field))
        set.insert(fmt::format("{}.{}", node.op().name, field.name));
    }
  }
}

TEST_CASE("rows: each graph is sound and has the row's operator") {
  for (const Row& row : Rows())
    for (const CrossCase& c : row.Cases()) {
      CAPTURE(row.place);
      CAPTURE(c.label);
      const auto graph = ParseGraph(c.graph);
      if (!graph) FAIL_CHECK(graph.error().message());
      if (graph) CHECK_MESSAGE(HasNode(*graph, row.op()), "no node is of ", row.op());
    }
}

TEST_CASE("rows: no row has more than 60 cases, no operator more than 150") {
  std::map<std::string_view, size_t> counts;
  for (const Row& row : Rows()) {
    CAPTURE(row.place);
    const size_t n = row.Cases().size();
    CHECK(n <= 60);
    counts[row.op()] += n;
  }
  for (const auto& count : counts) {
    CAPTURE(count.first);
    CHECK(count.second <= 150);
  }
}

TEST_CASE("rows: each operator has some, and each attribute is set in one of them") {
  std::set<std::string> set, missing;
  std::set<std::string_view> used;
  for (const Row& row : Rows()) {
    used.insert(row.op());
    for (const CrossCase& c : row.Cases())
      if (const auto graph = ParseGraph(c.graph)) CollectAttrs(*graph, set);
  }
  for (const OpDef* op : Ops().All()) {
    if (op->internal) continue;
    if (!used.contains(op->name)) missing.insert(std::string(op->name));
    for (const AttrField& field : op->attrs->fields)
      if (std::string name = fmt::format("{}.{}", op->name, field.name); !set.contains(name))
        missing.insert(std::move(name));
  }
  const std::string list = fmt::to_string(fmt::join(missing, "\n"));
  CHECK_MESSAGE(missing.empty(), "no row has:\n", list);
}

// A row with a variable T covers element types; every other element type that inference accepts in
// the first of its cases must be in some row of the operator.
TEST_CASE("rows: each element type that an operator takes is in one of its rows") {
  static constexpr std::string_view kTypes[] = {"bool", "i8",  "i16", "i32",  "i64", "u8",  "u16",
                                                "u32",  "u64", "f16", "bf16", "f32", "f64", "str"};
  std::map<std::string_view, std::set<std::string>> have, want;
  for (const Row& row : Rows())
    for (Row other = row; const auto& [name, values] : row.variables) {
      if (name != "T") continue;
      have[row.op()].insert(values.begin(), values.end());
      for (const std::string_view type : kTypes) {
        for (auto& [n, v] : other.variables) v = {n == "T" ? std::string(type) : v.front()};
        if (ParseGraph(other.Cases().front().graph)) want[row.op()].emplace(type);
      }
    }
  for (const auto& wanted : want)
    for (const std::string& type : wanted.second) {
      CAPTURE(wanted.first);
      CHECK_MESSAGE(have[wanted.first].contains(type), "no row of the operator has T = ", type);
    }
}

TEST_CASE("rows: the reference evaluation and every SIMD target compute the same bits") {
  for (const Row& row : Rows())
    for (const CrossCase& c : row.Cases()) {
      CAPTURE(row.place);
      CAPTURE(c.label);
      auto graph = ParseGraph(c.graph);
      if (!graph) continue;
      const Status bound = BindOpenSizes(*graph);
      if (!bound) {
        FAIL_CHECK(bound.error().message());
        continue;
      }
      std::vector<Tensor> inputs;
      for (const Port& p : graph->inputs()) {
        auto t = CaseInput(row, p.name, p.value->type(), inputs.size(), 1);
        REQUIRE_MESSAGE(t.has_value(), t.error().message());
        inputs.push_back(*std::move(t));
      }
      CheckSameBits(*graph, inputs);
    }
}

TEST_CASE("rows: a file that does not contain rows is refused with the location") {
  const auto error = [](std::string_view text) {
    const auto rows = ParseRows(text, "f");
    return rows ? std::string("none") : rows.error().message();
  };
  CHECK(error("row a\ngraph {\n}\n") == "none");
  CHECK(error("graph {\n}\n") == "f.rows:1: a row begins with its name");
  CHECK(error("row a\nfor x in 1\n") ==
        "f.rows:2: expected \"for NAME in VALUE | VALUE\", the name in capitals");
  CHECK(error("row a\nrange x 1 0\n") == "f.rows:2: expected \"range NAME LOW HIGH\"");
  CHECK(error("row a\nrow b\n") == "f.rows:2: the row before has no graph");
  CHECK(error("row a\nwhat\n") == "f.rows:2: not a line of a row");
  CHECK(error("row a\n") == "f.rows:2: the last row has no graph");
  CHECK(error("row a\ngraph {\n") ==
        "f.rows:3: a graph without an end, which is a line of one \"}\"");
}

TEST_CASE("rows: every combination of values is a case, long names first") {
  const auto rows = ParseRows("row a\nfor T in x | y\nfor TU in 1 | 2\ngraph {\n $T $TU\n}\n", "f");
  REQUIRE(rows.has_value());
  const auto cases = rows->front().Cases();
  REQUIRE(cases.size() == 4);
  CHECK(cases[1].label == "x, 2");
  CHECK(cases[1].graph == "graph {\n x 2\n}\n");
  CHECK(cases[3].graph == "graph {\n y 2\n}\n");
}

}  // namespace
}  // namespace nn::test::rows_test

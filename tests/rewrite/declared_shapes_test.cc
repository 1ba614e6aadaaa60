#include "rewrite/declared_shapes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "rewrite/target.h"
#include "support/run_graph.h"

namespace nn::test::declared_shapes_test {
namespace {

// A target of nodes with one input.
const Target kOfConstants = {
    .name = "constants",
    .why_illegal = [](const Node& node) -> std::optional<std::string> {
      if (node.inputs().size() == 1 || node.input(1)->is_constant()) return std::nullopt;
      return "an operand must be constant";
    },
};

struct Row {
  const char* x;
  const char* operand;
  const char* op;
  const char* results;  // "%y: TYPE"
  std::vector<double> contents;
};

std::string Text(const Row& row) {
  return fmt::format("graph {{ in %x: f32{} in %k: i64{} %y = {} : f32{} out \"y\" = %y }}", row.x,
                     row.operand, row.op, row.results);
}

// 1, 2, ... for a tensor of the type.
std::vector<double> Counting(const Graph& graph) {
  std::vector<double> out(
      static_cast<size_t>(*CheckedElements(*graph.inputs()[0].value->type().const_dims())));
  std::iota(out.begin(), out.end(), 1);
  return out;
}

TEST_CASE("declared shapes: what they leave one choice for becomes constant") {
  const std::vector<Row> rows = {
      {"[1, 3, 1, 5]", "[1]", "squeeze(%x, %k)", "[3, 1, 5]", {0}},
      {"[1, 3, 1, 5]", "[1]", "squeeze(%x, %k)", "[1, 3, 5]", {-2}},
      {"[3, 4, 5]", "[2]", "expand_dims(%x, %k)", "[3, 1, 4, 5, 1]", {1, 4}},
      {"[3, 2, 2]", "[1]", "reduce_sum(%x, %k)", "[3, 1, 2]", {1}},
      {"[3, 4, 2]", "[2]", "reduce_mean(%x, %k) {keep_dims = false}", "[4]", {2, 0}},
      {"[1, 1, 3]", "[1]", "reduce_l2(%x, %k) {keep_dims = false}", "[1, 3]", {1}},
      {"[3]", "[]", "cum_sum(%x, %k)", "[3]", {-1}},
      {"[2, 6]", "[2]", "reshape(%x, %k)", "[4, 3]", {4, 3}},
      {"[2, 1]", "[2]", "expand(%x, %k)", "[2, 3]", {1, 3}},
  };
  for (const Row& row : rows) {
    const std::string text = Text(row);
    CAPTURE(text);
    Graph graph = Parse(text);
    const auto inputs = InputsOf(graph, {Counting(graph), row.contents});
    const auto before = RunEverywhere(graph, inputs);
    REQUIRE(FitDeclaredShapes(graph, kOfConstants).has_value());
    CHECK(graph.nodes().front().input(1)->is_constant());
    CHECK(graph.outputs()[0].value->type().const_dims() == before[0].dims());
    CHECK(RunEverywhere(graph, inputs)[0].Identical(before[0]));
  }
}

TEST_CASE("declared shapes: parts of a split are its sizes") {
  Graph graph = Parse(
      "graph { in %x: f32[2, 6] in %k: i64[2] %a, %b = split(%x, %k) {axis = -1} : f32[2, 4], "
      "f32[2, 2] out \"a\" = %a out \"b\" = %b }");
  REQUIRE(FitDeclaredShapes(graph, kOfConstants).has_value());
  const Value* const sizes = graph.nodes().front().input(1);
  REQUIRE(sizes->is_constant());
  CHECK(sizes->constant().ToInts() == std::vector<int64_t>{4, 2});
  CHECK(graph.outputs()[0].value->type().const_dims() == std::vector<int64_t>{2, 4});
}

TEST_CASE("declared shapes: what they leave several results for stays") {
  const std::vector<Row> rows = {
      {"[3, 2, 2]", "[1]", "reduce_sum(%x, %k) {keep_dims = false}", "[3, 2]", {}},
      {"[n, 1]", "[1]", "squeeze(%x, %k)", "[4]", {}},
      {"[3, 1]", "[]", "cum_sum(%x, %k)", "[3, 1]", {}},
      {"[3, 4]", "[1]", "reduce_sum(%x, %k)", "[3, 4]", {}},
      {"[2, 6]", "[2]", "reshape(%x, %k)", "[4, 4]", {}},
  };
  for (const Row& row : rows) {
    const std::string text = Text(row);
    CAPTURE(text);
    Graph graph = Parse(text), forgotten = Parse(text);
    REQUIRE(ForgetDeclaredShapes(forgotten).has_value());
    REQUIRE(FitDeclaredShapes(graph, kOfConstants).has_value());
    CHECK(PrintGraph(graph) == PrintGraph(forgotten));
  }
}

TEST_CASE("declared shapes: nodes that the target has stay") {
  const Target all = {.name = "all",
                      .why_illegal = [](const Node&) { return std::optional<std::string>(); },
                      .takes_unranked = true};
  Graph graph = Parse(
      "graph { in %x: f32[1, 3] in %k: i64[1] %y = squeeze(%x, %k) : f32[3] out \"y\" = %y }");
  REQUIRE(FitDeclaredShapes(graph, all).has_value());
  CHECK_FALSE(graph.nodes().front().input(1)->is_constant());
}

}  // namespace
}  // namespace nn::test::declared_shapes_test

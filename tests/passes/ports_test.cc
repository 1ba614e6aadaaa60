// The inputs and outputs of a graph: names, symbols, shapes for a run.
#include "passes/core/ports.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "passes/facts/input_domains.h"
#include "support/run_graph.h"

namespace nn::test::ports_test {
namespace {

// Two inputs with the same batch, one with another, and one without.
const char* const kBatches = R"(graph {
  in %a: f32[n, 3]
  in %b: f32[m, k]
  in %c: f32[n]
  in %d: f32[2, n]
  %y = relu(%a)
  %z = relu(%d)
  out "y" = %y
  out "z" = %z
})";

TEST_CASE("ports: the unnamed get names that are free") {
  Graph graph = Parse(kBatches);
  CHECK(NameList(graph.inputs()) == R"("a", "b", "c", "d")");
  graph.RenameInput(0, "in_2");
  graph.RenameInput(2, "");
  graph.RenameInput(3, "");
  graph.RenameOutput(1, "");
  NamePorts(graph);
  CHECK(NameList(graph.inputs()) == R"("in_2", "b", "in_2_", "in_3")");
  CHECK(NameList(graph.outputs()) == R"("y", "out_1")");
  CHECK(NameList(std::vector<Port>()) == "none");
}

TEST_CASE("ports: a batch is a whole first dimension") {
  Graph graph = Parse(kBatches);
  CHECK(InputSymbols(graph) == std::set<std::string>{"k", "m", "n"});
  CHECK(BatchSymbols(graph) == std::vector<std::string>{"n", "m"});
  REQUIRE(BindBatch(graph, 4).has_value());
  CHECK(graph.inputs()[0].value->type().ToString() == "f32[4, 3]");
  CHECK(graph.inputs()[1].value->type().ToString() == "f32[4, k]");
  CHECK(graph.inputs()[3].value->type().ToString() == "f32[2, 4]");
  CHECK(BatchSymbols(graph).empty());
  CHECK(BindOpenBatch(graph).has_value());  // nothing to bind
  CHECK(BindBatch(graph, 4).error().code() == ErrorCode::kUsage);
  // Setting the batch that the model already has.
  Graph fixed = Parse("graph { in %a: f32[1, 3]  in %b: i64[]  %y = relu(%a)  out \"y\" = %y }");
  CHECK(BindBatch(fixed, 1).has_value());
  CHECK(BindBatch(fixed, 2).error().code() == ErrorCode::kUsage);
  Graph open = Parse(kBatches);
  CHECK(BindBatch(open, -1).error().code() == ErrorCode::kUsage);
  REQUIRE(BindOpenBatch(open).has_value());
  CHECK(open.outputs()[0].value->type().ToString() == "f32[1, 3]");
}

TEST_CASE("ports: a batch that the import has bound") {
  Graph graph = Parse(
      "graph { in %a: f32[1, 3]  in %state: f32[2, 1, 4]  %y = relu(%a)  %s = relu(%state)"
      "  out \"y\" = %y  out \"s\" = %s }");
  CHECK(BindShapes(graph, {}, 1).has_value());
  CHECK(BindShapes(graph, {}, 3).error().code() == ErrorCode::kUsage);
}

TEST_CASE("ports: shapes that do not fit are the caller's error") {
  // The concatenation rules out all sizes but 2.
  const char* const text = R"(graph {
    in %a: f32[n, 3]
    const %k: f32[2, 1] = splat(1)
    %y = concat(%a, %k) {axis = 1}
    out "y" = %y
  })";
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{5, 3}, std::vector<int64_t>{2}, std::vector<int64_t>{2, 4}}) {
    Graph graph = Parse(text);
    const Status status = BindInputs(graph, {{"a", shape}});
    REQUIRE(!status.has_value());
    CHECK(status.error().code() == ErrorCode::kUsage);
  }
  Graph graph = Parse(text);
  CHECK(BindInputs(graph, {{"b", {2, 3}}}).error().code() == ErrorCode::kUsage);
  CHECK(BindInputs(graph, {{"a", {2, 3}}}).has_value());
}

TEST_CASE("ports: contents need a shape, and depend on the seed and the position") {
  const Graph graph = Parse(kBatches);
  const Type& open = graph.inputs()[0].value->type();
  CHECK(RequireShape("a", open).error().code() == ErrorCode::kUsage);
  CHECK(SeededInput("a", open, 0, 1).error().code() == ErrorCode::kUsage);
  const Type fixed = Parse("graph { in %x: f32[4]  out \"y\" = %x }").inputs()[0].value->type();
  CHECK(RequireShape("x", fixed).has_value());
  const auto value = [&](size_t i, uint64_t seed) {
    auto tensor = SeededInput("x", fixed, i, seed);
    REQUIRE(tensor.has_value());
    return tensor->GetDouble(0);
  };
  CHECK(value(0, 1) == value(0, 1));
  CHECK(value(0, 1) != value(1, 1));
  CHECK(value(0, 1) != value(0, 2));
}

}  // namespace
}  // namespace nn::test::ports_test

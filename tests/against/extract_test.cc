// The computation of one value, cut out of a graph.
#include "against/extract.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "exec/program.h"
#include "support/run_graph.h"

namespace nn::test::extract_test {
namespace {

const Value* Named(const Graph& graph, std::string_view name) {
  for (const Value& v : graph.values())
    if (v.name() == name) return &v;
  FAIL("no value has the name");
  return nullptr;
}

TEST_CASE("extract: from the last values that are known") {
  const Graph graph = Parse(R"(graph {
    in %x: f32[n, 2]
    in %z: f32[2]
    const %k: f32[2] = [3, 4]
    %a = neg(%x)
    %b = mul(%a, %k)
    %c = add(%b, %a)
    %d = sub(%c, %z)
    %e = tanh(%d)
    out "e" = %e
  })");
  const Value* const a = Named(graph, "a");
  const Value* const d = Named(graph, "d");
  const auto starts = against::StartsOf(d, [&](const Value* v) { return v == a; });
  REQUIRE(starts.size() == 2);
  CHECK(starts[0] == a);
  CHECK(starts[1] == Named(graph, "z"));
  const std::vector<Tensor> tensors = {Tensor::Of<float>({1, 2}, {1, 2}),
                                       Tensor::Of<float>({2}, {1, 1})};
  const auto part = against::Extract(graph, starts, tensors, d);
  REQUIRE(part.has_value());
  CHECK(part->nodes().size() == 3);
  CHECK(part->inputs()[0].name == "a");
  CHECK(part->inputs()[1].name == "z");
  CHECK(part->outputs()[0].name == "d");
  const auto program = Program::Compile(*part, {});
  REQUIRE(program.has_value());
  CHECK(program->Run(tensors)->at(0).ToDoubles() == std::vector<double>{3, 9});
  // Without any, the inputs of the graph are known.
  CHECK(against::StartsOf(d, [](const Value*) { return false; }).size() == 2);
}

TEST_CASE("extract: a constant, and an input") {
  const Graph graph =
      Parse("graph { in %x: f32[2]  const %k: f32[2] = [1, 2]  out \"k\" = %k  out \"x\" = %x }");
  const Value* const k = graph.outputs()[0].value;
  const Value* const x = graph.outputs()[1].value;
  const auto none = [](const Value*) { return false; };
  CHECK(against::StartsOf(k, none).empty());
  CHECK(against::Extract(graph, {}, {}, k)->outputs()[0].value->is_constant());
  REQUIRE(against::StartsOf(x, none) == std::vector<const Value*>{x});
  const auto part = against::Extract(graph, {x}, {Tensor::Of<float>({2}, {1, 2})}, x);
  CHECK(part->outputs()[0].value->is_input());
}

TEST_CASE("extract: names are unique") {
  Graph graph = Parse(R"(graph { in %x: f32[2]  %a = neg(%x)  %b = exp(%a)  %c = add(%a, %b)
    out "c" = %c })");
  for (Value& v : graph.values()) v.set_name(std::string("same"));
  const Value* const c = graph.outputs()[0].value;
  const auto starts = against::StartsOf(c, [&](const Value* v) { return v->def() != nullptr; });
  REQUIRE(starts.size() == 2);
  const Tensor t = Tensor::Of<float>({2}, {1, 2});
  const auto part = against::Extract(graph, starts, {t, t}, c);
  REQUIRE(part.has_value());
  CHECK(part->inputs()[0].name == "same");
  CHECK(part->inputs()[1].name == "same_1");
  CHECK(part->outputs()[0].name == "same_2");
}

}  // namespace
}  // namespace nn::test::extract_test

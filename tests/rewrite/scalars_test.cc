#include "rewrite/scalars.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/array/shape.h"
#include "support/run_graph.h"

namespace nn::test::scalars_test {
namespace {

struct Row {
  const char* name;
  std::string graph;
  std::vector<std::vector<double>> inputs = {};
};

bool HasScalars(const Graph& g) {
  return std::any_of(g.values().begin(), g.values().end(), [](const Value& v) {
    return !v.is_constant() && v.type().ranked() && v.type().rank() == 0;
  });
}

// The tensor with the shape of the graph's input or output.
Tensor As(const Tensor& t, const AxisMap& map) {
  return *RearrangeTensor(t, map);
}

TEST_CASE("scalars: vectors of one element compute the same") {
  const std::vector<Row> rows = {
      {"arithmetic",
       "graph { in %x: f32[] in %y: f32[] %z = mul(%x, %y) %w = exp(%z) out \"w\" = %w }"},
      {"a scalar for a tensor",
       "graph { in %x: f32[2, 3] in %s: f32[] %y = div(%x, %s) out \"y\" = %y }"},
      {"with a constant",
       "graph { in %x: f32[] const %c: f32[] = [2] %y = add(%c, %x) out \"y\" = %y }"},
      {"sum of all",
       "graph { in %x: f32[2, 3] %y = reduce_sum(%x) {keep_dims = false} out \"y\" = %y }"},
      {"mean of a vector, used twice",
       "graph { in %x: f32[4] %m = reduce_mean(%x) {axes = [0], keep_dims = false} "
       "%d = sub(%x, %m) %y = neg(%m) out \"d\" = %d out \"y\" = %y out \"m\" = %m }"},
      {"sum of a scalar",
       "graph { in %x: f32[] %y = reduce_sum(%x) {keep_dims = false} out \"y\" = %y }"},
      {"largest", "graph { in %x: f32[5] %y = arg_max(%x) {keep_dims = false} out \"y\" = %y }"},
      {"an index",
       "graph { in %x: f32[5] in %i: i64[] %y = gather(%x, %i) out \"y\" = %y }",
       {{1, 2, 3, 4, 5}, {3}}},
      {"an index of rows",
       "graph { in %x: f32[3, 2] in %i: i64[] %y = gather(%x, %i) %z = neg(%y) out \"y\" = %y out "
       "\"z\" = %z }",
       {{1, 2, 3, 4, 5, 6}, {1}}},
      {"a constant index",
       "graph { in %x: f32[5] const %i: i64[] = [2] %y = gather(%x, %i) out \"y\" = %y }"},
      {"coordinates",
       "graph { in %x: f32[2, 3] in %i: i64[2] %y = gather_nd(%x, %i) out \"y\" = %y }",
       {{1, 2, 3, 4, 5, 6}, {1, 2}}},
      {"product of vectors",
       "graph { in %a: f32[5] in %b: f32[5] %y = matmul(%a, %b) out \"y\" = %y }"},
      {"one_hot",
       "graph { in %i: i64[] const %d: i64[] = [4] const %v: f32[2] = [0, 1] "
       "%y = one_hot(%i, %d, %v) out \"y\" = %y }",
       {{2}}},
      {"shapes",
       "graph { in %x: f32[1, 1] %s = squeeze(%x) %y = exp(%s) %z = expand_dims(%y) {axes = [0, 1, "
       "2]} "
       "%w = reshape(%y) {dims = [1, 1]} out \"s\" = %s out \"z\" = %z out \"w\" = %w }"},
      {"a condition",
       "graph { in %c: bool[] in %x: f32[3] in %y: f32[3] %z = select(%c, %x, %y) out \"z\" = %z "
       "}"},
      {"an output that is an input", "graph { in %x: f32[] out \"y\" = %x }"},
      {"a constant output",
       "graph { in %x: f32[] const %c: f32[] = [3] %y = neg(%x) out \"y\" = %y out \"c\" = %c }"},
  };
  for (const Row& r : rows) {
    CAPTURE(r.name);
    Graph g = Parse(r.graph);
    const auto inputs = InputsOf(g, r.inputs);
    const auto before = RunEverywhere(g, inputs);
    const ScalarPorts scalars(g);
    REQUIRE(ScalarsAsVectors(g).has_value());
    CHECK_FALSE(HasScalars(g));
    InterfaceAxes axes;
    for (const Port& p : g.inputs())
      axes.inputs.push_back(AxisMap::Identity(p.value->type().rank()));
    for (const Port& p : g.outputs())
      axes.outputs.push_back(AxisMap::Identity(p.value->type().rank()));
    scalars.NoteVectors(g, axes);
    std::vector<Tensor> vectors;
    for (size_t i = 0; i < inputs.size(); ++i) vectors.push_back(As(inputs[i], axes.inputs[i]));
    const auto after = RunEverywhere(g, vectors);
    REQUIRE(after.size() == before.size());
    for (size_t i = 0; i < after.size(); ++i)
      CHECK(As(after[i], axes.outputs[i].Inverse()).Identical(before[i]));
  }
}

TEST_CASE("scalars: an operator that needs one gets it") {
  // The shape of a scalar is empty, so it cannot become a vector.
  Graph g = Parse(
      "graph { in %x: f32[] %y = exp(%x) %s = shape_of(%y) %z = neg(%y) out \"s\" = %s out \"z\" = "
      "%z }");
  REQUIRE(ScalarsAsVectors(g).has_value());
  CHECK(g.outputs()[0].value->type().ToString() == "i64[0]");
  CHECK(g.outputs()[1].value->type().ToString() == "f32[1]");
}

TEST_CASE("scalars: values of unknown rank stay") {
  Graph g = Parse(
      "graph { in %x: f32[] in %s: i64[k] %y = reshape(%x, %s) %z = neg(%y) out \"z\" = %z }");
  REQUIRE(ScalarsAsVectors(g).has_value());
  CHECK(g.inputs()[0].value->type().ToString() == "f32[1]");
  CHECK_FALSE(g.outputs()[0].value->type().ranked());
}

}  // namespace
}  // namespace nn::test::scalars_test

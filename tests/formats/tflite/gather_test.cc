// Indices in TensorFlow Lite files.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "ir/text/text.h"
#include "support/run_graph.h"

namespace nn::test::tflite_gather_test {
namespace {

// The constant integers of the graph.
std::vector<int64_t> Indices(const Graph& graph) {
  std::vector<int64_t> out;
  for (const auto& node : graph.nodes())
    for (const Value* v : node.inputs())
      if (v != nullptr && v->is_constant() && IsInteger(v->dtype()))
        for (const int64_t i : v->constant().ToInts()) out.push_back(i);
  return out;
}

// GATHER and GATHER_ND take no negative indices.
TEST_CASE("tflite indices: negative ones are written as positive ones") {
  struct Row {
    std::string graph;
    std::vector<int64_t> indices;
    std::vector<double> y;
  };
  for (const Row& r :
       std::vector<Row>{{R"(graph { in %x: f32[2, 3] const %i: i32[2] = [-1, 0]
               %y = gather(%x, %i) {axis = 1} out "y" = %y })",
                         {2, 0},
                         {3, 1, 6, 4}},
                        {R"(graph { in %x: f32[2, 3] const %i: i32[3, 2] = [-1, -1, 0, -2, 1, 0]
               %y = gather_nd(%x, %i) out "y" = %y })",
                         {1, 2, 0, 1, 1, 0},
                         {6, 2, 4}},
                        {R"(graph { in %x: f32[2, 3] const %i: i64[2, 1] = [-2, -1]
               %y = gather_nd(%x, %i) out "y" = %y })",
                         {0, 1},
                         {1, 2, 3, 4, 5, 6}}}) {
    CAPTURE(r.graph);
    const auto written = ImportFile(FileOf(Parse(r.graph)));
    REQUIRE_MESSAGE(written.has_value(), written.error().message());
    CHECK(Indices(*written) == r.indices);
    CHECK(RunEverywhere(*written, InputsOf(*written, {{1, 2, 3, 4, 5, 6}}))[0].ToDoubles() == r.y);
  }
}

// Whether the file converts negative indices, with LESS.
bool Converts(const std::string& file) {
  const auto operators = OperatorsOf(file);
  return std::ranges::any_of(operators, [](const std::string& o) { return o.starts_with("LESS"); });
}

struct Computed {
  std::string graph;
  std::vector<std::vector<double>> inputs;
  std::vector<double> y;
};

TEST_CASE("tflite indices: computed negative ones count from the start") {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const Computed rows[] = {
      {R"(graph { in %x: f32[2, 3] in %i: i64[2] %y = gather(%x, %i) {axis = 1} out "y" = %y })",
       {x, {-1, -3}},
       {3, 1, 6, 4}},
      {R"(graph { in %x: f32[2, 3] in %i: i32[] %y = gather(%x, %i) {axis = -2} out "y" = %y })",
       {x, {-1}},
       {4, 5, 6}},
      {R"(graph { in %x: f32[2, 3] in %i: i64[2, 1]
         %y = gather(%x, %i) {axis = 1, batch_dims = 1} out "y" = %y })",
       {x, {-1, 0}},
       {3, 4}},
      {R"(graph { in %x: f32[2, 3] in %i: i64[2, 2] %y = gather_nd(%x, %i) out "y" = %y })",
       {x, {-1, -3, 0, -1}},
       {4, 3}},
      {R"(graph { in %x: f32[2, 3] in %i: i32[1, 1] %y = gather_nd(%x, %i) out "y" = %y })",
       {x, {-1}},
       {4, 5, 6}},
      {R"(graph { in %x: f32[2, 3] in %i: i64[2, 1]
         %y = gather_nd(%x, %i) {batch_dims = 1} out "y" = %y })",
       {x, {-1, 0}},
       {3, 4}},
      {R"(graph { const %z: f32[3] = [0, 0, 0] in %u: f32[2] in %i: i64[2, 1]
         %y = scatter_nd(%z, %i, %u) {reduction = add} out "y" = %y })",
       {{5, 7}, {-1, 0}},
       {7, 0, 5}},
  };
  for (const Computed& r : rows) {
    CAPTURE(r.graph);
    const std::string file = FileOf(Parse(r.graph));
    CHECK(Converts(file));
    const auto written = ImportFile(file);
    REQUIRE_MESSAGE(written.has_value(), written.error().message());
    CHECK(RunEverywhere(*written, InputsOf(*written, r.inputs))[0].ToDoubles() == r.y);
  }
}

// Their sizes are those of a run.
TEST_CASE("tflite indices: computed negative ones of open axes count from the start") {
  for (const std::string_view graph :
       {R"(graph { in %x: f32[a, b] in %i: i64[c] %y = gather(%x, %i) {axis = 1} out "y" = %y })",
        R"(graph { in %x: f32[a, b] in %i: i32[] %y = gather(%x, %i) {axis = 1} out "y" = %y })",
        R"(graph { in %x: f32[a, b] in %i: i64[c, 2] %y = gather_nd(%x, %i) out "y" = %y })"}) {
    CAPTURE(graph);
    const auto operators = OperatorsOf(FileOf(Parse(graph)));
    CHECK(std::ranges::count(operators, "SHAPE v1") == 1);
    CHECK(std::ranges::count(operators, "SELECT_V2 v1") == 1);
  }
}

TEST_CASE("tflite indices: those that cannot be negative are written as they are") {
  for (const std::string_view graph :
       {R"(graph { in %x: f32[2, 3] %i = arg_max(%x) {axis = 1, keep_dims = false}
         %y = gather(%x, %i) {axis = 1} out "y" = %y })",
        R"(graph { in %x: f32[n, 3] %p = non_zero(%x) %i = transpose(%p) {perm = [1, 0]}
         %y = gather_nd(%x, %i) out "y" = %y })",
        R"(graph { in %x: f32[2, 3] in %b: u8[4] %i = cast(%b) {to = i32}
         %y = gather(%x, %i) {axis = 1} out "y" = %y })",
        R"(graph { in %x: f32[2, 3] in %n: i64[4] const %z: i64[] = [0]
         %i = maximum(%n, %z) %y = gather(%x, %i) {axis = 1} out "y" = %y })"}) {
    CAPTURE(graph);
    CHECK_FALSE(Converts(FileOf(Parse(graph))));
  }
}

// GATHER of a file has no negative indices.
TEST_CASE("tflite indices: operators of a file keep their indices") {
  const std::string file = FileOf(Parse(R"(graph { in %x: f32[2, 3] in %b: u8[4]
      %i = cast(%b) {to = i32} %y = gather(%x, %i) {axis = 1} out "y" = %y })"));
  auto written = ImportFile(file);
  REQUIRE(written.has_value());
  // The indices as an input.
  for (Node& node : written->nodes())
    if (node.Is("gather"))
      written->SetInput(&node, 1, written->AddInput("i", Type(DType::kI32, {4})));
  CHECK_FALSE(Converts(FileOf(*written)));
}

}  // namespace
}  // namespace nn::test::tflite_gather_test

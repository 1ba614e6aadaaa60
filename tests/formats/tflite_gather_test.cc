// Indices in TensorFlow Lite files.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/tflite_file.h"
#include "ir/text.h"
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

}  // namespace
}  // namespace nn::test::tflite_gather_test

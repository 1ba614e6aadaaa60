// Sizes in the place of open ones in TensorFlow Lite files.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_example_sizes_test {
namespace {

// The shapes of the inputs of the main subgraph.
std::vector<std::vector<int32_t>> ShapesOf(const std::string& file) {
  std::vector<std::vector<int32_t>> out;
  const auto& subgraph = *Root(file).subgraphs()->Get(0);
  for (const int32_t i : *subgraph.inputs()) {
    const auto& shape = *subgraph.tensors()->Get(static_cast<uint32_t>(i))->shape();
    out.emplace_back(shape.begin(), shape.end());
  }
  return out;
}

// LiteRT plans a model with them first, and its windows refuse empty images.
TEST_CASE("tflite example sizes: no value is empty, no reshape is short") {
  struct Row {
    std::string graph;
    std::vector<std::vector<int32_t>> shapes;
  };
  const Row rows[] = {
      // Nothing is empty with 1.
      {R"(graph { in %x: f32[n, c] %y = relu(%x) out "y" = %y })", {{1, 1}}},
      {R"(graph { in %x: f32[n, h, w, 3]
         %y = max_pool(%x) {kernel = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], layout = nxc}
         out "y" = %y })",
       {{1, 1, 1, 3}}},
      // Only the sizes that are too small grow.
      {R"(graph { in %x: f32[n, h, 8, 3]
         %y = max_pool(%x) {kernel = [3, 3], strides = [2, 2], layout = nxc} out "y" = %y })",
       {{1, 4, 8, 3}}},
      {R"(graph { in %x: f32[n, h, w, 3]
         %a = max_pool(%x) {kernel = [3, 1], strides = [2, 1], layout = nxc}
         %y = max_pool(%a) {kernel = [3, 2], strides = [2, 1], layout = nxc} out "y" = %y })",
       {{1, 8, 2, 3}}},
      // A reshape has enough elements.
      {R"(graph { in %x: f32[n, 3, 4] const %s: i64[2] = [2, 12] %y = reshape(%x, %s)
         out "y" = %y })",
       {{2, 3, 4}}},
      // The batch stays.
      {R"(graph { in %x: f32[n, h, 3, 4] const %s: i64[3] = [-1, 4, 12]
         %a = reshape(%x, %s) %b = slice(%x) {axes = [1], starts = [2], ends = [4], steps = [1]}
         out "y" = %a out "b" = %b })",
       {{1, 4, 3, 4}}},
      // Every input has them.
      {R"(graph { in %x: f32[n, h, 8, 3] in %z: f32[h, n]
         %y = max_pool(%x) {kernel = [3, 3], strides = [2, 2], layout = nxc}
         %w = relu(%z) out "y" = %y out "w" = %w })",
       {{1, 4, 8, 3}, {4, 1}}},
  };
  for (const Row& r : rows) {
    CAPTURE(r.graph);
    CHECK(ShapesOf(FileOf(Parse(r.graph))) == r.shapes);
  }
}

}  // namespace
}  // namespace nn::test::tflite_example_sizes_test

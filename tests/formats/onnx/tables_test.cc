// Functions of quantized integers that ONNX gets as tables.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "formats/format.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::onnx_tables_test {
namespace {

struct FunctionRow {
  std::string op;
  std::string type;  // of x and y
  double x_scale, y_scale;
  bool tabulated;
};

Graph GraphOf(const FunctionRow& r) {
  const std::string count = r.type == "i16" ? "65536" : "256";
  return Parse(fmt::format(
      "graph {{ in %x: {0}[{1}]{{scale={2}}}  %y = {3}(%x) @tflite : {0}[*]{{scale={4}}}"
      "  out \"y\" = %y }}",
      r.type, count, r.x_scale, r.op, r.y_scale));
}

// The largest difference between the integers of the model and of its ONNX form, over all integers
// of the type from `first` on.
int64_t LargestStep(const FunctionRow& r, int64_t first) {
  const Graph graph = GraphOf(r);
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *FindFormat("onnx")->target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
  bool gathers = false;
  for (const Node& node : fitted.nodes()) gathers = gathers || node.Is("gather");
  CHECK(gathers == r.tabulated);
  std::vector<double> codes;
  const int64_t low = r.type == "i16" ? -32768 : -128;
  for (int64_t q = low; q < -low; ++q) codes.push_back(static_cast<double>(std::max(q, first)));
  const auto inputs = InputsOf(graph, {codes});
  const auto expected = RunEverywhere(graph, inputs)[0].ToInts();
  const auto actual = RunEverywhere(fitted, inputs)[0].ToInts();
  int64_t largest = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    largest = std::max(largest, std::abs(expected[i] - actual[i]));
  return largest;
}

TEST_CASE("onnx tables: functions that TensorFlow Lite interpolates keep their integers") {
  CHECK(LargestStep({"rsqrt", "i16", 2.0 / 32768, 16.0 / 32768, true}, 1) == 0);
  CHECK(LargestStep({"log", "i16", 4.0 / 32768, 8.0 / 32768, true}, 1) == 0);
}

TEST_CASE("onnx tables: functions that are close stay what they are") {
  CHECK(LargestStep({"tanh", "i16", 8.0 / 32768, 1.0 / 32768, false}, -32768) <= 1);
  CHECK(LargestStep({"rsqrt", "i8", 2.0 / 128, 8.0 / 128, false}, 1) <= 1);
}

}  // namespace
}  // namespace nn::test::onnx_tables_test

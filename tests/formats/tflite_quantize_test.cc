// Quantized types that TensorFlow Lite does not have.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/tflite_file.h"
#include "ir/text.h"
#include "passes/legalize.h"
#include "support/run_graph.h"

namespace nn::test::tflite_quantize_test {
namespace {

// DEQUANTIZE of 16 bits has no zero point.
TEST_CASE("tflite quantize: weights of 16 bits with a zero point are written as floats") {
  const Graph source = Parse(R"(graph { in %x: f32[2]
    const %q: i16[2]{scale=0.5, zp=4} = [6, -4]  %w = dequantize(%q)
    %y = add(%x, %w)  out "y" = %y })");
  const std::string file = FileOf(source);
  CHECK(OperatorsOf(file) == std::vector<std::string>{"ADD v1"});
  const auto written = ImportFile(file);
  REQUIRE_MESSAGE(written.has_value(), written.error().message());
  CHECK(RunEverywhere(*written, InputsOf(*written, {{10, 20}}))[0].ToDoubles() ==
        std::vector<double>{11, 16});
}

TEST_CASE("tflite quantize: other values of 16 bits with a zero point are refused by name") {
  Graph graph = Parse(R"(graph { in %x: i16[2]{scale=0.5, zp=4}  %y = dequantize(%x)
    out "y" = %y })");
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  REQUIRE(FitTo(*Tflite().target, graph, axes, unsupported).has_value());
  REQUIRE(unsupported.size() == 1);
  CHECK(unsupported[0].op == "dequantize");
  CHECK(unsupported[0].reason ==
        "the DEQUANTIZE operator of TensorFlow Lite: x is INT16 with zero point 4; expected 0");
}

}  // namespace
}  // namespace nn::test::tflite_quantize_test

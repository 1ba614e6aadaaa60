// Quantized types that TensorFlow Lite does not have.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
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
        "in the DEQUANTIZE operator of TensorFlow Lite, x is INT16 with zero point 4; expected 0");
}

// The same integers as `i4` and as `i8`.
std::string Filtered(const std::string& x, const std::string& filter, const std::string& attrs,
                     const std::string& y) {
  return "graph { in %x: " + x + "  const %w: " + filter +
         R"( = [1, -2, 7, -8, 3, 0, -5, 6, 2, -1, 4, -7, 5, -3, 0, 1]
    const %b: )" +
         (x.starts_with("i16") ? "i64" : "i32") + R"([2] = [5, -7]
    %y = conv(%x, %w, %b) {layout = nxc, )" +
         attrs + "} @tflite : " + y + R"(  out "y" = %y })";
}

TEST_CASE("tflite quantize: filters of 4 bits compute what those of 8 bits do") {
  struct Case {
    std::string x, dims, quant, attrs, y, op;
  };
  const std::string byte = "i8[1, 4, 4, 2]{scale=0.05, zp=3}";
  const std::string word = "i16[1, 4, 4, 2]{scale=0.001}";
  const std::string byte_y = "i8[1, 3, 3, 2]{scale=0.5, zp=-4}";
  const std::string word_y = "i16[1, 3, 3, 2]{scale=0.002}";
  const std::string dense = "[2, 2, 2, 2]";
  for (const Case& c : {
           Case{byte, dense, "{scale=0.1}", "filter_layout = oxi", byte_y, "CONV_2D v7"},
           Case{byte, dense, "{axis=0, scale=[0.1, 0.2]}", "filter_layout = oxi", byte_y,
                "CONV_2D v7"},
           Case{word, dense, "{axis=0, scale=[0.1, 0.2]}", "filter_layout = oxi", word_y,
                "CONV_2D v7"},
       }) {
    const auto with = [&](const std::string& type) {
      return Filtered(c.x, type + c.dims + c.quant, c.attrs, c.y);
    };
    CAPTURE(with("i4"));
    const Graph narrow = Parse(with("i4"));
    CHECK(LargestDifference(narrow, Parse(with("i8"))) == 0);
    const std::string file = FileOf(narrow);
    CHECK(OperatorsOf(file) == std::vector<std::string>{c.op});
    const auto written = ImportFile(file);
    REQUIRE_MESSAGE(written.has_value(), written.error().message());
    CHECK(LargestDifference(narrow, *written) == 0);
  }
  CheckHasKernels(
      Parse(Filtered(byte, "i4" + dense + "{scale=0.1}", "filter_layout = oxi", byte_y)));
}

TEST_CASE("tflite quantize: depthwise filters of 4 bits compute what those of 8 bits do") {
  const auto with = [](const std::string& type) {
    return R"(graph { in %x: i8[1, 4, 4, 2]{scale=0.05, zp=3}  const %w: )" + type +
           R"([1, 2, 2, 2]{axis=3, scale=[0.1, 0.2]} = [1, -2, 7, -8, 3, 0, -5, 6]
      const %b: i32[2] = [5, -7]
      %y = conv(%x, %w, %b) {layout = nxc, filter_layout = ixo, groups = 2} @tflite
        : i8[1, 3, 3, 2]{scale=0.5, zp=-4}
      out "y" = %y })";
  };
  const Graph narrow = Parse(with("i4"));
  CHECK(LargestDifference(narrow, Parse(with("i8"))) == 0);
  CheckHasKernels(narrow);
  CHECK(OperatorsOf(FileOf(narrow)) == std::vector<std::string>{"DEPTHWISE_CONV_2D v7"});
}

}  // namespace
}  // namespace nn::test::tflite_quantize_test

// Hybrid kernels: products of floats, which are rounded to 8 bits, by integer weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::tflite_hybrid_test {
namespace {

using Names = std::vector<std::string>;

// Checks that the graph becomes one operator, and that the graph of the file computes the same
// bits.
void CheckKernel(const std::string& text, const std::string& op) {
  CAPTURE(text);
  const Graph source = Parse(text);
  const std::string file = FileOf(source);
  CHECK(OperatorsOf(file) == Names{op});
  const auto written = ImportFile(file);
  REQUIRE_MESSAGE(written.has_value(), written.error().message());
  CHECK(LargestDifference(source, *written) == 0);
  CHECK(OperatorsOf(FileOf(*written)) == Names{op});
}

std::string Product(const std::string& weights, const std::string& symmetric) {
  return R"(graph { in %x: f32[3, 8]  const %q: )" + weights + R"( = seeded(1)
    const %b: f32[4] = seeded(2)
    %w = dequantize(%q)
    %r = dynamic_fake_quantize(%x) {axes = [1], symmetric = )" +
         symmetric + R"(}
    %y = matmul(%r, %w, %b) {transpose_b = true}  out "y" = %y })";
}

TEST_CASE("tflite hybrid: FULLY_CONNECTED keeps the types, scales and rounding") {
  const std::string scales = "{axis=0, scale=[0.01, 0.02, 0.03, 0.04]}";
  CheckKernel(Product("i8[4, 8]{scale=0.01}", "true"), "FULLY_CONNECTED v3");
  CheckKernel(Product("i8[4, 8]{scale=0.01}", "false"), "FULLY_CONNECTED v9");
  CheckKernel(Product("i8[4, 8]" + scales, "true"), "FULLY_CONNECTED v12");
  CheckKernel(Product("i8[4, 8]" + scales, "false"), "FULLY_CONNECTED v12");
  CheckKernel(Product("i4[4, 8]" + scales, "true"), "FULLY_CONNECTED v10");
  CheckKernel(Product("i2[4, 8]{scale=0.5}", "false"), "FULLY_CONNECTED v14");
}

TEST_CASE("tflite hybrid: BATCH_MATMUL rounds along the axis that is summed") {
  for (const std::string transpose : {"true", "false"})
    CheckKernel(R"(graph { in %x: f32[2, 4, 4]  const %q: i8[2, 4, 3]{scale=0.1} = seeded(1)
      %w = dequantize(%q)
      %r = dynamic_fake_quantize(%x) {axes = [)" +
                    std::string(transpose == "true" ? "1" : "2") + R"(]}
      %y = matmul(%r, %w) {transpose_a = )" +
                    transpose + R"(}  out "y" = %y })",
                "BATCH_MATMUL v1");
}

std::string Convolution(const std::string& filter, const std::string& symmetric,
                        const std::string& attrs, const std::string& op = "conv") {
  return R"(graph { in %x: f32[2, 5, 5, 4]  const %q: )" + filter + R"( = seeded(1)
    const %b: f32[4] = seeded(2)
    %w = dequantize(%q)
    %r = dynamic_fake_quantize(%x) {axes = [1, 2, 3], symmetric = )" +
         symmetric + R"(}
    %c = )" +
         op + R"((%r, %w, %b) {layout = nxc, )" + attrs + R"(}
    %y = relu(%c)  out "y" = %y })";
}

TEST_CASE("tflite hybrid: each convolution has the rounding of its kernel") {
  const std::string several = "scale=[0.01, 0.02, 0.03, 0.04]}";
  CheckKernel(Convolution("i8[4, 3, 3, 4]{scale=0.01}", "true",
                          "filter_layout = oxi, padding = same_upper"),
              "CONV_2D v2");
  CheckKernel(Convolution("i8[4, 3, 3, 4]{axis=0, " + several, "false", "filter_layout = oxi"),
              "CONV_2D v5");
  CheckKernel(Convolution("i4[4, 3, 3, 4]{axis=0, " + several, "false", "filter_layout = oxi"),
              "CONV_2D v7");
  CheckKernel(
      Convolution("i8[4, 3, 3, 2]{axis=0, " + several, "false", "filter_layout = oxi, groups = 2"),
      "CONV_2D v6");
  CheckKernel(
      Convolution("i8[1, 3, 3, 4]{axis=3, " + several, "false", "filter_layout = ixo, groups = 4"),
      "DEPTHWISE_CONV_2D v6");
  CheckKernel(
      Convolution("i8[4, 3, 3, 4]{axis=0, " + several, "false",
                  "filter_layout = oxi, strides = [2, 2], dilations = [1, 1]", "conv_transpose"),
      "TRANSPOSE_CONV v4");
}

std::string Layer(const std::string& rounding, const std::string& operands,
                  const std::string& attrs, const std::string& symmetric) {
  return R"(graph { in %x: f32[3, 2, 3]
    const %qw: i8[16, 3]{scale=0.004} = seeded(1)
    const %qr: i8[16, 4]{axis=0, scale=[0.004, 0.004, 0.004, 0.004, 0.003, 0.003, 0.003, 0.003,
                                        0.002, 0.002, 0.002, 0.002, 0.001, 0.001, 0.001, 0.001]}
      = seeded(2)
    const %qp: i8[12]{scale=0.01} = seeded(3)
    const %qm: i8[4, 4]{scale=0.01} = seeded(4)
    const %b: f32[16] = seeded(5)  const %n: f32[16] = seeded(6)  const %k: f32[4] = seeded(7)
    %w = dequantize(%qw)  %r = dequantize(%qr)  %p = dequantize(%qp)  %m = dequantize(%qm)
    %q = dynamic_fake_quantize(%x) {axes = [2], symmetric = )" +
         symmetric + "}  %y = extended_lstm(%q, %w, %r, " + operands +
         ") {state_rounding = " + rounding + attrs + "}  out \"y\" = %y }";
}

TEST_CASE("tflite hybrid: UNIDIRECTIONAL_SEQUENCE_LSTM keeps its integers and rounding") {
  const std::string plain = "UNIDIRECTIONAL_SEQUENCE_LSTM v2";
  const std::string all = "%b, _, _, %p, %n, %m, %k";
  CheckKernel(Layer("symmetric", "%b", "", "true"), plain);
  CheckKernel(Layer("symmetric", all, ", cell_clip = 0.5", "true"), plain);
  CheckKernel(Layer("symmetric", "_, _, _, %p", ", batch_first = true", "true"), plain);
  CheckKernel(Layer("asymmetric", all, "", "false"), "UNIDIRECTIONAL_SEQUENCE_LSTM v3");
}

TEST_CASE("tflite hybrid: a layer that no kernel computes is written step by step") {
  const auto is_layer = [](const std::string& op) {
    return op.starts_with("UNIDIRECTIONAL_SEQUENCE_LSTM");
  };
  // Its input has another rounding than its states.
  const Graph source = Parse(Layer("symmetric", "%b", "", "false"));
  const std::string file = FileOf(source);
  const Names ops = OperatorsOf(file);
  CHECK(std::ranges::none_of(ops, is_layer));
  const auto written = ImportFile(file);
  REQUIRE_MESSAGE(written.has_value(), written.error().message());
  CHECK(LargestDifference(source, *written) <= 1e-6);
}

// The operators that round are written where no kernel does it.
void CheckOperators(const std::string& text, const std::string& product) {
  CAPTURE(text);
  const Graph source = Parse(text);
  Graph legal = source.Clone();
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  REQUIRE(FitTo(*Tflite().target, legal, axes, unsupported).has_value());
  REQUIRE(unsupported.empty());
  const std::string file = FileOf(legal);
  const Names ops = OperatorsOf(file);
  CHECK(std::count(ops.begin(), ops.end(), product) == 1);
  CHECK(std::count(ops.begin(), ops.end(), "FLOOR v1") >= 1);
  const auto written = ImportFile(file);
  REQUIRE_MESSAGE(written.has_value(), written.error().message());
  CHECK(LargestDifference(source, *written) <= 1e-6);
}

TEST_CASE("tflite hybrid: other roundings are written as operators") {
  // The symmetric one of a kernel that rounds asymmetrically, and the reverse.
  CheckOperators(Convolution("i8[4, 3, 3, 4]{axis=0, scale=[0.01, 0.02, 0.03, 0.04]}", "true",
                             "filter_layout = oxi"),
                 "CONV_2D v1");
  CheckOperators(Convolution("i8[4, 3, 3, 4]{scale=0.01}", "false", "filter_layout = oxi"),
                 "CONV_2D v1");
  // No kernel has depthwise weights of 4 bits.
  CheckOperators(Convolution("i4[1, 3, 3, 4]{axis=3, scale=[0.01, 0.02, 0.03, 0.04]}", "false",
                             "filter_layout = ixo, groups = 4"),
                 "DEPTHWISE_CONV_2D v1");
  // The rounded numbers are a result.
  CheckOperators(R"(graph { in %x: f32[3, 8]  const %q: i8[4, 8]{scale=0.01} = seeded(1)
    %w = dequantize(%q)  %r = dynamic_fake_quantize(%x) {axes = [1]}
    %y = matmul(%r, %w) {transpose_b = true}  out "y" = %y  out "r" = %r })",
                 "FULLY_CONNECTED v6");
}

}  // namespace
}  // namespace nn::test::tflite_hybrid_test

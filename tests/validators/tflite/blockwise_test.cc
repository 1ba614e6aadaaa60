// Weights of TensorFlow Lite with blockwise quantization.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/run_graph.h"
#include "validators/tflite/text.h"

namespace nn::test::tflite_blockwise_test {
namespace {

// FULLY_CONNECTED of x [1, 4] with these weights [2, 4]:
//   1  2 3 4    scales 0.5 2
//  -1 -2 5 6           1   0.25
struct Dense {
  std::string op = R"({"deprecated_builtin_code": 9, "builtin_code": "FULLY_CONNECTED"})";
  std::string options = R"("builtin_options_type": "FullyConnectedOptions", "builtin_options": {})";
  std::string x = R"("type": "FLOAT32")";
  std::string weights = R"("type": "INT8")";
  std::string integers = "1, 2, 3, 4, 255, 254, 5, 6";
  std::string details = R"("scales": 2, "zero_points": -1, "block_size": 2)";
  std::string quantization;  // more members
  std::string scales = R"("shape": [2, 2], "type": "FLOAT16", "buffer": 2)";
  std::string numbers = "0, 56, 0, 64, 0, 60, 0, 52";

  std::string Text() const {
    return fmt::format(
        R"({{"version": 3, "operator_codes": [{}], "subgraphs": [{{"tensors": [
{{"name": "x", "shape": [1, 4], {}}},
{{"name": "w", "shape": [2, 4], "buffer": 1, {},
  "quantization": {{{}"details_type": "BlockwiseQuantization", "details": {{{}}}}}}},
{{"name": "scales", {}}},
{{"name": "bias", "shape": [2], "buffer": 3}},
{{"name": "points", "shape": [2, 2], "type": "INT8", "buffer": 4}},
{{"name": "zeros", "shape": [2, 2], "type": "INT8", "buffer": 5}},
{{"name": "y", "shape": [1, 2], {}}}],
"inputs": [0], "outputs": [6],
"operators": [{{"opcode_index": 0, "inputs": [0, 1, 3], "outputs": [6], {}}}]}}],
"buffers": [{{}}, {{"data": [{}]}}, {{"data": [{}]}}, {{"data": [0, 0, 128, 63, 0, 0, 128, 191]}},
{{"data": [0, 0, 1, 0]}}, {{"data": [0, 0, 0, 0]}}]}})",
        op, x, weights, quantization, details, scales, x, options, integers, numbers);
  }
};

TEST_CASE("tflite blockwise: each block of a row has its scale") {
  const std::vector<std::vector<double>> x = {{1, 10, 100, 1000}}, y = {{8611.5, 1603}};
  Dense i8;
  CHECK(OutputsOfTflite(i8.Text(), x) == y);
  i8.details = R"("scales": 2, "zero_points": 5, "block_size": 2)";
  CHECK(OutputsOfTflite(i8.Text(), x) == y);
  Dense i4;
  i4.weights = R"("type": "INT4")";
  i4.integers = "33, 67, 239, 101";
  CHECK(OutputsOfTflite(i4.Text(), x) == y);
  Dense floats;
  floats.scales = R"("shape": [2, 2], "buffer": 2)";
  floats.numbers = "0, 0, 0, 63, 0, 0, 0, 64, 0, 0, 128, 63, 0, 0, 128, 62";
  CHECK(OutputsOfTflite(floats.Text(), x) == y);
  // One block in all.
  Dense i2;
  i2.weights = R"("type": "INT2")";
  i2.integers = "228, 27";  // 0, 1, -2, -1 and -1, -2, 1, 0
  i2.details = R"("scales": 2, "zero_points": -1, "block_size": 4)";
  i2.scales = R"("shape": [2, 1], "type": "FLOAT16", "buffer": 2)";
  i2.numbers = "0, 56, 0, 64";
  CHECK(OutputsOfTflite(i2.Text(), x) == std::vector<std::vector<double>>{{-594, 157}});
}

TEST_CASE("tflite blockwise: the import counts the operator as a hybrid kernel") {
  const auto imported = ImportTfliteText(Dense().Text());
  REQUIRE(imported.has_value());
  CHECK(imported->hybrids == 1);
  // The weights stay integers.
  for (const Node& node : imported->graph.nodes())
    if (node.Is("dequantize")) CHECK(node.input(0)->dtype() == DType::kI8);
}

TEST_CASE("tflite blockwise: what is refused") {
  struct Row {
    std::string Dense::*member;
    const char* text;
    const char* reason;
  };
  for (const Row& r : {
           Row{&Dense::details, R"("scales": 2, "zero_points": 4, "block_size": 2)",
               "blockwise quantization with zero point 1 is unsupported; expected 0"},
           Row{&Dense::details, R"("scales": 2, "zero_points": -1, "block_size": 3)",
               "block_size is 3; it must divide the last dimension of [2, 4]"},
           Row{&Dense::details, R"("scales": 2, "zero_points": -1, "block_size": 0)",
               "block_size is 0"},
           Row{&Dense::details, R"("scales": 2, "zero_points": -1, "block_size": 4)",
               "the scales are f16[2, 2]; expected 2 numbers for blocks of 4"},
           Row{&Dense::details, R"("scales": 9, "zero_points": -1, "block_size": 2)",
               "the scales refer to tensor 9, which does not exist"},
           Row{&Dense::details, R"("scales": 0, "zero_points": -1, "block_size": 2)",
               "scales that are not constant are unsupported"},
           Row{&Dense::details, R"("scales": 5, "zero_points": -1, "block_size": 2)",
               "the scales are i8[2, 2]"},
           Row{&Dense::details, R"("scales": 2, "zero_points": 3, "block_size": 2)",
               "the zero points are f32"},
           Row{&Dense::numbers, "0, 56, 0, 192, 0, 60, 0, 52",
               "scale 1 is -2; it must be positive and finite"},
           Row{&Dense::numbers, "0, 56, 0, 124, 0, 60, 0, 52",
               "scale 1 is inf; it must be positive and finite"},
           Row{&Dense::quantization, "\"quantized_dimension\": 1, ",
               "blockwise quantization along dimension 1 is unsupported; expected 0"},
           Row{&Dense::weights, R"("type": "UINT8")",
               "blockwise quantization of UINT8 is unsupported"},
           Row{&Dense::x, R"("type": "INT8", "quantization": {"scale": [0.5], "zero_point": [0]})",
               "weights with blockwise quantization need an input and a result of f32"},
       }) {
    CAPTURE(r.reason);
    Dense dense;
    dense.*r.member = r.text;
    CHECK(WhyNotImported(dense.Text()).find(r.reason) != std::string::npos);
  }
  Dense other;
  other.op = R"({"deprecated_builtin_code": 11, "builtin_code": "L2_NORMALIZATION"})";
  other.options = R"("builtin_options_type": "L2NormOptions", "builtin_options": {})";
  CHECK(WhyNotImported(other.Text()).find("BlockwiseQuantization quantization is unsupported") !=
        std::string::npos);
}

}  // namespace
}  // namespace nn::test::tflite_blockwise_test

// RNN layers of TensorFlow Lite with integer weights, whose kernels round the input and the state
// of each step.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/native_edits.h"
#include "formats/tflite/file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_hybrid_rnn_test {
namespace {

const std::vector<double> kX = {0.3, -0.71, 0.97, 0.11, -0.4, 0.52};  // three steps
// What LiteRT's reference kernel computes from them, by symmetric and asymmetric rounding.
const std::vector<double> kSymmetric = {0.718497097492218,  -0.7527258396148682,
                                        0.9939072132110596, -0.8890599608421326,
                                        0.9427680373191833, -0.938887894153595};
const std::vector<double> kAsymmetric = {0.7178321480751038, -0.752474844455719,
                                         0.9939153790473938, -0.8889954090118408,
                                         0.9420730471611023, -0.9381477236747742};

// Weights, recurrent weights, bias and state of two units with two inputs; `n` begins their names.
std::string Direction(const char* n, const char* scale = "[0.0078125]") {
  return fmt::format(
      R"({{"name": "{0}w", "type": "INT8", "shape": [2, 2], "buffer": 1,
           "quantization": {{"scale": {1}, "zero_point": [0]}}}},
         {{"name": "{0}r", "type": "INT8", "shape": [2, 2], "buffer": 2,
           "quantization": {{"scale": [0.015625], "zero_point": [0]}}}},
         {{"name": "{0}b", "shape": [2], "buffer": 3}},
         {{"name": "{0}h", "shape": [1, 2], "is_variable": true}})",
      n, scale);
}

std::string ModelOf(const char* op, const std::string& options, const std::string& tensors,
                    const char* inputs, const char* outputs) {
  return fmt::format(R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
    "operator_codes": [{{"builtin_code": "{0}", "deprecated_builtin_code": 0, "version": 3}}],
    "buffers": [{{}}, {{"data": "f8AgZA=="}}, {{"data": "MpzlUA=="}}, {{"data": "AACAPgAAAL8="}}],
    "subgraphs": [{{"inputs": [0], "outputs": {4}, "tensors": [{2}],
     "operators": [{{"opcode_index": 0, "inputs": {3}, "outputs": {4}, {1}}}]}}]}}}})",
                     op, options, tensors, inputs, outputs);
}

std::string SequenceModel(const char* asymmetric, const char* scale = "[0.0078125]",
                          const char* x = "[1, 3, 2]", const char* signature = "[1, 3, 2]") {
  const std::string ends = fmt::format(R"("shape": {}, "shape_signature": {})", x, signature);
  return ModelOf(
      "UNIDIRECTIONAL_SEQUENCE_RNN",
      fmt::format(R"("builtin_options_type": "SequenceRNNOptions", "builtin_options":
                   {{"fused_activation_function": "TANH", "asymmetric_quantize_inputs": {}}})",
                  asymmetric),
      fmt::format(R"({{"name": "x", {0}}}, {1}, {{"name": "y", {0}}})", ends, Direction("", scale)),
      "[0, 1, 2, 3, 4]", "[5]");
}

std::string BothModel(const char* time_major, const char* x) {
  return ModelOf(
      "BIDIRECTIONAL_SEQUENCE_RNN",
      fmt::format(R"("builtin_options_type": "BidirectionalSequenceRNNOptions", "builtin_options":
        {{"time_major": {}, "fused_activation_function": "TANH"}})",
                  time_major),
      fmt::format(R"({{"name": "x", "shape": {0}}}, {1}, {2}, {{"name": "f", "shape": {0}}},
        {{"name": "b", "shape": {0}}})",
                  x, Direction("f"), Direction("b")),
      "[0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1]", "[9, 10]");
}

std::vector<std::vector<double>> RunOf(const std::string& text, const std::vector<double>& x) {
  const ImportedModel model = ImportDump(text);
  for (const UnsupportedNode& node : model.unsupported) FAIL_CHECK(node.reason);
  REQUIRE(model.unsupported.empty());
  std::vector<std::vector<double>> out;
  for (const Tensor& y : RunEverywhere(model.graph, InputsOf(model.graph, {x})))
    out.push_back(y.ToDoubles());
  return out;
}

void CheckNear(const std::vector<double>& y, const std::vector<double>& want) {
  REQUIRE(y.size() == want.size());
  for (size_t i = 0; i < y.size(); ++i) CHECK(std::fabs(y[i] - want[i]) < 1e-6);
}

// The steps of two numbers in the other order.
std::vector<double> Reversed(const std::vector<double>& x) {
  std::vector<double> out;
  for (size_t i = x.size(); i > 0; i -= 2) out.insert(out.end(), {x[i - 2], x[i - 1]});
  return out;
}

TEST_CASE("tflite hybrid rnn: LiteRT's results") {
  CheckNear(RunOf(SequenceModel("false"), kX)[0], kSymmetric);
  CheckNear(RunOf(SequenceModel("true"), kX)[0], kAsymmetric);
}

TEST_CASE("tflite hybrid rnn: both directions") {
  const auto y = RunOf(BothModel("false", "[1, 3, 2]"), kX);
  REQUIRE(y.size() == 2);
  CheckNear(y[0], kSymmetric);
  CHECK(y[1] == Reversed(RunOf(SequenceModel("false"), Reversed(kX))[0]));
}

// Its state is a variable of the model.
TEST_CASE("tflite hybrid rnn: a single step") {
  const std::string text = ModelOf(
      "RNN",
      R"("builtin_options_type": "RNNOptions", "builtin_options":
                {"fused_activation_function": "TANH"})",
      R"({"name": "x", "shape": [1, 2]}, )" + Direction("") + R"(, {"name": "y", "shape": [1, 2]})",
      "[0, 1, 2, 3, 4]", "[5]");
  CheckNear(RunOf(text, {kX[0], kX[1]})[0], {kSymmetric[0], kSymmetric[1]});
}

TEST_CASE("tflite hybrid rnn: it is written with hybrid kernels") {
  const ImportedModel model = ImportDump(SequenceModel("false"));
  const std::string file = FileOf(model.graph);
  for (const std::string& op : OperatorsOf(file)) CHECK(!op.starts_with("DEQUANTIZE"));
  const auto written = ImportFile(file);
  REQUIRE(written.has_value());
  CheckNear(RunEverywhere(*written, InputsOf(*written, {kX}))[0].ToDoubles(), kSymmetric);
}

TEST_CASE("tflite hybrid rnn: what the kernels do not compute is refused") {
  struct Row {
    std::string model, reason;
  };
  for (const Row& r :
       {Row{SequenceModel("false", "[0.0078125]", "[1, 1, 2]", "[1, -1, 2]"),
            "steps are unsupported (hybrid kernel), only over 1 to 256; set them with "
            "--input-shape, or nnconvert --dequantize converts the weights to floats"},
        Row{SequenceModel("false", "[0.0078125, 0.015625]"),
            "integer weights of an RNN need one scale; they are i8"},
        Row{BothModel("true", "[3, 1, 2]"),
            "integer weights of both directions are unsupported (hybrid kernel) if the steps are "
            "on the first axis, because the kernel repeats them; nnconvert --dequantize converts "
            "the weights to floats"}}) {
    CAPTURE(r.reason);
    const ImportedModel model = ImportDump(r.model);
    REQUIRE(model.unsupported.size() == 1);
    CAPTURE(model.unsupported[0].reason);
    CHECK(model.unsupported[0].reason.find(r.reason) != std::string::npos);
  }
}

}  // namespace
}  // namespace nn::test::tflite_hybrid_rnn_test

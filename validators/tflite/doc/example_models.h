// Base models of the examples of TensorFlow Lite rules, and edits that several examples share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "validators/example.h"

namespace nn::tflite {

inline constexpr const char* kModel = R"({
"version": 3,
"operator_codes": [
{"deprecated_builtin_code": 0, "builtin_code": "ADD"},
{"deprecated_builtin_code": 19, "builtin_code": "RELU"}
],
"subgraphs": [{
"tensors": [
{"name": "x", "shape": [1, 2], "buffer": 0},
{"name": "c", "shape": [1, 2], "buffer": 1},
{"name": "t", "shape": [1, 2], "buffer": 0},
{"name": "y", "shape": [1, 2], "buffer": 0}
],
"inputs": [0],
"outputs": [3],
"operators": [
{"opcode_index": 0, "inputs": [0, 1], "outputs": [2]},
{"opcode_index": 1, "inputs": [2], "outputs": [3]}
]}],
"buffers": [{}, {"data": [0, 0, 128, 63, 0, 0, 0, 64]}, {"data": [49, 46, 53, 46, 48]}],
"metadata": [{"name": "min_runtime_version", "buffer": 2}],
"signature_defs": [{"signature_key": "serving", "subgraph_index": 0,
 "inputs": [{"name": "x", "tensor_index": 0}], "outputs": [{"name": "y", "tensor_index": 3}]}]
})";

// Adds members to the tensor "t".
inline Edit Tensor(const std::string& members) {
  return {"{\"name\": \"t\",", "{\"name\": \"t\", " + members + ","};
}

// A conversion whose output can have any type.
inline constexpr const char* kCast = R"(CAST CastOptions {}
x f32[1,2]
> y f32[1,2]
)";

// Quantizes the output of kCast. The type is written as in signature.h.
inline Edit Quantized(const std::string& type, const std::string& members) {
  return {"y f32[1,2]", "y " + type + "[1,2] {\"quantization\": {" + members + "}}"};
}

std::vector<RuleExample> ModelExamples();
std::vector<RuleExample> GraphExamples();
std::vector<RuleExample> TensorExamples();
std::vector<RuleExample> OperatorExamples();
std::vector<RuleExample> ConvolutionExamples();
std::vector<RuleExample> ShapeExamples();
std::vector<RuleExample> IndexExamples();
std::vector<RuleExample> QuantizationExamples();
std::vector<RuleExample> CallExamples();
std::vector<RuleExample> LintExamples();

}  // namespace nn::tflite

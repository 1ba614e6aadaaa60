// Rules of TensorFlow Lite models, each broken and nearly broken.
#include <doctest/doctest.h>

#include "validators/rule_cases.h"

namespace nn::test {
namespace {

constexpr const char* kModel = R"({
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
"buffers": [{}, {"data": [0, 0, 128, 63, 0, 0, 128, 63]}],
"metadata": [{"name": "m", "buffer": 0}],
"signature_defs": [{"signature_key": "serving", "subgraph_index": 0,
 "inputs": [{"name": "x", "tensor_index": 0}], "outputs": [{"name": "y", "tensor_index": 3}]}]
})";

std::string Encode(const std::string& text) {
  return EncodeFlatbuffer("tflite.fbs", text);
}

// Members of the tensor "t".
Edit Tensor(const std::string& members) {
  return {"{\"name\": \"t\",", "{\"name\": \"t\", " + members + ","};
}

Edit Quantised(const std::string& type, const std::string& members) {
  return Tensor("\"type\": \"" + type + "\", \"quantization\": {" + members + "}");
}

// The second operator becomes another one.
Edit Operator(const std::string& code) {
  return {"\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"",
          "\"builtin_code\": \"" + code + "\""};
}

Edit Options(const std::string& type, const std::string& members = "") {
  return {"\"inputs\": [2]", "\"inputs\": [2], \"builtin_options_type\": \"" + type +
                                 "\", \"builtin_options\": {" + members + "}"};
}

std::vector<RuleCase> Models() {
  const std::string graph = "{\"signature_key\": \"serving\", \"subgraph_index\": 0";
  const auto codes = [](const std::string& members) {
    return Edit{"\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"", members};
  };
  const Edit one_output = {"[{\"name\": \"y\", \"tensor_index\": 3}]",
                           "[{\"name\": \"y\", \"tensor_index\": 4}]"};
  return {
      {"TFLITE-MODEL-001", kModel, {{"\"version\": 3", "\"version\": 4"}}, {}},
      {"TFLITE-MODEL-002",
       R"({"version": 3, "buffers": [{}]})",
       {},
       {{"}]", "}], \"subgraphs\": [{}]"}}},
      {"TFLITE-MODEL-003",
       R"({"version": 3, "subgraphs": [{}], "buffers": [{}]})",
       {{"[{}]}", "[{\"data\": [1]}]}"}},
       {{"[{}]}", "[{}, {\"data\": [1]}]}"}}},
      {"TFLITE-MODEL-004",
       kModel,
       {{"[{}, ", "[{}, {\"offset\": 9999, \"size\": 4}, "}, {"\"buffer\": 1", "\"buffer\": 2"}},
       {{"[{}, ", "[{}, {\"offset\": 16, \"size\": 4}, "}, {"\"buffer\": 1", "\"buffer\": 2"}}},
      {"TFLITE-MODEL-005",
       kModel,
       {codes("\"builtin_code\": 999, \"deprecated_builtin_code\": 127")},
       {codes("\"builtin_code\": 150, \"deprecated_builtin_code\": 127")}},
      {"TFLITE-MODEL-006",
       kModel,
       {codes("\"builtin_code\": 19, \"deprecated_builtin_code\": 18")},
       {codes("\"builtin_code\": 0, \"deprecated_builtin_code\": 19")}},
      {"TFLITE-MODEL-007",
       kModel,
       {codes("\"builtin_code\": \"CUSTOM\"")},
       {codes("\"builtin_code\": \"CUSTOM\", \"custom_code\": \"Mine\"")}},
      {"TFLITE-MODEL-008",
       kModel,
       {one_output},
       {{"\"y\", \"tensor_index\": 3", "\"y\", \"tensor_index\": 2"}}},
      {"TFLITE-MODEL-008", kModel, {{"\"subgraph_index\": 0", "\"subgraph_index\": 1"}}, {}},
      {"TFLITE-MODEL-009",
       kModel,
       {{graph, graph + "}, " + graph}},
       {{graph, "{\"signature_key\": \"other\"}, " + graph}}},
      {"TFLITE-MODEL-010",
       kModel,
       {{"\"m\", \"buffer\": 0", "\"m\", \"buffer\": 2"}},
       {{"\"m\", \"buffer\": 0", "\"m\", \"buffer\": 1"}}},
  };
}

std::vector<RuleCase> Graphs() {
  const Edit optional = {"\"inputs\": [2]", "\"inputs\": [2, 1, -1]"};
  const Edit dense = {"\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"",
                      "\"builtin_code\": \"FULLY_CONNECTED\""};
  return {
      {"TFLITE-GRAPH-001",
       kModel,
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 4],\n"}},
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 1],\n"}}},
      {"TFLITE-GRAPH-002",
       kModel,
       {{"\"opcode_index\": 1", "\"opcode_index\": 2"}},
       {{"\"opcode_index\": 1", "\"opcode_index\": 2"},
        {"\"builtin_code\": \"RELU\"}",
         "\"builtin_code\": \"RELU\"}, {\"builtin_code\": \"TANH\"}"}}},
      {"TFLITE-GRAPH-003",
       kModel,
       {dense, {"\"inputs\": [2]", "\"inputs\": [2, 1, -2]"}},
       {dense, optional}},
      {"TFLITE-GRAPH-004",
       kModel,
       {{"\"inputs\": [0, 1]", "\"inputs\": [3, 1]"}},
       {{"\"inputs\": [0, 1]", "\"inputs\": [3, 1]"},
        {"\"name\": \"y\"", "\"name\": \"y\", \"is_variable\": true"}}},
      {"TFLITE-GRAPH-004",
       kModel,
       {{"\"outputs\": [3],\n", "\"outputs\": [3, 4],\n"},
        {"\"buffer\": 0}\n]", "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": [1]}\n]"}},
       {{"\"outputs\": [3],\n", "\"outputs\": [3, 4],\n"},
        {"\"buffer\": 0}\n]", "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": [0]}\n]"}}},
      {"TFLITE-GRAPH-005",
       kModel,
       {{"[2], \"outputs\": [3]", "[2], \"outputs\": [2]"},
        {"\"outputs\": [3],\n", "\"outputs\": [2],\n"}},
       {{"\"outputs\": [3],\n", "\"outputs\": [2],\n"}}},
      {"TFLITE-GRAPH-006",
       kModel,
       {{"\"outputs\": [2]", "\"outputs\": [1]"}, {"\"inputs\": [2]", "\"inputs\": [1]"}},
       {{"\"inputs\": [2]", "\"inputs\": [1]"}}},
  };
}

std::vector<RuleCase> Tensors() {
  const std::string order =
      "\"traversal_order\": [0, 1], \"dim_metadata\": "
      "[{\"dense_size\": 1}, {\"dense_size\": 2}]";
  return {
      {"TFLITE-TENSOR-001", kModel, {Tensor("\"type\": 100")}, {Tensor("\"type\": 16")}},
      {"TFLITE-TENSOR-002",
       kModel,
       {{"\"y\", \"shape\": [1, 2], \"buffer\": 0", "\"y\", \"shape\": [1, 2], \"buffer\": 2"}},
       {{"\"y\", \"shape\": [1, 2], \"buffer\": 0", "\"y\", \"shape\": [1, 2], \"buffer\": 2"},
        {"63]}]", "63]}, {}]"}}},
      {"TFLITE-TENSOR-003",
       kModel,
       {{"\"t\", \"shape\": [1, 2]", "\"t\", \"shape\": [-1, 2]"}},
       {{"\"t\", \"shape\": [1, 2]", "\"t\", \"shape\": [0, 2]"}}},
      {"TFLITE-TENSOR-004",
       kModel,
       {Tensor("\"shape_signature\": [-1, 3]")},
       {Tensor("\"shape_signature\": [-1, 2]")}},
      {"TFLITE-TENSOR-005",
       kModel,
       {{"\"c\", \"shape\": [1, 2]", "\"c\", \"shape\": [1, 3]"}},
       {{"\"c\", \"shape\": [1, 2]", "\"c\", \"shape\": [1, 1], \"type\": \"INT64\""}}},
      {"TFLITE-TENSOR-006",
       kModel,
       {Quantised("INT8", "\"scale\": [1, 2, 3], \"quantized_dimension\": 1")},
       {Quantised("INT8", "\"scale\": [1, 2], \"quantized_dimension\": 1")}},
      {"TFLITE-TENSOR-006",
       kModel,
       {Quantised("INT8", "\"scale\": [1], \"zero_point\": [0, 0]")},
       {Quantised("INT8", "\"scale\": [1], \"zero_point\": [0]")}},
      {"TFLITE-TENSOR-007",
       kModel,
       {Quantised("INT8", "\"scale\": [-1]")},
       {Quantised("INT8", "\"scale\": [0]")}},
      {"TFLITE-TENSOR-008",
       kModel,
       {Quantised("INT8", "\"scale\": [1], \"zero_point\": [128]")},
       {Quantised("UINT8", "\"scale\": [1], \"zero_point\": [128]")}},
      {"TFLITE-TENSOR-009",
       kModel,
       {Tensor("\"sparsity\": {\"traversal_order\": [0, 0], "
               "\"dim_metadata\": [{\"dense_size\": 1}, {\"dense_size\": 2}]}")},
       {Tensor("\"sparsity\": {" + order + "}")}},
      {"TFLITE-TENSOR-009",
       kModel,
       {Tensor(
           "\"sparsity\": {\"block_map\": [2], \"traversal_order\": [0, 1, 2], \"dim_metadata\": "
           "[{\"dense_size\": 1}, {\"dense_size\": 1}, {\"dense_size\": 2}]}")},
       {Tensor(
           "\"sparsity\": {\"block_map\": [1], \"traversal_order\": [0, 1, 2], \"dim_metadata\": "
           "[{\"dense_size\": 1}, {\"dense_size\": 1}, {\"dense_size\": 2}]}")}},
  };
}

std::vector<RuleCase> Operators() {
  const std::string pool = "\"filter_width\": 1, \"filter_height\": 1, \"stride_w\": 1, ";
  const Edit two = {"\"inputs\": [2]", "\"inputs\": [2, 1]"};
  const Edit split = {"[2], \"outputs\": [3]", "[1, 2], \"outputs\": [3, 4]"};
  return {
      {"TFLITE-OP-001", kModel, {two}, {two, Operator("MUL")}},
      {"TFLITE-OP-002",
       kModel,
       {{"[2], \"outputs\": [3]", "[2], \"outputs\": [3, 4]"},
        {"\"buffer\": 0}\n]", "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": [1]}\n]"}},
       {split,
        Operator("SPLIT"),
        {"\"buffer\": 0}\n]", "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": [1]}\n]"}}},
      {"TFLITE-OP-003",
       kModel,
       {Operator("GELU"), Options("AbsOptions")},
       {Operator("GELU"), Options("GeluOptions")}},
      {"TFLITE-OP-004",
       kModel,
       {Operator("MAX_POOL_2D")},
       {Operator("MAX_POOL_2D"), Options("Pool2DOptions", pool + "\"stride_h\": 1")}},
      {"TFLITE-OP-005",
       kModel,
       {Operator("MAX_POOL_2D"), Options("Pool2DOptions", pool + "\"stride_h\": 0")},
       {Operator("MAX_POOL_2D"), Options("Pool2DOptions", pool + "\"stride_h\": 1")}},
  };
}

TEST_CASE("TensorFlow Lite rules") {
  CheckRuleCases({"TFLITE-", "m.tflite", Encode, {Models(), Graphs(), Tensors(), Operators()}});
}

}  // namespace
}  // namespace nn::test

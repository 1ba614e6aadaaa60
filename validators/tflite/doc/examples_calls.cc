// Examples of TensorFlow Lite rules: called subgraphs, resources, advice.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {
namespace {

constexpr const char* kIf = R"(IF IfOptions {"then_subgraph_index": 1, "else_subgraph_index": 2}
condition bool[]
x f32[2]
> y f32[2]
graph {"tensors": [{"name": "a", "shape": [2]}], "inputs": [0], "outputs": [0], "operators": []}
graph {"tensors": [{"name": "b", "shape": [2]}], "inputs": [0], "outputs": [0], "operators": []}
)";

constexpr const char* kWhile =
    R"(WHILE WhileOptions {"cond_subgraph_index": 1, "body_subgraph_index": 2}
x bool[]
> y bool[]
graph {"tensors": [{"name": "a", "shape": [], "type": "BOOL"}], "inputs": [0], "outputs": [0], "operators": []}
graph {"tensors": [{"name": "b", "shape": [], "type": "BOOL"}], "inputs": [0], "outputs": [0], "operators": []}
)";

constexpr const char* kTable =
    R"(HASHTABLE HashtableOptions {"table_id": 1, "key_dtype": "INT64", "value_dtype": "STRING"}
> table res[1]
)";

// y = x + v, with v set to x before.
constexpr const char* kVariable = R"({
"version": 3,
"operator_codes": [
{"deprecated_builtin_code": 127, "builtin_code": "VAR_HANDLE"},
{"deprecated_builtin_code": 127, "builtin_code": "ASSIGN_VARIABLE"},
{"deprecated_builtin_code": 127, "builtin_code": "READ_VARIABLE"},
{"deprecated_builtin_code": 0, "builtin_code": "ADD"}
],
"subgraphs": [{
"tensors": [
{"name": "x", "shape": [2]},
{"name": "h", "shape": [], "type": "RESOURCE", "has_rank": true},
{"name": "v", "shape": [2]},
{"name": "y", "shape": [2]}
],
"inputs": [0],
"outputs": [3],
"operators": [
{"opcode_index": 0, "inputs": [], "outputs": [1], "builtin_options_type": "VarHandleOptions",
 "builtin_options": {"container": "", "shared_name": "v"}},
{"opcode_index": 1, "inputs": [1, 0], "outputs": []},
{"opcode_index": 2, "inputs": [1], "outputs": [2]},
{"opcode_index": 3, "inputs": [0, 2], "outputs": [3]}
]}],
"buffers": [{}, {"data": [49, 46, 53, 46, 48]}],
"metadata": [{"name": "min_runtime_version", "buffer": 1}],
"signature_defs": [{"signature_key": "serving_default", "subgraph_index": 0,
 "inputs": [{"name": "x", "tensor_index": 0}], "outputs": [{"name": "y", "tensor_index": 3}]}]
})";

}  // namespace

std::vector<RuleExample> CallExamples() {
  return {
      {"TFLITE-CALL-001",
       kIf,
       {{"\"else_subgraph_index\": 2", "\"else_subgraph_index\": 3"}},
       {{"\"else_subgraph_index\": 2", "\"else_subgraph_index\": 1"}}},
      {"TFLITE-CALL-002",
       kIf,
       {{"x f32[2]\n", ""}, {"> y f32[2]", "> y f32[2] {}"}},
       {{"x f32[2]\n", "x f32[2] =\n"}}},
      {"TFLITE-CALL-002",
       kWhile,
       {{"x bool", "x i32"}, {"y bool", "y i32"}},
       {{"\"shape\": []", "\"shape\": [1]"}}},
      {"TFLITE-CALL-003",
       kIf,
       {{"\"else_subgraph_index\": 2", "\"else_subgraph_index\": 0"}},
       {{"\"else_subgraph_index\": 2", "\"else_subgraph_index\": 1"}}},
      {"TFLITE-CALL-004",
       kTable,
       {{"\"value_dtype\": \"STRING\"", "\"value_dtype\": \"INT64\""}},
       {{"\"key_dtype\": \"INT64\", \"value_dtype\": \"STRING\"",
         "\"key_dtype\": \"STRING\", \"value_dtype\": \"INT64\""}}},
      {"TFLITE-CALL-005",
       kVariable,
       {{"{\"opcode_index\": 1, \"inputs\": [1, 0], \"outputs\": []},\n"
         "{\"opcode_index\": 2, \"inputs\": [1], \"outputs\": [2]},\n",
         "{\"opcode_index\": 2, \"inputs\": [1], \"outputs\": [2]},\n"
         "{\"opcode_index\": 1, \"inputs\": [1, 0], \"outputs\": []},\n"}},
       {{"\"inputs\": [0, 2]", "\"inputs\": [2, 0]"}}},
      // Assigned by what CALL_ONCE calls.
      {"TFLITE-CALL-005 TFLITE-LINT-010",
       kVariable,
       {{"{\"opcode_index\": 1, \"inputs\": [1, 0], \"outputs\": []},\n", ""}},
       {{"\"builtin_code\": \"ADD\"}\n",
         "\"builtin_code\": \"ADD\"},\n"
         "{\"deprecated_builtin_code\": 127, \"builtin_code\": \"CALL_ONCE\"}\n"},
        {"{\"opcode_index\": 1, \"inputs\": [1, 0], \"outputs\": []},\n",
         "{\"opcode_index\": 4, \"inputs\": [], \"outputs\": [], \"builtin_options_type\": "
         "\"CallOnceOptions\", \"builtin_options\": {\"init_subgraph_index\": 1}},\n"},
        {"]}],\n\"buffers\": [{},",
         "]}, {\"tensors\": [{\"name\": \"c\", \"shape\": [2], \"buffer\": 2}, {\"name\": \"g\", "
         "\"shape\": [], \"type\": \"RESOURCE\", \"has_rank\": true}], \"inputs\": [], "
         "\"outputs\": [], \"operators\": [{\"opcode_index\": 0, \"inputs\": [], \"outputs\": [1], "
         "\"builtin_options_type\": \"VarHandleOptions\", \"builtin_options\": {\"container\": "
         "\"\", \"shared_name\": \"v\"}}, {\"opcode_index\": 1, \"inputs\": [1, 0], "
         "\"outputs\": []}]}],\n\"buffers\": [{},"},
        {"53, 46, 48]}]", "53, 46, 48]}, {\"data\": [0, 0, 128, 63, 0, 0, 0, 64]}]"}}},
  };
}

std::vector<RuleExample> LintExamples() {
  const Edit no_signature = {
      ",\n\"signature_defs\": [{\"signature_key\": \"serving\", \"subgraph_index\": 0,\n "
      "\"inputs\": [{\"name\": \"x\", \"tensor_index\": 0}], \"outputs\": [{\"name\": \"y\", "
      "\"tensor_index\": 3}]}]",
      ""};
  return {
      {"TFLITE-LINT-001",
       kCast,
       {Quantized("i8", "\"scale\": [0], \"zero_point\": [0]")},
       {Quantized("i8", "\"scale\": [0.001], \"zero_point\": [0]")}},
      {"TFLITE-LINT-002",
       kCast,
       {Quantized("i8", "\"min\": [-4], \"max\": [4], \"scale\": [1], \"zero_point\": [0]")},
       {Quantized("i8",
                  "\"min\": [-127.5], \"max\": [127.5], \"scale\": [1], \"zero_point\": [0]")}},
      {"TFLITE-LINT-003 TFLITE-CONV-005",
       R"(FULLY_CONNECTED FullyConnectedOptions {}
x f32[2,3]
weights f32[4,3] =
bias f32[4] =
> y f32[2,4]
)",
       {{"bias f32", "bias f16"}},
       {{"bias f32[4]", "bias f32[1,4]"}}},
      {"TFLITE-LINT-004",
       R"(RELU
x f32[2]
> y f32[2]
)",
       {{"RELU", "CUSTOM {\"custom_code\": \"FlexRelu\"}"}},
       {{"RELU", "TANH"}}},
      {"TFLITE-LINT-005",
       kModel,
       {{"\"name\": \"t\", ", ""}},
       {{"\"name\": \"t\", ", "\"name\": \"sum\", "}}},
      {"TFLITE-LINT-006",
       kModel,
       {{"\"min_runtime_version\"", "\"author\""}},
       {{"{\"name\": \"min_runtime_version\"",
         "{\"name\": \"author\", \"buffer\": 0}, {\"name\": \"min_runtime_version\""}}},
      {"TFLITE-LINT-007", kModel, {no_signature}, {{"\"serving\"", "\"serving_default\""}}},
      {"TFLITE-LINT-008", kModel, {{"48]}]", "48]}, {\"data\": [1]}]"}}, {{"48]}]", "48]}, {}]"}}},
      {"TFLITE-LINT-009",
       kModel,
       {{"\"buffer\": 0}\n]", "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": [1]}\n]"}},
       {{"\"outputs\": [3]}", "\"outputs\": [3], \"intermediates\": [4]}"},
        {"\"buffer\": 0}\n]", "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": [1]}\n]"}}},
      {"TFLITE-LINT-010",
       kModel,
       {{"\"RELU\"}\n",
         "\"RELU\"}, {\"deprecated_builtin_code\": 28, \"builtin_code\": \"TANH\"}\n"}},
       {{"\"RELU\"}\n", "\"RELU\", \"version\": 2}\n"}}},
      {"TFLITE-LINT-011 TFLITE-LINT-010",
       kModel,
       {{"\"RELU\"}\n",
         "\"RELU\"}, {\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"}\n"}},
       {{"\"RELU\"}\n", "\"RELU\", \"version\": 3}\n"}}},
      {"TFLITE-LINT-012",
       kModel,
       {{"\"deprecated_builtin_code\": 19, ", ""}},
       {{"\"deprecated_builtin_code\": 0, ", ""}}},
      {"TFLITE-LINT-013",
       R"(DEPTHWISE_CONV_2D/5 DepthwiseConv2DOptions {"stride_w": 1, "stride_h": 1}
x i16[1,4,4,2] {"quantization": {"scale": [0.5], "zero_point": [0]}}
filter i8[1,2,2,4] = {"quantization": {"scale": [0.25], "zero_point": [0]}}
> y i16[1,4,4,4] {"quantization": {"scale": [1], "zero_point": [0]}}
)",
       {{"x i16", "x i8"}, {"> y i16", "> y i8"}},
       {{"\"stride_w\": 1", "\"stride_w\": 2"}, {"y i16[1,4,4,4]", "y i16[1,4,2,4]"}}},
  };
}

}  // namespace nn::tflite

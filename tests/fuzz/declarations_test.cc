// Declarations that contradict the data, one by one: each model is refused with a reason, or runs
// with the same bits on every backend.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/json/json.h"
#include "fuzz/exercise.h"
#include "fuzz/forked.h"

namespace nn::test::declarations_test {
namespace {

constexpr const char* kOnnx = R"({"nn_dump": 1, "format": "onnx", "model": {
  "ir_version": 10, "opset_import": [{"domain": "", "version": 21}], "graph": {"name": "g",
  "node": [{"op_type": "DequantizeLinear", "input": ["w", "s"], "output": ["d"]},
           {"op_type": "Add", "input": ["x", "d"], "output": ["y"]}],
  "initializer": [{"name": "w", "data_type": 22, "dims": [5], "raw_data": "EjQF"},
                  {"name": "s", "data_type": 1, "dims": [], "float_data": [0.5]}],
  "input": [{"name": "x", "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 5}]}}}}],
  "output": [{"name": "y", "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 5}]}}}}]}}})";

constexpr const char* kOnnxSparse = R"({"nn_dump": 1, "format": "onnx", "model": {
  "ir_version": 8, "opset_import": [{"domain": "", "version": 13}], "graph": {"name": "g",
  "node": [{"op_type": "Add", "input": ["x", "w"], "output": ["y"]}],
  "sparse_initializer": [{"dims": [6], "values": {"name": "w", "data_type": 1, "dims": [2], "float_data": [1, 2]},
    "indices": {"name": "i", "data_type": 7, "dims": [2], "int64_data": [1, 4]}}],
  "input": [{"name": "x", "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 6}]}}}}],
  "output": [{"name": "y", "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 6}]}}}}]}}})";

constexpr const char* kTflite = R"({"nn_dump": 1, "format": "tflite", "model": {"version": 3,
  "operator_codes": [{"builtin_code": "DEQUANTIZE", "deprecated_builtin_code": 6, "version": 1},
                     {"builtin_code": "ADD", "deprecated_builtin_code": 0, "version": 1}],
  "subgraphs": [{"tensors": [
    {"name": "x", "shape": [1, 5], "shape_signature": [1, 5]},
    {"name": "w", "shape": [1, 5], "type": "INT4", "buffer": 1,
     "quantization": {"scale": [0.5], "zero_point": [0]}},
    {"name": "d", "shape": [1, 5]}, {"name": "y", "shape": [1, 5]}],
    "inputs": [0], "outputs": [3], "operators": [
      {"opcode_index": 0, "inputs": [1], "outputs": [2]},
      {"opcode_index": 1, "inputs": [0, 2], "outputs": [3],
       "builtin_options_type": "AddOptions", "builtin_options": {}}]}],
  "buffers": [{}, {"data": "EjQF"}]}})";

constexpr const char* kTfliteSparse = R"({"nn_dump": 1, "format": "tflite", "model": {"version": 3,
  "operator_codes": [{"builtin_code": "ADD", "deprecated_builtin_code": 0, "version": 1}],
  "subgraphs": [{"tensors": [
    {"name": "x", "shape": [2, 3]},
    {"name": "w", "shape": [2, 3], "buffer": 1, "sparsity": {"traversal_order": [0, 1],
      "dim_metadata": [{"format": "DENSE", "dense_size": 2},
        {"format": "SPARSE_CSR", "array_segments_type": "Int32Vector", "array_segments": {"values": [0, 1, 2]},
         "array_indices_type": "Int32Vector", "array_indices": {"values": [2, 0]}}]}},
    {"name": "y", "shape": [2, 3]}],
    "inputs": [0], "outputs": [2], "operators": [{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
       "builtin_options_type": "AddOptions", "builtin_options": {}}]}],
  "buffers": [{}, {"data": "AACAPwAAAEA="}]}})";

constexpr const char* kCoreml = R"({"nn_dump": 1, "format": "coreml", "model": {
  "specificationVersion": 4, "description": {
    "input": [{"name": "x", "type": {"multiArrayType": {"shape": [1, 4], "dataType": "FLOAT32"}}}],
    "output": [{"name": "y", "type": {"multiArrayType": {"shape": [1, 4], "dataType": "FLOAT32"}}}]},
  "neuralNetwork": {"arrayInputShapeMapping": "EXACT_ARRAY_MAPPING",
    "layers": [{"name": "r", "input": ["x"], "output": ["y"], "activation": {"ReLU": {}}}]}}})";

constexpr const char* kProgram = R"({"nn_dump": 1, "format": "coreml", "model": {
  "specificationVersion": 7, "description": {
    "input": [{"name": "x", "type": {"multiArrayType": {"shape": [2, 4], "dataType": "FLOAT32"}}}],
    "output": [{"name": "y", "type": {"multiArrayType": {"shape": [2, 4], "dataType": "FLOAT32"}}}]},
  "mlProgram": {"version": 1, "functions": [{"key": "main", "value": {"opset": "CoreML6",
    "inputs": [{"name": "x", "type": {"tensorType": {"dataType": "FLOAT32", "rank": 2,
      "dimensions": [{"constant": {"size": 2}}, {"constant": {"size": 4}}]}}}],
    "block_specializations": [{"key": "CoreML6", "value": {"outputs": ["y"], "operations": [
      {"type": "const",
       "outputs": [{"name": "w", "type": {"tensorType": {"dataType": "FLOAT32", "rank": 1,
         "dimensions": [{"constant": {"size": 4}}]}}}],
       "attributes": [{"key": "val", "value": {
         "type": {"tensorType": {"dataType": "FLOAT32", "rank": 1,
           "dimensions": [{"constant": {"size": 4}}]}},
         "immediateValue": {"tensor": {"floats": {"values": [1, 2, 3, 4]}}}}}]},
      {"type": "add",
       "inputs": [{"key": "x", "value": {"arguments": [{"name": "x"}]}},
                  {"key": "y", "value": {"arguments": [{"name": "w"}]}}],
       "outputs": [{"name": "y", "type": {"tensorType": {"dataType": "FLOAT32", "rank": 2,
         "dimensions": [{"constant": {"size": 2}}, {"constant": {"size": 4}}]}}}]}]}}]}}]}}})";

constexpr const char* kNnapi = R"({"nn_dump": 1, "format": "nnapi", "model": {"version": 1,
  "operands": [
    {"name": "x", "type": "TENSOR_FLOAT32", "dimensions": [2, 3], "numberOfConsumers": 1, "lifetime": "MODEL_INPUT"},
    {"name": "y", "type": "TENSOR_FLOAT32", "dimensions": [2, 3], "lifetime": "MODEL_OUTPUT"}],
  "operations": [{"type": "RELU", "inputs": [0], "outputs": [1]}],
  "inputIndexes": [0], "outputIndexes": [1]}})";

struct Lie {
  const char* base;
  // JSON pointer below the model; after "~", below the operations of kProgram. "": the unchanged
  // base, which runs.
  const char* place;
  const char* value;  // null: the member is deleted
};

const Lie kLies[] = {
    {kOnnx, "", ""},
    {kOnnx, "/graph/initializer/0/dims/0", "4"},
    {kOnnx, "/graph/initializer/0/dims/0", "6"},
    {kOnnx, "/graph/initializer/0/dims/0", "7"},
    {kOnnx, "/graph/initializer/0/dims/0", "-1"},
    {kOnnx, "/graph/initializer/0/dims/0", "4611686018427387904"},
    {kOnnx, "/graph/initializer/0/data_type", "21"},
    {kOnnx, "/graph/initializer/0/data_type", "3"},
    {kOnnx, "/graph/initializer/0/data_type", "8"},
    {kOnnx, "/graph/initializer/0/data_type", "99"},
    {kOnnx, "/graph/initializer/1/dims", "[3]"},
    {kOnnx, "/graph/initializer/1/data_type", "7"},
    {kOnnx, "/graph/input/0/type/tensor_type/shape/dim/0/dim_value", "0"},
    {kOnnx, "/graph/input/0/type/tensor_type/elem_type", "22"},
    {kOnnx, "/graph/input/0/type/tensor_type/shape", nullptr},
    {kOnnx, "/graph/input/0/type",
     R"({"sequence_type": {"elem_type": {"tensor_type": {"elem_type": 7}}}})"},
    {kOnnx, "/graph/output/0/type",
     R"({"sequence_type": {"elem_type": {"tensor_type": {"elem_type": 7}}}})"},
    {kOnnx, "/graph/output/0/type", nullptr},
    {kOnnx, "/graph/output/0/type/tensor_type/elem_type", "7"},
    {kOnnx, "/graph/output/0/type/tensor_type/shape/dim", "[]"},
    {kOnnxSparse, "", ""},
    {kOnnxSparse, "/graph/sparse_initializer/0/dims/0", "4"},
    {kOnnxSparse, "/graph/sparse_initializer/0/dims/0", "1152921504606846976"},
    {kOnnxSparse, "/graph/sparse_initializer/0/dims", "[2, 3]"},
    {kOnnxSparse, "/graph/sparse_initializer/0/dims", "[]"},
    {kOnnxSparse, "/graph/sparse_initializer/0/indices/int64_data/1", "6"},
    {kOnnxSparse, "/graph/sparse_initializer/0/indices/int64_data/1", "-1"},
    {kOnnxSparse, "/graph/sparse_initializer/0/indices/dims", "[1, 2]"},
    {kOnnxSparse, "/graph/sparse_initializer/0/indices/data_type", "1"},
    {kOnnxSparse, "/graph/sparse_initializer/0/values/dims", "[3]"},
    {kTflite, "", ""},
    {kTflite, "/subgraphs/0/tensors/1/shape", "[1, 4]"},
    {kTflite, "/subgraphs/0/tensors/1/shape", "[1, 7]"},
    {kTflite, "/subgraphs/0/tensors/1/shape", "[5]"},
    {kTflite, "/subgraphs/0/tensors/1/shape", "[2147483647, 2147483647, 5]"},
    {kTflite, "/subgraphs/0/tensors/1/shape", "[-1, 5]"},
    {kTflite, "/subgraphs/0/tensors/1/type", "\"INT8\""},
    {kTflite, "/subgraphs/0/tensors/1/type", "\"STRING\""},
    {kTflite, "/subgraphs/0/tensors/1/buffer", "9"},
    {kTflite, "/subgraphs/0/tensors/1/quantization/scale", "[1, 2, 3, 4]"},
    {kTflite, "/subgraphs/0/tensors/1/quantization/zero_point", "[]"},
    {kTflite, "/subgraphs/0/tensors/1/quantization/zero_point", "[1, 2]"},
    {kTflite, "/subgraphs/0/tensors/1/quantization", nullptr},
    {kTflite, "/subgraphs/0/tensors/0/shape_signature", "[-1, 5]"},
    {kTflite, "/subgraphs/0/tensors/0/shape_signature", "[1, 9]"},
    {kTflite, "/subgraphs/0/tensors/0/shape_signature", "[1, 5, 1]"},
    {kTflite, "/subgraphs/0/tensors/0/shape_signature", "[1, -7]"},
    {kTflite, "/subgraphs/0/tensors/3/shape", "[1, 6]"},
    {kTflite, "/subgraphs/0/tensors/3/shape", "[5]"},
    {kTflite, "/subgraphs/0/tensors/3/type", "\"INT32\""},
    {kTfliteSparse, "", ""},
    {kTfliteSparse, "/subgraphs/0/tensors/1/shape", "[2, 2]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/shape", "[1, 3]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/shape", "[2000000000, 2000000000]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/traversal_order", "[0]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/traversal_order", "[0, 7]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/traversal_order", "[0, 0]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/block_map", "[5]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/0/dense_size", "3"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/0/dense_size", "-2"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_segments/values",
     "[0, 1]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_segments/values",
     "[0, 9, 2]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_segments/values",
     "[2, 1, 0]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_segments/values",
     "[-1, 1, 2]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_indices/values",
     "[3, 0]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_indices/values",
     "[-1, 0]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata/1/array_indices/values", "[2]"},
    {kTfliteSparse, "/subgraphs/0/tensors/1/sparsity/dim_metadata", "[]"},
    {kTfliteSparse, "/buffers/1/data", "\"AACAPw==\""},
    {kCoreml, "", ""},
    {kCoreml, "/description/output/0/type/multiArrayType/shape", "[1, 5]"},
    {kCoreml, "/description/output/0/type/multiArrayType/shape", "[4]"},
    {kCoreml, "/description/output/0/type/multiArrayType/shape", "[]"},
    {kCoreml, "/description/output/0/type/multiArrayType/shape", "[-1, 4]"},
    {kCoreml, "/description/output/0/type/multiArrayType/dataType", "\"INT32\""},
    {kCoreml, "/description/output/0/type/multiArrayType/dataType", "\"DOUBLE\""},
    {kCoreml, "/description/output/0/name", "\"z\""},
    {kCoreml, "/description/output/0/type", R"({"stringType": {}})"},
    {kCoreml, "/description/output", "[]"},
    {kCoreml, "/description/input/0/type/multiArrayType/shape", "[0, 4]"},
    {kCoreml, "/description/input/0/type/multiArrayType/shape", "[]"},
    {kProgram, "", ""},
    {kProgram, "/specificationVersion", "5"},
    {kProgram, "/description/input/0/type/multiArrayType/shape", "[8]"},
    {kProgram, "/description/input/0/type/multiArrayType/shape", "[2, 5]"},
    {kProgram, "/description/output/0/type/multiArrayType/dataType", "\"INT32\""},
    {kProgram, "/mlProgram/functions/0/key", "\"other\""},
    {kProgram, "/mlProgram/functions/0/value/opset", "\"CoreML9\""},
    {kProgram, "/mlProgram/functions/0/value/opset", "\"CoreML99\""},
    {kProgram, "/mlProgram/functions/0/value/inputs/0/type",
     R"({"tensorType": {"dataType": "FLOAT32", "rank": -1}})"},
    {kProgram, "/mlProgram/functions/0/value/inputs/0/type",
     R"({"stateType": {"wrappedType": {"tensorType": {"dataType": "FLOAT16", "rank": 0}}}})"},
    {kProgram, "/mlProgram/functions/0/value/inputs/0/type/tensorType/dataType", "\"INT4\""},
    {kProgram, "~/0/attributes/0/value/immediateValue", R"({"tensor": {"ints": {"values": [1]}}})"},
    {kProgram, "~/0/attributes/0/value/immediateValue", R"({"tensor": {}})"},
    {kProgram, "~/0/attributes/0/value/immediateValue", R"({"list": {"values": []}})"},
    {kProgram, "~/0/attributes/0/value/immediateValue", nullptr},
    {kProgram, "~/0/attributes/0/value",
     R"({"type": {"tensorType": {"dataType": "FLOAT32"}}, "blobFileValue": {"fileName": "@model_path/a", "offset": 64}})"},
    {kProgram, "~/0/attributes/0/value/immediateValue/tensor/floats/values", "[1, 2, 3]"},
    {kProgram, "~/0/attributes/0/value/type/tensorType/dataType", "\"FLOAT16\""},
    {kProgram, "~/0/attributes/0/value/type/tensorType/dataType", "\"STRING\""},
    {kProgram, "~/0/attributes/0/value/type/tensorType/dataType", "77"},
    {kProgram, "~/0/attributes/0/value/type/tensorType/rank", "5"},
    {kProgram, "~/0/attributes/0/value/type/tensorType/dimensions", "[]"},
    {kProgram, "~/0/attributes/0/value/type/tensorType/dimensions/0/constant/size",
     "18446744073709551615"},
    {kProgram, "~/0/attributes/0/value/type/tensorType/dimensions/0", R"({"unknown": {}})"},
    {kProgram, "~/0/attributes", "[]"},
    {kProgram, "~/0/outputs", "[]"},
    {kProgram, "~/0/outputs/0/type/tensorType/dataType", "\"INT32\""},
    {kProgram, "~/0/outputs/0/name", "\"x\""},
    {kProgram, "~/1/type", "\"cond\""},
    {kProgram, "~/1/type", "\"classify\""},
    {kProgram, "~/1/type", "\"read_state\""},
    {kProgram, "~/1/type", "\"concat\""},
    {kProgram, "~/1/type", "\"\""},
    {kProgram, "~/1/inputs/0/value/arguments/0/name", "\"y\""},
    {kProgram, "~/1/inputs/0/value/arguments", "[]"},
    {kProgram, "~/1/inputs/0/key", "\"y\""},
    {kProgram, "~/1/inputs", "[]"},
    {kProgram, "~/1/outputs/0/type/tensorType/dimensions/0/constant/size", "3"},
    {kProgram, "~/1/outputs/0/type/tensorType/dimensions", "[]"},
    {kProgram, "~/1/outputs/0/type/tensorType/rank", "-1"},
    {kProgram, "~/1/outputs/0/name", "\"w\""},
    {kNnapi, "", ""},
    {kNnapi, "/operands/0/dimensions", "[0, 3]"},
    {kNnapi, "/operands/0/dimensions", "[]"},
    {kNnapi, "/operands/0/dimensions", "[4294967295, 4294967295]"},
    {kNnapi, "/operands/1/dimensions", "[0, 0]"},
    {kNnapi, "/operands/1/dimensions", "[]"},
    {kNnapi, "/operands/1/dimensions", "[3, 2]"},
    {kNnapi, "/operands/1/type", "\"TENSOR_INT32\""},
    {kNnapi, "/operands/0/type", "\"FLOAT32\""},
    {kNnapi, "/operands/0/lifetime", "\"CONSTANT_COPY\""},
    {kNnapi, "/operands/0/lifetime", "\"NO_VALUE\""},
};

std::string TextOf(const Lie& lie) {
  Json dump = Json::parse(lie.base);
  std::string place = lie.place;
  if (place.empty()) return dump.dump();
  if (place.starts_with('~'))
    place.replace(0, 1, "/mlProgram/functions/0/value/block_specializations/0/value/operations");
  const size_t slash = place.rfind('/');
  Json& parent = dump["model"][Json::json_pointer(place.substr(0, slash))];
  const std::string name = place.substr(slash + 1);
  if (lie.value == nullptr)
    parent.erase(name);
  else
    dump["model"][Json::json_pointer(place)] = Json::parse(lie.value);
  return dump.dump();
}

TEST_CASE(
    "declarations: a model that contradicts its data is refused, or runs the same everywhere") {
  constexpr uint32_t kRan = 1;
  const auto results = RunForked(std::size(kLies), [](size_t i) {
    const Exercised e = Exercise(TextOf(kLies[i]), "m.json", {.convert = true, .run = true});
    return WorkResult{false, e.ran ? kRan : 0u, e.broken};
  });
  for (size_t i = 0; i < results.size(); ++i) {
    CAPTURE(Json::parse(kLies[i].base)["format"].get<std::string>());
    CAPTURE(kLies[i].place);
    CAPTURE(kLies[i].value);
    CHECK_FALSE(results[i].died);
    CHECK_MESSAGE(results[i].text.empty(), results[i].text);
    if (kLies[i].place[0] == '\0') CHECK(results[i].bits == kRan);
  }
}

}  // namespace
}  // namespace nn::test::declarations_test

// Fingerprints of findings: equal in another export of a model, different for another defect.
#include "validators/fingerprint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::fingerprint_test {
namespace {

// The fingerprints of the findings of a rule.
std::multiset<std::string> FingerprintsOf(const std::string& path, std::string_view rule) {
  const ReadModel read = ReadOrFail(path);
  std::multiset<std::string> out;
  for (const Finding& f :
       Validate(*read.model, *read.format, {.profile = Profile::kStrict, .fingerprints = true}))
    if (f.rule == rule) {
      CHECK(f.fingerprint.size() == 16);
      out.insert(f.fingerprint);
    }
  return out;
}

std::multiset<std::string> OfOnnx(const std::string& text, std::string_view rule) {
  const TempDir dir;
  WriteText(dir / "m.txtpb", text);
  return FingerprintsOf(dir / "m.txtpb", rule);
}

constexpr const char* kType =
    "type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 1 } "
    "dim { dim_value: 8 } dim { dim_value: 8 } } } }";

std::string Onnx(const std::string& nodes, const std::string& more = {}) {
  return fmt::format(
      "ir_version: 8 opset_import {{ version: 17 }} graph {{ name: \"g\" {0} input {{ name: \"x\" "
      "{1} }} output {{ name: \"y\" {1} }} {2} }}",
      nodes, kType, more);
}

std::string Node(const std::string& op, const std::string& input, const std::string& output,
                 const std::string& name, const std::string& attribute = {}) {
  return fmt::format("node {{ op_type: \"{}\" input: \"{}\" output: \"{}\" name: \"{}\" {} }}\n",
                     op, input, output, name, attribute);
}

// A pooling without the strides that ONNX-OP-002 requires.
std::string Pool(const std::string& input, const std::string& output, const std::string& name,
                 int stride = 0) {
  return Node("MaxPool", input, output, name,
              fmt::format("attribute {{ name: \"kernel_shape\" type: INTS ints: [1, 1] }} "
                          "attribute {{ name: \"strides\" type: INTS ints: [{}, 1] }}",
                          stride));
}

TEST_CASE("fingerprints: nodes with stable names may move, change and be renumbered") {
  constexpr const char* kRule = "ONNX-OP-002";
  const auto first = OfOnnx(Onnx(Pool("x", "a", "pool") + Node("Relu", "a", "y", "act")), kRule);
  CHECK(first.size() == 1);
  // Another operator before it, other value names, another wrong stride.
  const auto moved = OfOnnx(
      Onnx(Node("Abs", "x", "7", "abs") + Pool("7", "8", "pool", -1) + Node("Relu", "8", "y", "z")),
      kRule);
  CHECK(first == moved);
  const auto other = OfOnnx(Onnx(Pool("x", "a", "head") + Node("Relu", "a", "y", "act")), kRule);
  CHECK(first != other);
}

TEST_CASE("fingerprints: nodes with generated names are identified by what they compute") {
  constexpr const char* kRule = "ONNX-OP-002";
  const auto pair = [&](int n, bool swapped, const char* second_input) {
    const auto name = [](const char* op, int i) { return fmt::format("{}_{}", op, i); };
    const auto value = [](int i) { return std::to_string(i); };
    const std::string a = Node("Relu", "x", value(n), name("Relu", n)) +
                          Pool(value(n), value(n + 1), name("MaxPool", n + 1));
    const std::string b = Node(second_input, "x", value(n + 2), name(second_input, n + 2)) +
                          Pool(value(n + 2), value(n + 3), name("MaxPool", n + 3));
    const std::string sum = fmt::format(
        "node {{ op_type: \"Add\" input: \"{}\" input: \"{}\" output: \"y\" name: \"Add_{}\" }}",
        n + 1, n + 3, n + 4);
    return OfOnnx(Onnx(swapped ? b + a + sum : a + b + sum), kRule);
  };
  const auto first = pair(3, false, "Abs");
  CHECK(first.size() == 2);
  CHECK(*first.begin() != *first.rbegin());
  CHECK(first == pair(120, true, "Abs"));
  const auto other = pair(3, false, "Neg");
  CHECK(first != other);
  std::multiset<std::string> common;
  std::set_intersection(first.begin(), first.end(), other.begin(), other.end(),
                        std::inserter(common, common.end()));
  CHECK(common.size() == 1);
}

TEST_CASE("fingerprints: tensors keep theirs whatever their number") {
  constexpr const char* kRule = "ONNX-TENSOR-005";
  const auto tensor = [](const std::string& name, int size) {
    return fmt::format("initializer {{ name: \"{}\" data_type: 1 dims: {} raw_data: \"abc\" }} ",
                       name, size);
  };
  const std::string relu = Node("Relu", "x", "y", "act");
  const auto first = OfOnnx(Onnx(relu, tensor("w", 2)), kRule);
  CHECK(first.size() == 1);
  CHECK(first ==
        OfOnnx(Onnx(relu, "initializer { name: \"v\" data_type: 1 } " + tensor("w", 2)), kRule));
  CHECK(first != OfOnnx(Onnx(relu, tensor("u", 2)), kRule));
  // Without a stable name, the type and the shape identify it.
  const auto generated = OfOnnx(Onnx(relu, tensor("onnx::Mul_12", 2)), kRule);
  CHECK(generated == OfOnnx(Onnx(relu, tensor("onnx::Mul_97", 2)), kRule));
  CHECK(generated != OfOnnx(Onnx(relu, tensor("onnx::Mul_12", 3)), kRule));
}

TEST_CASE("fingerprints: nodes of subgraphs have that of the enclosing node and their names") {
  constexpr const char* kRule = "ONNX-OP-002";
  const auto model = [&](const std::string& before, const std::string& inner) {
    const std::string branch =
        fmt::format("g {{ name: \"b\" {} output {{ name: \"o\" {} }} }}", inner, kType);
    return OfOnnx(
        Onnx(before + fmt::format("node {{ op_type: \"If\" name: \"if\" input: \"c\" output: \"y\" "
                                  "attribute {{ name: \"then_branch\" type: GRAPH {0} }} "
                                  "attribute {{ name: \"else_branch\" type: GRAPH {0} }} }}",
                                  branch),
             "input { name: \"c\" type { tensor_type { elem_type: 9 shape {} } } }"),
        kRule);
  };
  const auto first = model("", Pool("x", "o", "p"));
  CHECK(first.size() == 2);
  CHECK(first ==
        model(Node("Abs", "x", "unused", "abs"), Node("Abs", "x", "q", "r") + Pool("q", "o", "p")));
  CHECK(first != model("", Pool("x", "o", "other")));
}

TEST_CASE("fingerprints: operators of TensorFlow Lite, NNAPI and Core ML") {
  const TempDir dir;
  const auto check = [&](const char* file, std::string_view rule, const std::string& one,
                         const std::string& renumbered, const std::string& other) {
    CAPTURE(file);
    const auto of = [&](const std::string& bytes) {
      WriteText(dir / file, bytes);
      return FingerprintsOf(dir / file, rule);
    };
    const auto first = of(one);
    CHECK(first.size() == 1);
    CHECK(first == of(renumbered));
    CHECK(first != of(other));
  };
  // ADD of shapes that cannot be broadcast, with one operator before it or none.
  const auto tflite = [](const std::string& tensors, const std::string& operators, int in,
                         int out) {
    return EncodeFlatbuffer(
        "tflite.fbs", fmt::format(R"({{"version": 3, "operator_codes": [{{"builtin_code": "ADD"}},
          {{"deprecated_builtin_code": 19, "builtin_code": "RELU"}}], "buffers": [{{}}],
          "subgraphs": [{{"tensors": [{}], "operators": [{}], "inputs": [{}], "outputs": [{}]}}]}})",
                                  tensors, operators, in, out));
  };
  const std::string x = R"({"name": "x", "shape": [1, 2]})",
                    z = R"({"name": "z", "shape": [1, 3]})";
  const auto y = [](const char* name) {
    return fmt::format(R"({{"name": "{}", "shape": [1, 2]}})", name);
  };
  check("m.tflite", "TFLITE-SHAPE-001",
        tflite(x + "," + z + "," + y("y"),
               R"({"opcode_index": 0, "inputs": [0, 1], "outputs": [2]})", 0, 2),
        tflite(z + "," + y("y") + "," + x + "," + y("t"),
               R"({"opcode_index": 1, "inputs": [2], "outputs": [3]},
                  {"opcode_index": 0, "inputs": [3, 0], "outputs": [1]})",
               2, 1),
        tflite(x + "," + z + "," + y("w"),
               R"({"opcode_index": 0, "inputs": [0, 1], "outputs": [2]})", 0, 2));
  const auto nnapi = [](const std::string& operations, const std::string& name) {
    return fmt::format(R"({{"nnapi_model": 1, "operands": [
      {{"type": "TENSOR_FLOAT32", "dimensions": [1, 2], "lifetime": "MODEL_INPUT"}},
      {{"type": "TENSOR_FLOAT32", "dimensions": [1, 2], "lifetime": "TEMPORARY_VARIABLE"}},
      {{"name": "{}", "type": "TENSOR_FLOAT32", "dimensions": [1, 3], "lifetime": "MODEL_OUTPUT"}}],
      "operations": [{}], "inputIndexes": [0], "outputIndexes": [2]}})",
                       name, operations);
  };
  check("m.nnapi.json", "NNAPI-ELEM-001",
        nnapi(R"({"type": "RELU", "inputs": [0], "outputs": [2]})", "y"),
        nnapi(R"({"type": "TANH", "inputs": [0], "outputs": [1]},
                 {"type": "RELU", "inputs": [1], "outputs": [2]})",
              "y"),
        nnapi(R"({"type": "RELU", "inputs": [0], "outputs": [2]})", "z"));
  const auto coreml = [](const std::string& layers) {
    return EncodeProto("nn.coreml.pb.Model", fmt::format(R"(specificationVersion: 5 description {{
      input {{ name: "x" type {{ multiArrayType {{ shape: [1, 2] dataType: FLOAT32 }} }} }}
      output {{ name: "y" type {{ multiArrayType {{ dataType: FLOAT32 }} }} }} }}
      neuralNetwork {{ arrayInputShapeMapping: EXACT_ARRAY_MAPPING {} }})",
                                                         layers));
  };
  const auto layer = [](const char* name, const char* in, const char* out, const char* kind) {
    return fmt::format("layers {{ name: \"{}\" input: \"{}\" output: \"{}\" {} }}\n", name, in, out,
                       kind);
  };
  const char* relu = "activation { ReLU {} }";
  check("m.mlmodel", "COREML-LAYER-001", coreml(layer("l", "x", "y", "")),
        coreml(layer("a", "x", "t", relu) + layer("l", "t", "y", "")),
        coreml(layer("m", "x", "y", "")));
}

TEST_CASE("fingerprints: an unreadable file has that of its rule") {
  const Format* onnx = FindFormat("onnx");
  const Finding cut = UnreadableFile(Error(ErrorCode::kParse, "cut off at 7"), onnx);
  CHECK(cut.fingerprint.size() == 16);
  CHECK(cut.fingerprint ==
        UnreadableFile(Error(ErrorCode::kParse, "cut off at 9"), onnx).fingerprint);
  CHECK(cut.fingerprint != UnreadableFile(Error(ErrorCode::kParse, "cut"), nullptr).fingerprint);
}

}  // namespace
}  // namespace nn::test::fingerprint_test

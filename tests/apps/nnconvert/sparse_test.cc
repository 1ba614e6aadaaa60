// Sparse weights of TensorFlow Lite models stay sparse where the model is written again.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_sparse_test {
namespace {

constexpr std::string_view kRows =
    R"("traversal_order": [0, 1], "dim_metadata": [{"dense_size": 4}, {"format": "SPARSE_CSR",
    "array_segments_type": "Uint8Vector", "array_segments": {"values": "AAIDBQY="},
    "array_indices_type": "Uint8Vector", "array_indices": {"values": "AAMBAgcF"}}])";

struct Numbers {
  std::string_view type, data;  // 1, -2, 0.5, 4, 0.25, -8
};
constexpr Numbers kFloats = {"FLOAT32", "AACAPwAAAMAAAAA/AACAQAAAgD4AAADB"};
constexpr Numbers kHalves = {"FLOAT16", "ADwAwAA4AEQANADI"};

std::string Tensor(std::string_view name, std::string_view shape, int buffer,
                   std::string_view type = "FLOAT32", std::string_view sparsity = "") {
  std::string out = fmt::format(R"({{"shape": {}, "type": "{}", "buffer": {}, "name": "{}")", shape,
                                type, buffer, name);
  if (!sparsity.empty()) out += fmt::format(R"(, "sparsity": {{{}}})", sparsity);
  return out + "}";
}

// A product of x [2, 8] with sparse weights [4, 8]. DENSIFY and, for halves, DEQUANTIZE come
// before it, or it reads the sparse weights itself.
void WriteProduct(const std::string& path, const Numbers& numbers, bool is_densified) {
  const bool is_half = numbers.type == "FLOAT16";
  std::string operators;
  int weights = 2;
  if (is_densified)
    operators += fmt::format(R"({{"opcode_index": 1, "inputs": [2], "outputs": [3],
        "builtin_options_type": "DensifyOptions", "builtin_options": {{}}}},)");
  if (is_half)
    operators += R"({"opcode_index": 2, "inputs": [3], "outputs": [4],
        "builtin_options_type": "DequantizeOptions", "builtin_options": {}},)";
  if (is_densified) weights = is_half ? 4 : 3;
  WriteText(path, fmt::format(R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
        "operator_codes": [
          {{"deprecated_builtin_code": 9, "version": 8, "builtin_code": "FULLY_CONNECTED"}},
          {{"deprecated_builtin_code": 124, "version": 1, "builtin_code": "DENSIFY"}},
          {{"deprecated_builtin_code": 6, "version": 3, "builtin_code": "DEQUANTIZE"}}],
        "subgraphs": [{{"tensors": [{}, {}, {}, {}, {}], "inputs": [0], "outputs": [1],
          "operators": [{} {{"opcode_index": 0, "inputs": [0, {}, -1], "outputs": [1],
            "builtin_options_type": "FullyConnectedOptions", "builtin_options": {{}}}}]}}],
        "buffers": [{{}}, {{"data": "{}"}}]}}}})",
                              Tensor("x", "[2, 8]", 0), Tensor("y", "[2, 4]", 0),
                              Tensor("w", "[4, 8]", 1, numbers.type, kRows),
                              Tensor("dense", "[4, 8]", 0, numbers.type),
                              Tensor("wide", "[4, 8]", 0), operators, weights, numbers.data));
}

// The type, sparsity and stored numbers of the sparse tensors.
std::vector<Json> SparseTensors(const std::string& path) {
  REQUIRE(RunProgram("nnconvert " + path + " " + path + ".json").code == 0);
  const Json model = Json::parse(ReadText(path + ".json"))["model"];
  std::vector<Json> out;
  for (const Json& t : model["subgraphs"][0]["tensors"])
    if (t.contains("sparsity"))
      out.push_back({t.value("type", "FLOAT32"), t["sparsity"],
                     model["buffers"][t["buffer"].get<size_t>()]["data"]});
  return out;
}

TEST_CASE("nnconvert: sparse weights stay sparse where TensorFlow Lite is written again") {
  const TempDir dir;
  struct Form {
    Numbers numbers;
    bool is_densified;
  };
  for (const Form& form : {Form{kFloats, false}, Form{kFloats, true}, Form{kHalves, true}}) {
    const Numbers& numbers = form.numbers;
    const bool is_densified = form.is_densified;
    CAPTURE(numbers.type);
    CAPTURE(is_densified);
    WriteProduct(dir / "a.json", numbers, is_densified);
    REQUIRE(RunProgram("nnconvert " + (dir / "a.json") + " " + (dir / "a.tflite")).code == 0);
    const auto source = SparseTensors(dir / "a.tflite");
    REQUIRE(source.size() == 1);
    for (const std::string option : {"--rewrite", "--simplify --rewrite", "--set-batch 3"}) {
      CAPTURE(option);
      const ProgramResult r =
          RunProgram("nnconvert " + (dir / "a.tflite") + " " + (dir / "b.tflite ") + option);
      REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
      CHECK(r.out.find("sparse form") == std::string::npos);
      CHECK(r.out.find("bit-identical") != std::string::npos);
      const auto written = SparseTensors(dir / "b.tflite");
      REQUIRE(written.size() == 1);
      CHECK(written[0][1] == source[0][1]);
      // Fewer than 256 halves are widened when a model is written again.
      if (numbers.type == kFloats.type) CHECK(written == source);
    }
  }
}

// Columns in blocks of 2: the last one of 7 is in no block.
constexpr std::string_view kBlocks =
    R"("traversal_order": [0, 1, 2], "block_map": [1], "dim_metadata": [{"dense_size": 4},
    {"format": "SPARSE_CSR",
    "array_segments_type": "Uint8Vector", "array_segments": {"values": "AAECAwM="},
    "array_indices_type": "Uint8Vector", "array_indices": {"values": "AAIB"}}, {"dense_size": 2}])";

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

TEST_CASE("nnconvert: elements after the last whole block of sparse weights are zeros") {
  const TempDir dir;
  WriteProduct(dir / "a.json", kFloats, false);
  std::string text = ReadText(dir / "a.json");
  Replace(text, "[2, 8]", "[2, 7]");
  Replace(text, "[4, 8]", "[4, 7]");
  Replace(text, kRows, kBlocks);
  WriteText(dir / "a.json", text);
  CHECK(RunProgram("nnvalidate " + (dir / "a.json")).code == 0);
  const ProgramResult r = RunProgram("nnrun " + (dir / "a.json") + " --input x=[1,2,3,4,5,6,7," +
                                     "0,0,0,0,0,0,9] --output " + (dir / "y.json"));
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const std::vector<double> y = Json::parse(ReadText(dir / "y.json"))["outputs"][0]["values"];
  CHECK(y == std::vector<double>{-3, 26.5, -31.25, 0, 0, 0, 0, 0});
  const ProgramResult onnx = RunProgram("nnconvert " + (dir / "a.json") + " " + (dir / "b.onnx"));
  CHECK_MESSAGE(onnx.code == 0, onnx.err);
}

TEST_CASE("nnconvert: other formats have dense weights, and the report says so") {
  const TempDir dir;
  WriteProduct(dir / "a.json", kFloats, true);
  REQUIRE(RunProgram("nnconvert " + (dir / "a.json") + " " + (dir / "a.tflite")).code == 0);
  const ProgramResult onnx = RunProgram("nnconvert " + (dir / "a.tflite") + " " + (dir / "b.onnx"));
  REQUIRE_MESSAGE(onnx.code == 0, onnx.err);
  CHECK(onnx.out.find(R"(dropped: sparse form "w")") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::nnconvert_sparse_test

// What becomes of all that a model's file holds beside its graph: every entry is kept, adapted or
// dropped by name, through every conversion and edit.
#include "formats/holdings.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "edit/apply.h"
#include "support/files.h"

namespace nn::test::holdings_test {
namespace {

// y = relu(f(x + w)), with all that an ONNX file has for readers.
const char* const kOnnx = R"(
ir_version: 10 producer_name: "maker" producer_version: "3" domain: "org.example"
model_version: 5 doc_string: "of the model"
opset_import { domain: "" version: 20 } opset_import { domain: "own" version: 1 }
opset_import { domain: "not.used" version: 2 }
metadata_props { key: "author" value: "someone" }
functions { name: "F" domain: "own" input: "a" output: "b" opset_import { domain: "" version: 20 }
  node { input: "a" output: "b" op_type: "Neg" } }
functions { name: "G" domain: "own" input: "a" output: "b" opset_import { domain: "" version: 20 }
  node { input: "a" output: "b" op_type: "Abs" } }
graph { name: "graph" doc_string: "of the graph" metadata_props { key: "g" value: "1" }
  node { input: "x" input: "w" output: "s" op_type: "Add" name: "sum" doc_string: "of the sum"
         metadata_props { key: "place" value: "sum.py" } }
  node { input: "s" output: "f" op_type: "F" domain: "own" name: "call" }
  node { input: "f" output: "y" op_type: "Relu" doc_string: "of the output" }
  initializer { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2
                doc_string: "of the weights" }
  input { name: "x" doc_string: "of the input" metadata_props { key: "unit" value: "m" }
    type { denotation: "TENSOR" tensor_type { elem_type: 1 shape {
      dim { dim_value: 1 denotation: "DATA_BATCH" } dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 1 } dim { dim_value: 2 } } } } }
  value_info { name: "s" doc_string: "of a value"
    type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 2 } } } } }
  quantization_annotation { tensor_name: "s" quant_parameter_tensor_names {
    key: "SCALE_TENSOR" value: "w" } } }
configuration { name: "device" num_devices: 1 })";

const char* const kTflite = R"({"nn_dump": 1, "format": "tflite", "model": {
  "$data": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==", "version": 3,
  "operator_codes": [{"deprecated_builtin_code": 19, "builtin_code": "RELU"}],
  "subgraphs": [{"tensors": [
      {"shape": [1, 2], "buffer": 0, "name": "x", "quantization": {"min": [-1.0], "max": [2.0]}},
      {"shape": [1, 2], "buffer": 0, "name": "y"}],
    "inputs": [0], "outputs": [1], "debug_metadata_index": 4,
    "operators": [{"opcode_index": 0, "inputs": [0], "outputs": [1]}], "name": "main"}],
  "description": "by hand",
  "buffers": [{}, {"data": "/wD+"}, {"data": "AQID"}, {"data": "AQ=="}, {"data": "Ag=="}],
  "metadata_buffer": [4],
  "metadata": [{"name": "binary", "buffer": 1}, {"name": "model_control_dependencies", "buffer": 2}],
  "signature_defs": [{"inputs": [{"name": "in", "tensor_index": 0}],
    "outputs": [{"name": "out", "tensor_index": 1}], "signature_key": "first"}]}})";

const char* const kCoreml = R"({"nn_dump": 1, "format": "coreml", "model": {
  "specificationVersion": 4, "isUpdatable": true,
  "description": {
    "input": [{"name": "x", "shortDescription": "a picture", "type": {"multiArrayType": {
      "shape": [2], "dataType": "FLOAT32"}}}],
    "output": [{"name": "p", "type": {"dictionaryType": {"stringKeyType": {}}}},
               {"name": "label", "type": {"stringType": {}}}],
    "predictedFeatureName": "label", "predictedProbabilitiesName": "p",
    "trainingInput": [{"name": "target", "type": {"stringType": {}}}],
    "metadata": {"shortDescription": "of the model", "versionString": "5", "author": "someone",
      "license": "free", "userDefined": [{"key": "com.example.preview", "value": "image"}]}},
  "neuralNetworkClassifier": {
    "layers": [{"name": "soft", "input": ["x"], "output": ["p"], "isUpdatable": true,
                "softmax": {}}],
    "stringClassLabels": {"vector": ["a", "b"]}, "labelProbabilityLayerName": "p"}}})";

const char* const kNnapi = R"({"operands": [
  {"name": "x", "type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "MODEL_INPUT"},
  {"name": "k", "type": "INT32", "lifetime": "CONSTANT_COPY", "value": [0]},
  {"name": "y", "type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "MODEL_OUTPUT"}],
  "operations": [{"type": "ADD", "inputs": [0, 0, 1], "outputs": [2]}],
  "inputIndexes": [0], "outputIndexes": [2],
  "request": {
    "inputs": [{"location": {"poolIndex": 0, "offset": 0, "length": 8}, "dimensions": []}],
    "outputs": [{"location": {"poolIndex": 1, "offset": 0, "length": 8}, "dimensions": []}],
    "poolSizes": [8, 8]}})";

using Names = std::multiset<std::pair<std::string, std::string>>;  // kinds and names

Names NamesOf(const std::vector<Holding>& holdings) {
  Names out;
  for (const Holding& h : holdings) out.emplace(h.kind, h.name);
  return out;
}

ReadModel Read(const std::string& path) {
  auto read = ReadModelFile(path);
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

// The folder's model with everything, under its own extension.
std::string WriteSource(const TempDir& dir, const std::string& format) {
  if (format == "onnx") {
    WriteText(dir / "in.textproto", kOnnx);
    return dir / "in.textproto";
  }
  const std::string path = dir / (format == "nnapi" ? "in.nnapi.json" : "in.json");
  WriteText(path, format == "tflite" ? kTflite : format == "coreml" ? kCoreml : kNnapi);
  return path;
}

// Each holding of the source is in one list; those that are kept are in the written model.
void CheckAccounts(const std::vector<Holding>& source, const Accounts& accounts,
                   const ReadModel& written) {
  std::vector<Holding> all = accounts.kept;
  all.insert(all.end(), accounts.adapted.begin(), accounts.adapted.end());
  all.insert(all.end(), accounts.dropped.begin(), accounts.dropped.end());
  CHECK(all.size() == source.size());
  CHECK(std::ranges::is_permutation(all, source));
  const std::vector<Holding> present = HoldingsOf(written);
  for (const Holding& h : accounts.kept) {
    CAPTURE(h.kind);
    CAPTURE(h.name);
    CHECK(std::ranges::any_of(present, [&](const Holding& p) {
      return p.kind == h.kind && p.name == h.name && p.digest == h.digest;
    }));
  }
  // Each dropped kind is named.
  std::string texts;
  for (const std::string& text : DroppedTexts(accounts)) texts += text + "\n";
  for (const Holding& h : accounts.dropped)
    CHECK(texts.find("dropped: " + h.kind) != std::string::npos);
}

TEST_CASE("holdings: the inventory has all that a file holds beside its graph") {
  const TempDir dir;
  CHECK(NamesOf(HoldingsOf(Read(WriteSource(dir, "onnx")))) ==
        Names{{"configuration", "device"},
              {"denotation", "x"},
              {"denotation", "x"},
              {"description", ""},
              {"documentation", "sum"},
              {"documentation", "y"},
              {"documentation", "w"},
              {"documentation", "graph"},
              {"documentation", "x"},
              {"documentation", "s"},
              {"domain", ""},
              {"function", "F"},
              {"function", "G"},
              {"metadata", "sum: place"},
              {"metadata", "x: unit"},
              {"metadata", "graph: g"},
              {"metadata", "author"},
              {"operator set", "not.used"},
              {"producer", ""},
              {"producer", ""},
              {"quantization annotation", "s"},
              {"version", ""}});
  CHECK(NamesOf(HoldingsOf(Read(WriteSource(dir, "tflite")))) ==
        Names{{"associated files", ""},
              {"debug information", "main"},
              {"description", ""},
              {"metadata", "binary"},
              {"metadata", "model_control_dependencies"},
              {"metadata", ""},
              {"recorded maximum", "x"},
              {"recorded minimum", "x"},
              {"signature", "first"},
              {"unused buffer", "3"}});
  CHECK(NamesOf(HoldingsOf(Read(WriteSource(dir, "coreml")))) ==
        Names{{"class labels", ""},
              {"description", ""},
              {"documentation", "x"},
              {"is updatable", ""},
              {"is updatable", "soft"},
              {"metadata", "author"},
              {"metadata", "com.example.preview"},
              {"metadata", "license"},
              {"metadata", "version"},
              {"output of the class scores", ""},
              {"output of the label", ""},
              {"training input", "target"}});
  CHECK(NamesOf(HoldingsOf(Read(WriteSource(dir, "nnapi")))) == Names{{"request", ""}});
}

TEST_CASE("holdings: a field that is not in the schema is one") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", "graph {\n in %x: f32[2]\n %y = relu(%x)\n out \"y\" = %y\n}");
  const auto before = HoldingsOf(Read(dir / "m.onnx")).size();
  // Field 3000 of the model, a string.
  WriteText(dir / "n.onnx", ReadText(dir / "m.onnx") + "\xc2\xbb\x01\x03new");
  const auto holdings = HoldingsOf(Read(dir / "n.onnx"));
  REQUIRE(holdings.size() == before + 1);
  CHECK(holdings.front().kind == "unknown field");
  CHECK(holdings.front().name == "ModelProto: 3000");
}

TEST_CASE("holdings: subgraphs and tensors without a name") {
  const TempDir dir;
  WriteText(dir / "m.json", R"({"nn_dump": 1, "format": "tflite", "model": {"version": 3,
    "operator_codes": [{"deprecated_builtin_code": 19, "builtin_code": "RELU"}],
    "subgraphs": [{"tensors": [{"shape": [2], "quantization": {"min": [-1.0]}}, {"shape": [2]}],
      "inputs": [0], "outputs": [1],
      "operators": [{"opcode_index": 0, "inputs": [0], "outputs": [1]}]}],
    "buffers": [{}]}})");
  CHECK(NamesOf(HoldingsOf(Read(dir / "m.json"))) == Names{{"recorded minimum", ""}});
}

TEST_CASE("holdings: conversions account for each, and so do dry runs") {
  for (const std::string format : {"onnx", "tflite", "coreml", "nnapi"}) {
    for (const std::string output : {"o.onnx", "o.tflite", "o.mlmodel", "o.mlpackage", "o.nnapi"}) {
      const std::map<std::string, std::function<void(ConvertJob&)>> forms = {
          {"--rewrite", [](ConvertJob&) {}},
          {"--simplify", [](ConvertJob& o) { o.simplify = true; }},
          {"--fp16", [](ConvertJob& o) { o.half = HalfOptions(); }}};
      for (const auto& form : forms) {
        const std::string& name = form.first;
        if (name == "--fp16" && (format != "onnx" || output != "o.onnx")) continue;
        CAPTURE(format);
        CAPTURE(output);
        CAPTURE(name);
        const TempDir dir;
        const std::string source = WriteSource(dir, format);
        ConvertJob o;
        o.input = source;
        o.output = dir / output;
        form.second(o);
        o.dry_run = true;
        const auto tried = ConvertFile(*FormatOfPath(output), o);
        REQUIRE_MESSAGE(tried.has_value(), tried.error().message());
        CHECK_FALSE(std::filesystem::exists(o.output));
        o.dry_run = false;
        const auto done = ConvertFile(*FormatOfPath(output), o);
        REQUIRE_MESSAGE(done.has_value(), done.error().message());
        REQUIRE(done->written.has_value());
        CheckAccounts(HoldingsOf(Read(source)), done->holdings, Read(dir / output));
        CHECK(tried->holdings.kept == done->holdings.kept);
        CHECK(tried->holdings.adapted == done->holdings.adapted);
        CHECK(tried->holdings.dropped == done->holdings.dropped);
      }
    }
  }
}

TEST_CASE("holdings: an ONNX model that is written again keeps its texts") {
  const TempDir dir;
  ConvertJob o;
  o.input = WriteSource(dir, "onnx");
  o.output = dir / "o.onnx";
  const auto done = ConvertFile(*FindFormat("onnx"), o);
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  CHECK(NamesOf(done->holdings.dropped) == Names{{"configuration", "device"},
                                                 {"documentation", "s"},
                                                 {"function", "G"},
                                                 {"operator set", "not.used"},
                                                 {"quantization annotation", "s"}});
  CHECK(NamesOf(done->holdings.adapted) == Names{{"function", "F"}});
}

TEST_CASE("holdings: texts go from format to format") {
  const TempDir dir;
  const auto convert = [&](const std::string& from, const std::string& to) {
    ConvertJob o;
    o.input = from;
    o.output = dir / to;
    const auto done = ConvertFile(*FormatOfPath(to), o);
    REQUIRE_MESSAGE(done.has_value(), done.error().message());
    return NamesOf(done->holdings.kept);
  };
  CHECK(convert(WriteSource(dir, "onnx"), "a.tflite") == Names{{"description", ""}});
  CHECK(convert(dir / "a.tflite", "b.onnx") == Names{{"description", ""}});
  CHECK(convert(WriteSource(dir, "onnx"), "a.mlmodel") ==
        Names{{"description", ""}, {"metadata", "author"}});
  CHECK(convert(WriteSource(dir, "coreml"), "c.onnx") == Names{{"description", ""},
                                                               {"metadata", "author"},
                                                               {"metadata", "com.example.preview"},
                                                               {"metadata", "license"},
                                                               {"metadata", "version"}});
}

TEST_CASE("holdings: edits in the format, and patches, account for each") {
  for (const std::string format : {"onnx", "tflite", "coreml"}) {
    std::vector<edit::ApplyOptions> edits(4);
    edits[0].edits.strip = "metadata";
    edits[1].edits.strip = "docs";
    edits[2].edits.metadata = {"description=other"};
    edits[3].edits.patch = "patch.json";
    if (format == "onnx") edits.emplace_back().edits.extract = "..s";
    for (edit::ApplyOptions& options : edits) {
      CAPTURE(format);
      CAPTURE(options.edits.strip);
      const TempDir dir;
      const bool patches = !options.edits.patch.empty();
      if (patches) {
        options.edits.patch = dir / "patch.json";
        WriteText(options.edits.patch, "[]");
      }
      const std::string source = WriteSource(dir, format);
      ReadModel model = Read(source);
      const std::vector<Holding> before = HoldingsOf(model);
      const auto report = edit::ApplyEdits(options, source, model);
      REQUIRE_MESSAGE(report.has_value(), report.error().message());
      CheckAccounts(before, report->holdings, model);
      if (patches) CHECK(report->holdings.kept.size() == before.size());
    }
  }
}

TEST_CASE("holdings: copies and dumps keep all") {
  const std::map<std::string, std::string> copies = {
      {"onnx", "o.onnx"}, {"tflite", "o.tflite"}, {"coreml", "o.mlmodel"}};
  for (const auto& copy : copies) {
    const std::string& format = copy.first;
    CAPTURE(format);
    const TempDir dir;
    const std::string source = WriteSource(dir, format);
    ConvertJob o;
    o.input = source;
    o.output = dir / copy.second;
    const ReadModel read = Read(source);
    const auto done = CopyModel(read, o);
    REQUIRE_MESSAGE(done.has_value(), done.error().message());
    CHECK(HoldingsOf(Read(dir / copy.second)) == HoldingsOf(read));
    REQUIRE(WriteDump(Read(dir / copy.second), dir / "dump.json"));
    CHECK(HoldingsOf(Read(dir / "dump.json")) == HoldingsOf(read));
  }
}

}  // namespace
}  // namespace nn::test::holdings_test

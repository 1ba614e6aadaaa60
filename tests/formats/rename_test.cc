#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/format.h"
#include "formats/tflite/file/native.h"
#include "support/blobs.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/wire.h"

// Other names for inputs and outputs: they change wherever the model refers to them, and nothing
// else does.
namespace nn::test::rename_test {
namespace {

namespace fs = std::filesystem;

Result<FileImage> Renamed(const ReadModel& read, const PortNames& names,
                          const ExportOptions& options) {
  return read.format->editor.Rename(*read.model, names, options);
}

PortNames NamesIn(const ReadModel& read) {
  const auto names = read.format->describer.PortNamesOf(*read.model);
  REQUIRE_MESSAGE(names.has_value(), names.error().message());
  return *names;
}

std::string DumpOf(const ReadModel& read) {
  const TempDir dir;
  REQUIRE(WriteDump(read, dir / "d.json").has_value());
  return ReadText(dir / "d.json");
}

// The model in an image of `format`, whose files are written to `path`.
ReadModel Placed(const FileImage& image, const std::string& path) {
  if (!image.is_folder) REQUIRE(WriteFile(path, image.parts).has_value());
  for (const SideFile& side : image.side_files) {
    const fs::path file =
        (image.is_folder ? fs::path(path) : fs::path(path).parent_path()) / side.name;
    fs::create_directories(file.parent_path());
    if (!side.name.ends_with('/')) REQUIRE(WriteFile(file.string(), side.parts).has_value());
  }
  return ReadOrFail(path);
}

ReadModel Rename(const ReadModel& read, const PortNames& names, const std::string& path) {
  const auto image = Renamed(read, names, ExportOptions{path});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  return Placed(*image, path);
}

// ---- Any model ----------------------------------------------------------------------------------

// Adds the pairs of texts that differ; all other differences are recorded as "structure".
void AddDifferences(const Json& a, const Json& b, std::map<std::string, std::string>& out) {
  if (a.type() != b.type() || a.size() != b.size()) {
    out["structure"] = a.dump().substr(0, 200) + " / " + b.dump().substr(0, 200);
  } else if (a.is_object()) {
    for (const auto& [key, value] : a.items())
      if (b.contains(key))
        AddDifferences(value, b[key], out);
      else
        out["structure"] = key;
  } else if (a.is_array()) {
    for (size_t i = 0; i < a.size(); ++i) AddDifferences(a[i], b[i], out);
  } else if (a != b) {
    if (a.is_string())
      out.emplace(a.get<std::string>(), b.get<std::string>());
    else
      out["structure"] = a.dump() + " / " + b.dump();
  }
}

// New names: the present ones, rotated by one.
PortNames Cycled(const PortNames& names) {
  PortNames out = names;
  for (auto* list : {&out.inputs, &out.outputs})
    if (!list->empty()) std::rotate(list->begin(), list->begin() + 1, list->end());
  return out;
}

PortNames Fresh(const PortNames& names) {
  PortNames out;
  for (const std::string& name : names.inputs) out.inputs.push_back("fresh_" + name);
  for (const std::string& name : names.outputs) out.outputs.push_back("fresh_" + name);
  return out;
}

void CheckThereAndBack(const std::string& path) {
  CAPTURE(path);
  const TempDir dir;
  const ReadModel original = ReadOrFail(path);
  const bool package = original.format->name == "coreml" &&
                       !original.format->writer.Save(*original.model, {"m.mlmodel"}).has_value();
  const std::string extension =
      package ? std::string(".mlpackage") : std::string(original.format->extensions.front());
  const auto saved =
      original.format->writer.Save(*original.model, ExportOptions{dir / "copy" + extension});
  REQUIRE_MESSAGE(saved.has_value(), saved.error().message());
  // The identifiers of a package are created when it is written.
  const ReadModel read = Placed(*saved, dir / "copy" + extension);
  const PortNames names = NamesIn(read);
  const std::string copy = DumpOf(read);
  const Json before = Json::parse(copy);
  for (const PortNames& wanted : {Fresh(names), Cycled(names)}) {
    const auto image = Renamed(read, wanted, ExportOptions{dir / "new" + extension});
    // An output that is an input has one name; some kinds of models determine their names.
    if (!image && (image.error().code() == ErrorCode::kUnsupported ||
                   image.error().message().find("is listed twice") != std::string::npos))
      continue;
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    const ReadModel renamed = Placed(*image, dir / "new" + extension);
    CHECK(NamesIn(renamed) == wanted);
    std::map<std::string, std::string> allowed;
    for (size_t i = 0; i < names.inputs.size(); ++i) allowed[names.inputs[i]] = wanted.inputs[i];
    for (size_t i = 0; i < names.outputs.size(); ++i) allowed[names.outputs[i]] = wanted.outputs[i];
    std::map<std::string, std::string> differences;
    AddDifferences(before, Json::parse(DumpOf(renamed)), differences);
    for (const auto& difference : differences) {
      const std::string &from = difference.first, &to = difference.second;
      const std::string dims = "nn.dims.";
      const std::string name = from.starts_with(dims) ? from.substr(dims.size()) : from;
      CHECK(allowed.contains(name));
      CHECK_MESSAGE(to.ends_with(allowed[name]), from, " -> ", to);
    }
    const auto back = Renamed(renamed, names, ExportOptions{dir / "back" + extension});
    REQUIRE_MESSAGE(back.has_value(), back.error().message());
    if (read.format->name != "tflite") CHECK(Joined(*back) == Joined(*saved));
    const bool is_same = DumpOf(Placed(*back, dir / "back" + extension)) == copy;
    CHECK(is_same);
  }
}

TEST_CASE("rename: every model of the corpus, there and back") {
  int count = 0;
  for (const char* folder : {"golden", "tests/fuzz/corpus"})
    for (const auto& entry : fs::directory_iterator(SourcePath(folder))) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || !ReadModelFile(path)) continue;
      CheckThereAndBack(path);
      ++count;
    }
  CHECK(count > 60);
}

// ---- ONNX ---------------------------------------------------------------------------------------

// Names in all places; a literal "x" or "y" is a different value of this name.
std::string OnnxText(std::string_view x, std::string_view y, std::string_view z) {
  return fmt::format(
      R"(ir_version: 8
producer_name: "keep"
producer_version: "x"
model_version: 3
graph {{
  node {{
    input: "{x}"
    input: ""
    input: "w"
    output: "h"
    name: "x"
    op_type: "Odd"
    attribute {{ name: "x" s: "x" type: STRING }}
    domain: "my"
    device_configurations {{ configuration_id: "x" sharding_spec {{ tensor_name: "{x}" }} }}
  }}
  node {{
    input: "c"
    output: "{y}"
    op_type: "If"
    attribute {{
      name: "then_branch"
      g {{
        node {{
          input: "c"
          output: "t1"
          op_type: "If"
          attribute {{
            name: "then_branch"
            g {{
              node {{ input: "{x}" output: "t2" op_type: "Relu" }}
              output {{ name: "t2" }}
              value_info {{ name: "{x}" }}
              quantization_annotation {{ tensor_name: "{x}" }}
            }}
            type: GRAPH
          }}
          attribute {{ name: "else_branch" g {{ output {{ name: "{x}" }} }} type: GRAPH }}
        }}
        output {{ name: "t1" }}
      }}
      type: GRAPH
    }}
    attribute {{
      name: "else_branch"
      g {{
        node {{ input: "h" output: "x" op_type: "Abs" }}
        node {{
          input: "x"
          output: "e1"
          op_type: "Loop"
          attribute {{
            name: "body"
            g {{ node {{ input: "x" input: "{z}" output: "e2" op_type: "Add" }} input {{ name: "y" }} }}
            type: GRAPH
          }}
        }}
        initializer {{ data_type: 1 name: "e3" }}
        output {{ name: "e1" }}
      }}
      type: GRAPH
    }}
    attribute {{ name: "list" graphs {{ output {{ name: "{x}" }} }} type: GRAPHS }}
  }}
  name: "x"
  initializer {{ dims: 1 data_type: 1 float_data: 1 name: "w" }}
  initializer {{ dims: 1 data_type: 1 float_data: 2 name: "{z}" doc_string: "x" }}
  input {{ name: "{x}" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_param: "x" }} }} }} }} }}
  input {{ name: "c" }}
  input {{ name: "w" }}
  output {{ name: "{y}" doc_string: "y" }}
  output {{ name: "{z}" }}
  value_info {{ name: "h" }}
  quantization_annotation {{
    tensor_name: "{x}"
    quant_parameter_tensor_names {{ key: "SCALE_TENSOR" value: "{z}" }}
  }}
}}
opset_import {{ domain: "" version: 11 }}
opset_import {{ domain: "my" version: 2 }}
metadata_props {{ key: "x" value: "x" }}
training_info {{
  initialization {{ node {{ output: "x" op_type: "Constant" }} output {{ name: "x" }} }}
  algorithm {{
    node {{ input: "{x}" input: "{y}" output: "step" op_type: "Gradient" domain: "ai.onnx.training" }}
    output {{ name: "step" }}
  }}
  initialization_binding {{ key: "{z}" value: "x" }}
  update_binding {{ key: "{z}" value: "step" }}
}}
functions {{
  name: "x"
  input: "x"
  output: "y"
  node {{ input: "x" output: "y" op_type: "Relu" }}
  opset_import {{ version: 11 }}
  domain: "my"
}}
)",
      fmt::arg("x", x), fmt::arg("y", y), fmt::arg("z", z));
}

ReadModel ReadBytes(const std::string& text, const std::string& path) {
  auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(text)), path);
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

TEST_CASE("rename: ONNX, wherever a value is named, and no other value") {
  const ReadModel read = ReadBytes(OnnxText("x", "y", "z"), "m.textproto");
  CHECK(NamesIn(read) == PortNames{{"x", "c"}, {"y", "z"}});
  const ReadModel wanted = ReadBytes(OnnxText("image", "scores", "weight"), "m.textproto");
  for (const std::string path : {"m.textproto", "m.onnx", "m.onnxjson"}) {
    const auto renamed = Renamed(read, {{"image", "c"}, {"scores", "weight"}}, ExportOptions{path});
    REQUIRE_MESSAGE(renamed.has_value(), renamed.error().message());
    CHECK(Joined(*renamed) ==
          Joined(*wanted.format->writer.Save(*wanted.model, ExportOptions{path})));
  }
  // Nothing to change.
  CHECK(Joined(*Renamed(read, NamesIn(read), ExportOptions{"m.onnx"})) ==
        Joined(*read.format->writer.Save(*read.model, ExportOptions{"m.onnx"})));
}

TEST_CASE("rename: ONNX, names that are taken") {
  const ReadModel read = ReadBytes(OnnxText("x", "y", "z"), "m.textproto");
  const std::string taken = "the new name \"{}\" is already used: {}";
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {"h", "graph.value_info[0]"},
           {"w", "graph.input[2]"},
           {"c", "graph.input[1]"},
           {"t1", "graph.node[1].then_branch.node[0].output[0]"},
           {"t2", "graph.node[1].then_branch.node[0].then_branch.node[0].output[0]"},
           {"e1", "graph.node[1].else_branch.node[1].output[0]"},
           {"e3", "graph.node[1].else_branch.initializer[0]"},
           // A subgraph has another value of this name, which would capture or be captured.
           {"y", "graph.node[1].else_branch.node[1].body.input[0]"},
           {"step", "training_info[0].algorithm.output[0]"},
       }) {
    const auto& [name, place] = row;
    CAPTURE(row.first);
    PortNames names = {{name, "c"}, {"y", "z"}};
    if (name == "y") names.outputs[0] = "x2";
    const auto renamed = Renamed(read, names, ExportOptions{"m.onnx"});
    REQUIRE_FALSE(renamed.has_value());
    CHECK(renamed.error().code() == ErrorCode::kUsage);
    CHECK(renamed.error().message() == fmt::format(fmt::runtime(taken), name, place));
  }
}

TEST_CASE("rename: ONNX, an input that is an output has one name") {
  const ReadModel read = ReadBytes(R"(ir_version: 8 opset_import { version: 13 }
    graph { name: "g" node { input: "x" output: "y" op_type: "Relu" }
      input { name: "x" } output { name: "y" } output { name: "x" } })",
                                   "m.textproto");
  const auto apart = Renamed(read, {{"a"}, {"y", "x"}}, ExportOptions{"m.onnx"});
  REQUIRE_FALSE(apart.has_value());
  CHECK(apart.error().code() == ErrorCode::kUsage);
  CHECK(apart.error().message() ==
        "\"x\" is listed twice among the inputs and outputs, but the format has one name for it: "
        "rename it in both places, or in none");
  const TempDir dir;
  CHECK(NamesIn(Rename(read, {{"a"}, {"y", "a"}}, dir / "m.onnx")) == PortNames{{"a"}, {"y", "a"}});
}

TEST_CASE("rename: ONNX, unknown fields and data in other files stay") {
  const TempDir dir;
  const std::string weight =
      Bytes(5, Int(1, 2) + Int(2, 1) + Bytes(8, "w") +
                   Bytes(13, Bytes(1, "location") + Bytes(2, "w.bin")) + Int(14, 1) + Int(900, 5));
  const std::string graph = Bytes(1, Bytes(1, "x") + Bytes(1, "w") + Bytes(2, "y") +
                                         Bytes(4, "Add") + Bytes(901, "node")) +
                            Bytes(2, "g") + weight + Bytes(11, Bytes(1, "x") + Int(902, 1)) +
                            Bytes(12, Bytes(1, "y")) + Bytes(903, "graph");
  WriteText(dir / "m.onnx", Int(1, 8) + Bytes(7, graph) + Bytes(8, Int(2, 13)) + Int(904, 7));
  WriteText(dir / "w.bin", "12345678");
  const ReadModel read = ReadOrFail(dir / "m.onnx");
  const auto image = Renamed(read, {{"input"}, {"y"}}, ExportOptions{dir / "r.onnx"});
  REQUIRE(image.has_value());
  REQUIRE(image->side_files.size() == 1);
  CHECK(image->side_files[0].name == "w.bin");
  const Json dump = Json::parse(DumpOf(Placed(*image, dir / "r.onnx")))["model"];
  CHECK(dump["$unknown"].size() == 1);
  CHECK(dump["graph"]["$unknown"].size() == 1);
  CHECK(dump["graph"]["node"][0]["$unknown"].size() == 1);
  CHECK(dump["graph"]["input"][0]["$unknown"].size() == 1);
  CHECK(dump["graph"]["initializer"][0]["$unknown"].size() == 1);
  CHECK(dump["graph"]["node"][0]["input"] == Json::parse(R"(["input", "w"])"));
  const auto back = Renamed(ReadOrFail(dir / "r.onnx"), {{"x"}, {"y"}}, ExportOptions{"b.onnx"});
  CHECK(Joined(*back) == ReadText(dir / "m.onnx"));
}

// ---- TensorFlow Lite ----------------------------------------------------------------------------

// x + x -> "y"; the file may end with data after the flatbuffer.
std::string TfliteText(std::string_view x, std::string_view y, std::string_view in,
                       std::string_view out) {
  return fmt::format(
      R"({{"nn_dump": 1, "format": "tflite", "model": {{
  "version": 3,
  "operator_codes": [{{"deprecated_builtin_code": 0, "version": 1, "builtin_code": "ADD"}}],
  "subgraphs": [
    {{"tensors": [
       {{"shape": [2], "type": "FLOAT32", "buffer": 0, "name": "{x}"}},
       {{"shape": [2], "type": "FLOAT32", "buffer": 1, "name": "w"}},
       {{"shape": [2], "type": "FLOAT32", "buffer": 0, "name": "{y}"}}],
     "inputs": [0], "outputs": [2],
     "operators": [{{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
                    "builtin_options_type": "AddOptions", "builtin_options": {{}}}}],
     "name": "x"}},
    {{"tensors": [{{"shape": [2], "type": "FLOAT32", "buffer": 0, "name": "x"}}],
     "inputs": [0], "outputs": [0], "name": "other"}}],
  "description": "x",
  "buffers": [{{}}, {{"data": "AAAAAAAAAAA="}}],
  "signature_defs": [
    {{"inputs": [{{"name": "{in}", "tensor_index": 0}}],
     "outputs": [{{"name": "{out}", "tensor_index": 2}}, {{"name": "more", "tensor_index": 1}}],
     "signature_key": "x", "subgraph_index": 0}},
    {{"inputs": [{{"name": "x", "tensor_index": 0}}],
     "outputs": [{{"name": "y", "tensor_index": 0}}],
     "signature_key": "second", "subgraph_index": 1}}]}}}})",
      fmt::arg("x", x), fmt::arg("y", y), fmt::arg("in", in), fmt::arg("out", out));
}

TEST_CASE("rename: TensorFlow Lite, tensors and their names in signatures") {
  const TempDir dir;
  const ReadModel read = ReadBytes(TfliteText("x:0", "y", "x", "y"), "m.json");
  const PortNames names = {{"a much longer name than before"}, {"b"}};
  const ReadModel renamed = Rename(read, names, dir / "m.tflite");
  CHECK(NamesIn(renamed) == names);
  CHECK(DumpOf(renamed) ==
        DumpOf(ReadBytes(TfliteText(names.inputs[0], "b", names.inputs[0], "b"), "m.json")));
  const auto refused = [&](const PortNames& wanted) {
    const auto image = Renamed(read, wanted, ExportOptions{"m.tflite"});
    REQUIRE_FALSE(image.has_value());
    CHECK(image.error().code() == ErrorCode::kUsage);
    return image.error().message();
  };
  CHECK(refused({{"w"}, {"y"}}) == "the new name \"w\" is already used: tensor 1");
  CHECK(refused({{"x:0"}, {"more"}}) ==
        "the new name \"more\" is already used: signature \"x\", outputs");
}

template <typename T>
std::string Raw(T v) {
  return {reinterpret_cast<const char*>(&v), sizeof(v)};
}

// A stored entry "l" with the text "labels"; its offsets count from `base`.
std::string ArchiveAt(uint32_t at, uint32_t base) {
  const std::string text = "labels";
  const std::string sizes = Raw<uint32_t>(0) + Raw<uint32_t>(6) + Raw<uint32_t>(6);  // CRC first
  const std::string common = Raw<uint16_t>(0) + Raw<uint16_t>(0) + Raw<uint32_t>(0) + sizes +
                             Raw<uint16_t>(1) + Raw<uint16_t>(0);
  const std::string local = "PK\3\4" + Raw<uint16_t>(20) + common + "l" + text;
  const std::string entry = "PK\1\2" + Raw<uint16_t>(20) + Raw<uint16_t>(20) + common +
                            std::string(2 + 2 + 2 + 4, '\0') + Raw<uint32_t>(at - base) + "l";
  return local + entry + "PK\5\6" + std::string(4, '\0') + Raw<uint16_t>(1) + Raw<uint16_t>(1) +
         Raw(static_cast<uint32_t>(entry.size())) +
         Raw(static_cast<uint32_t>(at + local.size() - base)) + Raw<uint16_t>(3) + "end";
}

TEST_CASE("rename: TensorFlow Lite, an archive of files stays at the end and readable") {
  const TempDir dir;
  const ReadModel plain = ReadBytes(TfliteText("x", "y", "x", "y"), "m.json");
  const std::string model =
      Joined(*plain.format->writer.Save(*plain.model, ExportOptions{"m.tflite"}));
  const auto size = static_cast<uint32_t>(model.size());
  for (const uint32_t base : {uint32_t{0}, size}) {
    CAPTURE(base);
    WriteText(dir / "a.tflite", model + ArchiveAt(size, base));
    const ReadModel read = ReadOrFail(dir / "a.tflite");
    const ReadModel renamed = Rename(read, {{"long enough"}, {"b"}}, dir / "b.tflite");
    Json dump = Json::parse(DumpOf(renamed));
    CHECK(dump["model"].erase("$data") == 1);  // the archive, which the file below ends with
    CHECK(dump == Json::parse(DumpOf(
                      ReadBytes(TfliteText("long enough", "b", "long enough", "b"), "m.json"))));
    const std::string file = ReadText(dir / "b.tflite");
    const auto at = static_cast<uint32_t>(file.find("PK\3\4"));
    CHECK(at > size);
    CHECK(file.substr(at) == ArchiveAt(at, base == 0 ? 0 : at));
  }
}

TEST_CASE("rename: TensorFlow Lite, names in a file above 2 GiB") {
  const TempDir dir;
  std::string text = TfliteText("x", "y", "x", "y");
  const std::string inner = R"({"data": "AAAAAAAAAAA="})";
  text.replace(text.find(inner), inner.size(),
               R"({"offset": 1, "size": 1, "$data": "AAAAAAAAAAA="},
                  {"offset": 1, "size": 1, "$data": "MTIzNDU2Nzg="})");
  const ReadModel small = ReadBytes(text, "m.json");
  std::string file = Joined(*small.format->writer.Save(*small.model, ExportOptions{"m.tflite"}));
  // The first buffer after the flatbuffer grows, in a file with a hole.
  constexpr uint64_t kLarge = (uint64_t{1} << 31) + (uint64_t{1} << 20);
  const auto& buffers = *tflite::fb::GetModel(file.data())->buffers();
  const uint64_t begin = buffers.Get(1)->offset();
  const auto set = [&](unsigned i, flatbuffers::voffset_t field, uint64_t value) {
    auto* table = const_cast<flatbuffers::Table*>(
        reinterpret_cast<const flatbuffers::Table*>(buffers.Get(i)));
    REQUIRE(table->SetField<uint64_t>(field, value, 0));
  };
  set(1, tflite::fb::Buffer::VT_SIZE, kLarge);
  set(2, tflite::fb::Buffer::VT_OFFSET, begin + kLarge);
  WriteText(dir / "m.tflite", file.substr(0, begin));
  fs::resize_file(dir / "m.tflite", begin + kLarge + 8);
  const ReadModel read = ReadOrFail(dir / "m.tflite");
  const auto& mapped = static_cast<const tflite::Model&>(*read.model).flatbuffer.parts()[0];
  const auto image = Renamed(read, {{"a much longer name"}, {"b"}}, ExportOptions{"n.tflite"});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  // Everything after the inserted names is one view of the old file.
  const Blob& rest = image->parts.back();
  CHECK(rest.data() == mapped.data() + begin);
  CHECK(rest.size() == kLarge + 8);
  FileImage head = *image;
  head.parts.pop_back();
  const std::string start = Joined(head);
  const auto& renamed = *tflite::fb::GetModel(start.data());
  CHECK(renamed.subgraphs()->Get(0)->tensors()->Get(0)->name()->str() == "a much longer name");
  CHECK(renamed.buffers()->Get(1)->offset() == start.size());
  CHECK(renamed.buffers()->Get(2)->offset() == start.size() + kLarge);
  CHECK((start.size() - begin) % 16 == 0);
}

TEST_CASE("rename: TensorFlow Lite, weights are not copied") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph "wide" {
    in %x: f32[1, 8, 8, 16]
    const %w: f32[32, 3, 3, 16] = seeded(1, 0.3)
    %y = conv(%x, %w) {pads = [1, 1, 1, 1], layout = nxc, filter_layout = oxi} "c"
    out "y" = %y
  })");
  const ReadModel read = ReadOrFail(dir / "m.tflite");
  const auto& file = static_cast<const tflite::Model&>(*read.model).flatbuffer.parts()[0];
  const auto image = Renamed(read, {{"image"}, {"y"}}, ExportOptions{dir / "n.tflite"});
  REQUIRE(image.has_value());
  uint64_t copied = 0;
  for (const Blob& part : image->parts)
    if (part.data() < file.data() || part.data() >= file.data() + file.size())
      copied += part.size();
  CHECK(copied < 64);
}

TEST_CASE("rename: TensorFlow Lite, a tensor without a name has no place for one") {
  std::string text = TfliteText("x", "y", "x", "y");
  text.replace(text.find(R"(, "name": "x")"), std::string_view(R"(, "name": "x")").size(), "");
  const ReadModel read = ReadBytes(text, "m.json");
  CHECK(NamesIn(read) == PortNames{{"tensor_0"}, {"y"}});
  const auto image = Renamed(read, {{"a"}, {"y"}}, ExportOptions{"m.tflite"});
  REQUIRE_FALSE(image.has_value());
  CHECK(image.error().code() == ErrorCode::kUnsupported);
  CHECK(image.error().message().starts_with("tensor 0 has no name in the file"));
}

// ---- Core ML ------------------------------------------------------------------------------------

std::string Feature(std::string_view name) {
  return fmt::format(
      R"({{"name": "{}", "type": {{"multiArrayType": {{"shape": [2], "dataType": "FLOAT32"}}}}}})",
      name);
}

std::string NetworkText(std::string_view x, std::string_view y) {
  return fmt::format(
      R"({{"nn_dump": 1, "format": "coreml", "model": {{
  "specificationVersion": 4, "isUpdatable": true,
  "description": {{
    "input": [{in}], "output": [{out}],
    "predictedFeatureName": "{y}",
    "trainingInput": [{in}, {target}],
    "metadata": {{"shortDescription": "x",
      "userDefined": [{{"key": "nn.dims.{x}", "value": "[x]"}}, {{"key": "x", "value": "x"}}]}}}},
  "neuralNetworkRegressor": {{
    "layers": [
      {{"name": "x", "input": ["{x}"], "output": ["h"], "copy": {{}}}},
      {{"name": "l", "input": ["{x}"], "loop": {{
        "conditionVar": "{x}",
        "bodyNetwork": {{"layers": [
          {{"name": "b", "input": ["{x}"], "branch": {{
            "ifBranch": {{"layers": [{{"name": "i", "input": ["{x}"], "output": ["{y}"], "copy": {{}}}}]}}}}}}]}}}}}},
      {{"name": "y", "input": ["h"], "output": ["{y}"], "softmax": {{}}}}],
    "preprocessing": [{{"featureName": "{x}", "scaler": {{"channelScale": 1.0}}}}],
    "updateParams": {{"lossLayers": [
      {{"name": "x", "meanSquaredErrorLossLayer": {{"input": "{y}", "target": "t"}}}}]}}}}}}}})",
      fmt::arg("x", x), fmt::arg("y", y), fmt::arg("in", Feature(x)), fmt::arg("out", Feature(y)),
      fmt::arg("target", Feature("t")));
}

TEST_CASE("rename: Core ML networks") {
  const TempDir dir;
  const ReadModel read = ReadBytes(NetworkText("x", "y"), "m.json");
  const ReadModel renamed = Rename(read, {{"image"}, {"scores"}}, dir / "m.mlmodel");
  CHECK(DumpOf(renamed) == DumpOf(ReadBytes(NetworkText("image", "scores"), "m.json")));
  const auto message = [&](const PortNames& names) {
    const auto image = Renamed(read, names, ExportOptions{"m.mlmodel"});
    REQUIRE_FALSE(image.has_value());
    CHECK(image.error().code() == ErrorCode::kUsage);
    return image.error().message();
  };
  CHECK(message({{"h"}, {"y"}}) ==
        "the new name \"h\" is already used: NeuralNetworkLayer \"x\".output");
  CHECK(message({{"x"}, {"t"}}) == "the new name \"t\" is already used: FeatureDescription.name");
}

// A pipeline of a scaler and a program; the features of both are one scope.
std::string PipelineText(std::string_view x, std::string_view y) {
  const std::string type = R"({"tensorType": {"dataType": "FLOAT32", "rank": 1,
    "dimensions": [{"constant": {"size": 2}}]}})";
  return fmt::format(
      R"({{"nn_dump": 1, "format": "coreml", "model": {{
  "specificationVersion": 7,
  "description": {{"input": [{in}], "output": [{out}]}},
  "pipeline": {{"models": [
    {{"specificationVersion": 7,
      "description": {{"input": [{in}], "output": [{middle}]}},
      "scaler": {{"shiftValue": [1.0], "scaleValue": [2.0]}}}},
    {{"specificationVersion": 7,
      "description": {{"input": [{middle}, {in}], "output": [{out}]}},
      "mlProgram": {{"version": 1, "functions": [
        {{"key": "main", "value": {{
          "inputs": [{{"name": "m", "type": {type}}}, {{"name": "{x}", "type": {type}}}],
          "opset": "CoreML7",
          "block_specializations": [{{"key": "CoreML7", "value": {{
            "outputs": ["{y}"],
            "operations": [
              {{"type": "add",
                "inputs": [{{"key": "x", "value": {{"arguments": [{{"name": "m"}}]}}}},
                           {{"key": "y", "value": {{"arguments": [{{"name": "{x}"}}]}}}}],
                "outputs": [{{"name": "{y}", "type": {type}}}]}}]}}}}]}}}},
        {{"key": "other", "value": {{"inputs": [{{"name": "x", "type": {type}}}], "opset": "CoreML7"}}}}]}}}}]}}}}}})",
      fmt::arg("in", Feature(x)), fmt::arg("out", Feature(y)), fmt::arg("middle", Feature("m")),
      fmt::arg("type", type), fmt::arg("x", x), fmt::arg("y", y));
}

TEST_CASE("rename: Core ML pipelines and programs") {
  const TempDir dir;
  const ReadModel read = ReadBytes(PipelineText("x", "y"), "m.json");
  const ReadModel renamed = Rename(read, {{"image"}, {"scores"}}, dir / "m.mlmodel");
  CHECK(DumpOf(renamed) == DumpOf(ReadBytes(PipelineText("image", "scores"), "m.json")));
  const auto image = Renamed(read, {{"m"}, {"y"}}, ExportOptions{"m.mlmodel"});
  REQUIRE_FALSE(image.has_value());
  CHECK(image.error().message() == "the new name \"m\" is already used: FeatureDescription.name");
}

TEST_CASE("rename: Core ML models whose implementation has the names") {
  for (const std::string kind : {R"("customModel": {"className": "C"})", R"("linkedModel": {})",
                                 R"("gazetteer": {"revision": 1})"}) {
    const ReadModel read = ReadBytes(
        fmt::format(R"({{"nn_dump": 1, "format": "coreml", "model": {{"specificationVersion": 4,
          "description": {{"input": [{}], "output": [{}]}}, {}}}}})",
                    Feature("x"), Feature("y"), kind),
        "m.json");
    const auto image = Renamed(read, {{"a"}, {"y"}}, ExportOptions{"m.mlmodel"});
    REQUIRE_FALSE(image.has_value());
    CHECK(image.error().code() == ErrorCode::kUnsupported);
    CHECK(image.error().message() == "the names of inputs and outputs cannot be changed: " +
                                         kind.substr(1, kind.find('"', 1) - 1) +
                                         " determines them itself");
  }
}

// ---- NNAPI --------------------------------------------------------------------------------------

TEST_CASE("rename: NNAPI operands") {
  const TempDir dir;
  const auto text = [](std::string_view x, std::string_view y) {
    return fmt::format(R"({{"operands": [
      {{"name": "{}", "type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "MODEL_INPUT"}},
      {{"name": "k", "type": "INT32", "lifetime": "CONSTANT_COPY", "value": [0]}},
      {{"name": "{}", "type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "MODEL_OUTPUT"}}],
      "operations": [{{"type": "ADD", "inputs": [0, 0, 1], "outputs": [2]}}],
      "inputIndexes": [0], "outputIndexes": [2], "name": "x",
      "request": {{"inputs": [{{"location": {{"poolIndex": 0, "offset": 0, "length": 8}}, "dimensions": []}}],
        "outputs": [{{"location": {{"poolIndex": 1, "offset": 0, "length": 8}}, "dimensions": []}}],
        "poolSizes": [8, 8]}}}})",
                       x, y);
  };
  const ReadModel read = ReadBytes(text("x", ""), "m.nnapi.json");
  CHECK(NamesIn(read) == PortNames{{"x"}, {"out_0"}});
  const ReadModel wanted = ReadBytes(text("image", "scores"), "m.nnapi.json");
  for (const std::string path : {"m.nnapi", "m.nnapi.json"}) {
    const auto image = Renamed(read, {{"image"}, {"scores"}}, ExportOptions{path});
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    CHECK(Joined(*image) ==
          Joined(*wanted.format->writer.Save(*wanted.model, ExportOptions{path})));
  }
  const auto image = Renamed(read, {{"k"}, {"out_0"}}, ExportOptions{"m.nnapi"});
  REQUIRE_FALSE(image.has_value());
  CHECK(image.error().message() == "the new name \"k\" is already used: operand 1");
}

}  // namespace
}  // namespace nn::test::rename_test

// Native edits of TensorFlow Lite models.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "base/json/json.h"
#include "edit/edit.h"
#include "formats/native_edits.h"
#include "formats/tflite/file.h"
#include "formats/tflite/file/native.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::tflite_edit_test {
namespace {

TEST_CASE("edit: TensorFlow Lite, every model, cut in two") {
  CHECK(CheckCutsOfAll("tflite") > 400);
}

std::string FileOfModel(const ReadModel& read) {
  const auto image = read.format->writer.Save(*read.model, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  return Joined(*image);
}

// a = x + w; b = c ? -a : a + v; y = b + w; z = Odd(a). Subgraph 1 is unused, 4 has a signature.
constexpr const char* kModel = R"({"nn_dump": 1, "format": "tflite", "model": {
 "version": 3,
 "operator_codes": [
  {"deprecated_builtin_code": 32, "custom_code": "Odd", "builtin_code": "CUSTOM"},
  {"builtin_code": "ADD"}, {"builtin_code": "IF"}, {"builtin_code": "NEG"}],
 "subgraphs": [
  {"tensors": [
    {"shape": [2], "buffer": 0, "name": "z"}, {"shape": [2], "buffer": 0, "name": "x"},
    {"shape": [2], "buffer": 2, "name": "w"}, {"shape": [2], "buffer": 0, "name": "a"},
    {"shape": [1], "type": "BOOL", "buffer": 0, "name": "c"},
    {"shape": [2], "buffer": 0, "name": "b"}, {"shape": [2], "buffer": 0, "name": "y"}],
   "inputs": [1, 4], "outputs": [6, 0],
   "operators": [
    {"opcode_index": 1, "inputs": [1, 2], "outputs": [3],
     "builtin_options_type": "AddOptions", "builtin_options": {}},
    {"opcode_index": 2, "inputs": [4, 3], "outputs": [5], "builtin_options_type": "IfOptions",
     "builtin_options": {"then_subgraph_index": 2, "else_subgraph_index": 3}},
    {"opcode_index": 1, "inputs": [5, 2], "outputs": [6],
     "builtin_options_type": "AddOptions", "builtin_options": {}},
    {"opcode_index": 0, "inputs": [3], "outputs": [0], "custom_options": "b2RkIQ=="}],
   "name": "main"},
  {"tensors": [{"shape": [2], "buffer": 1, "name": "unused"}], "inputs": [], "outputs": [0],
   "operators": [], "name": "nobody"},
  {"tensors": [{"shape": [2], "buffer": 0, "name": "p"}, {"shape": [2], "buffer": 0, "name": "q"}],
   "inputs": [0], "outputs": [1],
   "operators": [{"opcode_index": 3, "inputs": [0], "outputs": [1]}], "name": "then"},
  {"tensors": [{"shape": [2], "buffer": 0, "name": "p"}, {"shape": [2], "buffer": 3, "name": "v"},
    {"shape": [2], "buffer": 0, "name": "q"}],
   "inputs": [0], "outputs": [2],
   "operators": [{"opcode_index": 1, "inputs": [0, 1], "outputs": [2],
     "builtin_options_type": "AddOptions", "builtin_options": {}}], "name": "else"},
  {"tensors": [{"shape": [2], "buffer": 0, "name": "p"}, {"shape": [2], "buffer": 0, "name": "q"}],
   "inputs": [0], "outputs": [1],
   "operators": [{"opcode_index": 3, "inputs": [0], "outputs": [1]}], "name": "second"}],
 "description": "made by hand",
 "buffers": [{}, {"data": "AACAPwAAgD8="}, {"data": "AACAPwAAAEA="}, {"data": "AABAQAAAgEA="},
  {"data": "MS41LjAAAAAAAAAAAAAAAA=="}, {"data": "/wD+"}],
 "metadata": [{"name": "min_runtime_version", "buffer": 4}, {"name": "binary", "buffer": 5}],
 "signature_defs": [
  {"inputs": [{"name": "left", "tensor_index": 1}, {"name": "choice", "tensor_index": 4}],
   "outputs": [{"name": "odd", "tensor_index": 0}, {"name": "sum", "tensor_index": 6}],
   "signature_key": "serving", "subgraph_index": 0},
  {"inputs": [{"name": "p", "tensor_index": 0}], "outputs": [{"name": "q", "tensor_index": 1}],
   "signature_key": "second", "subgraph_index": 4}]}})";

TEST_CASE("edit: TensorFlow Lite, the flow of operators, one of which is unknown") {
  const NativeFlow flow = FlowOrFail(FromDump(kModel));
  REQUIRE(flow.operators.size() == 4);
  CHECK(flow.operators[3].type == "CUSTOM Odd");
  CHECK(flow.operators[1].inputs == std::vector<size_t>{4, 3});
  CHECK(flow.values[2].name == "w");
  CHECK(flow.values[2].is_constant);
  CHECK(!flow.values[3].is_constant);
  CHECK(flow.inputs == std::vector<size_t>{1, 4});
  for (const auto& op : flow.operators) CHECK(!op.has_effect);
}

TEST_CASE("edit: TensorFlow Lite, the identity drops what nothing uses") {
  const ReadModel read = FromDump(kModel);
  Json expected = DumpOf(read);
  expected["subgraphs"].erase(1);
  expected["buffers"].erase(1);
  Json& graphs = expected["subgraphs"];
  graphs[0]["tensors"][2]["buffer"] = 1;
  graphs[0]["operators"][1]["builtin_options"] =
      Json{{"then_subgraph_index", 1}, {"else_subgraph_index", 2}};
  graphs[2]["tensors"][1]["buffer"] = 2;
  expected["metadata"][0]["buffer"] = 3;
  expected["metadata"][1]["buffer"] = 4;
  expected["signature_defs"][1]["subgraph_index"] = 3;
  const ReadModel same = EditOrFail(read, IdentityOf(FlowOrFail(read)));
  CHECK(DumpOf(same) == expected);
}

TEST_CASE("edit: TensorFlow Lite, a piece with new ports, subgraphs and signatures") {
  const ReadModel read = FromDump(kModel);
  const NativeFlow flow = FlowOrFail(read);
  NativeEdit edit = PieceOf(flow, {"a", "c"}, {"b", "y"});
  edit.names[ValueAt(flow, "b")] = "chosen";
  edit.names[ValueAt(flow, "y")] = "z";
  const ReadModel piece = EditOrFail(read, edit);
  CHECK(PortsOf(piece) == PortNames{{"a", "c"}, {"chosen", "z"}});
  const Json dump = DumpOf(piece);
  const Json& main = dump["subgraphs"][0];
  CHECK(main["operators"].size() == 2);
  CHECK(main["tensors"].size() == 5);
  CHECK(dump["operator_codes"].size() == 3);  // without Odd
  CHECK(dump["subgraphs"].size() == 4);
  CHECK(main["operators"][0]["opcode_index"] == 1);
  CHECK(main["operators"][0]["builtin_options"]["else_subgraph_index"] == 2);
  CHECK(dump["signature_defs"][0] == Json::parse(R"({
    "inputs": [{"name": "choice", "tensor_index": 2}, {"name": "a", "tensor_index": 1}],
    "outputs": [{"name": "z", "tensor_index": 4}, {"name": "chosen", "tensor_index": 3}],
    "signature_key": "serving", "subgraph_index": 0})"));
  CHECK(dump["signature_defs"][1]["subgraph_index"] == 3);
  CHECK(BrokenRules(piece) == std::vector<std::string>());
  // The file is read like any other.
  const auto again = ReadModelBytes(Blob::CopyOf(std::span<const char>(FileOfModel(piece))), "p");
  REQUIRE(again.has_value());
  CHECK(DumpOf(*again) == dump);
  for (const double condition : {0.0, 1.0}) {
    CAPTURE(condition);
    std::map<std::string, Tensor> values;
    values["a"] = TensorOf(DType::kF32, {2}, {2, -3});
    values["c"] = TensorOf(DType::kBool, {1}, {condition});
    const auto result = RunModel(piece, values);
    REQUIRE_MESSAGE(result.has_value(), result.error().message());
    const double b = condition != 0 ? -2 : 5;
    CHECK(result->outputs.at("chosen").GetDouble(0) == b);
    CHECK(result->outputs.at("z").GetDouble(0) == b + 1);
  }
}

TEST_CASE("edit: TensorFlow Lite, a custom operator stays with its options") {
  const ReadModel read = FromDump(kModel);
  const ReadModel piece = EditOrFail(read, PieceOf(FlowOrFail(read), {"a"}, {"z"}));
  const Json dump = DumpOf(piece);
  CHECK(dump["operator_codes"] ==
        Json::parse(R"([{"deprecated_builtin_code": 32, "custom_code": "Odd",
                         "builtin_code": "CUSTOM"}, {"builtin_code": "NEG"}])"));
  CHECK(dump["subgraphs"][0]["operators"][0]["custom_options"] == "b2RkIQ==");
  CHECK(dump["subgraphs"][0]["operators"][0]["outputs"] == Json::parse("[0]"));
  CHECK(dump["subgraphs"][1]["name"] == "second");
}

TEST_CASE("edit: TensorFlow Lite, metadata") {
  const ReadModel read = FromDump(kModel);
  NativeEdit edit = IdentityOf(FlowOrFail(read));
  const auto metadata = [&](const char* name) {
    const auto summary = read.format->describer.Summarize(*EditOrFail(read, edit).model);
    REQUIRE(summary.has_value());
    if (name == std::string("description")) return summary->producer;
    for (const auto& [key, value] : summary->metadata)
      if (key == name) return value;
    return std::string("-");
  };
  CHECK(metadata("min_runtime_version") == "1.5.0");
  edit.metadata = {{"min_runtime_version", "2.14.0"},
                   {"new", "entry"},
                   {"description", "other"},
                   {"binary", ""}};
  CHECK(metadata("min_runtime_version") == "2.14.0");
  CHECK(metadata("new") == "entry");
  CHECK(metadata("description") == "other");
  CHECK(metadata("binary") == "-");
  CHECK(metadata("signature") == "serving (subgraph 0)");
  const Json dump = DumpOf(EditOrFail(read, edit));
  CHECK(dump["buffers"].size() == 5);
  CHECK(dump["buffers"][3]["data"] == "Mi4xNC4wAAAAAAAAAAAAAA==");  // still 16 bytes
  edit.metadata = {{"new", ""}, {"description", ""}};
  CHECK(metadata("new") == "-");
  CHECK(!DumpOf(EditOrFail(read, edit)).contains("description"));
  edit.metadata = {{"binary", "text"}};
  CHECK(EditError(read, edit) == "metadata \"binary\" holds 3 bytes that are not text");
  edit.metadata = {{"signature", "text"}};
  CHECK(EditError(read, edit) == "signatures cannot be set: they follow the inputs and outputs");
  // One signature stays, and no subgraph that only others run.
  edit.metadata = {{"signature", "serving"}};
  const Json chosen = DumpOf(EditOrFail(read, edit));
  CHECK(chosen["signature_defs"].size() == 1);
  CHECK(chosen["signature_defs"][0]["inputs"][0]["name"] == "left");
  CHECK(chosen["subgraphs"].size() == 3);
  edit.metadata = {{"signature", ""}};
  const Json without = DumpOf(EditOrFail(read, edit));
  CHECK(!without.contains("signature_defs"));
  CHECK(without["subgraphs"].size() == 3);
}

TEST_CASE("edit: TensorFlow Lite, strip") {
  const ReadModel read = FromDump(kModel);
  NativeEdit edit = IdentityOf(FlowOrFail(read));
  edit.strip = {.docs = true, .names = true, .metadata = true};
  const ReadModel stripped = EditOrFail(read, edit);
  const Json dump = DumpOf(stripped);
  CHECK(!dump.contains("description"));
  CHECK(dump["metadata"].empty());
  CHECK(dump["buffers"].size() == 3);
  const Json& tensors = dump["subgraphs"][0]["tensors"];
  CHECK(tensors[1]["name"] == "x");
  CHECK(!tensors[2].contains("name"));
  CHECK(!tensors[3].contains("name"));
  CHECK(!dump["subgraphs"][1]["tensors"][0].contains("name"));
  CHECK(dump["subgraphs"][3]["tensors"][0]["name"] == "p");  // of a signature
  CHECK(PortsOf(stripped) == PortsOf(read));
}

TEST_CASE("edit: TensorFlow Lite, ports keep names that depend on indices and on other ports") {
  std::string text = kModel;
  for (const char* name : {R"(, "name": "b")", R"(, "name": "x")"})
    text.erase(text.find(name), std::string(name).size());
  const ReadModel read = FromDump(text);
  const NativeFlow flow = FlowOrFail(read);
  CHECK(flow.values[5].name == "tensor_5");
  const ReadModel piece = EditOrFail(read, PieceOf(flow, {"tensor_5"}, {"y"}));
  CHECK(PortsOf(piece) == PortNames{{"tensor_5"}, {"y"}});
  const ReadModel head = EditOrFail(read, PieceOf(flow, {"tensor_1"}, {"a"}));
  CHECK(PortsOf(head) == PortNames{{"tensor_1"}, {"a"}});
}

// [x, y] = split(u); the piece begins at x, but y is still needed.
TEST_CASE("edit: TensorFlow Lite, an input that a remaining operator writes") {
  const std::string file = FileOf(Parse(R"(graph { in %u: f32[2, 3]
      %x, %y = split(%u) {axis=0, sizes=[1, 1]}  %a = neg(%x)  %z = add(%a, %y)
      out "z" = %z })"));
  const auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(file)), "m.tflite");
  REQUIRE(read.has_value());
  const NativeFlow flow = FlowOrFail(*read);
  NativeEdit edit = IdentityOf(flow);
  const size_t x = flow.operators[0].outputs[0];
  edit.inputs.push_back({x});
  const ReadModel piece = EditOrFail(*read, edit);
  CHECK(BrokenRules(piece) == std::vector<std::string>());
  std::map<std::string, Tensor> values;
  values[flow.values[x].name] = TensorOf(DType::kF32, {1, 3}, {1, 2, 3});
  values["u"] = TensorOf(DType::kF32, {2, 3}, {9, 9, 9, 10, 20, 30});
  const auto result = RunModel(piece, values);
  REQUIRE_MESSAGE(result.has_value(), result.error().message());
  CHECK(result->outputs.at("z").ToDoubles() == std::vector<double>{9, 18, 27});
}

TEST_CASE("edit: TensorFlow Lite, the type of an input is that of a run") {
  const ReadModel read = FromDump(kModel);
  const NativeFlow flow = FlowOrFail(read);
  NativeEdit edit =
      PieceOf(flow, {"b"}, {"y"}, {{"b", Type(DType::kF32, {Dim::Symbol("n"), Dim(2)})}});
  const Json b = DumpOf(EditOrFail(read, edit))["subgraphs"][0]["tensors"][1];
  CHECK(b["shape"] == Json::parse("[1, 2]"));
  CHECK(b["shape_signature"] == Json::parse("[-1, 2]"));
  CHECK(b["has_rank"] == true);
}

// ---- States
// ---------------------------------------------------------------------------------------

// CALL_ONCE(1); h = handle; r = read(h); y = r + x; h = y. Subgraph 1 initializes h.
constexpr const char* kState = R"({"nn_dump": 1, "format": "tflite", "model": {
 "version": 3,
 "operator_codes": [
  {"deprecated_builtin_code": 127, "builtin_code": "CALL_ONCE"},
  {"deprecated_builtin_code": 127, "builtin_code": "VAR_HANDLE"},
  {"deprecated_builtin_code": 127, "builtin_code": "READ_VARIABLE"}, {"builtin_code": "ADD"},
  {"deprecated_builtin_code": 127, "builtin_code": "ASSIGN_VARIABLE"}],
 "subgraphs": [
  {"tensors": [
    {"shape": [], "type": "RESOURCE", "name": "h", "has_rank": true},
    {"shape": [1], "name": "r"}, {"shape": [1], "name": "x"}, {"shape": [1], "name": "y"}],
   "inputs": [2], "outputs": [3],
   "operators": [
    {"opcode_index": 0, "inputs": [], "outputs": [], "builtin_options_type": "CallOnceOptions",
     "builtin_options": {"init_subgraph_index": 1}},
    {"opcode_index": 1, "inputs": [], "outputs": [0], "builtin_options_type": "VarHandleOptions",
     "builtin_options": {"shared_name": "h"}},
    {"opcode_index": 2, "inputs": [0], "outputs": [1],
     "builtin_options_type": "ReadVariableOptions", "builtin_options": {}},
    {"opcode_index": 3, "inputs": [1, 2], "outputs": [3],
     "builtin_options_type": "AddOptions", "builtin_options": {}},
    {"opcode_index": 4, "inputs": [0, 3], "outputs": [],
     "builtin_options_type": "AssignVariableOptions", "builtin_options": {}}]},
  {"tensors": [
    {"shape": [], "type": "RESOURCE", "name": "h", "has_rank": true},
    {"shape": [1], "buffer": 1, "name": "i"}],
   "inputs": [], "outputs": [],
   "operators": [
    {"opcode_index": 1, "inputs": [], "outputs": [0], "builtin_options_type": "VarHandleOptions",
     "builtin_options": {"shared_name": "h"}},
    {"opcode_index": 4, "inputs": [0, 1], "outputs": [],
     "builtin_options_type": "AssignVariableOptions", "builtin_options": {}}]}],
 "buffers": [{}, {"data": "AACAPw=="}]}})";

TEST_CASE("edit: TensorFlow Lite, operators with effects, and resources") {
  const ReadModel read = FromDump(kState);
  const NativeFlow flow = FlowOrFail(read);
  std::vector<bool> effects;
  for (const auto& op : flow.operators) effects.push_back(op.has_effect);
  CHECK(effects == std::vector<bool>{true, false, false, false, true});
  // Without the assignment, the variable still has its initial value.
  NativeEdit edit = IdentityOf(flow);
  edit.keeps[3] = edit.keeps[4] = false;
  edit.inputs.clear();
  edit.outputs = {{ValueAt(flow, "r")}};
  const auto result = RunModel(EditOrFail(read, edit));
  REQUIRE_MESSAGE(result.has_value(), result.error().message());
  CHECK(result->outputs.at("r").GetDouble(0) == 1);
  edit = IdentityOf(flow);
  edit.keeps[0] = edit.keeps[1] = false;
  edit.inputs.push_back({ValueAt(flow, "h")});
  CHECK(EditError(read, edit) == "\"h\" is a RESOURCE, which cannot be an input or output");
}

TEST_CASE("edit: TensorFlow Lite, a part keeps its variable from run to run") {
  // z = y + y, beyond the part.
  Json dump = Json::parse(kState);
  Json& graph = dump["model"]["subgraphs"][0];
  graph["tensors"].push_back({{"shape", {1}}, {"name", "z"}});
  Json sum = graph["operators"][3];
  sum["inputs"] = {3, 3};
  sum["outputs"] = {4};
  graph["operators"].push_back(sum);
  graph["outputs"] = {4};
  const ReadModel read = FromDump(dump.dump());
  const auto part = edit::EditModel(read, "m.tflite", {.extract = "..y"});
  REQUIRE_MESSAGE(part.has_value(), part.error().message());
  CHECK(FlowOrFail(part->model).operators.size() == 5);
  const auto verified = edit::VerifyEdit(read, *part, VerifyOptions());
  REQUIRE_MESSAGE(verified.has_value(), verified.error().message());
  CHECK(verified->passed);
  // The outputs, and the variable after a run.
  CHECK(verified->outputs.size() == 2);
}

// ---- Data
// -----------------------------------------------------------------------------------------

TEST_CASE("edit: TensorFlow Lite, large weights are views of the file") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph "wide" {
    in %x: f32[1, 8, 8, 64]
    const %w: f32[64, 3, 3, 64] = seeded(1, 0.3)
    %y = conv(%x, %w) {pads = [1, 1, 1, 1], layout = nxc, filter_layout = oxi} "c"
    %z = relu(%y)
    out "z" = %z
  })");
  const ReadModel read = ReadOrFail(dir / "m.tflite");
  const auto& file = static_cast<const tflite::Model&>(*read.model).flatbuffer.parts()[0];
  const NativeFlow flow = FlowOrFail(read);
  const ReadModel piece = EditOrFail(read, IdentityOf(flow));
  CHECK(DifferencesOf(read, piece) == std::vector<std::string>());
  const auto image = read.format->writer.Save(*piece.model, {});
  REQUIRE(image.has_value());
  uint64_t copied = 0;
  for (const Blob& part : image->parts)
    if (part.data() < file.data() || part.data() >= file.data() + file.size())
      copied += part.size();
  CHECK(copied < 2000);
  // Other readers of the edited model see the weights, too.
  const auto tensors = read.format->describer.TensorsOf(*piece.model);
  REQUIRE(tensors.has_value());
  for (const TensorEntry& t : *tensors) {
    const auto contents = t.read();
    REQUIRE(contents.has_value());
    CHECK((contents->elements() < 1000 || contents->GetDouble(1000) != 0));
  }
  // A renamed copy of it.
  const auto renamed = read.format->editor.Rename(
      *piece.model, {{"a longer name"}, PortsOf(piece).outputs}, ExportOptions{});
  REQUIRE_MESSAGE(renamed.has_value(), renamed.error().message());
  WriteText(dir / "r.tflite", Joined(*renamed));
  CHECK(DifferencesOf(read, ReadOrFail(dir / "r.tflite")).size() == 2);
}

TEST_CASE("edit: TensorFlow Lite, data behind the flatbuffer and an archive") {
  const TempDir dir;
  std::string text = kModel;
  const std::string inner = R"({"data": "AACAPwAAAEA="})";
  text.replace(text.find(inner), inner.size(),
               R"({"offset": 1, "size": 1, "$data": "AACAPwAAAEA="})");
  const std::string options = R"("custom_options": "b2RkIQ==")";
  text.replace(text.find(options), options.size(),
               R"("large_custom_options_offset": 1, "large_custom_options_size": 1,
                  "$data": "b2RkIQ==")");
  const std::string model = FileOfModel(FromDump(text));
  const std::string archive = "PK\5\6" + std::string(18, '\0');
  WriteText(dir / "m.tflite", model + archive);
  const ReadModel read = ReadOrFail(dir / "m.tflite");
  const NativeFlow flow = FlowOrFail(read);
  const ReadModel same = EditOrFail(read, IdentityOf(flow));
  Json dump_of_same = DumpOf(same);
  CHECK(dump_of_same.erase("$data") == 1);  // the archive
  CHECK(dump_of_same == DumpOf(EditOrFail(FromDump(text), IdentityOf(flow))));
  CHECK(FileOfModel(same).ends_with(archive));
  const ReadModel piece = EditOrFail(same, PieceOf(FlowOrFail(same), {"x"}, {"z"}));
  WriteText(dir / "p.tflite", FileOfModel(piece));
  const Json dump = DumpOf(ReadOrFail(dir / "p.tflite"));
  CHECK(dump["subgraphs"][0]["operators"][1]["$data"] == "b2RkIQ==");
  CHECK(dump["buffers"][1]["$data"] == "AACAPwAAAEA=");
}

TEST_CASE("edit: TensorFlow Lite, external buffers") {
  const TempDir dir;
  std::string text = kModel;
  const std::string w = R"("buffer": 2, "name": "w")", end = R"("signature_defs")";
  text.replace(text.find(w), w.size(), R"("external_buffer": 7, "name": "w")");
  text.insert(text.find(end), R"("external_buffer_groups": [{"name": "o.bin"}, {"name": "w.bin"}],
   "external_buffers": [{"id": 5, "group": 0, "length": 8}, {"id": 7, "group": 1, "length": 8}],)");
  WriteText(dir / "m.json", text);
  WriteText(dir / "w.bin", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  WriteText(dir / "o.bin", "12345678");
  const ReadModel read = ReadOrFail(dir / "m.json");
  const ReadModel piece = EditOrFail(read, PieceOf(FlowOrFail(read), {"b"}, {"y"}));
  const Json dump = DumpOf(piece);
  CHECK(dump["external_buffers"] == Json::parse(R"([{"id": 7, "group": 0, "length": 8}])"));
  CHECK(dump["external_buffer_groups"] == Json::parse(R"([{"name": "w.bin"}])"));
  const auto image = read.format->writer.Save(*piece.model, {});
  REQUIRE(image.has_value());
  CHECK(image->side_files.size() == 1);
  const auto result = RunModel(piece);
  REQUIRE_MESSAGE(result.has_value(), result.error().message());
}

TEST_CASE("edit: TensorFlow Lite, options that are not in the schema are refused by name") {
  std::string file = FileOfModel(FromDump(kModel));
  // The type of the options of the first operator.
  const auto* op = Root(file).subgraphs()->Get(0)->operators()->Get(0);
  auto* table = const_cast<flatbuffers::Table*>(reinterpret_cast<const flatbuffers::Table*>(op));
  REQUIRE(table->SetField<uint8_t>(tflite::fb::Operator::VT_BUILTIN_OPTIONS_TYPE, 250, 0));
  const auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(file)), "m.tflite");
  REQUIRE(read.has_value());
  const NativeFlow flow = FlowOrFail(*read);
  CHECK(EditError(*read, IdentityOf(flow)) ==
        "builtin_options of Operator has type 250, which is not in this program's schema");
  CHECK(read->format->editor.Apply(*read->model, PieceOf(flow, {"b"}, {"y"})).has_value());
}

}  // namespace
}  // namespace nn::test::tflite_edit_test

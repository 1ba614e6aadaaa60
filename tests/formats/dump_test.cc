#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <filesystem>

#include "base/json/base64.h"
#include "base/json/json.h"
#include "formats/format.h"
#include "formats/nnapi/file/native.h"
#include "formats/tflite/file/native.h"
#include "ir/text/text.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/wire.h"

// Models written as JSON and read back: the contents of a file are preserved bit for bit.
namespace nn::test::dump_test {
namespace {

namespace fs = std::filesystem;
namespace fb = tflite::fb;

std::string SavedFile(const ReadModel& read, const std::string& path) {
  const auto image = read.format->writer.Save(*read.model, ExportOptions{path});
  if (!image) return "refused: " + image.error().message();
  std::string out;
  for (const Blob& b : image->parts) out.append(reinterpret_cast<const char*>(b.data()), b.size());
  return out;
}

struct Copies {
  std::string dump;      // of the model
  std::string again;     // of the model restored from it
  std::string saved;     // the model's file as the writer writes it
  std::string restored;  // the same of the restored model
};

Copies CopiesOf(const std::string& path) {
  const TempDir dir;
  const ReadModel read = ReadOrFail(path);
  REQUIRE_FALSE(read.from_dump);
  REQUIRE(WriteDump(read, dir / "m.json").has_value());
  const ReadModel again = ReadOrFail(dir / "m.json");
  CHECK(again.from_dump);
  CHECK(again.format == read.format);
  REQUIRE(WriteDump(again, dir / "again.json").has_value());
  return {ReadText(dir / "m.json"), ReadText(dir / "again.json"), SavedFile(read, path),
          SavedFile(again, path)};
}

// Checks a round trip, and returns the copies for further checks.
Copies CheckRoundTrip(const std::string& path) {
  CAPTURE(path);
  Copies c = CopiesOf(path);
  CHECK(c.dump == c.again);
  // Restoring changes the layout of a flatbuffer.
  if (!path.ends_with(".tflite")) CHECK(c.saved == c.restored);
  return c;
}

std::string FloatBytes(float v) {
  return {reinterpret_cast<const char*>(&v), sizeof(v)};
}

// ---- Files --------------------------------------------------------------------------------------

TEST_CASE("dumps: files of the golden set") {
  const Json schema = Json::parse(ReadText(SourcePath("schemas/dump.schema.json")));
  for (const std::string name :
       {"cnn.onnx", "superres.mlmodel", "squeeze.nnapi", "mobile_quant.tflite"}) {
    const std::string path = SourcePath("golden/") + name;
    const Copies c = CheckRoundTrip(path);
    if (name != "mobile_quant.tflite") CHECK(c.restored == ReadText(path));
    for (const std::string& error : SchemaErrors(schema, Json::parse(c.dump))) FAIL_CHECK(error);
  }
}

TEST_CASE("dumps: every model of the validators' cases that can be read") {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(SourcePath("tests/cases"))) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || FormatOfPath(path) == nullptr || !ReadModelFile(path)) continue;
    CheckRoundTrip(path);
    ++count;
  }
  CHECK(count > 50);
}

TEST_CASE("dumps: a dump is accepted in place of the model") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f32[2, 3]
    %y = relu(%x)
    out "y" = %y
  })");
  REQUIRE(WriteDump(ReadOrFail(dir / "m.onnx"), dir / "m.json").has_value());
  const auto from_dump = ReadGraph(dir / "m.json");
  const auto from_file = ReadGraph(dir / "m.onnx");
  REQUIRE(from_dump.has_value());
  CHECK(PrintGraph(*from_dump) == PrintGraph(*from_file));
  // The contents determine the form, not the name.
  WriteText(dir / "copy.tflite", "  \n" + ReadText(dir / "m.json"));
  CHECK(ReadOrFail(dir / "copy.tflite").format->name == "onnx");
  CHECK(IsDumpPath("m.json"));
  CHECK_FALSE(IsDumpPath("m.nnapi.json"));
}

// ---- Protocol buffers ---------------------------------------------------------------------------

// ModelProto.graph with one node of type "N" whose attributes are given.
std::string ModelWith(const std::string& attributes) {
  return Int(1, 8) + Bytes(7, Bytes(1, Bytes(4, "N") + attributes));
}

TEST_CASE("dumps: values of protobuf fields") {
  const std::string nan_floats =
      Varint(7 << 3 | 5) + FloatBytes(std::bit_cast<float>(0x7fc00001u)) + Varint(7 << 3 | 5) +
      FloatBytes(std::bit_cast<float>(0x7f800001u)) + Varint(7 << 3 | 5) + FloatBytes(-0.0f);
  const std::string model = ModelWith(
      Bytes(5, Bytes(1, "floats") + nan_floats + Int(20, 6)) +
      Bytes(5, Bytes(1, "zero") + Int(3, 0) + Int(20, 2)) +      // an explicit zero
      Bytes(5, Bytes(1, "empty") + Bytes(4, "") + Int(20, 3)) +  // an explicit empty string
      Bytes(5, Bytes(1, "ints") + Int(8, (1ull << 53) + 1) + Int(8, ~uint64_t{0}) + Int(20, 7)) +
      Bytes(5, Bytes(1, "\xff\xfe") + Bytes(4, std::string("a\0\x80", 3)) + Int(20, 3)) +
      Bytes(5, Bytes(1, "text") + Bytes(4, "SAME_UPPER \xc3\xa9\n") + Int(20, 3)));
  const TempDir dir;
  WriteText(dir / "m.onnx", model);
  const Copies c = CheckRoundTrip(dir / "m.onnx");
  CHECK(c.restored == model);
  const Json attributes = Json::parse(c.dump)["model"]["graph"]["node"][0]["attribute"];
  CHECK(attributes[0] ==
        Json::parse(R"({"name": "floats", "floats": ["0x7fc00001", "0x7f800001", -0.0],
                                         "type": "FLOATS"})"));
  CHECK(attributes[1] == Json::parse(R"({"name": "zero", "i": 0, "type": "INT"})"));
  CHECK(attributes[2] == Json::parse(R"({"name": "empty", "s": "", "type": "STRING"})"));
  CHECK(attributes[3] ==
        Json::parse(R"({"name": "ints", "ints": ["9007199254740993", -1], "type": "INTS"})"));
  CHECK(attributes[4] == Json::parse(R"({"name": {"base64": "//4="}, "s": {"base64": "YQCA"},
                                         "type": "STRING"})"));
  CHECK(attributes[5]["s"] == "SAME_UPPER \xc3\xa9\n");
}

TEST_CASE("dumps: protobuf fields that the schema does not have") {
  const std::string unknown = Int(777, ~uint64_t{0}) + Varint(778 << 3 | 5) + "abcd" +
                              Varint(779 << 3 | 1) + "abcdefgh" +
                              Bytes(780, std::string(5000, 'x'));
  const TempDir dir;
  WriteText(dir / "m.onnx", ModelWith(Bytes(5, Bytes(1, "a") + Int(20, 4711))) + unknown);
  Copies c = CheckRoundTrip(dir / "m.onnx");
  CHECK(c.restored == ReadText(dir / "m.onnx"));
  const Json json = Json::parse(c.dump)["model"];
  CHECK(json["$unknown"][0] == Json::parse(R"({"field": 777, "varint": "18446744073709551615"})"));
  // In this version of the schema language, an unnamed enumerator is valid.
  CHECK(json["graph"]["node"][0]["attribute"][0]["$unknown"][0] ==
        Json::parse(R"({"field": 20, "varint": 4711})"));
  // A kind of Core ML model that is newer than the schema.
  WriteText(dir / "m.mlmodel", Int(1, 1) + Bytes(2, "") + Bytes(310, Bytes(1, "weights")));
  c = CheckRoundTrip(dir / "m.mlmodel");
  CHECK(c.restored == ReadText(dir / "m.mlmodel"));
  // A number in place of a message that contains a number.
  WriteText(dir / "m.mlmodel", Int(1, 1) + Bytes(2, Bytes(1, Bytes(3, Int(1, 1)))));
  c = CheckRoundTrip(dir / "m.mlmodel");
  CHECK(c.restored == ReadText(dir / "m.mlmodel"));
}

TEST_CASE("dumps: weights keep their position, whatever their size") {
  const TempDir dir;
  for (const size_t count : {1, 255, 256, 10000}) {
    CAPTURE(count);
    std::string floats, ints;
    for (size_t i = 0; i < count; ++i) {
      floats += FloatBytes(static_cast<float>(i) * 0.1f);
      ints += Varint(i * i);
    }
    // TensorProto: float_data before the name, raw_data after it, int64_data in between.
    const std::string tensor = Int(2, 1) + Bytes(4, floats) + Bytes(7, ints) + Bytes(8, "w") +
                               Bytes(9, floats) + Bytes(12, "doc");
    const std::string model = Int(1, 8) + Bytes(7, Bytes(5, tensor) + Bytes(10, "doc"));
    WriteText(dir / "m.onnx", model);
    const Copies c = CheckRoundTrip(dir / "m.onnx");
    CHECK(c.restored == model);
    const Json json = Json::parse(c.dump)["model"]["graph"]["initializer"][0];
    CHECK(json["float_data"].is_array() == (count < 256));
    CHECK(json["int64_data"].is_array() == (count < 128));
    CHECK(json["raw_data"] == Base64(std::as_bytes(std::span(floats))));
  }
}

TEST_CASE("dumps: external tensors stay references") {
  const TempDir dir;
  const std::string location = Bytes(1, "location") + Bytes(2, "weights.bin");
  const std::string tensor = Int(2, 1) + Bytes(8, "w") + Bytes(13, location) + Int(14, 1);
  WriteText(dir / "m.onnx", Int(1, 8) + Bytes(7, Bytes(5, tensor)));
  WriteText(dir / "weights.bin", "0123");
  const Copies c = CheckRoundTrip(dir / "m.onnx");
  CHECK(Json::parse(c.dump)["model"]["graph"]["initializer"][0]["external_data"][0]["value"] ==
        "weights.bin");
  CHECK(c.restored == ReadText(dir / "m.onnx"));
}

TEST_CASE("dumps: maps of Core ML models") {
  const TempDir dir;
  const std::string entry = Bytes(100, Bytes(1, "key") + Bytes(2, "value"));
  const std::string other = Bytes(100, Bytes(1, "a") + Bytes(2, ""));
  WriteText(dir / "m.mlmodel", Int(1, 1) + Bytes(2, Bytes(100, other + entry)));
  const Copies c = CheckRoundTrip(dir / "m.mlmodel");
  CHECK(Json::parse(c.dump)["model"]["description"]["metadata"]["userDefined"] ==
        Json::parse(R"([{"key": "a", "value": ""}, {"key": "key", "value": "value"}])"));
}

// ---- Flatbuffers --------------------------------------------------------------------------------

std::string FileOf(flatbuffers::FlatBufferBuilder& b, flatbuffers::Offset<fb::Model> model) {
  b.Finish(model, fb::ModelIdentifier());
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

const flatbuffers::Table& Table(const void* table) {
  return *static_cast<const flatbuffers::Table*>(table);
}

TEST_CASE("dumps: TensorFlow Lite, present and absent fields") {
  flatbuffers::FlatBufferBuilder b;
  const auto empty_shape = b.CreateVector(std::vector<int32_t>());
  const auto scales = b.CreateVector(std::vector<float>{std::bit_cast<float>(0xffc00123u), -0.0f,
                                                        std::numeric_limits<float>::denorm_min()});
  const auto zeros = b.CreateVector(std::vector<int64_t>{std::numeric_limits<int64_t>::min(), 5});
  const auto quantization = fb::CreateQuantizationParameters(b, 0, 0, scales, zeros);
  const auto name = b.CreateString("\xff\x01name");
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  for (const bool forced : {false, true}) {
    b.ForceDefaults(forced);
    fb::TensorBuilder t(b);
    if (forced) t.add_shape(empty_shape);
    t.add_type(fb::TensorType::FLOAT32);  // the default
    t.add_buffer(0);
    if (forced) t.add_name(name);
    if (forced) t.add_quantization(quantization);
    tensors.push_back(t.Finish());
  }
  b.ForceDefaults(false);
  tensors.push_back(fb::CreateTensor(b, 0, static_cast<fb::TensorType>(99)));
  const auto options = fb::CreateConv2DOptions(b, fb::Padding::VALID, 3);
  const auto flags = b.CreateVector(std::vector<uint8_t>{0, 1, 2});
  fb::OperatorBuilder op(b);
  op.add_builtin_options_type(fb::BuiltinOptions::Conv2DOptions);
  op.add_builtin_options(options.Union());
  op.add_mutating_variable_inputs(flags);
  std::vector<flatbuffers::Offset<fb::Operator>> operators = {op.Finish()};
  const auto graph =
      fb::CreateSubGraph(b, b.CreateVector(tensors), 0, b.CreateVector(std::vector<int32_t>()),
                         b.CreateVector(operators));
  const auto code = fb::CreateOperatorCode(b, 3, 0, 1, static_cast<fb::BuiltinOperator>(9999));
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {
      fb::CreateBuffer(b), fb::CreateBuffer(b, b.CreateVector(std::vector<uint8_t>())),
      fb::CreateBuffer(b, b.CreateVector(std::vector<uint8_t>{1, 2, 255}))};
  const TempDir dir;
  WriteText(dir / "m.tflite",
            FileOf(b, fb::CreateModel(b, 3, b.CreateVector(&code, 1), b.CreateVector(&graph, 1), 0,
                                      b.CreateVector(buffers))));

  const Copies c = CheckRoundTrip(dir / "m.tflite");
  const fb::Model& m = *fb::GetModel(c.restored.data());
  CHECK_FALSE(Table(&m).CheckField(fb::Model::VT_DESCRIPTION));
  CHECK(m.operator_codes()->Get(0)->builtin_code() == static_cast<fb::BuiltinOperator>(9999));
  const fb::SubGraph& g = *m.subgraphs()->Get(0);
  CHECK(g.inputs() == nullptr);
  CHECK(g.outputs()->size() == 0);
  for (const bool forced : {false, true}) {
    const fb::Tensor& t = *g.tensors()->Get(forced);
    CHECK(Table(&t).CheckField(fb::Tensor::VT_TYPE) == forced);
    CHECK(Table(&t).CheckField(fb::Tensor::VT_BUFFER) == forced);
    CHECK((t.shape() != nullptr) == forced);
  }
  const fb::Tensor& t = *g.tensors()->Get(1);
  CHECK(t.name()->str() == "\xff\x01name");
  CHECK(std::bit_cast<uint32_t>(t.quantization()->scale()->Get(0)) == 0xffc00123u);
  CHECK(std::bit_cast<uint32_t>(t.quantization()->scale()->Get(1)) == 0x80000000u);
  CHECK(t.quantization()->scale()->Get(2) == std::numeric_limits<float>::denorm_min());
  CHECK(t.quantization()->zero_point()->Get(0) == std::numeric_limits<int64_t>::min());
  CHECK(g.tensors()->Get(2)->type() == static_cast<fb::TensorType>(99));
  CHECK(g.operators()->Get(0)->builtin_options_as_Conv2DOptions()->stride_w() == 3);
  CHECK(g.operators()->Get(0)->mutating_variable_inputs()->Data()[2] == 2);
  CHECK(m.buffers()->Get(0)->data() == nullptr);
  CHECK(m.buffers()->Get(1)->data()->size() == 0);
  CHECK(m.buffers()->Get(2)->data()->Get(2) == 255);
  CHECK(reinterpret_cast<uintptr_t>(m.buffers()->Get(2)->data()->Data()) % 16 ==
        reinterpret_cast<uintptr_t>(c.restored.data()) % 16);
}

TEST_CASE("dumps: TensorFlow Lite, data behind the flatbuffer") {
  flatbuffers::FlatBufferBuilder b;
  constexpr uint64_t kAt = 4096;
  const std::string data(3000, 'w');
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {
      fb::CreateBuffer(b), fb::CreateBuffer(b, 0, kAt, data.size()),
      fb::CreateBuffer(b, 0, kAt + 8, 100), fb::CreateBuffer(b, 0, kAt, uint64_t{1} << 40)};
  std::string file = FileOf(b, fb::CreateModel(b, 3, 0, 0, 0, b.CreateVector(buffers)));
  file.resize(kAt);
  const TempDir dir;
  WriteText(dir / "m.tflite", file + data);
  const std::string restored = CopiesOf(dir / "m.tflite").restored;
  const auto* out = fb::GetModel(restored.data())->buffers();
  CHECK(restored.substr(out->Get(1)->offset(), out->Get(1)->size()) == data);
  CHECK(restored.substr(out->Get(2)->offset(), out->Get(2)->size()) == std::string(100, 'w'));
  CHECK(out->Get(3)->size() == uint64_t{1} << 40);
}

TEST_CASE("dumps: TensorFlow Lite, contents outside the schema are refused by name") {
  const TempDir dir;
  const auto refusal = [&](const std::string& file) {
    WriteText(dir / "m.tflite", file);
    const auto status = WriteDump(ReadOrFail(dir / "m.tflite"), dir / "m.json");
    CHECK_FALSE(Exists(dir / "m.json"));
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code() == ErrorCode::kUnsupported);
    return status.error().message();
  };
  {
    flatbuffers::FlatBufferBuilder b;
    const auto start = b.StartTable();
    b.AddElement<uint32_t>(fb::Model::VT_VERSION, 3, 0);
    b.AddElement<uint32_t>(flatbuffers::FieldIndexToOffset(50), 1, 0);
    const std::string message = refusal(FileOf(b, b.EndTable(start)));
    CHECK_MESSAGE(message.find("Model has a field 50") != std::string::npos, message);
  }
  {
    flatbuffers::FlatBufferBuilder b;
    const auto options = fb::CreateConv2DOptions(b);
    fb::OperatorBuilder op(b);
    op.add_builtin_options_type(static_cast<fb::BuiltinOptions>(250));
    op.add_builtin_options(options.Union());
    const auto made = op.Finish();
    const auto graph = fb::CreateSubGraph(b, 0, 0, 0, b.CreateVector(&made, 1));
    const std::string message =
        refusal(FileOf(b, fb::CreateModel(b, 3, 0, b.CreateVector(&graph, 1))));
    CHECK_MESSAGE(message.find("builtin_options of Operator has type 250") != std::string::npos,
                  message);
  }
}

TEST_CASE("dumps: NNAPI") {
  nnapi::Model m;
  nnapi::Operand o;
  o.type = nnapi::OperandType::kTensorQuant8Asymm;
  o.scale = std::bit_cast<float>(0x7fc00002u);
  o.dimensions = {2, 0};
  o.lifetime = nnapi::LifeTime::kConstantReference;
  o.location = {1, 2, 3};
  o.name = "\xff";
  m.operands.push_back(o);
  o.type = static_cast<nnapi::OperandType>(77);
  o.location = {};
  m.operands.push_back(o);
  m.operations.push_back({nnapi::OperationType::kSoftmax, {0}, {1}});
  m.operand_values = Blob::CopyOf(std::vector<uint8_t>{1, 2, 3});
  m.pools = {{}, {Blob::CopyOf(std::vector<uint8_t>(5000, 9)), {}}};
  m.version = 1;
  const auto parts = nnapi::WriteFlatbuffer(m);
  REQUIRE(parts.has_value());
  const Blob file = nnapi::Memory(*parts).Joined();
  const TempDir dir;
  WriteText(dir / "m.nnapi", {reinterpret_cast<const char*>(file.data()), file.size()});
  const Copies c = CheckRoundTrip(dir / "m.nnapi");
  CHECK(c.restored == ReadText(dir / "m.nnapi"));
  const Json json = Json::parse(c.dump)["model"];
  CHECK(json["operands"][0]["type"] == "TENSOR_QUANT8_ASYMM");
  CHECK(json["operands"][1]["type"] == 77);
  CHECK(json["operands"][0]["location"] ==
        Json::parse(R"({"poolIndex": 1, "offset": 2, "length": 3})"));
  CHECK(json["operations"][0]["type"] == "SOFTMAX");
}

// ---- Bad dumps ----------------------------------------------------------------------------------

TEST_CASE("dumps: errors have a location") {
  struct Row {
    std::string text;
    ErrorCode code;
    std::string message;
  };
  const auto model = [](std::string_view format, std::string_view text) {
    return fmt::format(R"({{"nn_dump": 1, "format": "{}", "model": {}}})", format, text);
  };
  const std::string deep = [] {
    std::string text = "{}";
    for (int i = 0; i < 90; ++i)
      text = fmt::format(R"({{"node": [{{"attribute": [{{"g": {}}}]}}]}})", text);
    return R"({"graph": )" + text + "}";
  }();
  const TempDir dir;
  for (const Row& r : {
           Row{R"({"nn_dump": 2, "format": "onnx", "model": {}})", ErrorCode::kUnsupported,
               "/nn_dump: dump version 2 is unsupported; this program supports version 1"},
           Row{R"({"nn_dump": 1, "model": {}})", ErrorCode::kParse,
               "the member \"format\" is missing; expected one of onnx, tflite, coreml, nnapi"},
           Row{R"({"nn_dump": 1, "format": "pytorch", "model": {}})", ErrorCode::kParse,
               "/format: unknown format \"pytorch\""},
           Row{R"({"nn_dump": 1, "format": "onnx"})", ErrorCode::kParse, "\"model\" is missing"},
           Row{R"({"nn_dump": 1, "format": "onnx", "model": {}, "more": 1})", ErrorCode::kParse,
               "/more: unknown member"},
           Row{R"({"nn_dump": 1, "format": "onnx", "model": {"graph": {"node")", ErrorCode::kParse,
               "not JSON"},
           Row{model("onnx", R"({"ir_version": 8, "ir_version": 9})"), ErrorCode::kParse,
               "duplicate object member \"ir_version\""},
           Row{model("onnx", R"([])"), ErrorCode::kParse, "/model: expected an object"},
           Row{model("onnx", R"({"graph": {"node": [{}, {"op_typ": "Relu"}]}})"), ErrorCode::kParse,
               "/model/graph/node/1/op_typ: NodeProto has no field \"op_typ\"; it has input, "},
           Row{model("onnx", R"({"graph": {"node": {}}})"), ErrorCode::kParse,
               "/model/graph/node: expected an array, not an object"},
           Row{model("onnx", R"({"ir_version": "eight"})"), ErrorCode::kParse,
               "/model/ir_version: expected an integer, not the string \"eight\""},
           Row{model("onnx", R"({"ir_version": 8.5})"), ErrorCode::kParse,
               "/model/ir_version: expected an integer, not 8.5"},
           Row{model("onnx", R"({"ir_version": null})"), ErrorCode::kParse, "not null"},
           Row{model("onnx", R"({"graph": {"initializer": [{"raw_data": "QQ="}]}})"),
               ErrorCode::kParse, "/model/graph/initializer/0/raw_data: invalid Base64"},
           Row{model("onnx", R"({"graph": {"initializer": [{"float_data": {"base64": "QQ=="}}]}})"),
               ErrorCode::kParse, "1 bytes is not a multiple of the element size, 4 bytes"},
           Row{model("onnx", R"({"graph": {"initializer": [{"float_data": [1e39]}]}})"),
               ErrorCode::kParse, "/float_data/0: 1e+39 is out of range"},
           Row{model("onnx", R"({"graph": {"initializer": [{"int32_data": [2147483648]}]}})"),
               ErrorCode::kParse, "/int32_data/0: 2147483648 does not fit in 32 bits"},
           Row{model("onnx", R"({"graph": {"node": [{"attribute": [{"type": "FLOTE"}]}]}})"),
               ErrorCode::kParse, "/type: AttributeType has no enumerator \"FLOTE\""},
           Row{model("onnx", R"({"$unknown": [{"field": 0, "varint": 1}]})"), ErrorCode::kParse,
               "/model/$unknown/0/field: 0 is not a field number"},
           Row{model("onnx", R"({"$unknown": [{"field": 700, "text": 1}]})"), ErrorCode::kParse,
               "/model/$unknown/0/text: unknown wire type"},
           Row{model("onnx", deep), ErrorCode::kLimit, "nested"},
           Row{model("coreml", R"({"neuralNetwork": {}, "pipeline": {}})"), ErrorCode::kParse,
               "is also set; only one field of a oneof can be set"},
           Row{model("coreml", R"({"description": {"input": [{"name": {"base64": "/w=="}}]}})"),
               ErrorCode::kParse, "/model/description/input/0/name: the string of"},
           Row{model("tflite", R"({"subgraphs": [{"tensor": []}]})"), ErrorCode::kParse,
               "/model/subgraphs/0/tensor: SubGraph has no field \"tensor\"; it has "},
           Row{model("tflite", R"({"operator_codes": [{"builtin_code": "CONV"}]})"),
               ErrorCode::kParse, "BuiltinOperator has no enumerator \"CONV\""},
           Row{model("tflite",
                     R"({"subgraphs": [{"operators": [{"builtin_options": {"stride_w": 1}}]}]})"),
               ErrorCode::kParse, "\"builtin_options_type\", the type of the union, is missing"},
           Row{model("tflite", R"({"buffers": [{"data": "====", "size": 1}]})"), ErrorCode::kParse,
               "/model/buffers/0/data: invalid Base64"},
           Row{model("tflite", R"({"buffers": [{"$data": "AAAA"}]})"), ErrorCode::kParse,
               "a Buffer with \"$data\" must have fields for offset and size"},
           Row{model("tflite", R"({"version": -1})"), ErrorCode::kParse,
               "/model/version: expected a non-negative integer, not -1"},
           Row{model("nnapi", R"({"operands": [{"location": {"pool": 1}}]})"), ErrorCode::kParse,
               "/model/operands/0/location/pool: DataLocation has no field \"pool\""},
       }) {
    CAPTURE(r.text.substr(0, 200));
    WriteText(dir / "m.json", r.text);
    const auto read = ReadModelFile(dir / "m.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code() == r.code);
    CHECK_MESSAGE(read.error().message().find(r.message) != std::string::npos,
                  read.error().message());
    CHECK(read.error().message().starts_with(dir / "m.json: "));
  }
  WriteText(dir / "other.json", "{\"a\": 1}");
  const auto other = ReadModelFile(dir / "other.json");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().message().find("\"nn_dump\"") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::dump_test

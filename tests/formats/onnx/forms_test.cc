#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/file/file.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/wire.h"

// The text forms of ONNX models, and tensors in files beside them.
namespace nn::test::onnx_forms_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kText = R"(# a comment
ir_version: 8
opset_import { version: 13 }
graph {
  name: "g"
  node { input: "x" input: "w" output: "y" op_type: "Add" }
  node {
    input: "y" output: "z" op_type: "Foo" domain: "my.domain"
    attribute { name: "f" type: FLOAT f: nan }
    attribute { name: "s" type: STRING s: "\377\000\"" }
  }
  initializer { name: "w" data_type: 1 dims: 2 float_data: 1.5 float_data: -0 }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "z" type { tensor_type { elem_type: 1 } } }
}
)";

Result<ReadModel> ReadText(std::string_view name, std::string_view text) {
  const TempDir dir;
  WriteText(dir / name, text);
  return ReadModelFile(dir / name);
}

std::string Saved(const ReadModel& read, const ExportOptions& options) {
  const auto image = read.format->writer.Save(*read.model, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  REQUIRE(image->side_files.empty());
  std::string out;
  for (const Blob& b : image->parts) out.append(reinterpret_cast<const char*>(b.data()), b.size());
  return out;
}

ReadModel ReadOrFail(std::string_view name, std::string_view text) {
  auto read = ReadText(name, text);
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  REQUIRE(read->format->name == "onnx");
  return *std::move(read);
}

TEST_CASE("ONNX text: both forms hold what the binary form does") {
  const std::string binary = Saved(ReadOrFail("m.textproto", kText), {"m.onnx"});
  CHECK(binary.starts_with("\x08\x08"));
  for (const char* name : {"m.textproto", "m.txtpb", "m.pbtxt", "m.prototxt", "m.onnxjson"}) {
    CAPTURE(name);
    const std::string text = Saved(ReadOrFail("m.onnx", binary), {name});
    CHECK(text.find("\"g\"") != std::string::npos);
    CHECK(Saved(ReadOrFail(name, text), {"m.onnx"}) == binary);
    // The contents determine the form, not the name.
    CHECK(Saved(ReadOrFail("model", text), {"m.onnx"}) == binary);
    CHECK(Saved(ReadOrFail("m.json", text), {"m.onnx"}) == binary);
  }
}

TEST_CASE("ONNX text: numbers of all sizes keep their bits") {
  std::string numbers;
  for (const char* v : {"0", "-0", "1", "-1", "0.5", "-0.5", "1e-05", "-1e-05", "1e-09", "1e-10",
                        "1.5e-05", "-2.5e-07", "1e+20", "3.4028235e+38", "1e-45", "-0.001"})
    numbers.append(" floats: ").append(v);
  const std::string model =
      "ir_version: 8 graph { name: \"-0\" node { op_type: \"-05\" attribute { "
      "name: \"e-05\" type: FLOATS" +
      numbers +
      " } } initializer { name: \"d\" "
      "data_type: 11 double_data: -0 double_data: 1e-05 double_data: 1e-300 } }";
  const std::string binary = Saved(ReadOrFail("m.textproto", model), {"m.onnx"});
  for (const char* name : {"m.textproto", "m.onnxjson"}) {
    CAPTURE(name);
    const std::string text = Saved(ReadOrFail("m.onnx", binary), {name});
    CHECK(Saved(ReadOrFail(name, text), {"m.onnx"}) == binary);
  }
}

TEST_CASE("ONNX text: names of fields as other tools write them in JSON") {
  const ReadModel read = ReadOrFail(
      "m.json", R"({"irVersion": "8", "opsetImport": [{"version": 13}], "graph": {"name": "g"}})");
  CHECK(read.format->describer.Summarize(*read.model)->version == "IR version 8, opset 13");
}

TEST_CASE("formats are recognized by their contents if there is no extension") {
  for (const auto& [file, format] : {std::pair{"cnn.onnx", "onnx"},
                                     {"superres.mlmodel", "coreml"},
                                     {"squeeze.nnapi", "nnapi"},
                                     {"mobile_quant.tflite", "tflite"}}) {
    const std::string path = SourcePath("golden/") + file;
    CAPTURE(path);
    const auto read = ReadText("model", test::ReadText(path));
    REQUIRE(read.has_value());
    CHECK(read->format->name == format);
  }
  // Both begin with a small number and a field 2: a producer's name, and a description.
  const std::string onnx = Int(1, 8) + Bytes(2, "pytorch") + Bytes(7, Bytes(2, "g"));
  const std::string coreml = Int(1, 4) + Bytes(2, Bytes(1, Bytes(1, "input")));
  CHECK(ReadOrFail("model", onnx).format->name == "onnx");
  CHECK(ReadText("model", coreml)->format->name == "coreml");
}

TEST_CASE("ONNX text: errors have a location") {
  struct Row {
    const char* name;
    std::string text;
    const char* message;
  };
  const std::string nested = [] {
    std::string s = "ir_version: 8 graph { node { attribute ";
    for (int i = 0; i < 200; ++i) s += "{ g { node { attribute ";
    return s;
  }();
  for (const Row& r : {
           Row{"m.textproto", "ir_version: 8\n  grph { }", "line 2, column 8"},
           Row{"m.textproto", "ir_version: \"a\"", "line 1, column 13"},
           Row{"m.textproto", "ir_version: 8 graph { name: \"x\"", "line 1"},
           Row{"m.textproto", nested, "deep"},
           Row{"m.onnxjson", "{\"ir_version\": 8, \"graph\": 3}", "graph"},
           Row{"m.onnxjson", "{\"ir_version\": 8", "end of string"},
       }) {
    CAPTURE(r.text.substr(0, 60));
    const auto read = ReadText(r.name, r.text);
    REQUIRE_FALSE(read.has_value());
    CHECK_MESSAGE(read.error().message().find(r.message) != std::string::npos,
                  read.error().message());
    CHECK(read.error().code() == ErrorCode::kParse);
  }
}

TEST_CASE("ONNX text: a field that the schema does not have is refused by name") {
  const std::string binary = Saved(ReadOrFail("m.textproto", kText), {"m.onnx"});
  const ReadModel read = ReadOrFail("m.onnx", binary + Bytes(500, "abc"));
  CHECK(Saved(read, {"m.onnx"}).size() > binary.size());
  const auto text = read.format->writer.Save(*read.model, {"m.textproto"});
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().code() == ErrorCode::kUnsupported);
  CHECK(text.error().message().find("field 500") != std::string::npos);
}

TEST_CASE("ONNX text: contents that a form cannot represent are refused by name") {
  const std::string bad_text = Int(1, 8) + Bytes(4, "a\xFF");
  const std::string nan("\x01\x00\xC0\x7F", 4);
  const std::string bad_float = Int(1, 8) + Bytes(7, Bytes(5, Int(2, 1) + Bytes(4, nan)));
  struct Row {
    std::string binary;
    const char* path;
    const char* message;  // "": can be held
  };
  for (const Row& r : {
           Row{bad_text, "m.onnxjson", "ModelProto.domain has text that is not UTF-8"},
           Row{bad_text, "m.textproto", ""},
           Row{bad_float, "m.onnxjson", "float_data has a NaN"},
           Row{bad_float, "m.textproto", "float_data has a NaN"},
       }) {
    CAPTURE(std::string(r.path));
    const ReadModel read = ReadOrFail("m.onnx", r.binary);
    const auto image = read.format->writer.Save(*read.model, {r.path});
    REQUIRE(image.has_value() == (*r.message == '\0'));
    if (image) {
      CHECK(Saved(ReadOrFail(r.path, Saved(read, {r.path})), {"m.onnx"}) == r.binary);
    } else {
      CHECK(image.error().code() == ErrorCode::kUnsupported);
      CHECK_MESSAGE(image.error().message().find(r.message) != std::string::npos,
                    image.error().message());
    }
  }
}

// ---- External data ------------------------------------------------------------------------------

constexpr std::string_view kTensors = R"(
ir_version: 8
opset_import { version: 13 }
graph {
  name: "g"
  node { input: "a" output: "y" op_type: "If"
    attribute { name: "then_branch" type: GRAPH g {
      name: "t" initializer { name: "inner" data_type: 7 dims: 2 int64_data: 5 int64_data: 6 } } } }
  initializer { name: "a" data_type: 3 dims: 3 int32_data: 1 int32_data: 2 int32_data: -3 }
  initializer { name: "s" data_type: 8 dims: 1 string_data: "text" }
  initializer { name: "b" data_type: 10 dims: 2 int32_data: 15360 int32_data: 1 }
  initializer { name: "empty" data_type: 1 dims: 0 }
  initializer { name: "bad" data_type: 1 dims: 7 float_data: 1 }
}
)";

TEST_CASE("ONNX external data: every initializer moves out, and in again") {
  const ReadModel read = ReadOrFail("m.textproto", kTensors);
  ExportOptions options{"m.onnx"};
  options.external_data.file = "w.bin";
  options.external_data.threshold = 0;
  const auto image = read.format->writer.Save(*read.model, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  REQUIRE(image->side_files.size() == 1);
  const TempDir dir;
  REQUIRE(WriteFile(dir / "m.onnx", image->parts).has_value());
  REQUIRE(WriteFile(dir / "w.bin", image->side_files[0].parts).has_value());
  // The graph's own, then that of the subgraph, at multiples of 64.
  const std::string bytes = test::ReadText(dir / "w.bin");
  CHECK(bytes.substr(0, 3) == "\x01\x02\xFD");
  CHECK(bytes.substr(64, 4) == std::string("\x00\x3C\x01\x00", 4));
  CHECK(bytes.substr(128) == std::string("\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0", 16));

  const auto outside = ReadModelFile(dir / "m.onnx");
  REQUIRE(outside.has_value());
  ExportOptions embed{"m.textproto"};
  embed.external_data.embed = true;
  const std::string text = Saved(*outside, embed);
  for (const char* piece :
       {R"(raw_data: "\001\002\375")", R"(raw_data: "\000<\001\000")", R"(string_data: "text")",
        "float_data: 1\n",
        R"(raw_data: "\005\000\000\000\000\000\000\000\006\000\000\000\000\000\000\000")"})
    CHECK_MESSAGE(text.find(piece) != std::string::npos, piece);
  CHECK(text.find("external") == std::string::npos);
  CHECK(text.find("EXTERNAL") == std::string::npos);

  // A copy keeps the file and its name, and needs it.
  const auto copy = read.format->writer.Save(*outside->model, ExportOptions{"copy.onnx"});
  REQUIRE(copy.has_value());
  REQUIRE(copy->side_files.size() == 1);
  CHECK(copy->side_files[0].name == "w.bin");
  CHECK(copy->side_files[0].keep_existing);
  fs::remove(dir / "w.bin");
  for (const ExportOptions& o : {ExportOptions{"copy.onnx"}, embed, options}) {
    const auto missing = read.format->writer.Save(*outside->model, o);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message().find("tensor \"") != std::string::npos);
  }
}

TEST_CASE("ONNX external data: ranges that are not in the file are refused") {
  const TempDir dir;
  WriteText(dir / "w", "0123456789");
  struct Row {
    const char* offset;
    const char* length;
    const char* message;  // "": can be read
  };
  for (const Row& r : {
           Row{"2", "8", ""},
           Row{"0", "8", ""},
           Row{"3", "8", "bytes 3 to 11 are outside \"w\" (10 bytes)"},
           Row{"11", "8", "outside"},
           Row{"18446744073709551615", "8", "outside"},  // the sum wraps to 7
           Row{"18446744073709551608", "18", "outside"},
           Row{"2", "18446744073709551615", "outside"},
           Row{"18446744073709551616", "8", "offset = \"18446744073709551616\" is not a number"},
           Row{"-1", "8", "is not a number"},
           Row{" 1", "8", "is not a number"},
           Row{"", "8", "is not a number"},
           Row{"2", "7", "2 elements of f32 take 8 bytes, but the data has 7"},
       }) {
    CAPTURE(r.offset);
    CAPTURE(r.length);
    WriteText(dir / "m.textproto",
              fmt::format(R"(ir_version: 8 opset_import {{ version: 13 }} graph {{
                name: "g" output {{ name: "w" type {{ tensor_type {{ elem_type: 1 shape {{}} }} }} }}
                initializer {{ name: "w" data_type: 1 dims: 2 data_location: EXTERNAL
                  external_data {{ key: "location" value: "w" }}
                  external_data {{ key: "offset" value: "{}" }}
                  external_data {{ key: "length" value: "{}" }} }} }})",
                          r.offset, r.length));
    const auto graph = ReadGraph(dir / "m.textproto");
    CHECK(graph.has_value() == (*r.message == '\0'));
    if (!graph)
      CHECK_MESSAGE(graph.error().message().find(r.message) != std::string::npos,
                    graph.error().message());
  }
}

}  // namespace
}  // namespace nn::test::onnx_forms_test

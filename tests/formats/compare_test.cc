#include "formats/common/describe/compare.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json/json.h"
#include "formats/common/describe/dump_writer.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/wire.h"

// Comparing models field by field, and the forms of data in dumps.
namespace nn::test::compare_test {
namespace {

std::string Differences(const std::string& a, const std::string& b) {
  const auto found = CompareModels(ReadOrFail(a), ReadOrFail(b));
  REQUIRE_MESSAGE(found.has_value(), found.error().message());
  std::string out;
  for (const FieldDifference& d : *found) out += d.place + ": " + d.a + " | " + d.b + "\n";
  return out;
}

constexpr std::string_view kModel = R"(graph {
  in %x: f32[1, 16, 8, 8]
  const %w: f32[8, 16, 3, 3] = seeded(1, 0.3)
  %y = conv(%x, %w) {pads = [1, 1, 1, 1]} "c"
  out "y" = %y
})";

TEST_CASE("compare: every golden model equals itself, its dump and its copy") {
  const TempDir dir;
  for (const std::string name :
       {"cnn.onnx", "superres.mlmodel", "squeeze.nnapi", "mobile_quant.tflite"}) {
    CAPTURE(name);
    const std::string path = SourcePath("golden/") + name;
    for (const DumpOptions& options : {DumpOptions{}, DumpOptions{DumpWeights::kInline},
                                       DumpOptions{DumpWeights::kFile, "w.npz"},
                                       DumpOptions{DumpWeights::kFile, "w.safetensors"}}) {
      REQUIRE(WriteDump(ReadOrFail(path), dir / "m.json", options).has_value());
      CHECK(Differences(path, dir / "m.json").empty());
    }
  }
}

TEST_CASE("compare: differences have a location") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", kModel);
  WriteModel(dir / "b.onnx", kModel);
  CHECK(Differences(dir / "a.onnx", dir / "b.onnx").empty());
  std::string bytes = ReadText(dir / "b.onnx");
  // An attribute, a byte of the weights, a field that the schema does not have.
  Patch(dir / "b.onnx", "pads", "pbds");
  bytes = ReadText(dir / "b.onnx");
  const size_t weights = bytes.find(std::string("\x4A\x80\x24", 3));  // raw_data of 4608 bytes
  REQUIRE(weights != std::string::npos);
  bytes[weights + 1000] = static_cast<char>(bytes[weights + 1000] ^ 1);
  WriteText(dir / "b.onnx", bytes + Bytes(500, "abc"));
  const std::string found = Differences(dir / "a.onnx", dir / "b.onnx");
  CHECK(found.find("/name: \"pads\" | \"pbds\"\n") != std::string::npos);
  CHECK(found.find("/model/graph/initializer/0/raw_data/digest: \"") != std::string::npos);
  CHECK(found.find("/model/$unknown:  | [{\"bytes\":\"YWJj\",\"field\":500}]\n") !=
        std::string::npos);
  CHECK(std::count(found.begin(), found.end(), '\n') == 3);
  CHECK(CompareModels(ReadOrFail(dir / "a.onnx"), ReadOrFail(dir / "b.onnx"), 2)->size() == 2);
}

TEST_CASE("compare: another format, a longer list, data beside the model") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", kModel);
  WriteModel(dir / "a.tflite", kModel);
  CHECK(Differences(dir / "a.onnx", dir / "a.tflite").find("/format: \"onnx\" | \"tflite\"\n") ==
        0);
  constexpr std::string_view kText =
      "ir_version: 8 graph { initializer { name: \"w\" data_type: 3 dims: 3 data_location: "
      "EXTERNAL external_data { key: \"location\" value: \"w\" } } ";
  WriteText(dir / "e.txtpb", std::string(kText) + "}");
  WriteText(dir / "f.txtpb", std::string(kText) + "initializer { name: \"v\" } }");
  WriteText(dir / "w", "abc");
  CHECK(Differences(dir / "e.txtpb", dir / "e.txtpb").empty());
  CHECK(Differences(dir / "e.txtpb", dir / "f.txtpb") ==
        "/model/graph/initializer/1:  | {\"name\":\"v\"}\n");
  const TempDir other;
  WriteText(other / "e.txtpb", std::string(kText) + "}");
  WriteText(other / "w", "abd");
  CHECK(Differences(dir / "e.txtpb", other / "e.txtpb").find("/side_files/w: ") == 0);
}

// ---- Dumps --------------------------------------------------------------------------------------

TEST_CASE("dumps: the forms of data") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kModel);
  const ReadModel read = ReadOrFail(dir / "m.onnx");
  const auto text = [&](DumpWeights weights) {
    REQUIRE(WriteDump(read, dir / "m.json", {weights}).has_value());
    return ReadText(dir / "m.json");
  };
  const auto has = [&](const std::string& where, const char* what) {
    return where.find(what) != std::string::npos;
  };
  CHECK(has(text(DumpWeights::kBase64), "\"raw_data\": \""));
  const std::string inlined = text(DumpWeights::kInline);
  CHECK(has(inlined, "\"f32\": ["));
  CHECK(Differences(dir / "m.onnx", dir / "m.json").empty());
  struct Row {
    DumpWeights weights;
    const char* holds;
  };
  for (const Row& r :
       {Row{DumpWeights::kStats, "\"omitted\": 4608,"},
        Row{DumpWeights::kStats, "\"count\": 1152,"}, Row{DumpWeights::kStats, "\"deviation\": "},
        Row{DumpWeights::kDigest, "\"digest\": \"sha256:"},
        Row{DumpWeights::kNone, "\"omitted\": 4608,"}}) {
    CHECK(has(text(r.weights), r.holds));
    CHECK(ReadText(dir / "m.json").size() < 3000);
    const auto again = ReadModelFile(dir / "m.json");
    REQUIRE_FALSE(again.has_value());
    CHECK(has(again.error().message(), "/model/graph/initializer/0/raw_data: "));
    CHECK(has(again.error().message(), "omitted from the dump"));
  }
}

TEST_CASE("dumps: statistics are those of the finite elements") {
  std::string text;
  DumpWriter out([&](std::string_view piece) { text += piece; }, {DumpWeights::kStats});
  std::vector<float> values(1000, 1.0f);
  for (size_t i = 0; i < 100; ++i) values[i] = -0.0f;
  for (size_t i = 100; i < 200; ++i) values[i] = 3.0f;
  values[999] = NAN;
  values[998] = INFINITY;
  out.Data(Blob::CopyOf(values), {DType::kF32});
  out.Finish();
  const auto json = Json::parse(text);
  CHECK(json["omitted"] == 4000);
  CHECK(json["type"] == "f32");
  CHECK(json["count"] == 1000);
  CHECK(json["min"] == 0.0);
  CHECK(json["max"] == 3.0);
  CHECK(json["mean"].get<double>() == doctest::Approx(1098.0 / 998));
  CHECK(json["deviation"].get<double>() ==
        doctest::Approx(std::sqrt(1698.0 / 998 - 1098.0 / 998 * (1098.0 / 998))));
  CHECK(json["zeros"] == 100);
  CHECK(json["not_finite"] == 2);
}

TEST_CASE("dumps: inline numbers of every type survive") {
  const TempDir dir;
  std::string text = "ir_version: 8 graph { ";
  // The raw data of each type are the bytes 0 to 255 in an order that includes NaNs and infinities.
  std::string raw;
  for (int i = 0; i < 256; ++i)
    raw += fmt::format("\\{:03o}", (i % 4 == 3 ? 0x7F + (i / 4 % 2) * 0x80 : i));
  for (int type = 1; type <= 26; ++type)
    if (type != 8)
      text += fmt::format("initializer {{ name: \"t{0}\" data_type: {0} raw_data: \"{1}\" }} ",
                          type, raw);
  WriteText(dir / "m.txtpb", text + "}");
  REQUIRE(
      WriteDump(ReadOrFail(dir / "m.txtpb"), dir / "m.json", {DumpWeights::kInline}).has_value());
  CHECK(Differences(dir / "m.txtpb", dir / "m.json").empty());
  const std::string dump = ReadText(dir / "m.json");
  for (const char* type : {"f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
    CHECK_MESSAGE(dump.find(fmt::format("\"{}\": [", type)) != std::string::npos, type);
}

}  // namespace
}  // namespace nn::test::compare_test

// nnconvert: the options that edit the imported graph.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/tensor_file.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "tensorio/npy.h"

namespace nn::test::nnconvert_graph_edits_test {
namespace {

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

std::string Shapes(const std::string& path, const char* ports) {
  const Json model = Inspect(path);
  std::string out;
  for (const Json& port : model[ports])
    out += port["name"].get<std::string>() + port["shape"].dump();
  return out;
}

// Reshapes to numbers, as exporters of a fixed batch write.
const char* const kFixed = R"(graph {
  in %x "x": f32[1, 3, 4, 4]
  const %w: f32[8, 3, 3, 3] = seeded(1, 0.3)
  const %d: f32[128, 5] = seeded(2, 0.3)
  %c = conv(%x, %w) {pads = [1, 1, 1, 1]}
  %r = relu(%c)
  %f = reshape(%r) {dims = [1, 128]}
  %y = matmul(%f, %d)
  out "y" = %y
})";

TEST_CASE("nnconvert --set-batch: a symbol or a size") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kFixed);
  const ProgramResult r =
      Convert(dir / "m.onnx " + dir / "n.onnx --set-batch N --report " + dir / "r.json");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out,
                 "input \"x\": f32[1, 3, 4, 4] -> f32[N, 3, 4, 4]\n"
                 "1 operator rewritten for the new sizes\n"
                 "edited model against the model of the file: verified by 4 runs (seeds 0, "
                 "1, 2, 0, N = 1/3)"));
  CHECK(Shapes(dir / "n.onnx", "inputs") == R"(x["N",3,4,4])");
  CHECK(Shapes(dir / "n.onnx", "outputs") == R"(y["N",5])");
  const Json report = Json::parse(ReadText(dir / "r.json"));
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nnconvert-report.schema.json")));
  for (const std::string& error : SchemaErrors(schema, report)) FAIL_CHECK(error);
  CHECK(report["graph_edits"]["changes"].size() == 2);
  CHECK(report["graph_edits"]["verification"]["outputs"][0]["identical"] == true);
  // Back to a size, of a symbol and of a number.
  REQUIRE(Convert(dir / "n.onnx " + dir / "a.onnx --set-batch 4").code == 0);
  REQUIRE(Convert(dir / "m.onnx " + dir / "b.tflite --set-batch 4").code == 0);
  CHECK(Shapes(dir / "a.onnx", "inputs") == "x[4,3,4,4]");
  CHECK(Shapes(dir / "b.tflite", "outputs") == "y[4,5]");
  CHECK(Convert(dir / "m.onnx " + dir / "c.onnx --set-batch 4 --batch 4").code == 2);
  CHECK(Convert(dir / "m.onnx " + dir / "c.onnx --set-batch 4x").code == 2);
  // What holds already is no edit.
  for (const std::string options : {"m.onnx --set-batch 1", "n.onnx --set-batch N",
                                    "a.onnx --set-batch 4", "n.onnx --input-shape x:N,3,4,4"}) {
    CAPTURE(options);
    const ProgramResult same = Convert(dir / options + " " + dir / "c.onnx");
    CHECK(same.code == 2);
    CHECK(Contains(same.err, " has no effect: the inputs have th"));
    CHECK_FALSE(Exists(dir / "c.onnx"));
  }
}

TEST_CASE("nnconvert --set-batch: the operator that fixes the batch") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x \"x\": f32[2, 3]  const %i: i64[1] = [1]  %y = gather(%x, %i) \"row\"  "
             "out \"y\" = %y }");
  const ProgramResult r = Convert(dir / "m.onnx " + dir / "n.onnx --set-batch N");
  CHECK(r.code == 3);
  CHECK(Contains(r.err, "fixes the size \"N\": its result does not depend on \"N\""));
  CHECK(Contains(r.err, "\"row\""));
  CHECK(!Exists(dir / "n.onnx"));
}

TEST_CASE("nnconvert --input-shape: symbols") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const ProgramResult r = Convert(dir / "m.onnx " + dir / "n.onnx --input-shape x:N,3,h,w");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Shapes(dir / "n.onnx", "inputs") == R"(x["N",3,"h","w"])");
  // Equal symbols are equal sizes.
  REQUIRE(Convert(dir / "m.onnx " + dir / "s.onnx --input-shape x:N,3,s,s").code == 0);
  CHECK(RunProgram("nnrun " + dir / "s.onnx --input-shape x:1,3,9,9").code == 0);
  CHECK(RunProgram("nnrun " + dir / "s.onnx --input-shape x:1,3,9,8").code == 2);
  // Numbers and symbols, of one model.
  REQUIRE(Convert(dir / "n.onnx " + dir / "t.onnx --input-shape x:batch,3,16,16").code == 0);
  CHECK(Shapes(dir / "t.onnx", "inputs") == R"(x["batch",3,16,16])");
  for (const std::string_view shape :
       {"x:N,N,8,8", "x:N,3,8", "z:N,3,8,8", "x:N,3,8,8-", "x:N,4,8,8"}) {
    CAPTURE(shape);
    CHECK(Convert(fmt::format("{} {} --input-shape {}", dir / "m.onnx", dir / "e.onnx", shape))
              .code == 2);
  }
}

TEST_CASE("nnconvert --layout: inputs and outputs") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  for (const char* const name : {"n.onnx", "n.tflite", "n.mlmodel"}) {
    CAPTURE(name);
    const ProgramResult r =
        Convert(dir / "m.onnx " + dir / name + " --layout x=nhwc --layout y=nchw:nhwc");
    REQUIRE_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "input \"x\" is nhwc: f32[1, 3, 8, 8] -> f32[1, 8, 8, 3]"));
    CHECK(Contains(r.out, "output \"y\" is nhwc: f32[1, 4, 8, 8] -> f32[1, 8, 8, 4]"));
  }
  CHECK(Shapes(dir / "n.onnx", "inputs") == "x[1,8,8,3]");
  CHECK(Shapes(dir / "n.onnx", "outputs") == "y[1,8,8,4]");
  WriteModel(dir / "add.onnx", TwoOutputsModel());
  for (const std::string_view layout : {"sum=nhwc", "x=nhwc", "sum=wide", "sum=nchw:nhwc:nchw"}) {
    CAPTURE(layout);
    CHECK(
        Convert(fmt::format("{} {} --layout {}", dir / "add.onnx", dir / "e.onnx", layout)).code ==
        2);
  }
}

// A PPM file, and its pixels as [1, height, width, 3].
std::vector<uint8_t> WritePicture(const std::string& path, int height, int width) {
  std::string text = fmt::format("P6\n{} {}\n255\n", width, height);
  std::vector<uint8_t> pixels;
  uint32_t state = 7;
  for (int i = 0; i < 3 * height * width; ++i) {
    state = state * 1664525 + 1013904223;
    pixels.push_back(static_cast<uint8_t>(state >> 24));
    text += static_cast<char>(pixels.back());
  }
  REQUIRE(WriteFile(path, text).has_value());
  return pixels;
}

Tensor ReadOutput(const std::string& path) {
  const auto t = ReadNpy(*ReadFile(path));
  REQUIRE(t.has_value());
  return *t;
}

TEST_CASE("nnconvert --preprocess: an edit that drifts names the tolerance that accepts it") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const std::string command = dir / "m.onnx " + dir / "o.tflite" +
                              " --simplify --preprocess x:u8,mean=0.485,std=0.229 --atol 0 --rtol ";
  const ProgramResult strict = Convert(command + "0");
  CHECK(strict.code == 1);
  CHECK(Contains(strict.out, "edited model against the model of the file: verification failed"));
  const std::string_view remedy = "no file was written; --rtol ";
  REQUIRE(Contains(strict.out, remedy));
  const size_t at = strict.out.find(remedy) + remedy.size();
  const std::string tolerance = strict.out.substr(at, strict.out.find(' ', at) - at);
  const ProgramResult r = Convert(command + tolerance);
  CHECK_MESSAGE(r.code == 0, r.out, r.err);
}

TEST_CASE("nnconvert --preprocess: what nnrun does with pictures") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  struct Row {
    int height, width;
    std::string settings, options;
  };
  for (const Row& row : {
           Row{8, 8, "u8", ""},
           Row{8, 8, "u8,bgr,scale=1,mean=127.5,std=127.5",
               "--image-color bgr --scale 1 --mean 127.5 --std 127.5"},
           Row{8, 8, "u8,mean=0.485,0.456,0.406,std=0.229,0.224,0.225",
               "--mean 0.485,0.456,0.406 --std 0.229,0.224,0.225"},
           Row{21, 13, "u8,resize=21x13,mean=0.5,std=0.25", "--mean 0.5 --std 0.25"},
           Row{5, 7, "u8,bgr,resize=5x7", "--image-color bgr"},
           Row{5, 20, "u8,resize=5x20:bilinear", ""},
       })
    for (const char* const name : {"n.onnx", "n.tflite"}) {
      CAPTURE(row.settings);
      CAPTURE(name);
      const auto pixels = WritePicture(dir / "p.ppm", row.height, row.width);
      const Tensor raw = Tensor::Of<uint8_t>({1, row.height, row.width, 3}, pixels);
      REQUIRE(WriteTensorFile(dir / "p.npy", {"x", raw}).has_value());
      const ProgramResult r = Convert(fmt::format("{} {} --preprocess x:{} --layout x=nhwc",
                                                  dir / "m.onnx", dir / name, row.settings));
      REQUIRE_MESSAGE(r.code == 0, r.err);
      const ProgramResult old =
          RunProgram(fmt::format("nnrun {} --input x={} {} -o {}", dir / "m.onnx", dir / "p.ppm",
                                 row.options, dir / "old.npy"));
      REQUIRE_MESSAGE(old.code == 0, old.err);
      const ProgramResult now = RunProgram(
          fmt::format("nnrun {} --input x={} -o {}", dir / name, dir / "p.npy", dir / "new.npy"));
      REQUIRE_MESSAGE(now.code == 0, now.err);
      const Tensor want = ReadOutput(dir / "old.npy");
      Tensor got = ReadOutput(dir / "new.npy");
      REQUIRE(got.elements() == want.elements());
      const bool moved = got.dims() != want.dims();  // channels last
      const int64_t plane = 64;
      for (int64_t i = 0; i < want.elements(); ++i) {
        const int64_t at = moved ? i % plane * 4 + i / plane : i;
        CHECK(got.GetDouble(at) == doctest::Approx(want.GetDouble(i)).epsilon(1e-5));
      }
    }
  for (const std::string_view settings : {"x:u9", "x:resize=3x", "x:mean=1,2", "x:std=0",
                                          "x:scale=1,2", "y:u8", "u8", "x:resize=8x8:cubic"}) {
    CAPTURE(settings);
    CHECK(Convert(fmt::format("{} {} --preprocess {}", dir / "m.onnx", dir / "e.onnx", settings))
              .code == 2);
  }
}

TEST_CASE("nnconvert --merge: weights in blocks of integers stay so in both models") {
  const TempDir dir;
  const auto write = [&](const std::string& name, const std::string& x, const std::string& y) {
    std::string integers, scales;
    for (int i = 0; i < 32 * 16; ++i) integers += fmt::format(" int32_data: {}", i * 37 % 256);
    for (int i = 0; i < 32; ++i) scales += fmt::format(" float_data: {}", 0.125 * (i % 5 + 1));
    const auto attribute = [](const char* key, int value) {
      return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", key, value);
    };
    const auto port = [](const char* kind, const std::string& of) {
      return fmt::format(
          "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ "
          "dim_value: 2 }} dim {{ dim_value: 32 }} }} }} }} }} ",
          kind, of);
    };
    WriteText(dir / name,
              "ir_version: 9 opset_import { version: 17 } opset_import { domain: \"com.microsoft\" "
              "version: 1 } graph { name: \"g\" node { op_type: \"MatMulNBits\" domain: "
              "\"com.microsoft\" input: \"" +
                  x + "\" input: \"q\" input: \"s\" output: \"" + y + "\" " + attribute("K", 32) +
                  attribute("N", 32) + attribute("bits", 4) + attribute("block_size", 32) +
                  "} initializer { name: \"q\" data_type: 2 dims: [32, 1, 16]" + integers +
                  " } initializer { name: \"s\" data_type: 1 dims: [32, 1]" + scales + " } " +
                  port("input", x) + port("output", y) + "}");
  };
  write("a.textproto", "x", "h");
  write("b.textproto", "h", "y");
  const ProgramResult r =
      Convert(dir / "a.textproto " + dir / "m.onnx --merge " + dir / "b.textproto");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "bit-identical"));
  const Json report =
      Json::parse(RunProgram("nninspect --tensors --format json " + dir / "m.onnx").out);
  std::vector<std::string> types;
  for (const Json& t : report["tensors"])
    types.push_back(t["type"].get<std::string>() + t["shape"].dump());
  std::ranges::sort(types);
  CHECK(types ==
        std::vector<std::string>{"FLOAT[32,1]", "FLOAT[32,1]", "UINT8[32,1,16]", "UINT8[32,1,16]"});
}

TEST_CASE("nnconvert --merge: models of two formats") {
  const TempDir dir;
  WriteModel(dir / "a.onnx",
             "graph { in %x \"x\": f32[2, 4]  %s = exp(%x)  %t = neg(%x)  out \"s\" = %s  "
             "out \"t\" = %t }");
  WriteModel(dir / "b.tflite",
             "graph { in %x \"x\": f32[2, 4]  in %u \"u\": f32[2, 4]  %y = mul(%x, %u)  "
             "out \"t\" = %y }");
  const std::string both = dir / "a.onnx " + dir / "m.onnx --merge " + dir / "b.tflite";
  const ProgramResult r = Convert(both + " --connect s=u");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "input \"x\" of the second model is named \"b_x\""));
  CHECK(Contains(r.out, "bit-identical"));
  CHECK(Shapes(dir / "m.onnx", "inputs") == "x[2,4]b_x[2,4]");
  CHECK(Shapes(dir / "m.onnx", "outputs") == "t[2,4]b_t[2,4]");
  // With an edit of the merged model.
  REQUIRE(Convert(both + " --connect s=u --connect t=x --set-batch N").code == 0);
  CHECK(Shapes(dir / "m.onnx", "inputs") == R"(x["N",4])");
  CHECK(Shapes(dir / "m.onnx", "outputs") == R"(t["N",4])");
  for (const std::string_view connections :
       {"", " --connect s=v", " --connect s=u --connect t=u", " --connect s"}) {
    CAPTURE(connections);
    CHECK(Convert(both + std::string(connections)).code == 2);
  }
  CHECK(Convert(dir / "a.onnx " + dir / "m.onnx --connect s=u").code == 2);
}

TEST_CASE("nnconvert: edits within a format keep the rest") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(
    ir_version: 6 producer_name: "maker" domain: "org.example" opset_import { domain: "" version: 11 }
    metadata_props { key: "author" value: "me" }
    graph {
      name: "g"
      node { op_type: "Relu" name: "first" input: "x" output: "y" }
      input { name: "x" doc_string: "an image" type { tensor_type { elem_type: 1 shape {
              dim { dim_value: 1 } dim { dim_value: 3 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape {
               dim { dim_value: 1 } dim { dim_value: 3 } } } } }
    })");
  REQUIRE(Convert(dir / "m.textproto " + dir / "n.textproto --set-batch N").code == 0);
  const std::string text = ReadText(dir / "n.textproto");
  for (const std::string_view kept : {"ir_version: 6", "\"maker\"", "\"org.example\"",
                                      "version: 11", "\"author\"", "name: \"first\"", "\"N\""}) {
    CAPTURE(kept);
    CHECK(Contains(text, kept));
  }
}

TEST_CASE("nnconvert: edits with given inputs, and of a folder") {
  const TempDir dir;
  std::filesystem::create_directory(dir / "in");
  WriteModel(dir / "in/m.onnx", kFixed);
  REQUIRE(WriteTensorFile(dir / "x.npy",
                          {"x", Tensor::Of<float>({2, 4, 4, 3}, std::vector<float>(96, 0.5F))})
              .has_value());
  const ProgramResult r =
      Convert(dir / "in/m.onnx " +
              dir / "n.onnx --set-batch N --layout x=nhwc --verify-inputs x=" + dir / "x.npy");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "edited model against the model of the file: verified by 1 run (inputs "));
  REQUIRE(Convert(dir / "in " + dir / "out --to tflite --set-batch N").code == 0);
  CHECK(Convert(dir / "in " + dir / "out --to tflite --layout x=nhwc").code == 2);
}

TEST_CASE("nnconvert: edits of a dump are refused") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  CHECK(Convert(dir / "m.onnx " + dir / "m.json --set-batch N").code == 2);
}

}  // namespace
}  // namespace nn::test::nnconvert_graph_edits_test

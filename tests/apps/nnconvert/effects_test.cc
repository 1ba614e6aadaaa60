// nnconvert: options that leave the model as it is end with exit code 2.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_effects_test {
namespace {

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

const char* const kModel = R"(graph {
  in %x "x": f32[1, 3, 4, 4]
  const %w: f32[8, 3, 3, 3] = seeded(1, 0.3)
  %c = conv(%x, %w) {pads = [1, 1, 1, 1]}
  %y = relu(%c)
  out "y" = %y
})";
// Products of two inputs.
const char* const kProducts = R"(graph {
  in %a "a": f32[4, 4]
  in %b "b": f32[4, 4]
  %p = matmul(%a, %b)
  %y = matmul(%p, %b)
  out "y" = %y
})";

struct Row {
  std::string_view file, options, message = "";
};

void CheckRefused(const TempDir& dir, const Row& row, const std::string& out) {
  CAPTURE(row.file);
  CAPTURE(row.options);
  CAPTURE(out);
  const ProgramResult r =
      Convert(fmt::format("{} {} {}", dir / std::string(row.file), dir / out, row.options));
  CHECK(r.code == 2);
  CHECK_MESSAGE(Contains(r.err, row.message), r.err);
  CHECK_FALSE(Exists(dir / out));
}

TEST_CASE("options without effect: the model has what they ask for") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kModel);
  WriteModel(dir / "m.tflite", kModel);
  WriteModel(dir / "m.nnapi", kModel);
  WriteModel(dir / "p.onnx", kProducts);
  const std::string moves = " --external-data w.bin --external-threshold 1";
  for (const char* const name : {"m.onnx", "m.nnapi"})
    REQUIRE(Convert(dir / name + " " + dir / "out" + name + moves).code == 0);
  REQUIRE(Convert(dir / "m.onnx " + dir / "typed.onnx --infer-shapes").code == 0);
  for (const Row& row : {
           Row{"m.onnx", "--input-shape x:1,3,4,4",
               "--input-shape x:1,3,4,4 has no effect: the input has this shape"},
           Row{"p.onnx", "--input-shape a:4,4 --input-shape b:4,4",
               "--input-shape a:4,4 --input-shape b:4,4 has no effect: the inputs have these "
               "shapes"},
           Row{"m.onnx", "--rename-input x=x", "--rename-input \"x=x\" has no effect"},
           Row{"m.onnx", "--rename-output y=y --rewrite", "--rename-output \"y=y\" has no effect"},
           Row{"m.onnx", "--embed-data", "--embed-data has no effect: the model has no data in "},
           Row{"m.onnx", "--external-data w --external-threshold 9999",
               "--external-data w has no effect: no tensor has 9999 bytes or more"},
           Row{"outm.onnx", "--external-data w.bin", "has no effect: the tensors are there"},
           Row{"typed.onnx", "--infer-shapes", "--infer-shapes has no effect: the model states"},
           Row{"m.onnx", "--layout x=nchw",
               "--layout x=nchw has no effect: the input has this layout"},
           Row{"m.onnx", "--preprocess x:nchw", "--preprocess \"x\" has no effect: "},
           Row{"m.onnx", "--strip docs", "--strip \"docs\" has no effect"},
           Row{"m.onnx", "--set-metadata a=", "--set-metadata \"a=\" has no effect"},
           Row{"m.onnx", "--rename y=y", "--rename \"y=y\" has no effect"},
           Row{"m.onnx", "--rename 'x*=x*'", "--rename \"x*=x*\" has no effect"},
           Row{"m.onnx", "--add-output y", "--add-output \"y\" has no effect"},
           Row{"m.onnx", "--cut-before x", "--cut-before \"x\" has no effect"},
           Row{"m.onnx", "--extract x..y", "--extract \"x..y\" has no effect"},
           // Beside one that has an effect.
           Row{"m.onnx", "--rename x=z --set-metadata a=", "--set-metadata \"a=\" has no effect"},
           Row{"m.onnx", "--set-batch 2 --layout x=nchw", "--layout x=nchw has no effect"},
           Row{"p.onnx", "--quantize int8 --calibrate seeded:2 --equalize",
               "--equalize has no effect"},
           Row{"p.onnx", "--quantize int8 --calibrate seeded:2 --bias-correction",
               "--bias-correction has no effect"},
       })
    CheckRefused(dir, row, "refused.onnx");
  CheckRefused(dir, {"m.onnx", "--input-shape x:1,3,4,4", "--input-shape x:1,3,4,4 has no effect"},
               "refused.tflite");
  for (const Row& row : {
           Row{"m.tflite", "--set-metadata note=", "--set-metadata \"note=\" has no effect"},
           Row{"m.tflite", "--rename y=y", "--rename \"y=y\" has no effect"},
       })
    CheckRefused(dir, row, "refused.tflite");
  for (const Row& row : {
           Row{"m.nnapi", "--embed-data", "--embed-data has no effect: the model has no data in "},
           Row{"m.nnapi", "--external-data w --external-threshold 9999",
               "--external-data w has no effect: no constant has 9999 bytes or more"},
           Row{"outm.nnapi", "--external-data w.bin", "has no effect: the constants are there"},
       })
    CheckRefused(dir, row, "refused.nnapi");
}

TEST_CASE("options with an effect, each beside others") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kModel);
  WriteModel(dir / "open.onnx", R"(graph { in %x "x": f32[n, 4] %y = relu(%x) out "y" = %y })");
  WriteModel(dir / "half.onnx", R"(graph { in %x "x": f32[n, 4] in %b "b": f32[4]
      %y = add(%x, %b) out "y" = %y })");
  REQUIRE(
      Convert(dir / "m.onnx " + dir / "e.onnx --external-data w.bin --external-threshold 1").code ==
      0);
  for (const Row& row : {
           Row{"open.onnx", "--input-shape x:2,4"},
           Row{"open.onnx", "--input-shape x:2,4 --rename-input x=z"},
           Row{"half.onnx", "--input-shape x:2,4 --input-shape b:4"},
           Row{"e.onnx", "--embed-data"},
           Row{"e.onnx", "--embed-data --simplify"},
           Row{"e.onnx", "--external-data v.bin"},
           Row{"m.onnx", "--infer-shapes --rename-input x=z"},
           Row{"m.onnx", "--set-metadata a=1 --set-metadata b=2"},
           Row{"m.onnx", "--layout x=nhwc --layout y=nhwc"},
           Row{"m.onnx", "--preprocess x:u8,nchw"},
       }) {
    CAPTURE(row.file);
    CAPTURE(row.options);
    const ProgramResult r = Convert(
        fmt::format("{} {} {}", dir / std::string(row.file), dir / "out.onnx", row.options));
    CHECK_MESSAGE(r.code == 0, r.err);
  }
}

TEST_CASE("options without effect: of some models of a folder") {
  const TempDir dir;
  std::filesystem::create_directory(dir / "in");
  WriteModel(dir / "in/fixed.onnx", kModel);
  WriteModel(dir / "in/open.onnx",
             "graph { in %x \"x\": f32[n, 3, 4, 4] %y = relu(%x) out \"y\" = %y }");
  const ProgramResult r =
      Convert(dir / "in " + dir / "out --to tflite --format json " + "--input-shape x:1,3,4,4");
  CHECK(r.code == 2);
  CHECK(Contains(r.out, "--input-shape x:1,3,4,4 has no effect: the input has this shape"));
  CHECK_FALSE(Exists(dir / "out/fixed.tflite"));
  CHECK(Exists(dir / "out/open.tflite"));
}

}  // namespace
}  // namespace nn::test::nnconvert_effects_test

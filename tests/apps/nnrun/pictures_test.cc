// Pictures as inputs of nnrun, labels, folders, and files of outputs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/tensor_file.h"
#include "support/files.h"
#include "support/sanitizer.h"
#include "tensorio/npy.h"
#include "tensorio/npz.h"

namespace nn::test::nnrun_pictures_test {
namespace {

ProgramResult Run(const std::string& arguments) {
  return RunProgram("nnrun " + arguments);
}

// A PPM file of these pixels, three numbers each.
void WritePicture(const std::string& path, int width, int height, const std::vector<int>& rgb) {
  REQUIRE(rgb.size() == static_cast<size_t>(3 * width * height));
  std::string text = fmt::format("P6\n{} {}\n255\n", width, height);
  for (const int v : rgb) text += static_cast<char>(v);
  REQUIRE(WriteFile(path, text).has_value());
}

// The input as one axis.
std::string Model(const std::string& type) {
  return "graph { in %x \"x\": " + type + "  %y = reshape(%x) {dims = [-1]}  out \"y\" = %y }";
}

std::vector<double> ValuesOf(const std::string& arguments, const TempDir& dir) {
  const ProgramResult r = Run(arguments + " -o " + dir / "y.npy");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const auto y = ReadNpy(*ReadFile(dir / "y.npy"));
  REQUIRE(y.has_value());
  std::vector<double> out;
  for (int64_t i = 0; i < y->elements(); ++i) out.push_back(y->GetDouble(i));
  return out;
}

void CheckNear(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(std::fabs(got[i] - want[i]) < 1e-6);
}

TEST_CASE("pictures: layouts, colors and numbers") {
  const TempDir dir;
  // Red and gray.
  WritePicture(dir / "two.ppm", 2, 1, {255, 0, 51, 102, 102, 102});
  WriteModel(dir / "first.onnx", Model("f32[1, 3, 1, 2]"));
  WriteModel(dir / "last.onnx", Model("f32[1, 2, 3]"));
  WriteModel(dir / "gray.onnx", Model("f32[1, 1, 1, 2]"));
  WriteModel(dir / "bytes.onnx", Model("u8[1, 3, 1, 2]"));
  WriteModel(dir / "signed.onnx", Model("i8[1, 3, 1, 2]"));
  WriteModel(dir / "open.onnx", Model("f32[n, 3, h, w]"));
  const std::string picture = " --input x=" + dir / "two.ppm";
  const std::string first = dir / "first.onnx" + picture;
  CheckNear(ValuesOf(first, dir), {1, 0.4, 0, 0.4, 0.2, 0.4});
  CheckNear(ValuesOf(dir / "last.onnx" + picture, dir), {1, 0, 0.2, 0.4, 0.4, 0.4});
  CheckNear(ValuesOf(first + " --image-color bgr", dir), {0.2, 0.4, 0, 0.4, 1, 0.4});
  // 0.299 * 255 + 0.114 * 51 is 82.059.
  CheckNear(ValuesOf(dir / "gray.onnx" + picture + " --scale 1", dir), {82, 102});
  CheckNear(ValuesOf(first + " --mean 0.5,0,0.1 --std 0.5,1,2", dir),
            {1, -0.2, 0, 0.4, 0.05, 0.15});
  CheckNear(ValuesOf(first + " --scale 1 --mean 127.5 --std 127.5", dir),
            {1, -0.2, -1, -0.2, -0.6, -0.2});
  CHECK(ValuesOf(dir / "bytes.onnx" + picture, dir) ==
        std::vector<double>{255, 102, 0, 102, 51, 102});
  CHECK(ValuesOf(dir / "signed.onnx" + picture, dir) ==
        std::vector<double>{127, -26, -128, -26, -77, -26});
  CheckNear(ValuesOf(dir / "open.onnx" + picture, dir), {1, 0.4, 0, 0.4, 0.2, 0.4});
}

TEST_CASE("pictures: quantized inputs") {
  const TempDir dir;
  WritePicture(dir / "two.ppm", 2, 1, {255, 0, 51, 102, 102, 102});
  WriteModel(dir / "m.tflite",
             "graph { in %x \"x\": u8[1, 1, 2, 3]{scale=0.0078125, zp=128}  %y = reshape(%x) "
             "{dims = [6]} : u8[6]{scale=0.0078125, zp=128}  out \"y\" = %y }");
  const std::string model = dir / "m.tflite --input x=" + dir / "two.ppm";
  CHECK(ValuesOf(model, dir) == std::vector<double>{255, 0, 51, 102, 102, 102});
  // 0.2 and 0.4 as real numbers: 128 * 0.2 + 128, and 1 is beyond the largest integer.
  CHECK(ValuesOf(model + " --scale 0.00392156862745098", dir) ==
        std::vector<double>{255, 128, 154, 179, 179, 179});
}

TEST_CASE("pictures: sizes") {
  const TempDir dir;
  // Columns of 0, 100, 200 and 40, and two rows.
  std::vector<int> rgb;
  for (int row = 0; row < 2; ++row)
    for (const int v : {0, 100, 200, 40}) rgb.insert(rgb.end(), {v, v, v});
  WritePicture(dir / "p.ppm", 4, 2, rgb);
  WriteModel(dir / "wide.onnx", Model("f32[1, 1, 2, 8]"));
  WriteModel(dir / "half.onnx", Model("f32[1, 1, 1, 2]"));
  WriteModel(dir / "square.onnx", Model("f32[1, 1, 2, 2]"));
  WriteModel(dir / "open.onnx", Model("f32[1, 1, h, w]"));
  const std::string given = " --scale 1 --input x=" + dir / "p.ppm";
  const std::vector<double> wide = ValuesOf(dir / "wide.onnx" + given, dir);
  CHECK(std::vector<double>(wide.begin(), wide.begin() + 8) ==
        std::vector<double>{0, 25, 75, 125, 175, 160, 80, 40});
  // Filters of twice the width: (3 * 0 + 3 * 100 + 200) / 7 and (100 + 3 * 200 + 3 * 40) / 7.
  CHECK(ValuesOf(dir / "half.onnx" + given, dir) == std::vector<double>{71, 117});
  CHECK(ValuesOf(dir / "square.onnx" + given + " --image-fit crop", dir) ==
        std::vector<double>{100, 200, 100, 200});
  CHECK(ValuesOf(dir / "open.onnx" + given, dir).size() == 8);
  CHECK(ValuesOf(dir / "open.onnx" + given + " --image-size 1x2", dir) ==
        std::vector<double>{71, 117});
  CHECK(ValuesOf(dir / "open.onnx" + given + " --image-size 3", dir).size() == 9);
}

TEST_CASE("pictures: limits") {
  const TempDir dir;
  WritePicture(dir / "p.ppm", 2, 3, std::vector<int>(18, 9));
  WriteModel(dir / "m.onnx", Model("f32[1, 3, 2, 2]"));
  const std::string given = dir / "m.onnx --digest --input x=" + dir / "p.ppm";
  CHECK(Run(given + " --max-image-pixels 6").code == 0);
  ProgramResult r = Run(given + " --max-image-pixels 5");
  CHECK(r.code == 4);
  CHECK_MESSAGE(Contains(r.err, "max-image-pixels"), r.err);
  r = Run(given + " --max-work 383");
  CHECK(r.code == 4);
  CHECK_MESSAGE(Contains(r.err, "max-work"), r.err);
  CHECK(Run(given + " --max-work 384").code == 0);
  // Neither what a header claims nor a picture that is large is in memory as a whole. The address
  // sanitizer itself needs more than these limits.
  const std::string memory = NN_ADDRESS_SANITIZER ? "" : " --max-memory 250MB";
  WriteText(dir / "claim.ppm", "P6 16000 16000 255\n");
  r = Run(dir / "m.onnx --digest --input x=" + dir / "claim.ppm" + memory);
  CHECK(r.code == 2);
  CHECK_MESSAGE(Contains(r.err, "truncated"), r.err);
  std::string large = "P4 16000 8000\n";
  large.resize(large.size() + 16'000'000);
  WriteText(dir / "large.pbm", large);
  r = Run(dir / "m.onnx --digest --input x=" + dir / "large.pbm" + memory);
  CHECK_MESSAGE(r.code == 0, r.err);
}

TEST_CASE("pictures: bands are resized as the whole") {
  const TempDir dir;
  // Bands of 2^18 pixels: several, and a last one with fewer rows.
  constexpr int kWidth = 1100, kHeight = 700;
  std::vector<int> rgb;
  for (int i = 0; i < 3 * kWidth * kHeight; ++i)
    rgb.push_back(static_cast<int>(int64_t{i} * 7919 % 251));
  WritePicture(dir / "p.ppm", kWidth, kHeight, rgb);
  WriteModel(dir / "small.onnx", Model("f32[1, 3, 7, 11]"));
  WriteModel(dir / "resize.onnx",
             "graph { in %x \"x\": f32[1, 3, 700, 1100]  %r = resize(%x) {mode = linear, sizes = "
             "[7, 11], antialias = true, exclude_outside = true}  %y = reshape(%r) {dims = [-1]}  "
             "out \"y\" = %y }");
  const std::string given = " --scale 1 --input x=" + dir / "p.ppm";
  const std::vector<double> got = ValuesOf(dir / "small.onnx" + given, dir);
  std::vector<double> want = ValuesOf(dir / "resize.onnx" + given, dir);
  for (double& v : want) v = std::nearbyint(v);
  CHECK(got == want);
}

TEST_CASE("pictures: errors") {
  const TempDir dir;
  WritePicture(dir / "p.ppm", 1, 1, {1, 2, 3});
  WriteModel(dir / "flat.onnx", Model("f32[1, 3]"));
  WriteModel(dir / "four.onnx", Model("f32[1, 4, 8, 8]"));
  WriteModel(dir / "either.onnx", Model("f32[1, 3, 8, 3]"));
  WriteModel(dir / "batch.onnx", Model("f32[2, 3, 8, 8]"));
  WriteModel(dir / "good.onnx", Model("f32[1, 3, 8, 8]"));
  WriteModel(dir / "bool.onnx", Model("bool[1, 3, 8, 8]"));
  struct Row {
    std::string arguments;
    std::string_view message;
  };
  const std::string given = ".onnx --input x=" + dir / "p.ppm";
  for (const Row& row : {
           Row{dir / "flat" + given,
               "cannot be fed from an image: it needs 3 axes, or 4 with a batch"},
           Row{dir / "four" + given, "cannot be fed from an image: no axis has 1 or 3 channels"},
           Row{dir / "either" + given, "may have its channels first or last: choose with --layout"},
           Row{dir / "batch" + given, "has a batch of 2; a single image fills only one"},
           Row{dir / "bool" + given, "bool[1, 3, 8, 8] cannot be fed from an image"},
           Row{dir / "good" + given + " --layout nhwc", "does not have the layout nhwc"},
           Row{dir / "good" + given + " --image-size 4", "--image-size: the input is f32"},
           Row{dir / "good" + given + " --image-size 4x", "\"4x\" is not a size"},
           Row{dir / "good" + given + " --mean 1,2", "--mean: 2 numbers for 3 channels"},
           Row{dir / "good" + given + " --std 0", "--std: 0 is no deviation"},
           Row{dir / "good" + given + " --std nan", "nan is not a finite number"},
           Row{dir / "good" + given + " --mean 1,NaN,0", "NaN is not a finite number"},
           Row{dir / "good" + given + " --scale -inf", "-inf is not a finite number"},
           Row{dir / "good" + given + " --atol nan", "nan is not a number"},
           Row{dir / "good" + given + " --rtol nan", "nan is not a number"},
           Row{dir / "good" + given + " --max-work nan", "nan is not a number"},
           Row{dir / "good" + given + " --image-color gray",
               "--image-color gray: the input has 3 channels"},
       }) {
    CAPTURE(row.arguments);
    const ProgramResult r = Run(row.arguments);
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, row.message), r.err);
  }
  CHECK(Run(dir / "either" + given + " --layout nhwc").code == 0);
  // A picture that ends early.
  REQUIRE(WriteFile(dir / "p.ppm", std::string_view("P6\n2 2\n255\n123")).has_value());
  const ProgramResult r = Run(dir / "good" + given);
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "p.ppm: PNM image: "));
}

TEST_CASE("labels: the five highest scores") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", "graph { in %x: f32[1, 7]  %y = neg(%x)  out \"y\" = %y }");
  REQUIRE(WriteFile(dir / "seven.txt", std::string_view("a\nb\nc\r\nd\ne\nf\ng")).has_value());
  REQUIRE(WriteFile(dir / "six.txt", std::string_view("a\nb\nc\nd\ne\nf\n")).has_value());
  REQUIRE(WriteFile(dir / "five.txt", std::string_view("a\nb\nc\nd\ne\n")).has_value());
  const std::string given = dir / "m.onnx --input in_0=[[3,nan,-2,5,-2,1,0]] --labels ";
  const ProgramResult r = Run(given + dir / "seven.txt");
  CHECK(r.code == 0);
  CHECK(r.out ==
        "y  score  label\n"
        "2    2.0  c\n"
        "4    2.0  e\n"
        "6   -0.0  g\n"
        "5   -1.0  f\n"
        "0   -3.0  a\n");
  const ProgramResult one_more = Run(given + dir / "six.txt --format json");
  REQUIRE(one_more.code == 0);
  const Json top = Json::parse(one_more.out)["scores"][0]["top"];
  CHECK(top[0] == Json{{"index", 2}, {"score", 2.0}, {"label", "b"}});
  CHECK(top[4]["label"] == "background");
  CHECK(Contains(Run(given + dir / "five.txt").err, "no output has 5 scores"));
}

TEST_CASE("folders: one run for each file") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x \"x\": f32[1, 3, 1, 1]  in %k \"k\": f32[]  %y = mul(%x, %k)  out "
             "\"y\" = %y }");
  std::filesystem::create_directory(dir / "in");
  WritePicture(dir / "in/b.ppm", 1, 1, {255, 0, 51});
  REQUIRE(WriteTensorFile(dir / "in/a.npy", {"x", Tensor::Of<float>({1, 3, 1, 1}, {1, 2, 3})})
              .has_value());
  const std::string folder = dir / "m.onnx --inputs " + dir / "in";
  const ProgramResult r = Run(folder + " --input k=10 -o " + dir / "out.npz");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const auto out = ReadNpz(*ReadFile(dir / "out.npz"));
  REQUIRE(out.has_value());
  REQUIRE(out->size() == 2);
  CHECK((*out)[0].tensor.dims() == std::vector<int64_t>{2, 1, 3, 1, 1});
  CheckNear(
      {(*out)[0].tensor.GetDouble(0), (*out)[0].tensor.GetDouble(3), (*out)[0].tensor.GetDouble(5)},
      {10, 10, 2});
  CHECK((*out)[1].name == "files");
  CHECK((*out)[1].tensor.strings() == std::vector<std::string>{"a.npy", "b.ppm"});
  CHECK(Contains(Run(folder).err, "each file is one input, but \"x\" and \"k\" are not given"));
  CHECK(Contains(Run(folder + " --input k=1 --bench").err, "--inputs with a folder"));
  const ProgramResult text = Run(folder + " --input k=10");
  CHECK(text.out.starts_with("a.npy\noutput  type"));
  CHECK(Contains(text.out, "\n\nb.ppm\noutput"));
}

TEST_CASE("inputs: a file that lacks one, and a file of one array") {
  const TempDir dir;
  WriteModel(dir / "two.onnx", TwoOutputsModel());
  WriteModel(dir / "one.onnx", "graph { in %x: f32[2]  %y = neg(%x)  out \"y\" = %y }");
  const Tensor x = Tensor::Of<float>({2}, {1, 2});
  const Tensor four = Tensor::Of<float>({4}, {1, 2, 3, 4});
  REQUIRE(WriteNpz(dir / "a.npz", std::vector<NamedTensor>{{"a", four}}).has_value());
  REQUIRE(WriteNpz(dir / "both.npz", std::vector<NamedTensor>{{"arr_0", four}, {"arr_1", four}})
              .has_value());
  const std::string two = dir / "two.onnx --inputs ";
  const ProgramResult lacks = Run(two + dir / "a.npz");
  CHECK(lacks.code == 2);
  CHECK(Contains(lacks.err, "--inputs does not have \"b\""));
  CHECK(Run(two + dir / "a.npz --seed 0").code == 0);
  CHECK(Run(two + dir / "a.npz --input b=1").code == 0);
  CHECK(Run(two + dir / "both.npz").code == 0);
  for (const char* file : {"x.npy", "x.pb"}) {
    REQUIRE(WriteTensorFile(dir / file, {"any", x}).has_value());
    CHECK(ValuesOf(dir / "one.onnx --inputs " + dir / file, dir) == std::vector<double>{-1, -2});
    CHECK(Contains(Run(two + dir / file).err, "one array for 2 inputs"));
  }
}

TEST_CASE("outputs: files by extension") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  WriteModel(dir / "one.onnx", "graph { in %x: f32[2]  %y = log(%x)  out \"y\" = %y }");
  const std::string one = dir / "one.onnx --input in_0=[1,-1] -o ";
  REQUIRE(Run(one + dir / "y.json").code == 0);
  CHECK(Json::parse(ReadText(dir / "y.json"))["outputs"][0] ==
        Json{{"name", "y"}, {"type", "f32"}, {"shape", {2}}, {"values", {0.0, "nan"}}});
  REQUIRE(Run(one + dir / "y.pb").code == 0);
  const auto read = ReadTensorFile(dir / "y.pb", Type(DType::kF32, Dims{2}));
  REQUIRE(read.has_value());
  CHECK(read->GetDouble(0) == 0);
  CHECK(std::isnan(read->GetDouble(1)));
  const std::string two = dir / "m.onnx -o ";
  CHECK(Contains(Run(two + dir / "y.npy").err, "holds one array, but the model has 2 outputs"));
  CHECK(Contains(Run(two + dir / "y.onnx").err, "expected .npz, .safetensors or .json"));
  // The model stays.
  const std::string before = ReadText(dir / "m.onnx");
  CHECK(Contains(Run(two + dir / "m.onnx").err, "the run reads this file"));
  CHECK(ReadText(dir / "m.onnx") == before);
  REQUIRE(Run(two + dir / "a.npz").code == 0);
  REQUIRE(WriteTensorFile(dir / "a.npy", {"a", Tensor::Of<float>({4}, {1, 2, 3, 4})}).has_value());
  CHECK(Contains(Run(dir / "one.onnx --input in_0=" + dir / "a.npy -o " + dir / "a.npy").err,
                 "the run reads this file"));
}

}  // namespace
}  // namespace nn::test::nnrun_pictures_test

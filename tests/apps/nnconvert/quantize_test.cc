// nnconvert --quantize.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
#include "ir/seeded.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "tensorio/npz.h"

namespace nn::test::nnconvert_quantize_test {
namespace {

const std::string kCnn = SourcePath("golden/cnn.onnx");

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

// The JSON report of a conversion that succeeds.
Json ReportOf(const std::string& arguments) {
  static const Json schema =
      Json::parse(ReadText(SourcePath("schemas/nnconvert-report.schema.json")));
  const ProgramResult r = Convert("--format json " + arguments);
  REQUIRE_MESSAGE(r.code == 0, r.err, r.out);
  Json json = Json::parse(r.out);
  for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
  return json;
}

// The SNR of the first output against the model of the file.
double SnrOf(const Json& report) {
  return report["verification"]["quantized_model"]["outputs"][0]["snr_db"];
}

size_t CountOf(const std::string& path, std::string_view op) {
  const Json model = Inspect("--nodes " + path);
  return static_cast<size_t>(std::ranges::count_if(
      model["nodes"], [&](const Json& node) { return node["operator"] == op; }));
}

TEST_CASE("nnconvert --quantize int8: ONNX and TensorFlow Lite") {
  const TempDir dir;
  const std::string options = "--quantize int8 --calibrate seeded:4 ";
  const Json onnx = ReportOf(options + kCnn + " " + dir / "q.onnx");
  CHECK(SnrOf(onnx) > 25);
  CHECK(CountOf(dir / "q.onnx", "QuantizeLinear") > 0);
  const Json& q = onnx["quantization"];
  CHECK(q["samples"] == 4);
  CHECK(q["operators"] > 0);
  CHECK(q["bytes_before"] == std::filesystem::file_size(kCnn));
  CHECK(onnx["output"]["bytes"] < q["bytes_before"]);
  bool has_constant = false;
  for (const Json& value : q["values"]) {
    CAPTURE(value.dump());
    has_constant = has_constant || value["operator"] == "constant";
    CHECK((value["snr_db"].is_null() || value["snr_db"] > 20));
  }
  CHECK(has_constant);

  const Json tflite = ReportOf(options + kCnn + " " + dir / "q.tflite");
  CHECK(SnrOf(tflite) > 25);
  CHECK(CountOf(dir / "q.tflite", "CONV_2D") > 0);
  // The same operators in either form.
  CHECK(tflite["quantization"]["operators"] == q["operators"]);
  for (const std::string_view format : {"onnx", "tflite"}) {
    const std::string path = dir / fmt::format("q.{}", format);
    CHECK(RunProgram("nnvalidate " + path).code == 0);
    const std::string before = ReadText(path);
    REQUIRE(Convert(options + kCnn + " " + path).code == 0);
    CHECK(ReadText(path) == before);
  }
}

void WriteSample(const std::string& path) {
  const auto image = SeededTensor(DType::kF32, {1, 3, 32, 32}, 7);
  REQUIRE(image);
  const NamedTensor named{"image", *image};
  REQUIRE(WriteNpz(path, std::span(&named, 1)));
}

TEST_CASE("nnconvert --quantize int8: files of samples") {
  const TempDir dir;
  std::filesystem::create_directory(dir / "samples");
  for (const std::string_view name : {"a", "b", "c"})
    WriteSample(dir / fmt::format("samples/{}.npz", name));
  const std::string one =
      fmt::format("--quantize int8 --calibrate {} {} ", dir / "samples/a.npz", kCnn);
  const std::string many = fmt::format("--quantize int8 --calibrate {} {} ", dir / "samples", kCnn);
  CHECK(ReportOf(one + dir / "one.onnx")["quantization"]["samples"] == 1);
  CHECK(ReportOf(many + dir / "many.onnx")["quantization"]["samples"] == 3);
  // Ranges do not depend on how often a sample is read.
  CHECK(ReadText(dir / "one.onnx") == ReadText(dir / "many.onnx"));
}

TEST_CASE("nnconvert --quantize int8: methods and options") {
  const TempDir dir;
  const std::string base = "--quantize int8 --calibrate seeded:4 ";
  const std::string plain = dir / "plain.tflite";
  ReportOf(base + kCnn + " " + plain);
  for (const std::string_view option :
       {"--calibrate-method percentile", "--calibrate-method percentile:99.5",
        "--calibrate-method entropy", "--calibrate-method mse", "--symmetric", "--per-tensor",
        "--bias-correction", "--integer-interface"}) {
    CAPTURE(option);
    const std::string path = dir / "q.tflite";
    const Json report = ReportOf(fmt::format("{} {} {} {}", base, option, kCnn, path));
    CHECK(SnrOf(report) > 15);
    CHECK(ReadText(path) != ReadText(plain));
  }
  const Json report = ReportOf(base + "--integer-interface " + kCnn + " " + plain);
  CHECK(report["interface"]["converted"]["inputs"][0]["type"] == "i8");
  CHECK(report["interface"]["source"]["inputs"][0]["type"] == "f32");
  // The numbers of files become integers.
  WriteSample(dir / "a.npz");
  const Json given = ReportOf(fmt::format("{} --integer-interface --verify-inputs {} {} {}", base,
                                          dir / "a.npz", kCnn, plain));
  CHECK(SnrOf(given) > 25);
}

TEST_CASE("nnconvert --quantize int8: operators that stay in float32") {
  const TempDir dir;
  const std::string base = "--quantize int8 --calibrate seeded:2 ";
  const Json all = ReportOf(base + kCnn + " " + dir / "all.onnx");
  const Json report = ReportOf(base + "--keep-float32 Conv " + kCnn + " " + dir / "q.onnx");
  CHECK(report["quantization"]["kept"] > 0);
  CHECK(report["quantization"]["operators"] < all["quantization"]["operators"]);
}

// A filter with zeros between the groups has a scale for each channel; the filter of a group has
// the channels of all groups, so it has none.
TEST_CASE("nnconvert --quantize int8: transposed convolutions with groups") {
  const TempDir dir;
  WriteModel(dir / "g.onnx", R"(graph {
    in %x: f32[1, 4, 5, 5]
    const %w: f32[4, 3, 2, 2] = seeded(1)
    %y = conv_transpose(%x, %w) {strides = [2, 2], groups = 2}
    out "y" = %y
  })");
  const std::string base = "--quantize int8 --calibrate seeded:4 " + dir / "g.onnx" + " ";
  CHECK(SnrOf(ReportOf(base + dir / "q.tflite")) > 15);
  CHECK(CountOf(dir / "q.tflite", "TRANSPOSE_CONV") == 1);
  CHECK(CountOf(dir / "q.tflite", "DEQUANTIZE") == 1);
  const ProgramResult onnx = Convert(base + dir / "q.onnx");
  CHECK(onnx.code == 3);
  CHECK(Contains(onnx.err, "no operators with integer arithmetic"));
}

TEST_CASE("nnconvert --quantize: weights as integers") {
  const TempDir dir;
  const auto size_of = [&](std::string_view form, std::string_view extension, double least_snr) {
    const std::string path = dir / fmt::format("w.{}", extension);
    const Json report = ReportOf(fmt::format("--quantize {} {} {}", form, kCnn, path));
    CAPTURE(form);
    CAPTURE(extension);
    CHECK(SnrOf(report) > least_snr);
    for (const Json& output : report["verification"]["outputs"]) CHECK(output["identical"] == true);
    return std::filesystem::file_size(path);
  };
  const auto before = std::filesystem::file_size(kCnn);
  for (const std::string_view extension : {"onnx", "tflite", "mlmodel"}) {
    CAPTURE(extension);
    const auto int8 = size_of("weights-int8", extension, 30);
    const auto int4 = size_of("weights-int4", extension, 8);
    CHECK(int8 * 2 < before);
    CHECK(int4 < int8);
  }
  CHECK(size_of("weights-int8:16", "onnx", 30) < before);
  CHECK(size_of("weights-lut4", "mlmodel", 8) < size_of("weights-lut8", "mlmodel", 30));
  // Core ML's own forms.
  REQUIRE(Convert("--quantize weights-int8 " + kCnn + " " + dir / "q.mlmodel").code == 0);
  REQUIRE(Convert(dir / "q.mlmodel" + " " + dir / "q.json").code == 0);
  CHECK(Contains(ReadText(dir / "q.json"), "linearQuantization"));
  REQUIRE(Convert("--quantize weights-lut4 " + kCnn + " " + dir / "q.mlmodel").code == 0);
  REQUIRE(Convert(dir / "q.mlmodel" + " " + dir / "q.json").code == 0);
  CHECK(Contains(ReadText(dir / "q.json"), "lookupTableQuantization"));
}

TEST_CASE("nnconvert --quantize: compressed constants of ML Programs") {
  const TempDir dir;
  const auto size_of = [&](std::string_view form, double least_snr) {
    CAPTURE(form);
    const std::string path = dir / "w.mlmodel";
    const Json report =
        ReportOf(fmt::format("--core-ml program --quantize {} {} {}", form, kCnn, path));
    CHECK(SnrOf(report) > least_snr);
    for (const Json& output : report["verification"]["outputs"]) CHECK(output["identical"] == true);
    return static_cast<double>(std::filesystem::file_size(path));
  };
  REQUIRE(Convert("--core-ml program " + kCnn + " " + dir / "plain.mlmodel").code == 0);
  const auto plain = static_cast<double>(std::filesystem::file_size(dir / "plain.mlmodel"));
  CHECK(size_of("weights-lut4", 8) < 0.3 * plain);
  CHECK(size_of("weights-sparse:0.75", 1) < 0.5 * plain);
  CHECK(size_of("weights-sparse:0.5", 5) < 0.75 * plain);
}

TEST_CASE("nnconvert --quantize: what a format or a model lacks") {
  const TempDir dir;
  struct Row {
    std::string arguments, output, message;
    int code;
  };
  const Row rows[] = {
      {"--quantize int8 " + kCnn, "q.onnx", "--calibrate seeded:16", 2},
      {"--quantize int9 " + kCnn, "q.onnx", "expected int8", 2},
      {"--quantize int8:4 --calibrate seeded:1 " + kCnn, "q.onnx", "expected a block", 2},
      {"--quantize weights-lut9 " + kCnn, "q.mlmodel", "N from 1 to 8", 2},
      {"--quantize weights-int8 --symmetric " + kCnn, "q.onnx", "requires --quantize int8", 2},
      {"--quantize weights-int8 --calibrate seeded:1 " + kCnn, "q.onnx", "has no effect", 2},
      {"--quantize int8 --calibrate seeded:0 " + kCnn, "q.onnx", "seeded:N", 2},
      {"--quantize int8 --calibrate seeded:1 --calibrate-method best " + kCnn, "q.onnx",
       "expected minmax", 2},
      {"--symmetric " + kCnn, "q.onnx", "--quantize", 2},
      {"--quantize weights-int8 " + SourcePath("golden/mobile_quant.tflite"), "q.tflite",
       "--dequantize", 2},
      {"--quantize weights-lut4 " + kCnn, "q.onnx", "lookup tables", 3},
      {"--quantize weights-sparse " + kCnn, "q.mlpackage", "as in weights-sparse:0.5", 2},
      {"--quantize weights-sparse:1 " + kCnn, "q.mlpackage", "as in weights-sparse:0.5", 2},
      {"--quantize weights-sparse:0.5 " + kCnn, "q.mlmodel", "sparse weights", 3},
      {"--quantize weights-int8:16 " + kCnn, "q.mlmodel", "quantized blocks", 3},
      {"--quantize weights-int8 " + kCnn, "q.nnapi", "no per-channel quantization", 3},
      {"--quantize int8 --calibrate seeded:1 " + kCnn, "q.mlmodel", "no quantized values", 3},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const ProgramResult r = Convert(row.arguments + " " + dir / row.output);
    CHECK(r.code == row.code);
    CHECK_MESSAGE(Contains(r.err + r.out, row.message), r.err, r.out);
    CHECK(!std::filesystem::exists(dir / row.output));
  }
}

}  // namespace
}  // namespace nn::test::nnconvert_quantize_test

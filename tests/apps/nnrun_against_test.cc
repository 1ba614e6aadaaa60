// nnrun --against: where two models part.
#include <doctest/doctest.h>

#include <string>

#include "apps/program.h"
#include "base/json.h"
#include "support/files.h"

namespace nn::test::nnrun_against_test {
namespace {

// A convolution in which everything but the scale is fixed.
std::string Model(const std::string& scale) {
  return "graph { in %x: f32[1, 3, 8, 8]  const %w: f32[4, 3, 3, 3] = seeded(1)"
         "  const %s: f32[1] = [" +
         scale +
         "]  %conv = conv(%x, %w) \"c\"  %relu = relu(%conv)  %scaled = mul(%relu, %s)"
         "  %out = tanh(%scaled)  out \"y\" = %out }";
}

Json JsonOf(const std::string& arguments, int code) {
  const ProgramResult r = RunProgram("nnrun --format json " + arguments);
  REQUIRE_MESSAGE(r.code == code, r.err);
  return Json::parse(r.out)["against"];
}

TEST_CASE("nnrun --against: the same model in another format") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", Model("2"));
  for (const std::string format : {"tflite", "mlmodel", "nnapi"}) {
    CAPTURE(format);
    const std::string other = dir / ("m." + format);
    REQUIRE(RunProgram("nnconvert " + dir / "m.onnx " + other).code == 0);
    const Json report = JsonOf(other + " --against " + dir / "m.onnx", 0);
    CHECK(report["passed"] == true);
    CHECK(report["first"].is_null());
    for (const Json& v : report["values"]) {
      CHECK(v["agrees"] == true);
      CHECK(v["parts"] == false);
    }
    CHECK(report["values"].size() >= 4);
    // The other way round, too.
    CHECK(JsonOf(dir / "m.onnx --against " + other, 0)["values"].size() == report["values"].size());
  }
}

TEST_CASE("nnrun --against: the first value that parts") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", Model("2"));
  WriteModel(dir / "b.tflite", Model("2.5"));
  const std::string both = dir / "a.onnx --against " + dir / "b.tflite";
  const ProgramResult text = RunProgram("nnrun " + both);
  CHECK(text.code == 1);
  CHECK(Contains(text.out, "first difference: value \"scaled\", Mul 2, against MUL "));
  CHECK(Contains(text.out, "elements differ, largest difference "));
  const Json report = JsonOf(both, 1);
  CHECK(report["passed"] == false);
  CHECK(report["first"] == "scaled");
  std::string parts;
  for (const Json& v : report["values"])
    if (v["parts"] == true) parts += v["name"].get<std::string>() + " ";
  CHECK(parts == "scaled y ");
  CHECK(RunProgram("nnrun " + both + " --rtol 0.3").code == 0);
  // An HTML page on its own.
  const ProgramResult page = RunProgram("nnrun --format html " + both);
  CHECK(page.code == 1);
  CHECK(page.out.starts_with("<!DOCTYPE html>"));
  CHECK(Contains(page.out, "scaled"));
  CHECK_FALSE(Contains(page.out, "<script"));
}

TEST_CASE("nnrun --against: a quantized model against the float model that it approximates") {
  const TempDir dir;
  const std::string real =
      "const %w: f32[4, 3, 1, 1] = splat(0.5)  %c = conv(%x, %w)"
      "  %r = relu(%c)";
  WriteModel(dir / "q.onnx",
             "graph { in %x0: f32[1, 3, 4, 4]  %q0 = quantize(%x0): i8[1, 3, 4, 4]{scale=0.01, "
             "zp=0}  %x = dequantize(%q0)  " +
                 real +
                 "  %q1 = quantize(%r): i8[1, 4, 4, 4]{scale=0.02, zp=-128}  %y = dequantize(%q1)"
                 "  out \"y\" = %y }");
  WriteModel(dir / "f.onnx", "graph { in %x: f32[1, 3, 4, 4]  " + real + "  out \"y\" = %r }");
  const std::string both = dir / "q.onnx --against " + dir / "f.onnx";
  CHECK(JsonOf(both + " --rtol 0.02", 0)["passed"] == true);
  CHECK(RunProgram("nnrun " + both).code == 1);
}

TEST_CASE("nnrun --against: what cannot be compared") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", Model("2"));
  WriteModel(dir / "two.onnx",
             "graph { in %p: f32[2]  in %q: f32[2]  %s = add(%p, %q)"
             "  out \"s\" = %s }");
  WriteModel(dir / "other.onnx", "graph { in %x: f32[5]  %y = relu(%x)  out \"y\" = %y }");
  const auto error = [&](const std::string& arguments) {
    const ProgramResult r = RunProgram("nnrun " + arguments);
    CHECK(r.code == 2);
    return r.err;
  };
  CHECK(
      Contains(error(dir / "a.onnx --against " + dir / "two.onnx"), "has the inputs \"p\", \"q\""));
  CHECK(Contains(error(dir / "a.onnx --against " + dir / "other.onnx"),
                 "input \"x\" is f32[1, 3, 8, 8] in "));
  CHECK(Contains(error(dir / "a.onnx --against " + dir / "none.onnx"), "none.onnx"));
  CHECK(Contains(error(dir / "a.onnx --digest --against " + dir / "a.onnx"),
                 "--against cannot be combined"));
  CHECK(Contains(error(dir / "a.onnx --format html"), "--format html needs --against"));
}

}  // namespace
}  // namespace nn::test::nnrun_against_test

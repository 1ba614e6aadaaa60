// nnrun --against: where two models part.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/onnx/file/tensor_file.h"
#include "support/files.h"
#include "tensorio/npz.h"

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

void WriteTensorPb(const std::string& path, const std::vector<float>& values) {
  const Tensor t = Tensor::Of({static_cast<int64_t>(values.size())}, values);
  REQUIRE(WriteFile(path, *onnx::TensorProtoImage(t, "")).has_value());
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

TEST_CASE("nnrun --write-repro: the operator at which two models part") {
  const TempDir dir;
  WriteModel(dir / "a.tflite", Model("2"));
  WriteModel(dir / "b.onnx", Model("2.5"));
  const std::string both = dir / "a.tflite --against " + dir / "b.onnx --write-repro " + dir / "r";
  CHECK(JsonOf(both, 1)["repro"] == Json{{"folder", dir / "r"}, {"operators", 1}});
  CHECK(Listing(dir / "r") == "got.npz\ninputs.npz\nmodel.onnx\nwant.npz\n");
  const std::string run =
      "nnrun " + dir / "r/model.onnx --inputs " + dir / "r/inputs.npz --expect " + dir / "r/";
  CHECK(RunProgram(run + "got.npz").code == 0);
  const ProgramResult want = RunProgram(run + "want.npz");
  CHECK(want.code == 1);
  CHECK(Contains(want.out, "outputs differ"));
  // The same from recorded values.
  REQUIRE(RunProgram("nnrun " + dir / "b.onnx --save-steps " + dir / "steps").code == 0);
  const std::string steps =
      dir / "a.tflite --against " + dir / "steps --write-repro " + dir / "again";
  CHECK(JsonOf(steps, 1)["repro"]["operators"] == 1);
  CHECK(ReadText(dir / "again/want.npz") == ReadText(dir / "r/want.npz"));
  // Nothing parts, nothing is written.
  CHECK(RunProgram("nnrun " + dir / "a.tflite --against " + dir / "a.tflite --write-repro " +
                   dir / "none")
            .code == 0);
  CHECK_FALSE(Exists(dir / "none"));
  CHECK(RunProgram("nnrun " + dir / "a.tflite --write-repro " + dir / "none").code == 2);
}

TEST_CASE("nnrun --write-repro: quantized values become real numbers") {
  const TempDir dir;
  const auto model = [](const std::string& op) {
    return "graph { in %x: f32[4]  %q = quantize(%x): i8[4]{scale=0.01, zp=0}  %d = dequantize(%q)"
           "  %r = " +
           op +
           "(%d)  %z = quantize(%r): i8[4]{scale=0.01, zp=0}"
           "  %y = dequantize(%z)  out \"y\" = %y }";
  };
  WriteModel(dir / "a.tflite", model("relu"));
  WriteModel(dir / "b.tflite", model("abs"));
  const std::string both = dir / "a.tflite --against " + dir / "b.tflite --input x=[-1,-0.5,0.5,1]";
  const ProgramResult r = RunProgram("nnrun " + both + " --write-repro " + dir / "r");
  CHECK(r.code == 1);
  CHECK(Contains(r.out, "model.onnx (1 operator), inputs.npz, got.npz, want.npz"));
  const std::string run =
      "nnrun " + dir / "r/model.onnx --inputs " + dir / "r/inputs.npz --expect ";
  CHECK(RunProgram(run + dir / "r/got.npz").code == 0);
  CHECK(RunProgram(run + dir / "r/want.npz").code == 1);
}

TEST_CASE("nnrun --against: a Gemm against FULLY_CONNECTED and ADD") {
  const TempDir dir;
  // The operator that has the bias in one model has the name of the product in the other.
  WriteText(dir / "gemm.textproto", R"(ir_version: 8 opset_import { version: 17 } graph { name: "g"
    node { input: "x" input: "w" input: "b" output: "h" op_type: "Gemm" }
    node { input: "h" output: "r" op_type: "Tanh" } node { input: "r" output: "y" op_type: "Abs" }
    initializer { name: "w" data_type: 1 dims: 2 dims: 2 float_data: [1, 2, -1, 0.5] }
    initializer { name: "b" data_type: 1 dims: 2 float_data: [0.01, -0.02] }
    input { name: "x" type { tensor_type { elem_type: 1 shape {
      dim { dim_value: 2 } dim { dim_value: 2 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape {
      dim { dim_value: 2 } dim { dim_value: 2 } } } } } })");
  WriteModel(dir / "parts.tflite",
             "graph { in %x: f32[2, 2]  const %w: f32[2, 2] = [1, 2, -1, 0.5]"
             "  const %b: f32[2] = [0.01, -0.02]  %h = matmul(%x, %w)  %r = add(%h, %b)"
             "  %t = tanh(%r)  %y = abs(%t)  out \"y\" = %y }");
  const std::string gemm = dir / "gemm.textproto", parts = dir / "parts.tflite";
  CHECK(JsonOf(gemm + " --against " + parts, 0)["passed"] == true);
  CHECK(JsonOf(parts + " --against " + gemm, 0)["passed"] == true);
  // The same from recorded values.
  REQUIRE(RunProgram("nnrun " + parts + " --save-steps " + dir / "steps").code == 0);
  CHECK(JsonOf(gemm + " --against " + dir / "steps", 0)["passed"] == true);
}

// In the body of the loop, operator 1 is Abs or Neg, and so is operator 1 of the If that is
// operator 2 there.
std::string NestedModel(const std::string& inner) {
  return R"(ir_version: 8 opset_import { version: 17 } graph { name: "g"
    node { input: "x" output: "r" op_type: "Relu" }
    node { input: "n" input: "" input: "r" output: "y" op_type: "Loop" attribute { name: "body"
      type: GRAPH g { name: "b"
        node { input: "go" output: "go2" op_type: "Identity" }
        node { input: "v" output: "n1" op_type: "Neg" }
        node { input: "yes" output: "v2" op_type: "If"
          attribute { name: "then_branch" type: GRAPH g { name: "t"
            node { input: "n1" output: "t1" op_type: "Exp" }
            node { input: "t1" output: "t2" op_type: ")" +
         inner + R"(" } output { name: "t2" } } }
          attribute { name: "else_branch" type: GRAPH g { name: "e"
            node { input: "n1" output: "e1" op_type: "Abs" } output { name: "e1" } } } }
        input { name: "i" type { tensor_type { elem_type: 7 shape { } } } }
        input { name: "go" type { tensor_type { elem_type: 9 shape { } } } }
        input { name: "v" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
        output { name: "go2" type { tensor_type { elem_type: 9 shape { } } } }
        output { name: "v2" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
      } } }
    initializer { name: "n" data_type: 7 int64_data: 1 }
    initializer { name: "yes" data_type: 9 int32_data: 1 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } } })";
}

TEST_CASE("nnrun --against: operators in branches and bodies have numbers of their own") {
  const TempDir dir;
  const std::string a = dir / "a.textproto", b = dir / "b.textproto";
  WriteText(a, NestedModel("Tanh"));
  WriteText(b, NestedModel("Neg"));
  const Json report = JsonOf(a + " --against " + b, 1);
  std::vector<std::string> operators;
  for (const Json& v : report["values"]) operators.push_back(v["operator"]);
  CHECK(operators == std::vector<std::string>{"Relu 0", "Neg 1 in body of Loop 1",
                                              "Exp 0 in then_branch of If 2 in body of Loop 1",
                                              "Tanh 1 in then_branch of If 2 in body of Loop 1"});
  CHECK(Contains(RunProgram("nnrun " + a + " --against " + b).out,
                 "Tanh 1 in then_branch of If 2 in body of Loop 1, against Neg 1 in then_branch of "
                 "If 2 in body of Loop 1: "));
}

TEST_CASE("nnrun --against: the values that --save-steps wrote") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", Model("2"));
  WriteModel(dir / "n.tflite", Model("2.5"));
  REQUIRE(RunProgram("nnrun " + dir / "m.onnx --seed 7 --save-steps " + dir / "steps").code == 0);
  // The inputs are recorded, too.
  const Json same = JsonOf(dir / "m.onnx --against " + dir / "steps", 0);
  CHECK(same["values"].size() == 4);
  CHECK(same["unmatched"] == 0);
  for (const Json& v : same["values"]) CHECK(v["identical"] == true);
  CHECK(same["values"][0]["against"]["operator"] == "operator 0 (Conv)");
  const Json other = JsonOf(dir / "n.tflite --against " + dir / "steps", 1);
  CHECK(other["first"] == "scaled");
  // Other inputs than the recorded ones.
  CHECK(JsonOf(dir / "m.onnx --input x=1 --against " + dir / "steps", 1)["first"] == "conv");
}

TEST_CASE("nnrun --against: values by name in an archive, and a test set") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[2]  %a = exp(%x)  %b = neg(%a)  %c = abs(%b)"
             "  out \"y\" = %c }");
  const auto archive = [&](const std::string& name, float a, const std::string& output) {
    const std::vector<NamedTensor> arrays = {{"x", Tensor::Of<float>({2}, {0, 0})},
                                             {"a", Tensor::Of<float>({2}, {a, 1})},
                                             {"more", Tensor::Of<float>({2}, {1, 1})},
                                             {output, Tensor::Of<float>({2, 1}, {1, 1})}};
    REQUIRE(WriteNpz(dir / name, arrays).has_value());
  };
  archive("good.npz", 1, "y");
  const Json good = JsonOf(dir / "m.onnx --against " + dir / "good.npz", 0);
  CHECK(good["values"].size() == 2);
  CHECK(good["values"][1]["paired_by"] == "interface");
  CHECK(good["unmatched"] == 1);
  archive("bad.npz", 1.5, "out_0");
  const ProgramResult bad = RunProgram("nnrun " + dir / "m.onnx --against " + dir / "bad.npz");
  CHECK(bad.code == 1);
  CHECK(Contains(bad.out, "first difference: value \"a\", Exp 0, recorded as \"a\""));
  CHECK(Contains(bad.out, "1 recorded values have no counterpart"));

  std::filesystem::create_directory(dir / "set");
  WriteTensorPb(dir / "set/input_0.pb", {0, 0});
  WriteTensorPb(dir / "set/output_0.pb", {1, 1});
  CHECK(JsonOf(dir / "m.onnx --against " + dir / "set", 0)["values"].size() == 1);
  WriteTensorPb(dir / "set/output_0.pb", {1, 2});
  CHECK(JsonOf(dir / "m.onnx --against " + dir / "set", 1)["first"] == "y");

  // Damaged records.
  const auto error = [&](const std::string& path) {
    const ProgramResult r = RunProgram("nnrun " + dir / "m.onnx --against " + path);
    CHECK(r.code == 2);
    return r.err;
  };
  std::filesystem::create_directory(dir / "steps");
  WriteText(dir / "steps/index.json", "{}");
  CHECK(Contains(error(dir / "steps"), "it has no \"values\""));
  WriteText(dir / "steps/index.json", R"({"values": [{"name": "a"}]})");
  CHECK(Contains(error(dir / "steps"), "no \"file\""));
  WriteText(dir / "steps/index.json", R"({"values": [{"name": "a", "file": "../a.npy"}]})");
  CHECK(Contains(error(dir / "steps"), "\"../a.npy\" is not a file in the folder"));
  WriteText(dir / "steps/index.json", R"({"values": [{"name": "a", "file": "a.npy"}]})");
  CHECK(Contains(error(dir / "steps"), "a.npy"));
  REQUIRE(WriteNpz(dir / "none.npz", std::vector<NamedTensor>{{"z", Tensor::Ints({1})}}));
  CHECK(Contains(error(dir / "none.npz"), "nothing can be compared"));
}

TEST_CASE("nnrun --search-dtype: which operators must stay f32") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[8]  const %large: f32[1] = [100000]  %a = sigmoid(%x)"
             "  %b = mul(%a, %large)  %c = div(%b, %large)  %d = tanh(%c)  out \"y\" = %d }");
  const std::string m = "nnrun " + dir / "m.onnx --search-dtype ";
  const ProgramResult text = RunProgram(m + "f16 --rtol 0.01");
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("2 of 4 operators must stay f32 if the others are f16 ("));
  CHECK(Contains(text.out, "  Mul 1     b\n  Div 2     c\n"));
  CHECK(Contains(text.out, "  y  within tolerance"));
  const ProgramResult json = RunProgram(m + "bf16 --rtol 0.02 --format json");
  CHECK(json.code == 0);
  const Json found = Json::parse(json.out)["search_dtype"];
  CHECK(found["stay"].empty());
  CHECK(found["operators"] == 4);
  CHECK(found["outputs"][0]["agrees"] == true);
  CHECK(Contains(RunProgram(m + "f16").err, "--search-dtype needs --rtol"));
  CHECK(RunProgram(m + "f32 --rtol 1").code == 2);
  CHECK(RunProgram(m + "f16 --rtol 1 --against " + dir / "m.onnx").code == 2);
}

TEST_CASE("nnrun --against: outputs that nothing computes, and those of one model") {
  const TempDir dir;
  const auto model = [](const std::string& k, const std::string& more) {
    return "graph { in %x: f32[2]  const %k: f32[2] = [" + k + "]  %y = neg(%x)  out \"k\" = %k" +
           "  out \"y\" = %y" + more + " }";
  };
  WriteModel(dir / "a.onnx", model("1, 2", "  %z = exp(%x)  out \"z\" = %z"));
  WriteModel(dir / "b.onnx", model("1, 3", ""));
  const ProgramResult r = RunProgram("nnrun " + dir / "a.onnx --against " + dir / "b.onnx");
  CHECK(r.code == 1);
  CHECK(Contains(r.out, "2 of 3 values compared, 1 agree"));
  CHECK(Contains(r.out, "outputs without a counterpart: \"z\""));
  CHECK(Contains(r.out, "first difference: value \"k_1\", constant, "));
  CHECK(RunProgram("nnrun " + dir / "a.onnx --against " + dir / "a.onnx").code == 0);
  const std::string repro =
      dir / "a.onnx --against " + dir / "b.onnx --write-repro " + dir / "repro";
  CHECK(JsonOf(repro, 1)["repro"]["folder"] == dir / "repro");
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
                 "--against and --search-dtype cannot be combined"));
  CHECK(Contains(error(dir / "a.onnx --format html"), "--format html needs --against"));
}

}  // namespace
}  // namespace nn::test::nnrun_against_test

// Inputs of nnrun, and of nnconvert's verification, as users have them.
#include <doctest/doctest.h>

#include <filesystem>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/onnx/file/tensor_file.h"
#include "support/files.h"
#include "support/parts_model.h"
#include "tensorio/npy.h"
#include "tensorio/npz.h"

namespace nn::test::nnrun_inputs_test {
namespace {

ProgramResult Run(const std::string& arguments) {
  return RunProgram("nnrun " + arguments);
}

// The first values of the first output.
Json FirstOf(const std::string& arguments) {
  const ProgramResult r = Run("--format json " + arguments);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  return Json::parse(r.out)["outputs"][0]["first"];
}

void WriteArrays(const std::string& path, const std::vector<NamedTensor>& arrays) {
  REQUIRE(WriteNpz(path, arrays).has_value());
}

void WriteArray(const std::string& path, const Tensor& t) {
  REQUIRE(WriteFile(path, *NpyImage(t)).has_value());
}

constexpr const char* kExtensions[] = {"onnx", "tflite", "mlmodel", "nnapi"};

// Doubles an input of two axes.
std::string DoubleModel(const std::string& type) {
  return "graph { in %x: " + type + "  %y = add(%x, %x)  out \"y\" = %y }";
}

TEST_CASE("inputs: arrays of other numeric types, in every format") {
  const TempDir dir;
  const std::vector<int64_t> shape{1, 2};
  WriteArray(dir / "f64.npy", Tensor::Of<double>(shape, {0.5, -3}));
  WriteArray(dir / "i64.npy", Tensor::Of<int64_t>(shape, {7, -3}));
  WriteArray(dir / "u8.npy", Tensor::Of<uint8_t>(shape, {255, 0}));
  WriteArray(dir / "bool.npy",
             *FromStored(Tensor(DType::kBool, shape, Blob::CopyOf(std::vector<uint8_t>{1, 0})),
                         DType::kBool));
  WriteArray(dir / "tenth.npy", Tensor::Of<double>(shape, {0.5, 0.1}));
  WriteArrays(dir / "i64.npz", {{"in_0", Tensor::Of<int64_t>(shape, {7, -3})}});
  for (const std::string extension : kExtensions) {
    CAPTURE(extension);
    WriteModel(dir / "onnx.onnx", DoubleModel("f32[1, 2]"));
    const std::string model = dir / extension + "." + extension;
    if (extension != "onnx")
      REQUIRE(RunProgram("nnconvert " + dir / "onnx.onnx " + model).code == 0);
    CHECK(FirstOf(model + " --input in_0=" + dir / "f64.npy") == Json{1.0, -6.0});
    CHECK(FirstOf(model + " --input in_0=" + dir / "i64.npy") == Json{14.0, -6.0});
    CHECK(FirstOf(model + " --input in_0=" + dir / "u8.npy") == Json{510.0, 0.0});
    CHECK(FirstOf(model + " --input in_0=" + dir / "bool.npy") == Json{2.0, 0.0});
    CHECK(FirstOf(model + " --input in_0=true") == Json{2.0, 2.0});
    CHECK(FirstOf(model + " --inputs " + dir / "i64.npz") == Json{14.0, -6.0});
    // Core ML's runtime rounds real numbers, so this needs no option.
    const std::string tenth = model + " --input in_0=" + dir / "tenth.npy";
    const ProgramResult r = Run(tenth);
    CHECK(r.code == (extension == "mlmodel" ? 0 : 2));
    if (extension != "mlmodel")
      CHECK(Contains(r.err,
                     "element [0, 1] of the f64 array is 0.1, which is not a value of f32; "
                     "--cast-inputs makes it 0.10000000149011612\n"));
    CHECK(FirstOf(tenth + " --cast-inputs")[1].get<float>() == 0.2f);
  }
}

TEST_CASE("inputs: real numbers for integers and bools") {
  const TempDir dir;
  WriteModel(dir / "i.onnx", DoubleModel("i32[1, 2]"));
  WriteModel(dir / "b.onnx", "graph { in %x: bool[2]  %y = not(%x)  out \"y\" = %y }");
  WriteArray(dir / "whole.npy", Tensor::Of<float>({1, 2}, {3, -4}));
  WriteArray(dir / "half.npy", Tensor::Of<float>({1, 2}, {2.5f, 1e10f}));
  const std::string i = dir / "i.onnx --input x=", b = dir / "b.onnx --input x=";
  CHECK(FirstOf(i + dir / "whole.npy") == Json{6, -8});
  CHECK(FirstOf(i + "[3.0,-4]") == Json{6, -8});
  CHECK(FirstOf(i + "true") == Json{2, 2});
  CHECK(Contains(Run(i + dir / "half.npy").err,
                 "input \"x\": element [0, 0] of the f32 array is 2.5, which is not a value of "
                 "i32; --cast-inputs makes it 2\n"));
  CHECK(FirstOf(i + dir / "half.npy --cast-inputs") == Json{4, -2});  // 2^31 - 1, doubled
  CHECK(Contains(Run(i + "0.5").err, "is 0.5, which is not a value of i32"));
  CHECK(FirstOf(i + "[1.5,0.5] --cast-inputs") == Json{4, 0});
  CHECK(FirstOf(b + "[1,0.0]") == Json{false, true});
  CHECK(Run(b + "[1,2]").code == 2);
  CHECK(FirstOf(b + "[1,2] --cast-inputs") == Json{false, false});
}

TEST_CASE("inputs: quantized inputs take their integers, of any width") {
  const TempDir dir;
  WriteModel(dir / "m.tflite",
             "graph { in %x: i8[1, 2]{scale=0.5, zp=1}  %y = dequantize(%x)  out \"y\" = %y }");
  WriteArray(dir / "i.npy", Tensor::Of<int64_t>({1, 2}, {3, -7}));
  WriteArray(dir / "f.npy", Tensor::Of<float>({1, 2}, {3, -7}));
  const std::string run = dir / "m.tflite --input in_0=";
  CHECK(FirstOf(run + dir / "i.npy") == Json{1.0, -4.0});
  CHECK(FirstOf(run + "[3,-7]") == Json{1.0, -4.0});
  for (const char* option : {"", " --cast-inputs"}) {
    const ProgramResult r = Run(run + dir / "f.npy" + option);
    CHECK(r.code == 2);
    CHECK(Contains(r.err, "the array has real numbers (f32), but the model requires quantized"));
    CHECK(Contains(r.err, "i8{scale=0.5, zp=1}  [1, 2]  f32[1, 2]"));
    CHECK(Run(run + "0.5" + option).code == 2);
  }
}

TEST_CASE("inputs: a missing or extra axis of size 1") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", DoubleModel("f32[batch, 2]"));
  WriteArray(dir / "missing.npy", Tensor::Of<int32_t>({2}, {1, 2}));
  WriteArray(dir / "extra.npy", Tensor::Of<float>({1, 2, 1}, {1, 2}));
  WriteArray(dir / "other.npy", Tensor::Of<float>({3}, {1, 2, 3}));
  const std::string run = dir / "m.onnx --input x=";
  const ProgramResult missing = Run(run + dir / "missing.npy");
  CHECK(missing.code == 2);
  CHECK(missing.err ==
        "nnrun: error: input \"x\": a tensor of shape [2] does not fit f32[batch, 2]: axis 0 of "
        "size 1 is missing; --reshape-inputs makes it [1, 2]\n"
        "  input  type  shape       given\n"
        "  x      f32   [batch, 2]  i32[2]\n");
  CHECK(Contains(Run(run + dir / "extra.npy").err, "axis 2 of size 1 is extra"));
  CHECK(Contains(Run(run + "[1,2]").err, "axis 0 of size 1 is missing"));
  CHECK(FirstOf(run + "[1,2] --reshape-inputs") == Json{2.0, 4.0});
  for (const char* file : {"missing.npy", "extra.npy"})
    CHECK(FirstOf(run + dir / file + " --reshape-inputs") == Json{2.0, 4.0});
  const ProgramResult other = Run(run + dir / "other.npy --reshape-inputs");
  CHECK(other.code == 2);
  CHECK(Contains(other.err, "a tensor of shape [3] does not fit"));
}

TEST_CASE("inputs: names of TensorFlow and of files, for inputs and expected outputs") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %a: f32[2]
    in %b: f32[2]
    %y = sub(%a, %b)
    out "model/y:0" = %y
  })");
  const std::string model = dir / "renamed.onnx";
  REQUIRE(RunProgram("nnconvert " + dir / "m.onnx " + model +
                     " --rename-input a=serving_default_a:0 --rename-input b=b:0")
              .code == 0);
  const Tensor a = Tensor::Of<float>({2}, {5, 6}), b = Tensor::Of<float>({2}, {1, 1});
  const Tensor y = Tensor::Of<float>({2}, {4, 5});
  for (const char* name : {"model/y:0", "model/y", "model_y_0", "model_y", "out_0"}) {
    CAPTURE(std::string(name));
    WriteArrays(dir / "y.npz", {{name, y}});
    for (const char* input : {"serving_default_a:0", "a", "a:0", "serving_default_a_0", "in_0"}) {
      CAPTURE(std::string(input));
      WriteArrays(dir / "x.npz", {{"b", b}, {input, a}});
      CHECK(Run(model + " --inputs " + dir / "x.npz --expect " + dir / "y.npz").code == 0);
      CHECK(Run(fmt::format("{} --input {}=[5,6] --input in_1=1 --expect {}", model, input,
                            dir / "y.npz"))
                .code == 0);
    }
  }
  WriteArrays(dir / "x.npz", {{"a", a}, {"a:0", a}});
  CHECK(Contains(Run(model + " --inputs " + dir / "x.npz").err,
                 "two arrays match \"serving_default_a:0\""));
  // Names that could be several inputs.
  const std::string twins = dir / "twins.onnx";
  REQUIRE(RunProgram("nnconvert " + dir / "m.onnx " + twins +
                     " --rename-input a=serving_default_x:0 --rename-input b=x:0")
              .code == 0);
  const ProgramResult r = Run(twins + " --input x=1");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "\"x\" could be any of \"serving_default_x:0\", \"x:0\""));
  CHECK(Run(twins + " --input x:0=1").code == 0);
}

TEST_CASE("inputs: names of NNAPI operands") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x "first": f32[1, 2]
    in %z "second": f32[1, 2]
    %y = sub(%x, %z)
    out "difference" = %y
  })");
  REQUIRE(RunProgram("nnconvert " + dir / "m.onnx " + dir / "m.nnapi").code == 0);
  WriteArrays(dir / "in.npz", {{"second", Tensor::Of<float>({1, 2}, {1, 2})},
                               {"first", Tensor::Of<float>({1, 2}, {5, 7})}});
  WriteArrays(dir / "out.npz", {{"difference", Tensor::Of<float>({1, 2}, {4, 5})}});
  const std::string arrays = " --inputs " + dir / "in.npz" + " --expect " + dir / "out.npz";
  CHECK(Run(dir / "m.nnapi" + arrays).code == 0);
  CHECK(FirstOf(dir / "m.nnapi" + " --input first=[1,1] --input in_1=[3,4]") == Json{-2.0, -3.0});
}

TEST_CASE("inputs: errors end with a table of what is wanted and given") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %ids: i64[n, 2]
    in %scale: f32[n, 1]
    const %t: f32[3, 4] = seeded(1)
    %e = gather(%t, %ids)
    %m = reduce_mean(%e) {axes = [1], keep_dims = false}
    %y = mul(%m, %scale)
    out "y" = %y
  })");
  WriteArrays(dir / "x.npz",
              {{"nosuch", Tensor::Ints({1})}, {"ids", Tensor::Of<int32_t>({1, 2}, {0, 1})}});
  const std::string model = dir / "m.onnx";
  const std::string wanted =
      "  input  type  shape   given\n"
      "  ids    i64   [n, 2]  {}\n"
      "  scale  f32   [n, 1]  {}\n";
  const ProgramResult unknown = Run(model + " --input scale=[[2]] --input q=1");
  CHECK(unknown.code == 2);
  CHECK(unknown.err.ends_with(fmt::format(fmt::runtime(wanted), "not given", "f32[1, 1]")));
  // Also arrays after the one that has no input.
  const ProgramResult archive = Run(model + " --inputs " + dir / "x.npz");
  CHECK(archive.code == 2);
  CHECK(Contains(archive.err, "array \"nosuch\" matches no name of \"ids\", \"scale\""));
  CHECK(archive.err.ends_with(fmt::format(fmt::runtime(wanted), "i32[1, 2]", "not given")));
  const ProgramResult json = Run(model + " --format json --input q=1");
  CHECK(Contains(Json::parse(json.out)["error"].get<std::string>(), "not given"));
  // Errors of files are not about the inputs.
  CHECK(!Contains(Run(model + " --input ids=nosuch.npy").err, "not given"));
  WriteArrays(dir / "e.npz", {{"nosuch", Tensor::Ints({1})}});
  CHECK(Run(model + " --batch 1 --expect " + dir / "e.npz")
            .err.ends_with("  output  type  shape   given\n"
                           "  y       f32   [1, 4]  not given\n"));
}

TEST_CASE("inputs: a table of many inputs is cut") {
  const TempDir dir;
  std::string text = "graph {\n";
  for (int i = 0; i < 45; ++i) text += fmt::format("in %x{}: f32[1]\n", i);
  text += "%y = add(%x0, %x1)\nout \"y\" = %y }";
  WriteModel(dir / "m.onnx", text);
  const ProgramResult r = Run(dir / "m.onnx --input x44=[1,2]");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "  x39 "));
  CHECK(!Contains(r.err, "  x40 "));
  CHECK(r.err.ends_with("\n  and 5 more\n"));
}

TEST_CASE("inputs: types that NumPy lacks, stored as integers") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", DoubleModel("bf16[1, 2]"));
  const Tensor x = Tensor::Of<uint16_t>({1, 2}, {0x3F80, 0x4000});  // 1, 2
  const Tensor y = Tensor::Of<uint16_t>({1, 2}, {0x4000, 0x4080});  // 2, 4
  WriteArray(dir / "x.npy", x);
  WriteArrays(dir / "x.npz", {{"x", x}});
  WriteArrays(dir / "y.npz", {{"y", y}});
  const std::string expect = " --expect " + dir / "y.npz";
  CHECK(Run(dir / "m.onnx --inputs " + dir / "x.npz" + expect).code == 0);
  CHECK(Run(dir / "m.onnx --input x=" + dir / "x.npy" + expect).code == 0);
  // ONNX's own tests have them in TensorProtos.
  const auto write = [&](const std::string& name, const Tensor& t) {
    REQUIRE(WriteFile(dir / name, *onnx::TensorProtoImage(t, "")).has_value());
  };
  write("input_0.pb", x);
  write("output_0.pb", y);
  const ProgramResult passed = Run(dir / "m.onnx --test-data " + dir.path());
  CHECK_MESSAGE(passed.code == 0, passed.err);
  write("output_0.pb", x);
  CHECK(Run(dir / "m.onnx --test-data " + dir.path()).code == 1);
}

TEST_CASE("inputs: nnconvert --verify-inputs reads them alike") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", DoubleModel("f32[1, 2]"));
  WriteArray(dir / "i.npy", Tensor::Of<int64_t>({1, 2}, {3, -7}));
  WriteArray(dir / "tenth.npy", Tensor::Of<double>({1, 2}, {0.1, 1}));
  WriteArray(dir / "axis.npy", Tensor::Of<float>({2}, {1, 2}));
  std::filesystem::create_directory(dir / "set");
  WriteArray(dir / "set/x_0.npy", Tensor::Of<int64_t>({1, 2}, {3, -7}));
  const std::string convert = "nnconvert --rewrite " + dir / "m.onnx " + dir / "out.onnx ";
  const std::string verify = convert + "--verify-inputs x:0=";
  CHECK(RunProgram(verify + dir / "i.npy").code == 0);
  CHECK(RunProgram(convert + "--verify-inputs " + dir / "i.npy").code == 0);
  const ProgramResult tenth = RunProgram(verify + dir / "tenth.npy");
  CHECK(tenth.code == 2);
  CHECK(Contains(tenth.err, "--cast-inputs makes it"));
  CHECK(tenth.err.ends_with("  x      f32   [1, 2]  f64[1, 2]\n"));
  CHECK(RunProgram(verify + dir / "tenth.npy --cast-inputs").code == 0);
  CHECK(Contains(RunProgram(verify + dir / "axis.npy").err, "axis 0 of size 1 is missing"));
  CHECK(RunProgram(verify + dir / "axis.npy --reshape-inputs").code == 0);
  const ProgramResult unknown = RunProgram(convert + "--verify-inputs " + dir / "set");
  CHECK(unknown.code == 2);
  CHECK(
      Contains(unknown.err, "x_0.npy: matches no name of \"x\", nor in_K or input_K by position"));
  // Several files are one set until an input is given again.
  const std::string files = "x=" + dir / "i.npy";
  const ProgramResult two =
      RunProgram(convert + "--verify-inputs " + files + " --verify-inputs " + files);
  CHECK(two.code == 0);
  CHECK(Contains(two.out, "verified by 2 runs"));
  CHECK(Contains(RunProgram(convert + "--cast-inputs").err, "requires --verify-inputs"));
  WriteModel(dir / "m.mlmodel", DoubleModel("f32[2, 2]"));
  WriteArray(dir / "round.npy", Tensor::Of<double>({2, 2}, {0.1, 1, 2, 3}));
  CHECK(RunProgram("nnconvert " + dir / "m.mlmodel " + dir / "out.tflite --verify-inputs " +
                   dir / "round.npy")
            .code == 0);
}

TEST_CASE("inputs: those that decide about lengths are known to the import") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kPartsModel);
  const std::string model = dir / "m.textproto ";
  const Tensor x = Tensor::Of<float>({6}, {0, 1, 2, 3, 4, 5});
  WriteArrays(dir / "named.npz",
              {{"x", x}, {"n", Tensor::Scalar<int64_t>(2)}, {"i", Tensor::Scalar<int32_t>(1)}});
  WriteArrays(
      dir / "placed.npz",
      {{"in_0", Tensor::Scalar<int64_t>(4)}, {"in_1", x}, {"in_2", Tensor::Scalar<int64_t>(-1)}});
  CHECK(Run(model).code == 3);
  CHECK(FirstOf(model + "--inputs " + dir / "named.npz") == Json({2.0, 3.0}));
  CHECK(FirstOf(model + "--inputs " + dir / "placed.npz") == Json({4.0, 5.0}));
  CHECK(FirstOf(model + "--input n=3 --input i=0 --input x=[6,5,4,3,2,1]") ==
        Json({6.0, 5.0, 4.0}));
  // To the model that it is compared with, too.
  const ProgramResult same =
      Run(model + "--inputs " + dir / "named.npz" + " --against " + dir / "m.textproto");
  CHECK_MESSAGE(same.code == 0, same.err);
  // What is not given does not decide.
  CHECK(Run(model + "--input i=0").code == 3);
  WriteArrays(dir / "lacks.npz", {{"x", x}, {"n", Tensor::Scalar<int64_t>(2)}});
  const ProgramResult lacks = Run(model + "--inputs " + dir / "lacks.npz");
  CHECK(lacks.code == 2);
  CHECK_MESSAGE(Contains(lacks.err, "--inputs does not have \"i\""), lacks.err);
}

// y is the sum of the rows of x, as the state after a Scan; n sequences of rows.
constexpr const char* kScanModel = R"(ir_version: 8
opset_import { version: 17 }
graph { name: "g"
  node { op_type: "Scan" input: "s" input: "x" output: "y"
    attribute { name: "num_scan_inputs" type: INT i: 1 }
    attribute { name: "body" type: GRAPH g { name: "body"
      node { op_type: "Add" input: "a" input: "b" output: "c" }
      input { name: "a" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      input { name: "b" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "c" type { tensor_type { elem_type: 1 } } }
    } } }
  node { op_type: "SplitToSequence" input: "x" output: "rows" }
  node { op_type: "SequenceLength" input: "rows" output: "n" }
  input { name: "s" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "T" }
    dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  output { name: "n" type { tensor_type { elem_type: 7 } } }
})";

TEST_CASE("inputs: the shapes of the given arrays are known to the import") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kScanModel);
  const std::string model = dir / "m.textproto ";
  WriteArrays(dir / "in.npz", {{"s", Tensor::Of<float>({2}, {0, 1})},
                               {"x", Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}});
  CHECK(Run(model).code == 3);
  for (const std::string backend : {"simd", "reference"}) {
    const ProgramResult r =
        Run("--format json " + model + "--backend " + backend + " --inputs " + dir / "in.npz");
    REQUIRE_MESSAGE(r.code == 0, r.err);
    const Json outputs = Json::parse(r.out)["outputs"];
    CHECK(outputs[0]["first"] == Json({9.0, 13.0}));
    CHECK(outputs[1]["first"] == Json{3});
  }
  CHECK(FirstOf(model + "--input s=[0,0] --input x=[[1,2],[3,4]]") == Json({4.0, 6.0}));
  // What is not given is not known.
  CHECK(Run(model + "--input s=[0,0]").code == 3);
}

TEST_CASE("inputs: the arrays of a step are known to the import") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kScanModel);
  // Two steps, of two rows each; the sum goes on.
  WriteArrays(dir / "in.npz", {{"s", Tensor::Of<float>({2}, {0, 1})},
                               {"x", Tensor::Of<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}});
  CHECK(FirstOf(dir / "m.textproto" + " --steps 2 --carry y=s --inputs " + dir / "in.npz") ==
        Json({4.0, 7.0, 16.0, 21.0}));
}

}  // namespace
}  // namespace nn::test::nnrun_inputs_test

#include <doctest/doctest.h>

#include <string>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"
#include "tensorio/npz.h"
#include "tensorio/tensor_archive.h"

// nnconvert --fix-input and --clip-input, and the remedies that name them.
namespace nn::test::nnconvert_fix_input_test {
namespace {

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

// What each axis of the slice is cut to is an input.
std::string SliceModel() {
  return R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Slice" input: "x" input: "starts" input: "ends" input: "axes" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 3 } } } } }
  input { name: "starts" type { tensor_type { elem_type: 7 shape { dim { dim_param: "k" } } } } }
  input { name: "ends" type { tensor_type { elem_type: 7 shape { dim { dim_param: "k" } } } } }
  input { name: "axes" type { tensor_type { elem_type: 7 shape { dim { dim_param: "k" } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";
}

TEST_CASE("nnconvert --fix-input: literals, files and archives") {
  const TempDir dir;
  WriteText(dir / "m.textproto", SliceModel());
  REQUIRE(Convert(dir / "m.textproto " + dir / "m.onnx").code == 0);
  const std::string starts = " --fix-input 'starts=[1, 0]'";
  const std::string others = " --fix-input 'ends=[3, 2]' --fix-input axes=[0,1]";
  for (const std::string out : {"y.tflite", "y.mlmodel", "y.nnapi", "y.onnx"}) {
    const ProgramResult r = Convert(dir / "m.onnx " + dir / out + starts + others);
    CHECK_MESSAGE(r.code == 0, (r.err + r.out));
    CHECK_MESSAGE(Contains(r.out, "bit-identical"), r.out);
    const ProgramResult inspected = RunProgram("nninspect " + dir / out + " --format json");
    const Json json = Json::parse(inspected.out);
    CHECK(json["inputs"].size() == 1);
    CHECK(json["outputs"][0]["shape"] == Json({2, 2}));
  }
  // i32 values are taken for i64 ones.
  REQUIRE(WriteTensorArchive(dir / "c.npz",
                             std::vector<NamedTensor>{{"ends", Tensor::Of<int32_t>({2}, {3, 2})},
                                                      {"axes", Tensor::Of<int32_t>({2}, {0, 1})}})
              .has_value());
  const ProgramResult r =
      Convert(dir / "m.onnx " + dir / "z.tflite" + starts + " --fix-input " + dir / "c.npz");
  CHECK_MESSAGE(r.code == 0, (r.err + r.out));
  CHECK(ReadText(dir / "z.tflite") == ReadText(dir / "y.tflite"));
}

TEST_CASE("nnconvert --fix-input: errors name the input and what is wanted") {
  const TempDir dir;
  WriteText(dir / "m.textproto", SliceModel());
  const auto error = [&](const std::string& options) {
    const ProgramResult r = Convert(dir / "m.textproto " + dir / "y.tflite " + options);
    CHECK(r.code == 2);
    CHECK_FALSE(Exists(dir / "y.tflite"));
    return r.err;
  };
  CHECK(Contains(error("--fix-input axis=[0]"), "unknown name; expected one of \"x\", \"starts\""));
  CHECK(Contains(error("--fix-input axes=[0] --fix-input axes=[1]"), "given more than once"));
  CHECK(Contains(error("--fix-input axes=[0.5]"), "0.5"));
  CHECK(Contains(error("--fix-input x=[1,2]"), "input \"x\""));
  CHECK(Contains(error("--fix-input axes=nosuch.npy"), "nosuch.npy"));
  // The sizes of both are k.
  CHECK(Contains(error("--fix-input axes=[0,1] --fix-input starts=[0] --fix-input ends=[1]"),
                 "does not fit"));
  const ProgramResult folder = Convert(dir / ". " + dir / "out --to tflite --fix-input axes=[0]");
  CHECK(folder.code == 2);
  CHECK(Contains(folder.err, "--fix-input is for one model"));
}

// Core ML needs constant pads, but no constant value.
std::string PadModel() {
  return R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Pad" input: "x" input: "pads" input: "value" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 3 } } } } }
  input { name: "pads" type { tensor_type { elem_type: 7 shape { dim { dim_value: 4 } } } } }
  input { name: "value" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";
}

TEST_CASE("nnconvert: an operator that needs constants names the inputs to fix") {
  const TempDir dir;
  WriteText(dir / "pad.textproto", PadModel());
  const ProgramResult pad = Convert(dir / "pad.textproto --dry-run --to coreml");
  CHECK(pad.code == 3);
  CHECK(Contains(pad.out,
                 "with suitable constants for inputs, every operator can be converted: "
                 "--fix-input 'pads=["));
  CHECK_FALSE(Contains(pad.out, "--fix-input value"));
  WriteText(dir / "m.textproto", SliceModel());
  const ProgramResult r =
      Convert(dir / "m.textproto --dry-run --to all --format json --input-shape axes:2");
  CHECK(r.code == 3);
  CHECK(Contains(r.out, "--fix-input starts=0 --fix-input 'ends=[4,3]' --fix-input 'axes=[0,1]'"));
  CHECK_FALSE(Contains(r.out, "--fix-input x="));
}

// A branch of a model that fails for other sizes of "x" is left out by what "rate" is compared
// with.
std::string RateModel() {
  return R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Equal" input: "rate" input: "high" output: "c" }
  node { op_type: "If" input: "c" output: "y"
    attribute { name: "then_branch" type: GRAPH g { name: "t"
      node { op_type: "Relu" input: "x" output: "t_y" }
      output { name: "t_y" type { tensor_type { elem_type: 1 } } } } }
    attribute { name: "else_branch" type: GRAPH g { name: "e"
      node { op_type: "Add" input: "x" input: "two" output: "e_y" }
      output { name: "e_y" type { tensor_type { elem_type: 1 } } } } } }
  initializer { name: "high" data_type: 7 int64_data: 16000 }
  initializer { name: "two" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_param: "t" } } } } }
  input { name: "rate" type { tensor_type { elem_type: 7 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";
}

TEST_CASE("nnconvert: the contents that a refusal names are those that the model expects") {
  const TempDir dir;
  WriteText(dir / "m.textproto", RateModel());
  const std::string command = dir / "m.textproto " + dir / "y.tflite --input-shape x:1,8";
  const ProgramResult refused = Convert(command);
  CHECK(refused.code == 3);
  const std::string_view option = "every operator can be converted: --fix-input rate=16000\n";
  CHECK_MESSAGE(Contains(refused.out, option), refused.out);
  const ProgramResult done = Convert(command + " --fix-input rate=16000");
  CHECK_MESSAGE(done.code == 0, (done.err + done.out));
}

// Products of integers, which may be larger than what float32 represents.
std::string ProductModel() {
  return R"(ir_version: 8
opset_import { version: 14 }
graph { name: "g"
  node { op_type: "Mul" input: "a" input: "b" output: "y" }
  input { name: "a" type { tensor_type { elem_type: 6 shape { dim { dim_value: 3 } } } } }
  input { name: "b" type { tensor_type { elem_type: 6 shape { dim { dim_value: 3 } } } } }
  output { name: "y" type { tensor_type { elem_type: 6 } } }
})";
}

TEST_CASE("nnconvert --clip-input: bounds prove that integers are exact") {
  const TempDir dir;
  WriteText(dir / "m.textproto", ProductModel());
  for (const std::string out : {"y.mlmodel", "y.nnapi"}) {
    CAPTURE(out);
    const std::string command = dir / "m.textproto " + dir / out;
    ProgramResult r = Convert(command);
    CHECK(r.code == 3);
    CHECK(Contains(r.out,
                   "with narrow bounds of the integers in inputs, every operator can be "
                   "converted: --clip-input a=0,1 --clip-input b=0,1"));
    // 2^24 is the largest product.
    r = Convert(command + " --clip-input a=-4096,4096 --clip-input b=0,4096");
    CHECK_MESSAGE(r.code == 0, (r.err + r.out));
    CHECK_MESSAGE(Contains(r.out, "bit-identical"), r.out);
    CHECK(Convert(command + " --clip-input a=-4096,4096 --clip-input b=0,4097").code == 3);
  }
  // The clipped model is the one that is verified.
  const std::string inputs = dir / "m.onnx --input 'a=[-9, 2, 9]' --input b=2 --format json";
  REQUIRE(Convert(dir / "m.textproto " + dir / "m.onnx --clip-input a=-1,3").code == 0);
  const ProgramResult run = RunProgram("nnrun " + inputs);
  CHECK(Json::parse(run.out)["outputs"][0]["first"] == Json({-2, 4, 6}));
}

TEST_CASE("nnconvert --clip-input: the bounds of indices are those of the table") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8
opset_import { version: 14 }
graph { name: "g"
  node { op_type: "Add" input: "ids" input: "one" output: "next" }
  node { op_type: "Gather" input: "table" input: "next" output: "y" }
  initializer { name: "one" data_type: 6 int32_data: 1 }
  initializer { name: "table" dims: [6] data_type: 1 float_data: [1, 2, 3, 4, 5, 6] }
  input { name: "ids" type { tensor_type { elem_type: 6 shape { dim { dim_value: 3 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})");
  const std::string command = dir / "m.textproto " + dir / "y.mlmodel";
  const ProgramResult refused = Convert(command);
  CHECK(refused.code == 3);
  CHECK_MESSAGE(Contains(refused.out,
                         "with bounds for the integers in inputs, every operator can "
                         "be converted: --clip-input ids=-1,4\n"),
                refused.out);
  const ProgramResult done = Convert(command + " --clip-input ids=-1,4");
  CHECK_MESSAGE(done.code == 0, (done.err + done.out));
}

TEST_CASE("nnconvert --clip-input: errors") {
  const TempDir dir;
  WriteText(dir / "m.textproto", ProductModel());
  const auto error = [&](const std::string& options) {
    const ProgramResult r = Convert(dir / "m.textproto " + dir / "y.mlmodel " + options);
    CHECK(r.code == 2);
    CHECK_FALSE(Exists(dir / "y.mlmodel"));
    return r.err;
  };
  CHECK(Contains(error("--clip-input c=0,1"), "unknown name; expected one of \"a\", \"b\""));
  CHECK(Contains(error("--clip-input a=1"), "expected NAME=MIN,MAX"));
  CHECK(Contains(error("--clip-input a=0,1 --clip-input a=0,2"), "once for each input"));
  CHECK(Contains(error("--clip-input a=2,1"), "the bounds contain no number"));
  CHECK(Contains(error("--clip-input a=0,1.5"), "1.5"));
  CHECK(Contains(error("--clip-input a=0,3000000000"), "3000000000"));
}

}  // namespace
}  // namespace nn::test::nnconvert_fix_input_test

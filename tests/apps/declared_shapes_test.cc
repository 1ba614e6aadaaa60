// Declared shapes that only a run can confirm, in all programs.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "support/files.h"
#include "tensorio/npy.h"

namespace nn::test::declared_shapes_test {
namespace {

// A Reshape whose shape is an input of `axes` entries; its result is declared with two dimensions.
std::string ReshapeText(const std::string& axes, const std::string& dims) {
  return R"(ir_version: 8
    opset_import { version: 17 }
    graph {
      name: "g"
      node { name: "r" op_type: "Reshape" input: "x" input: "s" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 8 } } } } }
      input { name: "s" type { tensor_type { elem_type: 7 shape { dim { dim_value: )" +
         axes + R"( } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { )" +
         dims + R"( } } } }
    })";
}

TEST_CASE("declared shapes: a run that contradicts one ends with code 1 and writes nothing") {
  const TempDir dir;
  const std::string model = dir / "m.textproto";
  WriteText(model, ReshapeText("2", "dim { dim_value: 2 } dim { dim_value: 4 }"));
  const std::string out = dir / "out.npz";
  for (const char* backend : {"simd", "reference"}) {
    const std::string run = std::string("nnrun --backend ") + backend + " " + model + " -o " + out;
    const ProgramResult wrong = RunProgram(run + " --input s=[4,2]");
    CHECK(wrong.code == 1);
    CHECK(Contains(wrong.err,
                   "reshape \"r\" (operator 0 (Reshape)): output 0 (\"y\") is declared "
                   "f32[2, 4] but is f32[4, 2]"));
    CHECK_FALSE(Exists(out));
  }
  CHECK(RunProgram("nnrun " + model + " -o " + out + " --input s=[2,4]").code == 0);
  CHECK(Exists(out));
}

TEST_CASE("declared shapes: contradictions that inference detects are findings") {
  const TempDir dir;
  const std::string model = dir / "m.textproto";
  // A single entry takes all elements, whatever its value.
  WriteText(model, ReshapeText("1", "dim { dim_value: 4 }"));
  const ProgramResult r = RunProgram("nnvalidate " + model);
  CHECK(r.code == 1);
  CHECK(Contains(r.out,
                 "\"y\" is declared as f32[4], but Reshape \"r\" returns f32[8] [ONNX-SHAPE-002]"));
  WriteText(model, ReshapeText("1", "dim { dim_value: 8 }"));
  CHECK(RunProgram("nnvalidate " + model).code == 0);
  CHECK(RunProgram("nnrun " + model + " --input s=[8]").code == 0);
}

// As files of TorchScript have it behind an If whose branch drops an axis, and files whose last
// operators were cut off.
TEST_CASE("declared shapes: another rank than that of the operator is a finding, and runs") {
  const TempDir dir;
  const std::string model = dir / "m.textproto", out = dir / "out.npy";
  WriteText(model, ReshapeText("2", "dim { dim_param: \"n\" }"));
  const ProgramResult r = RunProgram("nnvalidate " + model);
  CHECK(r.code == 1);
  CHECK(Contains(r.out, "\"y\" is declared as f32[n], but Reshape \"r\" returns f32["));
  for (const char* backend : {"simd", "reference"})
    CHECK(RunProgram(std::string("nnrun --backend ") + backend + " " + model + " -o " + out +
                     " --input s=[2,4]")
              .code == 0);
  const auto y = ReadNpy(*ReadFile(out));
  REQUIRE(y.has_value());
  CHECK(y->dims() == std::vector<int64_t>{2, 4});
  // One line says what decides.
  const std::string note =
      "the operators contradict the declared shape of 1 value, and decide: \"y\" is declared as "
      "f32[n], but is f32[";
  const ProgramResult noted = RunProgram("nnrun --format json " + model + " --input s=[2,4]");
  CHECK(Contains(noted.err, note));
  REQUIRE(Json::parse(noted.out)["notes"].size() == 1);
  CHECK(Contains(Json::parse(noted.out)["notes"][0].get<std::string>(), note));
  const std::string written = dir / "out.onnx";
  const ProgramResult converted =
      RunProgram("nnconvert --rewrite --fix-input s=[2,4] " + model + " " + written);
  CHECK(converted.code == 0);
  CHECK(Contains(converted.out + converted.err, note));
  CHECK_FALSE(Contains(RunProgram("nnrun " + written).err, "contradict"));
  CHECK(Inspect(written)["outputs"][0]["shape"] == Json::array({2, 4}));
  CHECK(RunProgram("nnvalidate " + written).code == 0);
}

// As files whose inputs were given another size by hand, while value_info and outputs kept theirs.
TEST_CASE("declared shapes: other sizes than those of the operators are findings, and run") {
  const TempDir dir;
  const std::string model = dir / "m.textproto", out = dir / "out.npy";
  WriteText(model, R"(ir_version: 8
    opset_import { version: 17 }
    graph {
      name: "g"
      node { op_type: "Relu" input: "x" output: "a" }
      node { op_type: "Neg" input: "a" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape {
        dim { dim_value: 2 } dim { dim_value: 4 } } } } }
      value_info { name: "a" type { tensor_type { elem_type: 1 shape {
        dim { dim_value: 1 } dim { dim_value: 4 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape {
        dim { dim_value: 2 } dim { dim_value: 5 } } } } }
    })");
  const ProgramResult r = RunProgram("nnvalidate " + model);
  CHECK(r.code == 1);
  CHECK(Contains(r.out, "\"a\" is declared as f32[1, 4], but Relu returns f32[2, 4]"));
  for (const char* backend : {"simd", "reference"})
    CHECK(RunProgram(std::string("nnrun --backend ") + backend + " " + model + " -o " + out).code ==
          0);
  const auto y = ReadNpy(*ReadFile(out));
  REQUIRE(y.has_value());
  CHECK(y->dims() == std::vector<int64_t>{2, 4});
  for (const char* extension : {".onnx", ".tflite", ".mlmodel", ".nnapi"}) {
    CAPTURE(extension);
    const std::string written = dir / "out" + extension;
    CHECK(RunProgram("nnconvert --rewrite " + model + " " + written).code == 0);
    CHECK(Inspect(written)["outputs"][0]["shape"] == Json::array({2, 4}));
    CHECK(RunProgram("nnvalidate " + written).code == 0);
  }
}

// A branch that drops the batch if it is 1, as TorchScript writes squeeze(0).
TEST_CASE("declared shapes: a branch that the given sizes do not take may not fit them") {
  const TempDir dir;
  const std::string model = dir / "m.textproto";
  WriteText(model, R"(ir_version: 8
    opset_import { version: 17 }
    graph {
      name: "g"
      node { op_type: "Shape" input: "x" output: "s" }
      node { op_type: "Gather" input: "s" input: "zero" output: "n" }
      node { op_type: "Equal" input: "n" input: "one" output: "c" }
      node { op_type: "If" input: "c" output: "y"
        attribute { name: "then_branch" type: GRAPH g { name: "then"
          node { op_type: "Squeeze" input: "x" input: "axis" output: "t" }
          initializer { name: "axis" data_type: 7 dims: 1 int64_data: 0 }
          output { name: "t" type { tensor_type { elem_type: 1 } } } } }
        attribute { name: "else_branch" type: GRAPH g { name: "else"
          node { op_type: "Identity" input: "x" output: "e" }
          output { name: "e" type { tensor_type { elem_type: 1 } } } } } }
      initializer { name: "zero" data_type: 7 int64_data: 0 }
      initializer { name: "one" data_type: 7 int64_data: 1 }
      input { name: "x" type { tensor_type { elem_type: 1 shape {
        dim { dim_param: "n" } dim { dim_value: 4 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 } } }
    })");
  struct Case {
    std::string given;
    std::vector<int64_t> dims;
  };
  for (const Case& c : {Case{"[[1,2,3,4],[5,6,7,8]]", {2, 4}}, Case{"[[1,2,3,4]]", {4}}}) {
    CAPTURE(c.given);
    const std::string out = dir / "out.npy";
    const ProgramResult r = RunProgram("nnrun " + model + " --input x=" + c.given + " -o " + out);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    const auto y = ReadNpy(*ReadFile(out));
    REQUIRE(y.has_value());
    CHECK(y->dims() == c.dims);
  }
  const ProgramResult wrong = RunProgram("nnrun " + model + " --input x=[[1,2,3]]");
  CHECK(wrong.code == 2);
  CHECK(Contains(wrong.err, "input \"x\" is f32[n, 4]; a tensor of shape [1, 3] does not fit"));
}

TEST_CASE("declared shapes: nnconvert keeps them") {
  const TempDir dir;
  const std::string model = dir / "m.textproto";
  WriteText(model, ReshapeText("2", "dim { dim_value: 2 } dim { dim_value: 4 }"));
  const std::string written = dir / "out.onnx";
  CHECK(RunProgram("nnconvert --rewrite --no-verify " + model + " " + written).code == 0);
  const Json before = Inspect(model);
  const Json after = Inspect(written);
  CHECK(before["outputs"][0]["shape"] == Json::array({2, 4}));
  CHECK(after["outputs"][0]["shape"] == Json::array({2, 4}));
  // The verification runs the model with the declared shapes, and other shapes are rejected.
  const std::string convert = "nnconvert --rewrite " + model + " ";
  const Tensor other = Tensor::Of({2}, std::vector<int64_t>{4, 2});
  REQUIRE(WriteFile(dir / "other.npy", *NpyImage(other)).has_value());
  const ProgramResult rejected =
      RunProgram(convert + dir / "v.onnx --verify-inputs s=" + dir / "other.npy");
  CHECK(rejected.code == 2);
  CHECK(Contains(rejected.err, "is declared f32[2, 4] but is "));
  CHECK_FALSE(Exists(dir / "v.onnx"));
  CHECK(RunProgram(convert + dir / "v.onnx").code == 0);
}

}  // namespace
}  // namespace nn::test::declared_shapes_test

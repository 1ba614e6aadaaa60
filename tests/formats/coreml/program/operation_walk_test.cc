// Programs with blocks, constants and attributes against the definitions of their operations.
#include "formats/coreml/program/import/operation_walk.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "coreml_model.pb.h"
#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/text/parse.h"

namespace nn::test::coreml_operation_walk_test {
namespace {

namespace mil = coreml::pb::mil;
using Texts = std::vector<std::string>;

Texts FaultsOf(const coreml::Model& model) {
  Texts out;
  coreml::program::VisitProgram(
      model, model.proto->mlprogram(),
      {.operation =
           [&](const coreml::program::OperationAt& at) {
             if (at.view.definition == nullptr) return out.push_back("no definition");
             for (const auto& misfit : MisfitsOf(at.view)) out.push_back(misfit.text);
           },
       .name = [&](const coreml::program::ProgramPlace& place,
                   const std::string& text) { out.push_back(place.path + ": " + text); }});
  return out;
}

Texts FaultsOf(const MilBlock& function, const std::string& opset = "CoreML5") {
  coreml::Model model;
  BuildMil(function, opset, model);
  return FaultsOf(model);
}

Texts FaultsIn(const std::string& operations, const std::string& opset = "ios16") {
  coreml::Model model;
  const auto parsed =
      coreml::program::ParseProgram("program(1.0) { func main<" + opset +
                                        ">(tensor<fp32, [2]> x) { " + operations + " } -> (y); }",
                                    *model.proto->mutable_mlprogram());
  REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message());
  return FaultsOf(model);
}

// y = cond(p) ? true : false.
MilBlock Cond(MilBlock yes, MilBlock no, const std::string& type = "f32[2]") {
  MilBlock function;
  function.inputs = {{"p", "bool[]"}, {"x", "f32[2]"}};
  function.operations = {
      {"cond", {Ref("pred", "p")}, {{"y", type}}, {std::move(yes), std::move(no)}}};
  function.outputs = {"y"};
  return function;
}

MilBlock Branch(const std::string& name, const std::string& type) {
  MilBlock block;
  const bool is_cast = type.starts_with("i32");
  MilOperation operation{is_cast ? "cast" : "relu", {Ref("x", "x")}, {{name, type}}};
  if (is_cast) operation.operands.push_back(Text("dtype", "int32"));
  block.operations = {operation};
  block.outputs = {name};
  return block;
}

TEST_CASE("coreml operation walk: branches") {
  CHECK(FaultsOf(Cond(Branch("a", "f32[2]"), Branch("b", "f32[2]"))) == Texts());
  // Names of blocks are not visible outside of them.
  CHECK(FaultsOf(Cond(Branch("a", "f32[2]"), Branch("a", "f32[2]"))) == Texts());
  CHECK(FaultsOf(Cond(Branch("a", "f32[2]"), Branch("b", "i32[2]"))) ==
        Texts{"value 0 is fp32 [2] in block true, but int32 [2] in block false"});
  CHECK(FaultsOf(Cond(Branch("a", "f32[2]"), Branch("b", "f32[2]"), "i32[2]")) ==
        Texts{"result 0 is int32 [2], but the block returns fp32 [2]"});
  MilBlock none = Branch("b", "f32[2]");
  none.outputs.clear();
  CHECK(FaultsOf(Cond(Branch("a", "f32[2]"), none)) ==
        Texts{"block true returns 1 values, but block false returns 0"});
  MilBlock unknown = Branch("b", "f32[2]");
  unknown.outputs = {"c"};
  CHECK(FaultsOf(Cond(Branch("a", "f32[2]"), unknown)) ==
        Texts{"functions[\"main\"].operations[0].blocks[1]: the block returns \"c\", which is not "
              "defined"});
}

// while (i < 3) i = body(i)
MilBlock Loop(const std::string& condition, MilBlock body) {
  MilBlock test;
  test.inputs = {{"c", "f32[]"}};
  test.operations = {{condition, {Ref("x", "c"), Const("y", "f32[]", {3})}, {{"more", "bool[]"}}}};
  if (condition == "add") test.operations[0].results[0].second = "f32[]";
  test.outputs = {"more"};
  MilBlock function;
  function.inputs = {{"i", "f32[]"}};
  function.operations = {
      {"while_loop", {Ref("loop_vars", "i")}, {{"y", "f32[]"}}, {test, std::move(body)}}};
  function.outputs = {"y"};
  return function;
}

MilBlock Body(const std::string& input, const std::string& output) {
  MilBlock body;
  body.inputs = {{"b", input}};
  body.operations = {{"abs", {Ref("x", "b")}, {{"next", output}}}};
  body.outputs = {"next"};
  return body;
}

TEST_CASE("coreml operation walk: loops") {
  CHECK(FaultsOf(Loop("less", Body("f32[]", "f32[]"))) == Texts());
  CHECK(FaultsOf(Loop("add", Body("f32[]", "f32[]"))) ==
        Texts{"block cond returns fp32 [] instead of bool"});
  CHECK(FaultsOf(Loop("less", Body("i32[]", "i32[]"))) ==
        Texts{"input loop_vars[0] is fp32 [], but the block takes int32 []",
              "result 0 is fp32 [], but the block returns int32 []"});
  MilBlock none = Body("f32[]", "f32[]");
  none.outputs.clear();
  CHECK(FaultsOf(Loop("less", none)) == Texts{"block body returns 0 values instead of 1"});
  MilBlock wide = Body("f32[]", "f32[]");
  wide.inputs.emplace_back("more_of_it", "f32[]");
  CHECK(FaultsOf(Loop("less", wide)).front() ==
        "a block has 2 inputs, but the loop has 1 variables");
}

TEST_CASE("coreml operation walk: constants and names") {
  CHECK(FaultsIn("tensor<fp32, [1]> y = const()[val = tensor<fp32, [1]>([1])];") == Texts());
  CHECK(FaultsIn("tensor<fp32, [2]> y = const()[val = tensor<fp32, [1]>([1])];") ==
        Texts{"result 0 is fp32 [2], but attribute val is fp32 [1]"});
  CHECK(FaultsIn("tensor<fp32, [2]> y = const();") == Texts{"attribute val is missing"});
  CHECK(FaultsIn("tensor<fp32, [2]> y = relu(x = z);") ==
        Texts{"functions[\"main\"].operations[0]: input x is \"z\", which is not defined"});
  CHECK(FaultsIn("tensor<fp32, [2]> y = relu(x = x); tensor<fp32, [2]> y = relu(x = x);") ==
        Texts{"functions[\"main\"].operations[1]: \"y\" is defined twice"});
  CHECK(FaultsIn("tensor<fp32, [2]> y = unknown(x = x);") == Texts{"no definition"});
  // What follows from constants is a constant.
  const std::string axis = "int32 a = const()[val = int32(0)]; int32 b = abs(x = a); ";
  CHECK(FaultsIn(axis + "tensor<fp32, [2]> y = softmax(axis = b, x = x);") == Texts());
  CHECK(FaultsIn("tensor<int32, [1]> s = shape(x = x); "
                 "tensor<fp32, [2]> y = transpose(perm = s, x = x);") ==
        Texts{"input perm is not a constant"});
}

TEST_CASE("coreml operation walk: inputs in attributes") {
  const std::string scales =
      "axis = int32(0), quantized_data = tensor<uint8, [2]>([1, 2]), scale = fp32(0x1p+0), "
      "zero_point = uint8(0)";
  CHECK(FaultsIn("tensor<fp32, [2]> y = constexpr_affine_dequantize()[" + scales + "];") ==
        Texts());
  CHECK(FaultsIn("tensor<fp32, [2]> y = constexpr_affine_dequantize(" + scales + ");").size() == 4);
  CHECK(FaultsIn("tensor<fp32, [3]> y = constexpr_affine_dequantize()[" + scales + "];") ==
        Texts{"result 0 has shape [3] instead of [2]"});
}

TEST_CASE("coreml operation walk: as many classes as scores") {
  const auto classes = [](const std::string& list, const std::string& count) {
    return FaultsIn("list<string, " + count + "> c = const()[val = list<string, " + count + ">(" +
                    list +
                    ")]; string y, dict<string, fp64> p = classify(classes = c, "
                    "probabilities = x);");
  };
  CHECK(classes("[\"a\", \"b\"]", "2") == Texts());
  CHECK(classes("[\"a\"]", "1") == Texts{"there are 1 labels, but 2 scores"});
}

}  // namespace
}  // namespace nn::test::coreml_operation_walk_test

// ML Programs whose declarations and operands no sound model has: they are refused, and take no
// memory of the sizes that they claim.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "coreml_model.pb.h"
#include "formats/common/known_inputs.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/program/import/importer.h"
#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_limits_test {
namespace {

// Why a function with one operation is not imported: the error, or the reason of the unsupported
// operation; "" if it is.
std::string WhyNot(std::vector<MilName> inputs, MilOperation operation, const std::string& opset) {
  const std::string output = operation.results[0].first;
  const auto imported =
      ImportMil(MilBlock{std::move(inputs), {std::move(operation)}, {output}}, opset);
  if (!imported) return imported.error().message();
  return imported->unsupported.empty() ? "" : imported->unsupported[0].reason;
}

std::string WhyNot(const std::string& op, std::vector<MilOperand> operands,
                   const std::string& opset = "CoreML5", const std::string& result = "f32[2]") {
  std::vector<MilName> inputs;
  for (MilOperand& o : operands) {
    if (o.is_constant || o.type == "name") continue;
    inputs.emplace_back(o.name, o.type);
    o = Ref(o.name, o.name);
  }
  return WhyNot(std::move(inputs), {op, std::move(operands), {{"y", result}}}, opset);
}

MilOperand Input(std::string name, std::string type) {
  return In(std::move(name), std::move(type), {});
}

TEST_CASE("coreml programs: memory of claimed sizes is not taken") {
  CHECK(WhyNot("make_list", {Const("init_length", "i32[]", {2147483647}), Text("dtype", "fp32"),
                             Const("elem_shape", "i32[]", {1000000})}) ==
        "more than 67108864 equal elements are unsupported");
  CHECK(WhyNot({{"s", "state f32[100000, 100000]"}},
               {"read_state", {Ref("input", "s")}, {{"y", "f32[100000, 100000]"}}},
               "CoreML8") == "more than 67108864 equal elements are unsupported");
  CHECK(WhyNot("batch_norm",
               {Input("x", "f32[1, 1099511627776]"), Input("mean", "f32[1099511627776]"),
                Input("variance", "f32[1099511627776]")}) ==
        "more than 67108864 equal elements are unsupported");
  CHECK(
      WhyNot("reshape", {Input("x", "f32[2]"), Input("shape", "i32[1099511627776]")}, "CoreML7") ==
      "operation 0 (reshape \"y\"): input shape has 1099511627776 elements; there are at most 64 "
      "axes");
  CHECK(WhyNot("sliding_windows",
               {Input("x", "f32[n]"), Const("axis", "i32[]", {0}),
                Const("size", "i32[]", {2147483647})},
               "CoreML5", "f32[m, 2147483647]") == "");
  CHECK(WhyNot("crop_resize",
               {Input("x", "f32[1, 1, 4, 4]"), Input("boxes", "f32[1099511627776, 4]")}, "CoreML7",
               "f32[1099511627776, 1, 1, 1]") == "");
}

TEST_CASE("coreml programs: an immediate value has the elements of its type") {
  coreml::Model model;
  BuildMil({{}, {{"relu", {Const("x", "i32[1]", {7})}, {{"y", "i32[1]"}}}}, {"y"}}, "CoreML5",
           model);
  auto& block = *model.proto->mutable_mlprogram()
                     ->mutable_functions(0)
                     ->mutable_value()
                     ->mutable_block_specializations(0)
                     ->mutable_value();
  auto& type = *block.mutable_operations(0)
                    ->mutable_inputs(0)
                    ->mutable_value()
                    ->mutable_arguments(0)
                    ->mutable_value()
                    ->mutable_type()
                    ->mutable_tensortype();
  // More bytes than any machine has.
  type.mutable_dimensions(0)->mutable_constant()->set_size(uint64_t{1} << 48);
  const auto imported = coreml::program::Importer(model, {}).Run();
  REQUIRE_FALSE(imported.has_value());
  CHECK(imported.error().message() ==
        "operation 0 (relu \"y\"): input x: a value has 1 elements; its type needs "
        "281474976710656");
}

TEST_CASE("coreml programs: operands have the number of elements that operations read") {
  const MilOperand x = Input("x", "f32[2, 3]");
  CHECK(
      WhyNot("slice_by_index", {x, Const("begin", "i32[]", {0}), Const("end", "i32[2]", {1, 1})}) ==
      "operation 0 (slice_by_index \"y\"): input begin is i32[]; expected a number for each of 2 "
      "axes");
  CHECK(WhyNot("one_hot", {Input("indices", "i32[2]"), Const("one_hot_vector_size", "i32[]", {4}),
                           Const("on_value", "f32[0]", {})}) ==
        "operation 0 (one_hot \"y\"): off_value or on_value has 0 elements, not 1");
  CHECK(WhyNot("resize",
               {x, Const("shape", "i32[2]", {4, 6}), Const("resized_dims", "u32[]", {-1})},
               "CoreML7")
            .find("input shape has 2 elements for ") != std::string::npos);
  CHECK(
      WhyNot("upsample_nearest_neighbor",
             {Input("x", "f32[1, 1, 4, 4]"), Const("scale_factor_height", "f32[]", {1e30}),
              Const("scale_factor_width", "f32[]", {1.5})}) ==
      "operation 0 (upsample_nearest_neighbor \"y\"): the scale factor 1e+30 of an axis of size 4 "
      "is out of range");
  CHECK(
      WhyNot("constexpr_lut_to_dense",
             {Const("indices", "i8[2]", {-1, 0}), Const("lut", "f32[1, 2, 1]", {1, 2})},
             "CoreML8") ==
      "operation 0 (constexpr_lut_to_dense \"y\"): index -1 is out of range for 2 entries of input "
      "lut");
}

TEST_CASE("coreml programs: the rank of joined values is known") {
  const MilBlock f{{{"x", "f32[2]"}, {"shape", "i32[n]"}},
                   {{"reshape", {Ref("x", "x"), Ref("shape", "shape")}, {{"a", "list"}}},
                    {"concat",
                     {Ref("values", "a"), Ref("values", "x"), Const("axis", "i32[]", {0})},
                     {{"y", "f32[m]"}}}},
                   {"y"}};
  const auto imported = ImportMil(f);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.size() == 1);
  CHECK(imported->unsupported[0].reason == "the rank of input values is unknown");
}

// relu, in so many blocks.
MilBlock InBlocks(int depth) {
  MilBlock block{{}, {{"relu", {Ref("x", "x")}, {{"y0", "f32[2]"}}}}, {"y0"}};
  for (int i = 1; i <= depth; ++i) {
    const std::string result = "y" + std::to_string(i);
    const MilBlock other{{}, {}, {"x"}};
    block = {{},
             {{"cond", {Const("pred", "bool[]", {1})}, {{result, "f32[2]"}}, {block, other}}},
             {result}};
  }
  block.inputs = {{"x", "f32[2]"}};
  return block;
}

TEST_CASE("coreml programs: blocks in blocks have a limit") {
  const auto deep = ImportMil(InBlocks(32));
  REQUIRE_MESSAGE(deep.has_value(), deep.error().message());
  CHECK(deep->unsupported.empty());
  const auto deeper = ImportMil(InBlocks(33));
  REQUIRE_MESSAGE(deeper.has_value(), deeper.error().message());
  REQUIRE_FALSE(deeper->unsupported.empty());
  CHECK(deeper->unsupported[0].reason.find("blocks in more than 32 blocks are unsupported") !=
        std::string::npos);
}

}  // namespace
}  // namespace nn::test::coreml_program_limits_test

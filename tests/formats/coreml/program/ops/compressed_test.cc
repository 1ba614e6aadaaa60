// Constants in compressed form, and quantization.
#include <doctest/doctest.h>

#include <algorithm>

#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/program_roundtrip.h"
#include "ir/op_def.h"
#include "ops/quant/block_weights.h"
#include "passes/qdq/qdq.h"

namespace nn::test::coreml_program_compressed_test {
namespace {

// The operators of the graph, and the types of its constants.
std::vector<std::string> ContentsOf(const MilCase& c) {
  const auto imported = ImportMil(c);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  std::vector<std::string> out;
  for (const Node& node : imported->graph.nodes()) {
    out.push_back(std::string(node.op().name));
    for (const Value* v : node.inputs())
      if (v != nullptr && v->is_constant()) out.push_back(v->type().ToString());
  }
  return out;
}

TEST_CASE("coreml programs: quantized constants stay integers") {
  const MilCase whole = {
      "constexpr_affine_dequantize",
      {Const("quantized_data", "u8[2]", {10, 20}), Const("zero_point", "u8[]", {8}),
       Const("scale", "f32[]", {0.5}), Const("axis", "i32[]", {0})},
      {"f32[2]"},
      {{1, 6}},
      "CoreML6"};
  CheckMil(whole);
  CHECK(ContentsOf(whole) == std::vector<std::string>{"dequantize", "u8[2]{scale=0.5, zp=8}"});
  const MilOperand data = Const("quantized_data", "i8[2, 2]", {1, 2, 3, 4});
  const MilOperand scale = Const("scale", "f32[2]", {1, 10});
  const MilOperand zero = Const("zero_point", "i8[2]", {0, 1});
  CheckMil({"constexpr_affine_dequantize",
            {data, scale, zero, Const("axis", "i32[]", {0})},
            {"f32[2, 2]"},
            {{1, 2, 20, 30}},
            "CoreML6"});
  const MilCase last = {
      "constexpr_affine_dequantize",
      {data, scale, Const("zero_point", "i8[]", {1}), Const("axis", "i32[]", {-1})},
      {"f32[2, 2]"},
      {{0, 10, 2, 30}},
      "CoreML6"};
  CheckMil(last);
  CHECK(ContentsOf(last)[0] == "dequantize");
  CHECK(WhyNotMil({"constexpr_affine_dequantize",
                   {data, Const("scale", "f32[3]", {1, 2, 3}), Const("zero_point", "i8[]", {1}),
                    Const("axis", "i32[]", {0})},
                   {"f32[2, 2]"},
                   {},
                   "CoreML6"}) != "");
}

TEST_CASE("coreml programs: zero points that are no integers") {
  CheckMil({"constexpr_affine_dequantize",
            {Const("quantized_data", "u8[2]", {1, 2}), Const("zero_point", "f32[]", {0.5}),
             Const("scale", "f32[]", {2}), Const("axis", "i32[]", {0})},
            {"f32[2]"},
            {{1, 3}},
            "CoreML6"});
}

TEST_CASE("coreml programs: constants of float16 stay so") {
  const MilCase c = {"constexpr_cast",
                     {Const("source_val", "f16[2]", {1, 0.5}), Text("output_dtype", "fp32")},
                     {"f32[2]"},
                     {{1, 0.5}},
                     "CoreML6"};
  CheckMil(c);
  CHECK(ContentsOf(c) == std::vector<std::string>{"dequantize", "f16[2]"});
}

TEST_CASE("coreml programs: palettes of iOS16 have packed indices") {
  const MilOperand lut = Const("lut", "f32[4]", {10, 20, 30, 40});
  const MilOperand shape = Const("shape", "u32[1]", {5});
  CheckMil({"constexpr_lut_to_dense",
            {Const("indices", "u8[2]", {0b01101100, 0b11}), lut, shape},
            {"f32[5]"},
            {{10, 40, 30, 20, 40}},
            "CoreML6"});
  CHECK(WhyNotMil({"constexpr_lut_to_dense",
                   {Const("indices", "u8[1]", {0}), lut, shape},
                   {"f32[5]"},
                   {},
                   "CoreML6"})
            .ends_with("1 bytes do not hold 5 elements of 2 bits"));
  CHECK(WhyNotMil({"constexpr_lut_to_dense",
                   {Const("indices", "u8[1]", {0}), Const("lut", "f32[3]", {1, 2, 3}), shape},
                   {"f32[5]"},
                   {},
                   "CoreML6"})
            .ends_with("input lut has 3 elements"));
}

TEST_CASE("coreml programs: palettes of blocks and of vectors") {
  CheckMil({"constexpr_lut_to_dense",
            {Const("indices", "u2[6, 2]", {2, 3, 3, 0, 1, 0, 3, 0, 2, 1, 0, 3}),
             Const("lut", "f16[2, 1, 4, 1]", {1, 5, 9, 13, 2, 10, 18, 26})},
            {"f16[6, 2]"},
            {{9, 13, 13, 1, 5, 1, 26, 2, 18, 10, 2, 26}},
            "CoreML8"});
  const MilOperand indices = Const("indices", "u8[2, 2]", {0, 1, 1, 0});
  const MilOperand lut = Const("lut", "f32[1, 1, 2, 2]", {1, 2, 3, 4});
  CheckMil({"constexpr_lut_to_dense",
            {indices, lut, Const("vector_axis", "i32[]", {0})},
            {"f32[4, 2]"},
            {{1, 3, 2, 4, 3, 1, 4, 2}},
            "CoreML8"});
  CheckMil({"constexpr_lut_to_dense",
            {indices, lut, Const("vector_axis", "i32[]", {-1})},
            {"f32[2, 4]"},
            {{1, 2, 3, 4, 3, 4, 1, 2}},
            "CoreML8"});
  CHECK(WhyNotMil({"constexpr_lut_to_dense", {indices, lut}, {"f32[2, 4]"}, {}, "CoreML8"})
            .ends_with("input vector_axis is missing"));
  CHECK(WhyNotMil({"constexpr_lut_to_dense",
                   {Const("indices", "u8[1]", {2}), Const("lut", "f32[1, 2, 1]", {1, 2})},
                   {"f32[1]"},
                   {},
                   "CoreML8"})
            .ends_with("index 2 is out of range for 2 entries of input lut"));
}

TEST_CASE("coreml programs: sparse constants") {
  CheckMil({"constexpr_sparse_to_dense",
            {Const("nonzero_data", "f32[2]", {7, 8}), Const("mask", "u8[1]", {0b01100}),
             Const("shape", "u32[1]", {5})},
            {"f32[5]"},
            {{0, 0, 7, 8, 0}},
            "CoreML6"});
  const MilOperand mask = Const("mask", "u8[2, 2]", {1, 0, 0, 1});
  CheckMil({"constexpr_sparse_to_dense",
            {Const("nonzero_data", "f16[2]", {7, 8}), mask},
            {"f16[2, 2]"},
            {{7, 0, 0, 8}},
            "CoreML8"});
  CHECK(WhyNotMil({"constexpr_sparse_to_dense",
                   {Const("nonzero_data", "f16[1]", {7}), mask},
                   {"f16[2, 2]"},
                   {},
                   "CoreML8"})
            .ends_with("the mask has 2 elements that are not 0, for 1 of the data"));
}

TEST_CASE("coreml programs: integers in blocks") {
  const MilOperand data = Const("data", "i4[2, 4]", {1, 2, 3, 4, 5, 6, 7, -8});
  const MilOperand scale = Const("scale", "f32[2, 2]", {1, 10, 100, 1000});
  const MilCase blocks = {"constexpr_blockwise_shift_scale",
                          {data, scale},
                          {"f32[2, 4]"},
                          {{1, 2, 30, 40, 500, 600, 7000, -8000}},
                          "CoreML8"};
  CheckMil(blocks);
  const auto imported = ImportMil(blocks);
  REQUIRE(imported.has_value());
  const Value* const constant = imported->graph.outputs()[0].value;
  REQUIRE(constant->is_constant());
  const BlockWeights* const weights = StoredBlocks(constant->constant());
  REQUIRE(weights != nullptr);
  CHECK(weights->block == 2);
  CHECK(weights->bits == 4);
  CheckMil({"constexpr_blockwise_shift_scale",
            {data, scale, Const("offset", "i4[2, 2]", {1, 1, 0, 0})},
            {"f32[2, 4]"},
            {{0, 1, 20, 30, 500, 600, 7000, -8000}},
            "CoreML8"});
  const MilCase axis = {"constexpr_blockwise_shift_scale",
                        {data, Const("scale", "f16[2, 1]", {1, 2})},
                        {"f16[2, 4]"},
                        {{1, 2, 3, 4, 10, 12, 14, -16}},
                        "CoreML8"};
  CheckMil(axis);
  CHECK(ContentsOf(axis)[0] == "dequantize");
  CheckMil({"constexpr_blockwise_shift_scale",
            {Const("data", "f32[2]", {0.5, 2}), Const("scale", "f32[1]", {4}),
             Const("offset", "f32[1]", {0.25})},
            {"f32[2]"},
            {{1, 7}},
            "CoreML8"});
  CHECK(WhyNotMil({"constexpr_blockwise_shift_scale",
                   {data, Const("scale", "f32[1, 3]", {1, 2, 3})},
                   {"f32[2, 4]"},
                   {},
                   "CoreML8"})
            .ends_with("3 entries do not divide the 4 elements of axis 1"));
  CHECK(WhyNotMil({"constexpr_blockwise_shift_scale",
                   {data, scale, Const("offset", "i4[1, 1]", {1})},
                   {"f32[2, 4]"},
                   {},
                   "CoreML8"})
            .ends_with("there are 4 scales, but 1 offsets"));
}

TEST_CASE("coreml programs: sparse integers with scales") {
  const std::vector<double> mask = {1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0};
  CheckMil({"constexpr_sparse_blockwise_shift_scale",
            {Const("data_mask", "u8[4, 4]", mask),
             Const("nonzero_data", "i8[9]", {10, 11, 3, 4, 5, 6, 7, 8, 9}),
             Const("scale", "f32[1, 4]", {1, 2, 3, 4}), Const("offset", "i8[1, 4]", {1, 2, 3, 4})},
            {"u8[4, 4]", "f32[9]"},
            {mask, {9, 18, 2, 4, 6, 9, 12, 7, 14}},
            "CoreML8"});
}

TEST_CASE("coreml programs: sparse palettes") {
  const MilOperand mask = Const("indices_mask", "u8[2, 3]", {1, 1, 0, 0, 0, 1});
  const MilOperand indices = Const("indices_nonzero_data", "u8[3]", {0, 1, 1});
  CheckMil({"constexpr_lut_to_sparse",
            {mask, indices, Const("lut", "f16[1, 1, 2, 1]", {2, 3})},
            {"u8[2, 3]", "f16[3]"},
            {{1, 1, 0, 0, 0, 1}, {2, 3, 3}},
            "CoreML8"});
  CheckMil({"constexpr_lut_to_sparse",
            {mask, indices, Const("lut", "f16[1, 1, 2, 2]", {2, 4, 3, 5}),
             Const("vector_axis", "i32[]", {0})},
            {"u8[4, 3]", "f16[6]"},
            {{1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1}, {2, 3, 4, 5, 3, 5}},
            "CoreML8"});
}

TEST_CASE("coreml programs: quantize and dequantize") {
  CheckMil({"quantize",
            {In("input", "f32[5]", {-1, 0.25, 0.75, 100, 1}), Const("scale", "f32[]", {0.5}),
             Const("zero_point", "u8[]", {2}), Text("output_dtype", "uint8")},
            {"u8[5]"},
            {{0, 2, 4, 202, 4}},
            "CoreML7"});
  CheckMil({"quantize",
            {In("input", "f16[2, 1]", {3, -300}), Const("scale", "f16[2]", {1, 2}),
             Const("axis", "i32[]", {0}), Text("output_dtype", "int8")},
            {"i8[2, 1]"},
            {{3, -128}},
            "CoreML7"});
  CheckMil({"dequantize",
            {In("input", "i8[2, 2]", {1, 2, 3, 4}), Const("scale", "f32[2]", {1, 10}),
             Const("zero_point", "i8[2]", {1, 2}), Const("axis", "i32[]", {-1})},
            {"f32[2, 2]"},
            {{0, 0, 2, 20}},
            "CoreML7"});
  const MilCase constant = {"dequantize",
                            {Const("input", "i8[2]", {1, 2}), Const("scale", "f16[]", {0.5})},
                            {"f16[2]"},
                            {{0.5, 1}},
                            "CoreML7"};
  CheckMil(constant);
  CHECK(ContentsOf(constant) == std::vector<std::string>{"dequantize", "i8[2]{scale=0.5}"});
  CHECK(WhyNotMil({"dequantize",
                   {In("input", "i8[2]", {1, 2}), Const("scale", "f32[2]", {1, 10}),
                    Const("zero_point", "i8[]", {1}), Const("axis", "i32[]", {0})},
                   {"f32[2]"},
                   {},
                   "CoreML7"})
            .ends_with("input scale has 2 elements, but zero_point 1"));
}

// Inputs of a program have no types of 8 bits.
TEST_CASE("coreml programs: integers that a run casts have the mapping of their dequantize") {
  MilBlock function;
  function.inputs = {{"x", "i32[3]"}};
  function.operations = {
      {"cast", {Ref("x", "x"), Text("dtype", "uint8")}, {{"bytes", "u8[3]"}}},
      {"dequantize",
       {Ref("input", "bytes"), Const("scale", "f32[]", {0.1}), Const("zero_point", "u8[]", {7})},
       {{"reals", "f32[3]"}}},
      {"relu", {Ref("x", "reals")}, {{"positive", "f32[3]"}}},
      {"quantize",
       {Ref("input", "positive"), Const("scale", "f32[]", {0.1}), Const("zero_point", "u8[]", {7}),
        Text("output_dtype", "uint8")},
       {{"q", "u8[3]"}}},
      {"cast", {Ref("x", "q"), Text("dtype", "int32")}, {{"y", "i32[3]"}}}};
  function.outputs = {"y"};
  CHECK(RunMil(function, {{0, 7, 255}}, "CoreML7") ==
        std::vector<std::vector<double>>{{7, 7, 255}});
  auto imported = ImportMil(function, "CoreML7");
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(FuseQdq(imported->graph).has_value());
  const auto relu = std::ranges::find_if(imported->graph.nodes(),
                                         [](const Node& node) { return node.Is("relu"); });
  REQUIRE(relu != imported->graph.nodes().end());
  CHECK(relu->input(0)->type().ToString() == "u8[3]{scale=0.1, zp=7}");
}

TEST_CASE("coreml programs: export of quantized values") {
  const std::string tensor = "u8[2, 3]{scale=0.0078125, zp=128}";
  const std::string axis = "i8[2, 3]{axis=1, scale=[0.01, 0.02, 0.03], zp=[1, 2, 3]}";
  for (const std::string& type : {tensor, axis}) {
    const std::string graph = "graph { in %x: f32[2, 3]  %q = quantize(%x) : " + type +
                              "  %y = dequantize(%q)  out \"y\" = %y }";
    CheckProgram({graph, "quantize dequantize", {}, 0, "CoreML7"});
    CheckProgram({graph, {}, "iOS16"});
  }
}

TEST_CASE("coreml programs: export of quantized constants") {
  struct ConstantRow {
    std::string type, operation, target, opset;
  };
  const std::string affine = "constexpr_affine_dequantize",
                    blocks = "constexpr_blockwise_shift_scale";
  const ConstantRow rows[] = {
      {"i8[4, 6]{scale=0.5}", affine, "", "CoreML6"},
      {"u8[4, 6]{axis=0, scale=[0.1, 0.2, 0.3, 0.4], zp=[1, 2, 3, 4]}", affine, "", "CoreML6"},
      {"i4[4, 6]{axis=0, scale=[0.1, 0.2, 0.3, 0.4]}", blocks, "", "CoreML8"},
      {"u4[4, 6]{axis=1, scale=[1, 2, 3, 4, 5, 6], zp=[1, 2, 3, 4, 5, 6]}", blocks, "iOS18",
       "CoreML8"},
      {"i4[4, 6]{scale=0.5, zp=2}", affine, "iOS17", "CoreML6"},
      {"f16[4, 6]", "cast", "", "CoreML5"},
      // As numbers.
      {"i8[4, 6]{scale=0.5}", "", "iOS15", "CoreML5"},
      {"i16[4, 6]{scale=0.5}", "", "", "CoreML5"},
  };
  for (const ConstantRow& row : rows) {
    CAPTURE(row.type);
    CheckProgram({"graph { in %x: f32[4, 6]  const %q: " + row.type +
                      " = seeded(2)  %w = dequantize(%q)  %y = add(%x, %w)  out \"y\" = %y }",
                  row.operation + (row.operation.empty() ? "add" : " add"), row.target, 0,
                  row.opset});
  }
}

}  // namespace
}  // namespace nn::test::coreml_program_compressed_test

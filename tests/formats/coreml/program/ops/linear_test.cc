// Products of matrices, and attention.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/program_roundtrip.h"

namespace nn::test::coreml_program_linear_test {
namespace {

TEST_CASE("coreml programs: linear") {
  const MilOperand weight = Const("weight", "f32[3, 2]", {1, 0, 0, 1, 1, 1});
  const MilOperand bias = Const("bias", "f32[3]", {10, 20, 30});
  const MilOperand x = In("x", "f32[1, 2]", {1, 2});
  CheckMil({"linear", {x, weight, bias}, {"f32[1, 3]"}, {{11, 22, 33}}});
  CheckMil({"linear", {x, weight}, {"f32[1, 3]"}, {{1, 2, 3}}});
  CheckMil({"linear", {In("x", "f32[2]", {1, 2}), weight}, {"f32[3]"}, {{1, 2, 3}}});
  CheckMil({"linear",
            {In("x", "i32[1, 1, 2]", {1, 2}), Const("weight", "i32[1, 2]", {3, 4}),
             Const("bias", "i32[1]", {5})},
            {"i32[1, 1, 1]"},
            {{16}}});
  CheckMil({"linear",
            {In("x", "f16[1, 2]", {2048, 2048}), Const("weight", "f32[1, 2]", {1 + 0x1p-11, -1})},
            {"f16[1, 1]"},
            {{1}},
            "CoreML7"});
}

// A product and a bias in one operation are rounded once.
TEST_CASE("coreml programs: linear of integers that are stored as float16") {
  const auto graph = [](const std::string& scale, const std::string& reals) {
    return "graph { in %x: f16[4, 64]  const %q: i8[16, 64]{scale=" + scale + "} = seeded(1) " +
           reals + R"( const %b: f16[16] = seeded(2)
                      %y = matmul(%x, %w, %b) {transpose_b = true}  out "y" = %y })";
  };
  const std::string half = "%w = dequantize(%q) {to = f16}";
  const std::string cast = "%r = dequantize(%q)  %w = cast(%r) {to = f16}";
  CheckProgram({graph("0.0078125", half), "constexpr_affine_dequantize linear"});
  CheckProgram({graph("0.0078125", cast), "constexpr_affine_dequantize linear"});
  // float16 does not hold the scale.
  CheckProgram({graph("0.01", half), "linear"});
  CheckProgram({graph("0.01", cast), "constexpr_affine_dequantize cast matmul add", "", 0x1p-9});
}

TEST_CASE("coreml programs: matmul") {
  const MilOperand x = In("x", "f32[2, 2]", {1, 2, 3, 4});
  const MilOperand y = In("y", "f32[2, 1]", {1, 10});
  CheckMil({"matmul", {x, y}, {"f32[2, 1]"}, {{21, 43}}});
  CheckMil({"matmul", {x, y, Const("transpose_x", "bool[]", {1})}, {"f32[2, 1]"}, {{31, 42}}});
  CheckMil({"matmul",
            {x, In("y", "f32[1, 2]", {1, 10}), Const("transpose_y", "bool[]", {1})},
            {"f32[2, 1]"},
            {{21, 43}}});
  CheckMil({"matmul",
            {In("x", "f32[2, 1, 2]", {1, 2, 3, 4}), Const("y", "f16[2, 1]", {1, 10})},
            {"f32[2, 1, 1]"},
            {{21, 43}},
            "CoreML7"});
  CheckMil({"matmul",
            {Const("x", "f32[1, 2]", {1 + 0x1p-11, -1}), In("y", "f16[2, 1]", {2048, 2048})},
            {"f16[1, 1]"},
            {{1}},
            "CoreML7"});
  CheckMil({"matmul",
            {In("x", "i32[2]", {1, 2}), In("y", "i32[2, 2]", {1, 2, 3, 4})},
            {"i32[2]"},
            {{7, 10}}});
}

TEST_CASE("coreml programs: einsum multiplies along the axes -1 and -3") {
  const MilOperand x = In("values", "f32[2, 1, 2]", {1, 2, 3, 4});
  const MilOperand y = In("values", "f32[2, 1, 2]", {1, 10, 2, 20});
  CheckMil(
      {"einsum", {x, y, Text("equation", "chw,whr->chr")}, {"f32[2, 1, 2]"}, {{5, 50, 11, 110}}});
  // Size 1 of H broadcasts.
  CheckMil(
      {"einsum",
       {In("values", "f32[1, 2, 1, 2]", {1, 2, 3, 4}),
        In("values", "f32[1, 2, 2, 1]", {1, 10, 2, 20}), Text("equation", "nchw, nwhu -> nchu")},
       {"f32[1, 2, 2, 1]"},
       {{5, 50, 11, 110}}});
  CHECK(WhyNotMil({"einsum", {x, y, Text("equation", "abc,abc->ab")}, {"f32[2, 1]"}}) ==
        "equation \"abc,abc->ab\" is unsupported");
  CHECK(WhyNotMil({"einsum", {x, Text("equation", "chw,whr->chr")}, {"f32[2, 1, 2]"}}) ==
        "operation 0 (einsum \"result_0\"): input values has 1 elements, not 2");
}

TEST_CASE("coreml programs: attention of any rank and mask") {
  const MilOperand query = In("query", "f32[1, 1, 1]", {0});
  const MilOperand key = In("key", "f32[1, 2, 1]", {1, 1});
  const MilOperand value = In("value", "f32[1, 2, 2]", {1, 10, 3, 30});
  const std::vector<std::string> type = {"f32[1, 1, 2]"};
  const std::vector<std::vector<double>> quarters = {{2.5, 25}};
  const MilCase plain = {
      "scaled_dot_product_attention", {query, key, value}, type, {{2, 20}}, "CoreML8", 1e-6};
  const auto with_mask = [&](MilOperand mask, std::vector<std::vector<double>> expected) {
    MilCase c = plain;
    c.operands.push_back(std::move(mask));
    c.expected = std::move(expected);
    return c;
  };
  CheckMil(plain);
  CheckMil(with_mask(In("attn_mask", "f32[1, 1, 2]", {0, std::log(3.0)}), quarters));
  CheckMil(with_mask(In("attn_mask", "bool[2]", {1, 0}), {{1, 10}}));
  MilCase half = with_mask(
      In("attn_mask", "f16[1, 2]", {0, 1}),
      {{(1 + 3 * std::exp(1)) / (1 + std::exp(1)), (10 + 30 * std::exp(1)) / (1 + std::exp(1))}});
  CheckMil(half);

  // The scale is 1 / sqrt(4); two heads.
  CheckMil({"scaled_dot_product_attention",
            {In("query", "f32[1, 2, 1, 4]", {2 * std::log(3.0), 0, 0, 0, 0, 0, 0, 0}),
             In("key", "f32[1, 2, 2, 4]", {0, 0, 0, 0, 1, 0, 0, 0, 5, 6, 7, 8, 5, 6, 7, 8}),
             In("value", "f32[1, 2, 2, 1]", {1, 3, 10, 30})},
            {"f32[1, 2, 1, 1]"},
            {{2.5, 20}},
            "CoreML8",
            1e-6});
  // Two axes of batches, with a mask for the second.
  CheckMil({"scaled_dot_product_attention",
            {In("query", "f32[2, 2, 1, 1, 1]", {0, 0, 0, 0}),
             In("key", "f32[2, 2, 1, 2, 1]", {1, 1, 1, 1, 1, 1, 1, 1}),
             In("value", "f32[2, 2, 1, 2, 1]", {1, 3, 5, 7, 10, 30, 50, 70}),
             In("attn_mask", "bool[2, 1, 1, 2]", {1, 1, 0, 1})},
            {"f32[2, 2, 1, 1, 1]"},
            {{2, 7, 20, 70}},
            "CoreML8",
            1e-6});
  CHECK(WhyNotMil({"scaled_dot_product_attention",
                   {query, In("key", "f32[2, 1]", {1, 1}), value},
                   type,
                   {},
                   "CoreML8"}) ==
        "operation 0 (scaled_dot_product_attention \"result_0\"): input key has rank 2; must be 3 "
        "or more, as of the query");
}

}  // namespace
}  // namespace nn::test::coreml_program_linear_test

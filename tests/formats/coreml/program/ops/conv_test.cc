// Convolutions and pooling.
#include <doctest/doctest.h>

#include <cmath>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_conv_test {
namespace {

const MilOperand kOneKernel = Const("weight", "f32[1, 1, 2]", {1, 10});
const MilOperand kThree = In("x", "f32[1, 1, 3]", {1, 2, 3});

TEST_CASE("coreml programs: convolutions pad as the file says") {
  CheckMil({"conv", {kThree, kOneKernel}, {"f32[1, 1, 2]"}, {{21, 32}}});
  CheckMil({"conv",
            {kThree, kOneKernel, Text("pad_type", "valid"), Const("pad", "i32[2]", {1, 1})},
            {"f32[1, 1, 2]"},
            {{21, 32}}});
  CheckMil(
      {"conv", {kThree, kOneKernel, Text("pad_type", "same")}, {"f32[1, 1, 3]"}, {{21, 32, 3}}});
  CheckMil({"conv",
            {kThree, kOneKernel, Text("pad_type", "same_lower")},
            {"f32[1, 1, 3]"},
            {{10, 21, 32}},
            "CoreML6"});
  CheckMil({"conv",
            {kThree, kOneKernel, Text("pad_type", "custom"), Const("pad", "i32[2]", {2, 0})},
            {"f32[1, 1, 4]"},
            {{0, 10, 21, 32}}});
  CheckMil({"conv",
            {In("x", "f32[1, 1, 5]", {1, 2, 3, 4, 5}), Const("weight", "f32[1, 1, 3]", {1, 0, -1}),
             Text("pad_type", "same"), Const("strides", "i32[1]", {2})},
            {"f32[1, 1, 3]"},
            {{-2, -2, 4}}});
  // Top, bottom, left, right.
  CheckMil({"conv",
            {In("x", "f32[1, 1, 1, 2]", {1, 2}), Const("weight", "f32[1, 1, 1, 1]", {1}),
             Text("pad_type", "custom"), Const("pad", "i32[4]", {1, 0, 0, 2})},
            {"f32[1, 1, 2, 4]"},
            {{0, 0, 0, 0, 1, 2, 0, 0}}});
  CHECK(WhyNotMil({"conv", {kThree, kOneKernel, Text("pad_type", "full")}, {"f32[1, 1, 4]"}}) ==
        "operation 0 (conv \"result_0\"): pad_type \"full\" is unknown");
  CHECK(WhyNotMil({"conv",
                   {kThree, kOneKernel, Text("pad_type", "custom"), Const("pad", "i32[1]", {1})},
                   {"f32[1, 1, 4]"}}) ==
        "operation 0 (conv \"result_0\"): input pad has 1 elements for 1 spatial axes");
}

TEST_CASE("coreml programs: convolutions with groups, dilations, and weights that are computed") {
  const std::vector<MilOperand> operands = {
      In("x", "f32[1, 2, 3]", {1, 2, 3, 4, 5, 6}), Const("weight", "f32[2, 1, 2]", {1, 1, 1, 2}),
      Const("bias", "f32[2]", {10, 20}),           Const("groups", "i32[]", {2}),
      Const("dilations", "i32[1]", {2}),
  };
  CheckMil({"conv", operands, {"f32[1, 2, 1]"}, {{14, 36}}});
  CheckMil({"conv", {kThree, In("weight", "f32[1, 1, 2]", {1, 10})}, {"f32[1, 1, 2]"}, {{21, 32}}});
}

TEST_CASE("coreml programs: weights of another type are multiplied in float32") {
  CheckMil({"conv",
            {kThree, Const("weight", "f16[1, 1, 2]", {0.5, 1}), Const("bias", "f16[1]", {0.25})},
            {"f32[1, 1, 2]"},
            {{2.75, 4.25}},
            "CoreML7"});
  // 1 + 2^-11 is 1 in float16.
  CheckMil(
      {"conv",
       {In("x", "f16[1, 1, 2]", {2048, 2048}), Const("weight", "f32[1, 1, 2]", {1 + 0x1p-11, -1})},
       {"f16[1, 1, 1]"},
       {{1}},
       "CoreML7"});
}

TEST_CASE("coreml programs: transposed convolutions") {
  const MilOperand x = In("x", "f32[1, 1, 2]", {1, 2});
  const MilOperand weight = Const("weight", "f32[1, 1, 3]", {1, 10, 100});
  const MilOperand strides = Const("strides", "i32[1]", {2});
  CheckMil({"conv_transpose", {x, weight, strides}, {"f32[1, 1, 5]"}, {{1, 10, 102, 20, 200}}});
  CheckMil({"conv_transpose",
            {x, weight, strides, Text("pad_type", "same"), Const("bias", "f32[1]", {1000})},
            {"f32[1, 1, 4]"},
            {{1001, 1010, 1102, 1020}}});
  CheckMil({"conv_transpose",
            {x, weight, strides, Text("pad_type", "custom"), Const("pad", "i32[2]", {1, 1})},
            {"f32[1, 1, 3]"},
            {{10, 102, 20}}});
  CheckMil({"conv_transpose",
            {x, weight, strides, Const("output_shape", "i32[3]", {1, 1, 6})},
            {"f32[1, 1, 6]"},
            {{1, 10, 102, 20, 200, 0}}});
  CheckMil(
      {"conv_transpose",
       {x, weight, strides, Text("pad_type", "same"), Const("output_shape", "i32[3]", {1, 1, 3})},
       {"f32[1, 1, 3]"},
       {{10, 102, 20}}});
  CheckMil({"conv_transpose",
            {In("x", "f32[1, 2, 1]", {3, 4}), Const("weight", "f16[2, 1, 1]", {2, 5}),
             Const("groups", "i32[]", {2})},
            {"f32[1, 2, 1]"},
            {{6, 20}},
            "CoreML7"});
  CHECK(WhyNotMil({"conv_transpose",
                   {x, weight, Const("output_shape", "i32[1]", {6})},
                   {"f32[1, 1, 6]"}}) ==
        "operation 0 (conv_transpose \"result_0\"): input output_shape has 1 elements for an x of "
        "rank 3");
}

TEST_CASE("coreml programs: convolutions with quantized weights") {
  const MilOperand linear = Text("quantization_type", "linear");
  CheckMil({"conv_quantized",
            {In("x", "f32[1, 1, 2]", {1, 2}), Const("weight", "u8[1, 1, 2]", {10, 20}), linear,
             Const("quant_scale", "f32[]", {0.5}), Const("quant_bias", "f32[]", {-1})},
            {"f32[1, 1, 1]"},
            {{22}}});
  CheckMil({"conv_quantized",
            {In("x", "f16[1, 1, 1]", {2}), Const("weight", "u8[2, 1, 1]", {10, 20}),
             Const("bias", "u8[2]", {3, 4}), linear, Const("quant_scale", "f16[2]", {0.5, 1}),
             Const("quant_bias", "f16[2]", {0, 1})},
            {"f16[1, 2, 1]"},
            {{13, 46}}});
  CHECK(WhyNotMil({"conv_quantized",
                   {In("x", "f32[1, 1, 1]", {2}), Const("weight", "u8[1, 1, 1]", {10}),
                    Text("quantization_type", "lut"), Const("quant_scale", "f32[]", {0.5}),
                    Const("quant_bias", "f32[]", {0})},
                   {"f32[1, 1, 1]"}}) == "quantization_type \"lut\" is unsupported");
}

TEST_CASE("coreml programs: average pools count padding unless told otherwise") {
  const MilOperand x = In("x", "f32[1, 1, 4]", {1, 2, 3, 6});
  const MilOperand kernel = Const("kernel_sizes", "i32[1]", {2});
  const MilOperand strides = Const("strides", "i32[1]", {2});
  const MilOperand custom = Text("pad_type", "custom");
  const MilOperand pad = Const("pad", "i32[2]", {1, 1});
  CheckMil({"avg_pool",
            {x, kernel, strides, Text("pad_type", "valid")},
            {"f32[1, 1, 2]"},
            {{1.5, 4.5}}});
  CheckMil({"avg_pool", {x, kernel, strides, custom, pad}, {"f32[1, 1, 3]"}, {{0.5, 2.5, 3}}});
  CheckMil({"avg_pool",
            {x, kernel, strides, custom, pad, Const("exclude_padding_from_average", "bool[]", {1})},
            {"f32[1, 1, 3]"},
            {{1, 2.5, 6}}});
  CheckMil({"avg_pool",
            {In("x", "f32[1, 1, 2, 2]", {1, 2, 3, 4}), Const("kernel_sizes", "i32[2]", {2, 1}),
             Text("pad_type", "VALID")},
            {"f32[1, 1, 1, 2]"},
            {{2, 3}}});
}

TEST_CASE("coreml programs: maximum pools") {
  const MilOperand kernel = Const("kernel_sizes", "i32[1]", {2});
  const MilOperand x = In("x", "f32[1, 1, 3]", {1, 5, 2});
  CheckMil({"max_pool", {x, kernel, Text("pad_type", "same")}, {"f32[1, 1, 3]"}, {{5, 5, 2}}});
  CheckMil({"max_pool",
            {x, kernel, Text("pad_type", "same_lower")},
            {"f32[1, 1, 3]"},
            {{1, 5, 5}},
            "CoreML6"});
  CheckMil({"max_pool",
            {In("x", "f32[1, 1, 2, 1, 2]", {1, 2, 3, 4}),
             Const("kernel_sizes", "i32[3]", {2, 1, 1}), Text("pad_type", "valid")},
            {"f32[1, 1, 1, 1, 2]"},
            {{3, 4}}});
}

TEST_CASE("coreml programs: L2 pools") {
  CheckMil({"l2_pool",
            {In("x", "f32[1, 1, 4]", {3, 4, 0, -2}), Const("kernel_sizes", "i32[1]", {2}),
             Const("strides", "i32[1]", {2}), Text("pad_type", "valid")},
            {"f32[1, 1, 2]"},
            {{5, 2}}});
}

TEST_CASE("coreml programs: pools that round sizes up") {
  const MilOperand ceil = Const("ceil_mode", "bool[]", {1});
  const MilOperand valid = Text("pad_type", "valid");
  const MilOperand x = In("x", "f32[1, 1, 4]", {1, 2, 3, 6});
  const MilOperand kernel = Const("kernel_sizes", "i32[1]", {3});
  const MilOperand strides = Const("strides", "i32[1]", {2});
  CheckMil({"max_pool", {x, kernel, strides, valid}, {"f32[1, 1, 1]"}, {{3}}});
  CheckMil({"max_pool", {x, kernel, strides, valid, ceil}, {"f32[1, 1, 2]"}, {{3, 6}}});
  CheckMil({"avg_pool", {x, kernel, strides, valid, ceil}, {"f32[1, 1, 2]"}, {{2, 4.5}}});
  CHECK(WhyNotMil({"max_pool",
                   {In("x", "f32[1, 1, 5]", {1, 2, 3, 4, 5}), Const("kernel_sizes", "i32[1]", {1}),
                    Const("strides", "i32[1]", {3}), valid, ceil},
                   {"f32[1, 1, 3]"}}) ==
        "ceil_mode with strides above the kernel size is unsupported");
}

}  // namespace
}  // namespace nn::test::coreml_program_conv_test

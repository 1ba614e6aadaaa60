// Operations on elements, and activations.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_elementwise_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("coreml programs: one-to-one operations on elements") {
  CheckMil({"add", {In("x", "f32[2]", {1, 2}), Const("y", "f32[]", {3})}, {"f32[2]"}, {{4, 5}}});
  CheckMil({"sub", {In("x", "i32[2]", {1, 2}), In("y", "i32[2]", {5, -7})}, {"i32[2]"}, {{-4, 9}}});
  CheckMil({"floor_div",
            {In("x", "i32[2]", {-7, 7}), In("y", "i32[2]", {2, 2})},
            {"i32[2]"},
            {{-4, 3}}});
  CheckMil(
      {"mod", {In("x", "f32[2]", {-7, 7}), Const("y", "f32[2]", {3, 3})}, {"f32[2]"}, {{2, 1}}});
  CheckMil({"leaky_relu",
            {In("x", "f32[2]", {-8, 3}), Const("alpha", "f32[]", {0.25})},
            {"f32[2]"},
            {{-2, 3}}});
  CheckMil(
      {"clip",
       {In("x", "f32[3]", {-8, 3, 9}), Const("alpha", "f32[]", {-1}), Const("beta", "f32[]", {5})},
       {"f32[3]"},
       {{-1, 3, 5}}});
  CheckMil({"logical_and",
            {In("x", "bool[2]", {1, 1}), In("y", "bool[2]", {0, 1})},
            {"bool[2]"},
            {{0, 1}}});
  CheckMil(
      {"not_equal", {In("x", "f32[2]", {1, 2}), In("y", "f32[2]", {1, 3})}, {"bool[2]"}, {{0, 1}}});
  CheckMil({"select",
            {In("cond", "bool[2]", {1, 0}), In("a", "f32[2]", {1, 2}), In("b", "f32[2]", {3, 4})},
            {"f32[2]"},
            {{1, 4}}});
}

TEST_CASE("coreml programs: float16 is computed in float32, and rounded once") {
  CheckMil({"add", {In("x", "f16[1]", {2048}), Const("y", "f16[]", {1})}, {"f16[1]"}, {{2048}}});
  // 1 / (2^-14 + 2^-14), whose sum float16 has, but not the epsilon's half.
  CheckMil({"inverse",
            {In("x", "f16[1]", {0x1p-13}), Const("epsilon", "f16[]", {0})},
            {"f16[1]"},
            {{8192}}});
}

TEST_CASE("coreml programs: operations with an epsilon") {
  CheckMil({"inverse",
            {In("x", "f32[2]", {1, 0}), Const("epsilon", "f32[]", {0.25})},
            {"f32[2]"},
            {{0.8, 4}},
            "CoreML5",
            1e-7});
  CheckMil({"inverse", {In("x", "f32[1]", {0})}, {"f32[1]"}, {{10000}}, "CoreML5", 1e-7});
  CheckMil(
      {"rsqrt", {In("x", "f32[1]", {3}), Const("epsilon", "f32[]", {1})}, {"f32[1]"}, {{0.5}}});
  CheckMil({"log",
            {In("x", "f32[2]", {0, 1}), Const("epsilon", "f32[]", {1})},
            {"f32[2]"},
            {{0, std::log(2.0)}},
            "CoreML5",
            1e-7});
  // The default is the smallest number of float32.
  CheckMil({"log", {In("x", "f32[1]", {0})}, {"f32[1]"}, {{std::log(0x1p-149)}}, "CoreML5", 1e-6});
}

TEST_CASE("coreml programs: casts") {
  CheckMil({"cast",
            {In("x", "f32[3]", {-1.75, 0, 2.5}), Text("dtype", "int32")},
            {"i32[3]"},
            {{-1, 0, 2}}});
  CheckMil({"cast",
            {In("x", "f32[3]", {-1.75, 0, 2.5}), Text("dtype", "bool")},
            {"bool[3]"},
            {{1, 0, 1}}});
  CheckMil({"cast", {In("x", "i32[2]", {-3, 7}), Text("dtype", "fp16")}, {"f16[2]"}, {{-3, 7}}});
  CHECK(WhyNotMil({"cast", {In("x", "i32[2]", {-3, 7}), Text("dtype", "fp99")}, {"f32[2]"}})
            .find("there is no element type \"fp99\"") != std::string::npos);
}

TEST_CASE("coreml programs: activations") {
  const MilOperand x = In("x", "f32[1, 2, 2]", {-2, 4, -6, 8});
  const std::vector<std::string> type = {"f32[1, 2, 2]"};
  CheckMil({"clamped_relu",
            {x, Const("alpha", "f32[]", {0.5}), Const("beta", "f32[]", {5})},
            type,
            {{-1, 4, -3, 5}}});
  CheckMil({"linear_activation",
            {x, Const("alpha", "f32[]", {0.5}), Const("beta", "f32[]", {1})},
            type,
            {{0, 3, -2, 5}}});
  CheckMil({"prelu", {x, Const("alpha", "f32[2]", {0.5, 0.25})}, type, {{-1, 4, -1.5, 8}}});
  CheckMil({"relu6", {x}, type, {{0, 4, 0, 6}}});
  CheckMil({"threshold", {x, Const("alpha", "f32[]", {3})}, type, {{3, 4, 3, 8}}});
  CheckMil({"thresholded_relu", {x, Const("alpha", "f32[]", {4})}, type, {{0, 4, 0, 8}}});
  CheckMil({"scaled_tanh",
            {x, Const("alpha", "f32[]", {2}), Const("beta", "f32[]", {0.5})},
            type,
            {{2 * std::tanh(-1.0), 2 * std::tanh(2.0), 2 * std::tanh(-3.0), 2 * std::tanh(4.0)}},
            "CoreML5",
            1e-6});
  CheckMil({"softplus_parametric",
            {x, Const("alpha", "f32[2]", {1, 2}), Const("beta", "f32[2]", {1, 0.5})},
            type,
            {{std::log1p(std::exp(-2)), std::log1p(std::exp(4)), 2 * std::log1p(std::exp(-3)),
              2 * std::log1p(std::exp(4))}},
            "CoreML5",
            1e-6});
  CheckMil({"softmax",
            {In("x", "f32[2]", {0, std::log(3.0)}), Const("axis", "i32[]", {0})},
            {"f32[2]"},
            {{0.25, 0.75}},
            "CoreML5",
            1e-6});
  CheckMil({"gelu",
            {In("x", "f32[1]", {1}), Text("mode", "SIGMOID_APPROXIMATION")},
            {"f32[1]"},
            {{1 / (1 + std::exp(-1.702))}},
            "CoreML5",
            1e-6});
  CheckMil({"gelu", {In("x", "f32[1]", {1})}, {"f32[1]"}, {{0.8413447}}, "CoreML5", 1e-6});
  CHECK(WhyNotMil({"gelu", {In("x", "f32[1]", {1}), Text("mode", "NONE")}, {"f32[1]"}}) ==
        "operation 0 (gelu \"result_0\"): mode NONE is unknown");
}

TEST_CASE("coreml programs: results have the declared types") {
  CHECK(
      WhyNotMil({"relu", {In("x", "f32[2]", {1, 2})}, {"f32[3]"}}) ==
      "operation 0 (relu \"result_0\"): output \"result_0\" is declared as f32[3], but is f32[2]");
  CHECK(WhyNotMil({"relu7", {In("x", "f32[2]", {1, 2})}, {"f32[2]"}}) ==
        "there is no operation relu7");
  CHECK(WhyNotMil({"fill_like", {In("ref_tensor", "f32[2]", {1, 2})}, {"f32[2]"}}) ==
        "iOS15 has no operation fill_like");
  CheckMil({"exp2", {In("x", "f32[2]", {-1, 3})}, {"f32[2]"}, {{0.5, 8}}});
  CheckMil({"exp", {In("x", "f32[1]", {800})}, {"f32[1]"}, {{kInfinity}}});
}

}  // namespace
}  // namespace nn::test::coreml_program_elementwise_test

// Normalization.
#include <doctest/doctest.h>

#include <cmath>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_norm_test {
namespace {

const MilOperand kNoEpsilon = Const("epsilon", "f32[]", {0});

TEST_CASE("coreml programs: batch_norm") {
  const MilOperand x = In("x", "f32[1, 2, 2]", {1, 2, 3, 4});
  const MilOperand mean = Const("mean", "f32[2]", {1, 2});
  const MilOperand variance = Const("variance", "f32[2]", {4, 9});
  const std::vector<std::string> type = {"f32[1, 2, 2]"};
  CheckMil({"batch_norm",
            {x, mean, variance, Const("gamma", "f32[2]", {2, 3}), Const("beta", "f32[2]", {1, 0}),
             kNoEpsilon},
            type,
            {{1, 2, 1, 2}},
            "CoreML5",
            1e-6});
  CheckMil({"batch_norm",
            {x, mean, variance, kNoEpsilon},
            type,
            {{0, 0.5, 1 / 3.0, 2 / 3.0}},
            "CoreML5",
            1e-6});
  CheckMil({"batch_norm",
            {x, mean, Const("variance", "f32[2]", {0, 0}), Const("beta", "f32[2]", {1, 0})},
            type,
            {{1, 1 + std::sqrt(1e5), std::sqrt(1e5), 2 * std::sqrt(1e5)}},
            "CoreML5",
            1e-6});
  CheckMil({"batch_norm",
            {In("x", "f16[1, 2, 2]", {1, 2, 3, 4}), mean, variance,
             Const("gamma", "f16[2]", {2, 3}), kNoEpsilon},
            {"f16[1, 2, 2]"},
            {{0, 1, 1, 2}},
            "CoreML7",
            1e-3});
}

TEST_CASE("coreml programs: instance_norm") {
  const MilOperand x = In("x", "f32[1, 2, 2]", {1, 3, 5, 9});
  const MilOperand gamma = Const("gamma", "f32[2]", {2, 3});
  const MilOperand beta = Const("beta", "f32[2]", {10, 20});
  const std::vector<std::string> type = {"f32[1, 2, 2]"};
  CheckMil({"instance_norm", {x, kNoEpsilon}, type, {{-1, 1, -1, 1}}, "CoreML5", 1e-6});
  CheckMil({"instance_norm", {x, gamma, kNoEpsilon}, type, {{-2, 2, -3, 3}}, "CoreML5", 1e-6});
  CheckMil({"instance_norm", {x, beta, kNoEpsilon}, type, {{9, 11, 19, 21}}, "CoreML5", 1e-6});
  CheckMil({"instance_norm",
            {x, gamma, beta, Const("epsilon", "f32[]", {3})},
            type,
            {{9, 11, 20 - 6 / std::sqrt(7), 20 + 6 / std::sqrt(7)}},
            "CoreML5",
            1e-6});
}

TEST_CASE("coreml programs: layer_norm along any axes") {
  const MilOperand gamma = Const("gamma", "f32[2]", {2, 3});
  const std::vector<std::string> type = {"f32[2, 2]"};
  CheckMil({"layer_norm",
            {In("x", "f32[2, 2]", {1, 3, 5, 9}), Const("axes", "i32[1]", {-1}), gamma,
             Const("beta", "f32[2]", {1, 0}), kNoEpsilon},
            type,
            {{-1, 3, -1, 3}},
            "CoreML5",
            1e-6});
  CheckMil({"layer_norm",
            {In("x", "f32[2, 2]", {1, 5, 3, 9}), Const("axes", "i32[1]", {0}), gamma, kNoEpsilon},
            type,
            {{-2, -2, 3, 3}},
            "CoreML5",
            1e-6});
  CheckMil({"layer_norm",
            {In("x", "f32[2, 1, 2]", {1, 5, 3, 9}), Const("axes", "i32[2]", {1, 0}), kNoEpsilon},
            {"f32[2, 1, 2]"},
            {{-1, -1, 1, 1}},
            "CoreML5",
            1e-6});
  CheckMil({"layer_norm",
            {In("x", "f16[2, 2]", {1, 1, 3, 3}), Const("epsilon", "f32[]", {3})},
            {"f16[2, 2]"},
            {{-0.5, -0.5, 0.5, 0.5}},
            "CoreML7"});
  CHECK(WhyNotMil({"layer_norm",
                   {In("x", "f32[2, 2]", {1, 1, 3, 3}), Const("axes", "i32[1]", {2})},
                   type}) ==
        "operation 0 (layer_norm \"result_0\"): input axes: axis 2 is out of range for rank 2");
}

TEST_CASE("coreml programs: l2_norm along the last three axes") {
  CheckMil({"l2_norm",
            {In("x", "f32[2, 1, 1, 2]", {3, 4, 0, 5}), kNoEpsilon},
            {"f32[2, 1, 1, 2]"},
            {{0.6, 0.8, 0, 1}},
            "CoreML5",
            1e-6});
  CheckMil({"l2_norm",
            {In("x", "f32[1, 2, 1]", {3, 4}), Const("epsilon", "f32[]", {75})},
            {"f32[1, 2, 1]"},
            {{0.3, 0.4}},
            "CoreML5",
            1e-6});
}

TEST_CASE("coreml programs: local_response_norm along the third axis from the end") {
  const MilOperand x = In("x", "f32[1, 3, 1, 1]", {1, 2, 3});
  const MilOperand size = Const("size", "i32[]", {3});
  const std::vector<std::string> type = {"f32[1, 3, 1, 1]"};
  const MilOperand alpha = Const("alpha", "f32[]", {3}), beta = Const("beta", "f32[]", {1});
  CheckMil({"local_response_norm",
            {x, size, alpha, beta, Const("k", "f32[]", {1})},
            type,
            {{1 / 6.0, 2 / 15.0, 3 / 14.0}},
            "CoreML5",
            1e-6});
  CheckMil({"local_response_norm",
            {In("x", "f32[1, 3, 1]", {1, 2, 3}), size, alpha, beta},
            {"f32[1, 3, 1]"},
            {{1 / 2.0, 2 / 5.0, 3 / 10.0}},
            "CoreML5",
            1e-6});
  const auto divisor = [](double squares) { return std::pow(1 + 1e-4 / 3 * squares, 0.75); };
  CheckMil({"local_response_norm",
            {x, size},
            type,
            {{1 / divisor(5), 2 / divisor(14), 3 / divisor(13)}},
            "CoreML5",
            1e-6});
}

}  // namespace
}  // namespace nn::test::coreml_program_norm_test

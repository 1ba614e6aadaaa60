// Random numbers.
#include <doctest/doctest.h>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_random_test {
namespace {

TEST_CASE("coreml programs: random numbers of known contents") {
  const auto shape = Const("shape", "i32[2]", {2, 1});
  CheckMil({"random_bernoulli",
            {shape, Const("prob", "f16[]", {1}), Const("seed", "i32[]", {7})},
            {"f16[2, 1]"},
            {{1, 1}}});
  CheckMil({"random_normal",
            {shape, Const("mean", "f32[]", {2.5}), Const("stddev", "f32[]", {0})},
            {"f32[2, 1]"},
            {{2.5, 2.5}}});
  CheckMil(
      {"random_uniform",
       {In("shape", "i32[2]", {2, 1}), Const("low", "f32[]", {3}), Const("high", "f32[]", {3})},
       {"f32[m, n]"},
       {{3, 3}}});
  CheckMil({"random_categorical",
            {In("x", "f32[2, 1, 3]", {0, 0, 1, 0, 1, 0}), Text("mode", "probs"),
             Const("size", "i32[]", {2})},
            {"f32[2, 1, 2]"},
            {{2, 2, 1, 1}}});
  CheckMil({"random_categorical", {In("x", "f16[2]", {-30000, 30000})}, {"f16[1]"}, {{1}}});
  CHECK(WhyNotMil(
            {"random_categorical", {In("x", "f32[2]", {0, 1}), Text("mode", "odds")}, {"f32[1]"}})
            .ends_with("mode odds is unknown"));
}

TEST_CASE("coreml programs: random numbers of unknown contents") {
  const auto shape = Const("shape", "i32[2]", {4, 25});
  CheckMil({"random_bernoulli", {shape}, {"f32[4, 25]"}});
  CheckMil({"random_normal", {shape, Const("seed", "i32[]", {0})}, {"f32[4, 25]"}});
  CheckMil({"random_uniform",
            {shape, Const("low", "f16[]", {-1}), Const("high", "f16[]", {1})},
            {"f16[4, 25]"}});
}

}  // namespace
}  // namespace nn::test::coreml_program_random_test

// Random numbers.
#include <doctest/doctest.h>

#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/program_roundtrip.h"

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

TEST_CASE("coreml programs: export of random numbers") {
  const ProgramCase cases[] = {
      {"graph { in %x: f32[2, 3]  %r = random_uniform() {dims = [2, 3], low = -1, high = 2, seed = "
       "5, "
       "seed2 = 0}  %y = add(%x, %r)  out \"y\" = %y }",
       "random_uniform add"},
      {"graph { in %x: f32[2, 3]  %s = shape_of(%x)  %r = random_normal(%s) {mean = 0.5, scale = "
       "0, seed = 3}"
       "  %y = add(%x, %r)  out \"y\" = %y }"},
      {"graph { in %x: f16[2]  %r = random_normal() {dims = [2], mean = 0.1, scale = 0, seed = 3, "
       "dtype = f16}  %y = add(%x, %r)  out \"y\" = %y }",
       "random_normal cast add"},
      {"graph { in %x: f32[2, 3]  const %p: f32[2, 3] = splat(1)  %r = bernoulli(%p) {seed = 3}"
       "  %y = add(%x, %r)  out \"y\" = %y }",
       "random_bernoulli add"},
      {"graph { in %x: f32[2, 3]  %y = multinomial(%x) {count = 4, seed = 3}  out \"y\" = %y }",
       "random_categorical cast"},
  };
  for (const ProgramCase& c : cases) CheckProgram(c);
  CHECK(WhyNotProgram("graph { %y = random_uniform() {dims = [2], seed = 5, seed2 = 7}"
                      "  out \"y\" = %y }")
            .ends_with("its seeds are 5 and 7; ML Programs have a single one"));
}

}  // namespace
}  // namespace nn::test::coreml_program_random_test

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::batch_norm_training_test {
namespace {

std::string Training(const std::string& x, const std::string& statistics,
                     const std::string& attrs) {
  return fmt::format(
      R"(graph {{ in %x: {}  const %s: f32[2] = [2, 1]  const %b: f32[2] = [0, 10]
         in %m: {}[2]  in %v: {}[2]
         %y, %n, %w, %p, %q = batch_norm_training(%x, %s, %b, %m, %v) {}
         out "y" = %y  out "n" = %n  out "w" = %w  out "p" = %p  out "q" = %q }})",
      x, statistics, statistics, Braced(attrs));
}

// Channel 0 has 1 and 3 twice: mean 2 and variance 1. Channel 1 has 4, 4, 8, 8: mean 6, variance 4.
TEST_CASE("batch_norm_training: by hand") {
  const std::vector<double> x = {1, 3, 4, 4, 3, 1, 8, 8};
  const std::vector<double> y = {-2, 2, 9, 9, 2, -2, 11, 11};
  for (const OpCase& c : {
           OpCase{"channels first",
                  Training("f32[2, 2, 2]", "f32", "epsilon = 0.0, momentum = 0.75"),
                  {x, {10, 2}, {5, 8}},
                  {y, {8, 3}, {4, 7}, {2, 6}, {1, 4}}},
           OpCase{"channels last",
                  Training("f32[2, 2, 2]", "f32", "epsilon = 0.0, momentum = 0.5, layout = nxc"),
                  {{1, 4, 3, 4, 3, 8, 1, 8}, {10, 2}, {5, 8}},
                  {{-2, 9, 2, 9, 2, 11, -2, 11}, {6, 4}, {3, 6}, {2, 6}, {1, 4}}},
           OpCase{"the epsilon",
                  Training("f64[2, 2, 2]", "f64", "epsilon = 3.0, momentum = 0.0"),
                  {x, {10, 2}, {5, 8}},
                  {{-1, 1, 10 - 2 / std::sqrt(7), 10 - 2 / std::sqrt(7), 1, -1,
                    10 + 2 / std::sqrt(7), 10 + 2 / std::sqrt(7)},
                   {2, 6},
                   {1, 4},
                   {2, 6},
                   {1, 4}},
                  1e-15},
       })
    CheckCase(c);
}

// The sum of the elements exceeds float16, and the running mean needs more bits than it has.
TEST_CASE("batch_norm_training: float16 is computed in float32") {
  CheckCase({"",
             R"(graph { in %x: f16[4, 1]  const %s: f16[1] = [1]  const %b: f16[1] = [0]
                in %m: f32[1]  in %v: f32[1]
                %y, %n, %w = batch_norm_training(%x, %s, %b, %m, %v) {epsilon = 0.0, momentum = 0.5}
                out "y" = %y  out "n" = %n  out "w" = %w })",
             {{60000, 60000, 60032, 60032}, {1}, {0}},
             {{-1, -1, 1, 1}, {30008.5}, {128}}});
}

TEST_CASE("batch_norm_training: operands that do not fit") {
  const auto fails = [](const char* x, const char* m, const char* why) {
    return Fails(fmt::format(R"(graph {{ in %x: {}  in %s: f32[2]  in %m: {}
                                %y, %n, %w = batch_norm_training(%x, %s, %s, %m, %s)
                                out "y" = %y }})",
                             x, m),
                 why);
  };
  CHECK(fails("f32[2, 3]", "f32[2]", "input 1 has 2 elements for 3 channels"));
  CHECK(fails("f32[2, 2]", "f64[2]", "different element types, f64 and f32"));
  CHECK(fails("i32[2, 2]", "f32[2]", "batch_norm_training: i32[2, 2] is not supported"));
  CHECK(fails("f32[2]", "f32[2]", "its rank must be at least 2"));
}

}  // namespace
}  // namespace nn::test::batch_norm_training_test

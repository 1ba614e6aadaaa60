#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::linear_attention_test {
namespace {

// One head with a state of one row and one column, two steps.
std::string Scalars(const std::string& operands) {
  return fmt::format(R"(graph {{ in %q: f32[1, 2, 1]  in %k: f32[1, 2, 1]  in %v: f32[1, 2, 1]
     const %s: f32[1, 1, 1, 1] = [8]  const %d: f32[1, 2, 1] = [0, -0.6931472]
     const %b: f32[1, 2, 1] = [0.5, 2]
     %y, %z = linear_attention(%q, %k, %v{}) {{scale = 1.0}}  out "y" = %y  out "z" = %z }})",
                     operands);
}

TEST_CASE("linear_attention: the rules, by hand") {
  const std::vector<std::vector<double>> inputs = {{1, 3}, {2, 1}, {5, 7}};
  for (const OpCase& c : {
           // S = 10, then 17.
           OpCase{"linear", Scalars(""), inputs, {{10, 51}, {17}}},
           OpCase{"linear, from a state", Scalars(", %s"), inputs, {{18, 75}, {25}}},
           // S = 8 + 10, then 18 / 2 + 7.
           OpCase{"gated", Scalars(", %s, %d"), inputs, {{18, 48}, {16}}, 1e-6},
           // u = 0.5 (5 - 16) and S = 8 - 11, then u = 2 (7 + 3) and S = -3 + 20.
           OpCase{"delta", Scalars(", %s, _, %b"), inputs, {{-3, 51}, {17}}},
           // S = -3 / 2, then u = 2 (7 + 1.5).
           OpCase{"gated_delta", Scalars(", %s, %d, %b"), inputs, {{-3, 46.5}, {15.5}}, 1e-6},
       })
    CheckCase(c);
}

TEST_CASE("linear_attention: heads") {
  // Two heads of q read one state [2, 2], k^T v with k = [1, 2] and v = [3, 4]; the scale is
  // 1 / sqrt(2).
  const double r = 1 / std::sqrt(2.0);
  CheckCase({"shared",
             R"(graph { in %q: f32[1, 1, 4]  in %k: f32[1, 1, 2]  in %v: f32[1, 1, 2]
              %y, %z = linear_attention(%q, %k, %v) {q_heads = 2}
              out "y" = %y  out "z" = %z })",
             {{1, 0, 1, -1}, {1, 2}, {3, 4}},
             {{3 * r, 4 * r, -3 * r, -4 * r}, {3, 4, 6, 8}},
             1e-6});
  CheckCase({"decay of each row",
             R"(graph { in %q: f32[1, 1, 2]  in %k: f32[1, 1, 2]  in %v: f32[1, 1, 1]
                const %s: f32[1, 1, 2, 1] = [16, 32]
                const %d: f32[1, 1, 2] = [-0.6931472, 0]
                %y, %z = linear_attention(%q, %k, %v, %s, %d) {scale = 2.0}
                out "y" = %y  out "z" = %z })",
             {{1, 1}, {0, 1}, {3}},
             {{86}, {8, 35}},
             1e-6});
}

TEST_CASE("linear_attention: operands that do not fit") {
  const auto fails = [](const char* q, const char* k, const char* v, const char* attrs,
                        const char* why) {
    return Fails(fmt::format("graph {{ in %q: {}  in %k: {}  in %v: {}  "
                             "%y = linear_attention(%q, %k, %v) {{{}}}  out \"y\" = %y }}",
                             q, k, v, attrs),
                 why);
  };
  CHECK(fails("f32[1, 2, 4]", "f32[1, 2, 4]", "f32[1, 2, 4]", "q_heads = 3, kv_heads = 2",
              "the number of query heads 3 is not a multiple of 2"));
  CHECK(fails("f32[1, 2, 4]", "f32[1, 2, 4]", "f32[1, 2, 4]", "q_heads = 2",
              "heads of the query have 2 elements, of the key 4"));
  CHECK(fails("f32[1, 2, 4]", "f32[1, 2, 4]", "f32[1, 2, 5]", "q_heads = 2, kv_heads = 2",
              "its last axis is not a multiple of 2 heads"));
  CHECK(fails("f32[1, 2, 4]", "f32[1, 3, 4]", "f32[1, 2, 4]", "scale = 1.0", "is 3; must be 2"));
  CHECK(fails("f64[1, 2, 4]", "f64[1, 2, 4]", "f64[1, 2, 4]", "scale = 1.0",
              "linear_attention: f64 is not supported"));
}

}  // namespace
}  // namespace nn::test::linear_attention_test

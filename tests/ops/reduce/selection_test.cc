#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::selection_test {
namespace {

TEST_CASE("arg_max, arg_min: by hand") {
  const std::vector<std::vector<double>> x = {{1, 5, 5, 7, 0, 7}};
  for (const OpCase& c : {
           OpCase{"the first of equals",
                  OneOp("f32[2, 3]", "arg_max(%x) {axis = 1} : i64[2, 1]"),
                  x,
                  {{1, 0}}},
           OpCase{"the last of equals",
                  OneOp("f32[2, 3]", "arg_max(%x) {axis = 1, select_last_index = true}"),
                  x,
                  {{2, 2}}},
           OpCase{"dims dropped",
                  OneOp("f32[2, 3]", "arg_min(%x) {keep_dims = false} : i64[3]"),
                  x,
                  {{0, 1, 0}}},
           OpCase{"i32 indices",
                  OneOp("f32[2, 3]", "arg_min(%x) {axis = -1, output_type = i32} : i32[2, 1]"),
                  x,
                  {{0, 1}}},
       })
    CheckCase(c);
}

TEST_CASE("top_k: by hand") {
  const auto graph = [](std::string_view attrs) {
    return fmt::format(R"(graph {{ in %x: f32[2, 3]  const %k: i64[1] = [2]
                                  %y, %i = top_k(%x, %k) {}  out "y" = %y  out "i" = %i }})",
                       Braced(attrs));
  };
  const std::vector<std::vector<double>> x = {{1, 5, 5, 7, 0, 6}};
  CheckCase({"largest", graph(""), x, {{5, 5, 7, 6}, {1, 2, 0, 2}}});
  CheckCase({"smallest", graph("largest = false"), x, {{1, 5, 0, 6}, {0, 1, 1, 2}}});
  CheckCase({"another axis", graph("axis = 0"), x, {{7, 5, 6, 1, 0, 5}, {1, 0, 1, 0, 1, 0}}});
  CHECK(Fails(R"(graph { in %x: f32[3]  const %k: i64[1] = [4]
                         %y, %i = top_k(%x, %k)  out "y" = %y })",
              "4"));
}

}  // namespace
}  // namespace nn::test::selection_test

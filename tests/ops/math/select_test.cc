#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::select_test {
namespace {

TEST_CASE("non_zero, compress: by hand") {
  CheckCase({"non_zero", OneOp("f32[2, 2]", "non_zero(%x)"), {{1, 0, 3, 4}}, {{0, 1, 1, 0, 0, 1}}});
  CheckCase({"compress",
             R"(graph { in %x: f32[4]  const %c: bool[4] = [0, 1, 0, 1]
                                    %y = compress(%x, %c)  out "y" = %y })",
             {{1, 2, 3, 4}},
             {{2, 4}}});
  CheckCase({"compress along an axis, a short condition",
             R"(graph { in %x: f32[2, 3]  const %c: bool[2] = [0, 1]
                        %y = compress(%x, %c) {flatten = false, axis = 1}  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}},
             {{2, 5}}});
}

TEST_CASE("unique: by hand") {
  const auto graph = [](std::string_view attrs) {
    return fmt::format(R"(graph {{ in %x: f32[5]  %y, %first, %inverse, %counts = unique(%x) {}
                                  out "y" = %y  out "f" = %first  out "i" = %inverse
                                  out "c" = %counts }})",
                       Braced(attrs));
  };
  const std::vector<std::vector<double>> x = {{2, 1, 1, 3, 2}};
  CheckCase({"sorted", graph(""), x, {{1, 2, 3}, {1, 0, 3}, {1, 0, 0, 2, 1}, {2, 2, 1}}});
  CheckCase({"as they come",
             graph("sorted = false"),
             x,
             {{2, 1, 3}, {0, 1, 3}, {0, 1, 1, 2, 0}, {2, 2, 1}}});
}

TEST_CASE("reverse_sequence: by hand") {
  CheckCase({"time first",
             R"(graph { in %x: f32[3, 2]  const %l: i64[2] = [3, 1]
                                      %y = reverse_sequence(%x, %l)  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}},
             {{5, 2, 3, 4, 1, 6}}});
  CheckCase({"batch first",
             R"(graph { in %x: f32[2, 3]  const %l: i64[2] = [2, 3]
                       %y = reverse_sequence(%x, %l) {batch_axis = 0, time_axis = 1}  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}},
             {{2, 1, 3, 6, 5, 4}}});
}

}  // namespace
}  // namespace nn::test::select_test

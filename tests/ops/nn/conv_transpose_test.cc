#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::conv_transpose_test {
namespace {

// A transposed convolution of x, of shape [1, 1, 3], with a filter of two taps.
std::string OnThree(std::string_view attrs) {
  return fmt::format(R"(graph {{ in %x: f32[1, 1, 3]  const %w: f32[1, 1, 2] = [1, 10]
                                %y = conv_transpose(%x, %w) {}  out "y" = %y }})",
                     Braced(attrs));
}

TEST_CASE("conv_transpose: 1-D by hand") {
  const std::vector<std::vector<double>> x = {{1, 2, 3}};
  for (const OpCase& c : {
           OpCase{"plain", OnThree(""), x, {{1, 12, 23, 30}}},
           OpCase{"strided", OnThree("strides = [2]"), x, {{1, 10, 2, 20, 3, 30}}},
           OpCase{"pads take away", OnThree("strides = [2], pads = [1, 1]"), x, {{10, 2, 20, 3}}},
           OpCase{"output padding",
                  OnThree("strides = [2], output_padding = [1]"),
                  x,
                  {{1, 10, 2, 20, 3, 30, 0}}},
           OpCase{"dilated", OnThree("dilations = [2]"), x, {{1, 2, 13, 20, 30}}},
           OpCase{"a size, the odd element at the end",
                  OnThree("strides = [2], output_shape = [5], padding = same_upper"),
                  x,
                  {{1, 10, 2, 20, 3}}},
           OpCase{"a size, the odd element at the begin",
                  OnThree("strides = [2], output_shape = [5], padding = same_lower"),
                  x,
                  {{10, 2, 20, 3, 30}}},
       })
    CheckCase(c);
}

TEST_CASE("conv_transpose: groups, bias, layout") {
  CheckCase({"groups",
             R"(graph { in %x: f32[1, 2, 1]  const %w: f32[2, 1, 2] = [1, 10, 100, 1000]
                                  const %b: f32[2] = [5, 7]
                                  %y = conv_transpose(%x, %w, %b) {groups = 2}  out "y" = %y })",
             {{1, 2}},
             {{6, 15, 207, 2007}}});
  CheckCase({"channels last",
             R"(graph { in %x: f32[1, 2, 1]  const %w: f32[1, 2, 1] = [1, 10]
                                  %y = conv_transpose(%x, %w) {layout = nxc}  out "y" = %y })",
             {{1, 2}},
             {{1, 10, 2, 20}}});
  CheckCase({"2-D",
             R"(graph { in %x: f32[1, 1, 1, 2]  const %w: f32[1, 1, 2, 2] = [1, 2, 3, 4]
                               %y = conv_transpose(%x, %w)  out "y" = %y })",
             {{1, 10}},
             {{1, 12, 20, 3, 34, 40}}});
}

// A work item must not visit all lines for each of as many classes of lines.
TEST_CASE("conv_transpose: many lines of a single input position") {
  std::vector<double> y(300000, 0);
  y[0] = 2, y[1] = 20, y[2] = 200;
  CheckCase({"lines",
             R"(graph { in %x: f32[1, 1, 1, 1]  const %w: f32[1, 1, 1, 3] = [1, 10, 100]
                        %y = conv_transpose(%x, %w) {output_shape = [100000, 3]}  out "y" = %y })",
             {{2}},
             {y}});
  CheckCase({"planes",
             R"(graph { in %x: f32[1, 2, 2, 1, 3]  const %w: f32[2, 3, 3, 3, 2] = seeded(1)
                        %y = conv_transpose(%x, %w) {strides = [2, 1, 2], output_shape = [7, 40, 8]}
                        out "y" = %y })"});
}

TEST_CASE("conv_transpose: errors name what does not fit") {
  CHECK(Fails(R"(graph { in %x: f32[1, 2, 3]  const %w: f32[1, 1, 2] = [1, 10]
                         %y = conv_transpose(%x, %w)  out "y" = %y })",
              "channels"));
}

}  // namespace
}  // namespace nn::test::conv_transpose_test

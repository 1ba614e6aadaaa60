#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::col2im_test {
namespace {

std::string Sums(const std::string& x, const std::string& image, const std::string& block,
                 const std::string& attrs = "") {
  const auto axes = 1 + std::count(image.begin(), image.end(), ',');
  return fmt::format(R"(graph {{ in %x: {}  const %i: i64[{}] = [{}]  const %b: i64[{}] = [{}]
                        %y = col2im(%x, %i, %b) {}  out "y" = %y }})",
                     x, axes, image, axes, block, Braced(attrs));
}

TEST_CASE("col2im: by hand") {
  for (const OpCase& c : {
           // Blocks of 2 at 0, 1 and 2: 1 | 2 + 4 | 3 + 5 | 6.
           OpCase{"overlapping blocks",
                  Sums("f32[1, 2, 3]", "4", "2"),
                  {{1, 2, 3, 4, 5, 6}},
                  {{1, 6, 8, 6}}},
           OpCase{"blocks side by side, of two channels",
                  Sums("f32[1, 4, 2]", "4", "2", "strides = [2]"),
                  {{1, 2, 3, 4, 5, 6, 7, 8}},
                  {{1, 3, 2, 4, 5, 7, 6, 8}}},
           OpCase{
               "gaps", Sums("f32[1, 2, 1]", "4", "2", "dilations = [3]"), {{1, 2}}, {{1, 0, 0, 2}}},
           OpCase{"elements in the padding are dropped",
                  Sums("f32[1, 2, 3]", "2", "2", "pads = [1, 1]"),
                  {{9, 1, 2, 3, 4, 9}},
                  {{4, 6}}},
           OpCase{"two axes",
                  Sums("i32[1, 4, 2]", "2, 3", "2, 2"),
                  {{1, 2, 3, 4, 5, 6, 7, 8}},
                  {{1, 5, 4, 5, 13, 8}}},
           OpCase{"integers wrap", Sums("u8[1, 2, 2]", "3", "2"), {{1, 200, 100, 7}}, {{1, 44, 7}}},
           OpCase{"float16 sums are rounded once",
                  Sums("f16[1, 3, 3]", "5", "3"),
                  {{0, 0, 1, 0, 2048, 0, 1, 0, 0}},
                  {{0, 0, 2050, 0, 0}}},
       })
    CheckCase(c);
}

TEST_CASE("col2im: operands that do not fit") {
  CHECK(Fails(Sums("f32[1, 3, 3]", "4", "2"), "3 rows are not divisible by the 2 elements"));
  CHECK(Fails(Sums("f32[1, 2, 4]", "4", "2"), "there are 4 columns; the image has 3 blocks"));
  CHECK(Fails(Sums("f32[2, 3]", "4", "2"), "its rank must be 3"));
  CHECK(Fails(Sums("bool[1, 2, 3]", "4", "2"), "col2im: bool[1, 2, 3] is not supported"));
  CHECK(Fails(R"(graph { in %x: f32[1, 4, 4]  in %i: i64[2]  in %b: i64[1]
                 %y = col2im(%x, %i, %b)  out "y" = %y })",
              "image has 2 entries, but block 1"));
  CHECK(Fails(R"(graph { in %x: f32[1, 4, 4]  in %i: i64[2]  in %b: f32[2]
                 %y = col2im(%x, %i, %b)  out "y" = %y })",
              "input 2 holds sizes and must be an integer tensor"));
  const Graph g = Parse(R"(graph { in %x: f32[1, 4, 4]  in %i: i64[2]  in %b: i64[2]
                           %y = col2im(%x, %i, %b)  out "y" = %y })");
  for (const std::vector<double>& block :
       std::vector<std::vector<double>>{{2, 3}, {0, 1}, {-1, -1}, {1e18, 1e18}})
    CheckSameError(g, InputsOf(g, {std::vector<double>(16, 1), {2, 2}, block}));
}

}  // namespace
}  // namespace nn::test::col2im_test

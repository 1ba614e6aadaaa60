#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::pool_test {
namespace {

TEST_CASE("max_pool") {
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  for (const OpCase& c : {
           OpCase{"2-D",
                  OneOp("f32[1, 1, 3, 3]", "max_pool(%x) {kernel = [2, 2]}"),
                  {{1, 2, 3, 4, 5, 6, 7, 8, 9}},
                  {{5, 6, 8, 9}}},
           OpCase{"3-D",
                  OneOp("f32[1, 1, 2, 2, 2]", "max_pool(%x) {kernel = [2, 2, 2]}"),
                  {{1, 8, 3, 4, 5, 6, 7, 2}},
                  {{8}}},
           OpCase{"channels last",
                  OneOp("f32[1, 2, 2]", "max_pool(%x) {layout = nxc, kernel = [2]}"),
                  {{1, 4, 3, 2}},
                  {{3, 4}}},
           OpCase{"size rounded down",
                  OneOp("f32[1, 1, 6]", "max_pool(%x) {kernel = [3], strides = [2]}"),
                  {six},
                  {{3, 5}}},
           OpCase{"size rounded up",
                  OneOp("f32[1, 1, 6]",
                        "max_pool(%x) {kernel = [3], strides = [2], ceil_mode = true}"),
                  {six},
                  {{3, 5, 6}}},
           OpCase{"padding counts as nothing, not as zero",
                  OneOp("f32[1, 1, 3]", "max_pool(%x) {kernel = [2], pads = [1, 1]}"),
                  {{-3, -1, -2}},
                  {{-3, -1, -1, -2}}},
           OpCase{"same_upper",
                  OneOp("f32[1, 1, 4]", "max_pool(%x) {kernel = [2], padding = same_upper}"),
                  {{1, 4, 2, 3}},
                  {{4, 4, 3, 3}}},
           OpCase{"same_lower",
                  OneOp("f32[1, 1, 4]", "max_pool(%x) {kernel = [2], padding = same_lower}"),
                  {{1, 4, 2, 3}},
                  {{1, 4, 4, 3}}},
           OpCase{"dilated",
                  OneOp("f32[1, 1, 5]", "max_pool(%x) {kernel = [2], dilations = [2]}"),
                  {{5, 1, 2, 4, 3}},
                  {{5, 4, 3}}},
           OpCase{"integers",
                  OneOp("i8[1, 1, 3]", "max_pool(%x) {kernel = [2]}"),
                  {{-3, -7, 5}},
                  {{-3, 5}}},
       })
    CheckCase(c);
  CheckCase({"indices of the first largest",
             R"(graph { in %x: f32[1, 1, 2, 3]
                        %y, %i = max_pool(%x) {kernel = [2, 2]}  out "y" = %y  out "i" = %i })",
             {{1, 9, 9, 4, 5, 9}},
             {{9, 9}, {1, 1}}});
}

TEST_CASE("average_pool") {
  const std::vector<double> five = {1, 2, 3, 4, 5};
  for (const OpCase& c : {
           OpCase{"2-D",
                  OneOp("f32[1, 1, 3, 3]", "average_pool(%x) {kernel = [2, 2]}"),
                  {{1, 2, 3, 4, 5, 6, 7, 8, 9}},
                  {{3, 4, 6, 7}}},
           OpCase{"padding does not count",
                  OneOp("f32[1, 1, 5]",
                        "average_pool(%x) {kernel = [3], strides = [2], pads = [1, 1]}"),
                  {five},
                  {{1.5, 3, 4.5}}},
           OpCase{"padding counts",
                  OneOp("f32[1, 1, 5]",
                        "average_pool(%x) {kernel = [3], strides = [2], pads = [1, 1], "
                        "count_include_pad = true}"),
                  {five},
                  {{1, 3, 3}}},
           OpCase{"what a rounded up size adds does not count",
                  OneOp("f32[1, 1, 4]",
                        "average_pool(%x) {kernel = [3], strides = [2], "
                        "ceil_mode = true, count_include_pad = true}"),
                  {{1, 2, 3, 4}},
                  {{2, 3.5}}},
           OpCase{"dilated",
                  OneOp("f32[1, 1, 5]", "average_pool(%x) {kernel = [2], dilations = [2]}"),
                  {five},
                  {{2, 3, 4}}},
       })
    CheckCase(c);
}

TEST_CASE("lp_pool: p = 2 and p = 1") {
  CheckCase({"2", OneOp("f32[1, 1, 3]", "lp_pool(%x) {kernel = [2]}"), {{3, -4, 0}}, {{5, 4}}});
  CheckCase(
      {"1", OneOp("f32[1, 1, 3]", "lp_pool(%x) {kernel = [2], p = 1.0}"), {{3, -4, 0}}, {{7, 4}}});
}

TEST_CASE("pools: errors name what does not fit") {
  CHECK(Fails(OneOp("f32[1, 1, 3]", "max_pool(%x) {kernel = [4]}"),
              "a window of 4 elements does not fit spatial axis 0 of size 3"));
  CHECK(Fails(OneOp("f32[1, 1, 3]", "max_pool(%x) {kernel = [2, 2]}"), "kernel"));
  CHECK(Fails(OneOp("f32[1, 1, 8]", "max_pool(%x) {kernel = [3], pads = [-1, 0]}"),
              "pads[0] is -1; must be at least 0"));
}

}  // namespace
}  // namespace nn::test::pool_test

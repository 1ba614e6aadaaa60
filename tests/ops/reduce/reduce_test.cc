#include <doctest/doctest.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::reduce_test {
namespace {

TEST_CASE("reductions: by hand") {
  const std::vector<std::vector<double>> six = {{1, 2, 3, 4, 5, 6}};
  const double ln2 = 0.6931471805599453;
  for (const OpCase& c : {
           OpCase{"sum",
                  OneOp("f32[2, 3]", "reduce_sum(%x) {axes = [1]} : f32[2, 1]"),
                  six,
                  {{6, 15}}},
           OpCase{"dims dropped",
                  OneOp("f32[2, 3]", "reduce_sum(%x) {axes = [0], keep_dims = false} : f32[3]"),
                  six,
                  {{5, 7, 9}}},
           OpCase{"all axes", OneOp("f32[2, 3]", "reduce_max(%x) : f32[1, 1]"), six, {{6}}},
           OpCase{"negative axis",
                  OneOp("f32[2, 3]", "reduce_min(%x) {axes = [-1]} : f32[2, 1]"),
                  six,
                  {{1, 4}}},
           OpCase{
               "mean", OneOp("f32[2, 3]", "reduce_mean(%x) {axes = [0]}"), six, {{2.5, 3.5, 4.5}}},
           OpCase{"product", OneOp("f32[2, 3]", "reduce_prod(%x) {axes = [1]}"), six, {{6, 120}}},
           OpCase{"l1", OneOp("f32[2]", "reduce_l1(%x)"), {{3, -4}}, {{7}}},
           OpCase{"l2", OneOp("f32[2]", "reduce_l2(%x)"), {{3, -4}}, {{5}}},
           OpCase{"sum of squares", OneOp("f32[2]", "reduce_sum_square(%x)"), {{3, -4}}, {{25}}},
           OpCase{"log of sum", OneOp("f32[2]", "reduce_log_sum(%x)"), {{0.5, 1.5}}, {{ln2}}, 1e-6},
           OpCase{"log_sum_exp of f64",
                  OneOp("f64[2]", "reduce_log_sum_exp(%x)"),
                  {{1000, 1001}},
                  {{1001.3132616875182}},
                  1e-15},
           OpCase{"log_sum of f64",
                  OneOp("f64[2, 2]", "reduce_log_sum(%x) {axes = [1]}"),
                  {{1, 2, 0, 0}},
                  {{1.0986122886681098, -std::numeric_limits<double>::infinity()}},
                  1e-15},
           OpCase{"log of sum of exponentials",
                  OneOp("f32[2]", "reduce_log_sum_exp(%x)"),
                  {{200, 200}},
                  {{200 + ln2}},
                  1e-6},
           OpCase{"integers",
                  OneOp("i32[3]", "reduce_sum(%x)"),
                  {{2147483647, 1, 5}},
                  {{-2147483643}}},
           OpCase{
               "any", OneOp("bool[2, 2]", "reduce_any(%x) {axes = [1]}"), {{0, 1, 0, 0}}, {{1, 0}}},
           OpCase{
               "all", OneOp("bool[2, 2]", "reduce_all(%x) {axes = [1]}"), {{1, 1, 0, 1}}, {{1, 0}}},
           OpCase{
               "sum of nothing", OneOp("f32[2, 0]", "reduce_sum(%x) {axes = [1]}"), {{}}, {{0, 0}}},
       })
    CheckCase(c);
}

TEST_CASE("reductions: axes as an input") {
  CheckCase({"constant",
             R"(graph { in %x: f32[2, 3]  const %a: i64[1] = [1]
                                    %y = reduce_sum(%x, %a) : f32[2, 1]  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}},
             {{6, 15}}});
}

TEST_CASE("reductions: sums of many elements take 16 lanes") {
  // Lane 0 holds 2^24 + 1 + 1, which rounds back to 2^24 twice; the ones in other lanes survive.
  std::vector<double> x(48, 0);
  x[0] = 16777216;
  x[16] = x[32] = 1;
  x[1] = x[17] = 1;
  CheckCase({"lanes", OneOp("f32[48]", "reduce_sum(%x)"), {x}, {{16777218}}});
}

TEST_CASE("reductions: the same everywhere") {
  CheckCase({"inner", OneOp("f32[7, 131]", "reduce_mean(%x) {axes = [1]}")});
  CheckCase({"outer", OneOp("f32[37, 19, 5]", "reduce_sum(%x) {axes = [0, 1]}")});
  CheckCase({"rows without elements", OneOp("f32[0, 2]", "reduce_sum(%x) {axes = [0]}")});
}

TEST_CASE("reductions: errors name what does not fit") {
  CHECK(Fails(OneOp("f32[2, 3]", "reduce_sum(%x) {axes = [2]}"),
              "axis 2 is out of range for a tensor of rank 2"));
  CHECK(Fails(OneOp("f32[2]", "reduce_any(%x)"), "reduce_any of f32: the input must be bool"));
}

}  // namespace
}  // namespace nn::test::reduce_test

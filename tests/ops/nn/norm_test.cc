#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::norm_test {
namespace {

constexpr double kOuter = 1.3416407864998738, kInner = 0.4472135954999579;  // of 1, 2, 3, 4

TEST_CASE("normalizations: by hand") {
  const std::vector<std::vector<double>> four = {{1, 2, 3, 4}};
  const std::vector<std::vector<double>> normal = {{-kOuter, -kInner, kInner, kOuter}};
  for (const OpCase& c : {
           OpCase{
               "batch_norm",
               R"(graph { in %x: f32[1, 2, 2]  const %s: f32[2] = [1, 2]  const %b: f32[2] = [0, 1]
                             const %m: f32[2] = [1, 3]  const %v: f32[2] = [4, 1]
                             %y = batch_norm(%x, %s, %b, %m, %v) {epsilon = 0.0}  out "y" = %y })",
               four,
               {{0, 0.5, 1, 3}}},
           OpCase{"instance_norm",
                  R"(graph { in %x: f32[1, 1, 4]  const %s: f32[1] = [2]  const %b: f32[1] = [1]
                             %y = instance_norm(%x, %s, %b) {epsilon = 0.0}  out "y" = %y })",
                  four,
                  {{1 - 2 * kOuter, 1 - 2 * kInner, 1 + 2 * kInner, 1 + 2 * kOuter}},
                  1e-6},
           OpCase{
               "group_norm, parameters for each channel",
               R"(graph { in %x: f32[1, 2, 2]  const %s: f32[2] = [1, 2]  const %b: f32[2] = [0, 1]
                             %y = group_norm(%x, %s, %b) {groups = 1, epsilon = 0.0}  out "y" = %y })",
               four,
               {{-kOuter, -kInner, 1 + 2 * kInner, 1 + 2 * kOuter}},
               1e-6},
           OpCase{
               "group_norm, parameters for each group",
               R"(graph { in %x: f32[1, 4, 2]  const %s: f32[2] = [1, 2]  const %b: f32[2] = [0, 1]
                             %y = group_norm(%x, %s, %b) {groups = 2, epsilon = 0.0}  out "y" = %y })",
               {{1, 2, 3, 4, 1, 2, 3, 4}},
               {{-kOuter, -kInner, kInner, kOuter, 1 - 2 * kOuter, 1 - 2 * kInner, 1 + 2 * kInner,
                 1 + 2 * kOuter}},
               1e-6},
           OpCase{"layer_norm", OneOp("f32[1, 4]", "layer_norm(%x) {epsilon = 0.0}"), four, normal,
                  1e-6},
           OpCase{"layer_norm over two axes",
                  OneOp("f32[1, 2, 2]", "layer_norm(%x) {axis = 1, epsilon = 0.0}"), four, normal,
                  1e-6},
           OpCase{"rms_norm",
                  OneOp("f32[1, 2]", "rms_norm(%x) {epsilon = 0.0}"),
                  {{3, 4}},
                  {{0.848528137423857, 1.131370849898476}},
                  1e-6},
           OpCase{"lrn of neighbors",
                  OneOp("f32[1, 2, 1]", "lrn(%x) {size = 3, alpha = 3.0, beta = 1.0}"),
                  {{1, 2}},
                  {{1.0 / 6, 2.0 / 6}},
                  1e-6},
           OpCase{"lrn of itself",
                  OneOp("f32[1, 2, 1]", "lrn(%x) {size = 1, alpha = 1.0, beta = 1.0}"),
                  {{1, 2}},
                  {{0.5, 0.4}},
                  1e-6},
           OpCase{"l2_normalization",
                  OneOp("f32[1, 2]", "l2_normalization(%x)"),
                  {{3, 4}},
                  {{0.6, 0.8}},
                  1e-6},
           OpCase{"lp_normalization, p = 1",
                  OneOp("f32[1, 2]", "lp_normalization(%x) {p = 1}"),
                  {{1, -3}},
                  {{0.25, -0.75}}},
           OpCase{"lp_normalization of zeros",
                  OneOp("f32[1, 2]", "lp_normalization(%x)"),
                  {{0, 0}},
                  {{0, 0}}},
           OpCase{"mean and variance",
                  OneOp("f32[1, 4]", "mean_variance_normalization(%x) {axes = [1], epsilon = 0.0}"),
                  four, normal, 1e-6},
           OpCase{"mean only",
                  OneOp("f32[1, 4]",
                        "mean_variance_normalization(%x) {axes = [1], "
                        "normalize_variance = false}"),
                  four,
                  {{-1.5, -0.5, 0.5, 1.5}}},
       })
    CheckCase(c);
}

TEST_CASE("normalizations: errors name what does not fit") {
  CHECK(
      Fails(R"(graph { in %x: f32[1, 3, 4]  const %s: f32[3] = splat(1)  const %b: f32[3] = splat(0)
                         %y = group_norm(%x, %s, %b) {groups = 2}  out "y" = %y })",
            "2"));
  CHECK(
      Fails(R"(graph { in %x: f32[1, 3, 4]  const %s: f32[2] = splat(1)  const %b: f32[3] = splat(0)
                         %y = instance_norm(%x, %s, %b)  out "y" = %y })",
            "input 1 has 2 elements for 3 channels"));
  CHECK(Fails(
      R"(graph { in %x: f32[2, c, 4]  in %s: f32[3]  in %b: f32[3]  in %m: f32[3]  in %v: f32[0]
                         %y = batch_norm(%x, %s, %b, %m, %v)  out "y" = %y })",
      "input 4 has 0 elements for 3 channels"));
  CHECK(Fails(
      "graph { in %x: u8[1, 4]{scale=0.05, zp=130}\n"
      "%y = l2_normalization(%x) {epsilon = 1.0} @tflite : u8[1, 4]{scale=0.0078125, zp=128}\n"
      "out \"y\" = %y }",
      "epsilon is 1; the integer arithmetic has none above 1e-06"));
}

}  // namespace
}  // namespace nn::test::norm_test

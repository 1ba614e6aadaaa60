// Normalizations of f64, whose first stage is in the type that stash_type names.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "formats/onnx/text.h"

namespace nn::test::onnx_stash_type_test {
namespace {

using namespace onnx_text;

constexpr int kF64 = 11;

std::string Doubles(std::string_view name, const std::vector<double>& values) {
  return fmt::format("initializer {{ name: \"{}\" data_type: {} dims: {} double_data: [{}] }}\n",
                     name, kF64, values.size(), fmt::join(values, ", "));
}
std::string Epsilon(int v) {
  return fmt::format("attribute {{ name: \"epsilon\" type: FLOAT f: {} }} ", v);
}

// 2^24 + 1 is no float32, and 1 + 1e-10 is not, either.
constexpr double kOdd = 16777217, kNear = 1 + 1e-10;

TEST_CASE("onnx stash_type: the first stage is in float32, the second in f64") {
  const std::string x = Input("x", TypeOf(kF64, {"1", "2"}));
  const std::string scale = Doubles("g", {2, kNear}), bias = Doubles("b", {kNear, 0});
  const std::string in_f64 = Int("stash_type", kF64);
  Check(x + scale + bias + Outputs({"y", "m", "d"}) +
            Node("LayerNormalization", {"x", "g", "b"}, {"y", "m", "d"}, Epsilon(1)),
        {{kOdd, kOdd - 1}}, {{kNear, 0}, {kOdd - 1}, {1}});
  Check(x + scale + Outputs({"y"}) + Node("LayerNormalization", {"x", "g"}, {"y"}, Epsilon(0)),
        {{3, -3}}, {{2, -kNear}});
  // The mean of the two in f64.
  Check(x + scale + bias + Outputs({"y", "m"}) +
            Node("LayerNormalization", {"x", "g", "b"}, {"", "m"}, Epsilon(0) + in_f64) +
            Node("Identity", {"x"}, {"y"}),
        {{kOdd, kOdd - 1}}, {{kOdd, kOdd - 1}, {kOdd - 0.5}});
  Check(x + scale + Outputs({"y"}) + Node("RMSNormalization", {"x", "g"}, {"y"}, Epsilon(0)),
        {{3, -3}}, {{2, -kNear}}, 23);
  Check(
      x + scale + Outputs({"y"}) + Node("RMSNormalization", {"x", "g"}, {"y"}, Epsilon(0) + in_f64),
      {{3, -3}}, {{2, -kNear}}, 23);
}

TEST_CASE("onnx stash_type: f64 for operands of float32, and groups") {
  const std::string x = Input("x", TypeOf(kF32, {"1", "2"}));
  const std::string one = Float("g", 1);
  Check(
      x + one + Outputs({"y", "m"}) +
          Node("LayerNormalization", {"x", "g"}, {"y", "m"}, Epsilon(0) + Int("stash_type", kF64)),
      {{3, -3}}, {{1, -1}, {0}});
  const std::string image = Input("x", TypeOf(kF64, {"1", "2", "1", "2"}));
  const std::string groups =
      image + Doubles("g", {2, kNear}) + Doubles("b", {kNear, 0}) + Outputs({"y"}) +
      Node("GroupNormalization", {"x", "g", "b"}, {"y"}, Int("num_groups", 2) + Epsilon(1));
  Check(groups, {{kOdd, kOdd - 1, 1, 1}}, {{kNear, kNear, 0, 0}}, 21);
  CHECK(Contains(WhyNot(image + Outputs({"y"}) +
                            Node("LayerNormalization", {"x", "x"}, {"y"}, Int("stash_type", 10)),
                        17),
                 "stash_type 10, which is neither 1 (float32) nor 11 (f64)"));
}

}  // namespace
}  // namespace nn::test::onnx_stash_type_test

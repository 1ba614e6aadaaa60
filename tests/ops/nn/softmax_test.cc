#include <doctest/doctest.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::softmax_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("softmax, log_softmax, hardmax: by hand") {
  const std::vector<std::vector<double>> x = {{1, 2, 3}};
  for (const OpCase& c : {
           OpCase{"softmax",
                  OneOp("f32[1, 3]", "softmax(%x)"),
                  x,
                  {{0.09003057317038046, 0.24472847105479767, 0.6652409557748219}},
                  1e-6},
           OpCase{"another axis",
                  OneOp("f32[2, 2]", "softmax(%x) {axis = 0}"),
                  {{0, 1, 0, 0}},
                  {{0.5, 0.7310585786300049, 0.5, 0.2689414213699951}},
                  1e-6},
           OpCase{"large values",
                  OneOp("f32[2]", "softmax(%x)"),
                  {{1000, 1001}},
                  {{0.2689414213699951, 0.7310585786300049}},
                  1e-6},
           OpCase{"beta",
                  OneOp("f32[2]", "softmax(%x) {beta = 2.0}"),
                  {{0, 0.5}},
                  {{0.2689414213699951, 0.7310585786300049}},
                  1e-6},
           OpCase{"log_softmax",
                  OneOp("f32[1, 3]", "log_softmax(%x)"),
                  x,
                  {{-2.4076059644443806, -1.4076059644443806, -0.4076059644443804}},
                  1e-6},
           OpCase{"softmax of f64",
                  OneOp("f64[1, 3]", "softmax(%x)"),
                  x,
                  {{0.09003057317038046, 0.24472847105479767, 0.6652409557748219}},
                  1e-15},
           OpCase{"softmax of f64: far apart",
                  OneOp("f64[3]", "softmax(%x)"),
                  {{-1000, 1000, -kInf}},
                  {{0, 1, 0}}},
           OpCase{"log_softmax of f64",
                  OneOp("f64[1, 3]", "log_softmax(%x)"),
                  x,
                  {{-2.4076059644443806, -1.4076059644443806, -0.4076059644443804}},
                  1e-15},
           OpCase{"hardmax takes the first",
                  OneOp("f32[1, 3]", "hardmax(%x)"),
                  {{1, 3, 3}},
                  {{0, 1, 0}}},
       })
    CheckCase(c);
  CHECK(Fails(OneOp("f32[2]", "softmax(%x) {axis = 1}"),
              "axis 1 is out of range for a tensor of rank 1"));
}

TEST_CASE("softmax: the same everywhere") {
  CheckCase({"rows", OneOp("f32[5, 67]", "softmax(%x)")});
  CheckCase({"columns", OneOp("f32[9, 3, 21]", "log_softmax(%x) {axis = 1}")});
}

}  // namespace
}  // namespace nn::test::softmax_test

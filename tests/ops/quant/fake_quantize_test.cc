#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "support/run_graph.h"

namespace nn::test::fake_quantize_test {
namespace {

std::string Rounding(const std::string& type, const std::string& attrs) {
  return "graph { in %x: " + type + "  %y = dynamic_fake_quantize(%x) {" + attrs +
         "}  out \"y\" = %y }";
}

TEST_CASE("dynamic_fake_quantize: by hand") {
  for (const OpCase& c : {
           // A scale of 1: halves are rounded away from zero.
           OpCase{"symmetric",
                  Rounding("f32[8]", "axes = [0]"),
                  {{127, 0.5, -0.5, 1.5, 2.49, -2.5, 0, 126.5}},
                  {{127, 1, -1, 2, 2, -3, 0, 127}}},
           OpCase{"a scale for each row",
                  Rounding("f32[2, 3]", "axes = [1]"),
                  {{127, 0.4, 0.6, -12.7, 0.04, 0.06}},
                  {{127, 0, 1, -12.7, 0, 0.1}},
                  1e-6},
           OpCase{"rows of two axes",
                  Rounding("f32[2, 1, 2]", "axes = [1, 2]"),
                  {{254, 2.9, 25.4, 0.29}},
                  {{254, 2, 25.4, 0.2}},
                  1e-6},
           OpCase{"rows that are not adjacent",
                  Rounding("f32[3, 2]", "axes = [0]"),
                  {{127, 12.7, 0.4, 0.04, 0.6, 0.06}},
                  {{127, 12.7, 0, 0, 1, 0.1}},
                  1e-6},
           // A scale of 1 and a zero point of -128, -28 and 127.
           OpCase{"asymmetric, without negative numbers",
                  Rounding("f32[5]", "axes = [0], symmetric = false"),
                  {{255, 0.6, 1.5, 127.4, 10}},
                  {{255, 1, 1, 127, 10}}},
           OpCase{"asymmetric",
                  Rounding("f32[5]", "axes = [0], symmetric = false"),
                  {{155, -100, 0.25, 28.5, -3.7}},
                  {{155, -100, 0, 29, -4}}},
           OpCase{"asymmetric, without positive numbers",
                  Rounding("f32[4]", "axes = [0], symmetric = false"),
                  {{-255, -0.25, -0.75, -100}},
                  {{-255, 0, -1, -100}}},
           // The upper end of the range is a half step above the largest number of 8 bits.
           OpCase{"asymmetric, cut",
                  Rounding("f32[3]", "axes = [0], symmetric = false"),
                  {{127.5, -127.5, 3}},
                  {{128, -127, 3}}},
           OpCase{"zeros", Rounding("f32[3]", "axes = [0]"), {{0, -0.0, 0}}, {{0, 0, 0}}},
           OpCase{"asymmetric zeros",
                  Rounding("f32[3]", "axes = [0], symmetric = false"),
                  {{0, -0.0, 0}},
                  {{0, 0, 0}}},
           OpCase{"tiny numbers",
                  Rounding("f32[2, 2]", "axes = [1]"),
                  {{1e-38, -1e-39, 127 * 0x1p-110, 0x1p-111}},
                  {{0, 0, 127 * 0x1p-110, 0x1p-110}}},
       }) {
    CAPTURE(c.name);
    const Graph graph = Parse(c.graph);
    const std::vector<double> got = RunEverywhere(graph, InputsOf(graph, c.inputs))[0].ToDoubles();
    REQUIRE(got.size() == c.outputs[0].size());
    for (size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(std::fabs(got[i] - c.outputs[0][i]) <=
            c.tolerance * std::fmax(1, std::fabs(c.outputs[0][i])));
    }
  }
}

TEST_CASE("dynamic_fake_quantize: a row that is not finite becomes NaN, the others do not") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const std::string symmetric : {"true", "false"})
    for (const double v : {kInfinity, -kInfinity, std::nan("")}) {
      CAPTURE(symmetric);
      CAPTURE(v);
      const Graph graph = Parse(Rounding("f32[2, 2]", "axes = [1], symmetric = " + symmetric));
      const auto y = RunEverywhere(graph, InputsOf(graph, {{1, v, 0, 1}}))[0].ToDoubles();
      CHECK(std::isnan(y[0]));
      CHECK(std::isnan(y[1]));
      CHECK(y[2] == 0);
      CHECK(std::fabs(y[3] - 1) < 1e-6);
    }
}

TEST_CASE("dynamic_fake_quantize: the operators that it is written as compute the same") {
  for (const std::string symmetric : {"true", "false"})
    for (const std::string& text :
         {Rounding("f32[7, 33]", "axes = [1], symmetric = " + symmetric),
          Rounding("f32[2, 40, 500]", "axes = [1, 2], symmetric = " + symmetric),
          Rounding("f32[1, 3, 1, 5]", "axes = [1, 3], symmetric = " + symmetric),
          Rounding("f32[6, 4]", "axes = [0], symmetric = " + symmetric)}) {
      CAPTURE(text);
      const Graph graph = Parse(text);
      Graph parts = graph.Clone();
      Node& node = *parts.nodes().begin();
      const Result<bool> decomposed = node.op().decompose(parts, node);
      REQUIRE(decomposed.has_value());
      CHECK(*decomposed);
      CHECK(LargestDifference(graph, parts) == 0);
    }
}

TEST_CASE("dynamic_fake_quantize: rows of adjacent elements have a kernel") {
  CHECK(RunOnKernels(Rounding("f32[70, 33]", "axes = [1]")) == 1);
  CHECK(RunOnKernels(Rounding("f32[2, 40, 1, 500]", "axes = [1, 2, 3], symmetric = false")) == 2);
  CHECK(RunOnKernels(Rounding("f32[1, 30, 1, 5]", "axes = [1, 3]")) == 1);
}

}  // namespace
}  // namespace nn::test::fake_quantize_test

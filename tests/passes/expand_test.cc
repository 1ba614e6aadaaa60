#include "passes/expand.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "ir/text.h"
#include "support/run_graph.h"

namespace nn::test::expand_test {
namespace {

using Expand = Result<bool> (*)(Graph&, Node&);

struct Row {
  const char* name;
  Expand expand;
  std::string graph;
  std::vector<std::vector<double>> inputs = {};
  double tolerance = 0;
};

std::string GridSample(std::string_view x, std::string_view grid, std::string_view attrs) {
  return fmt::format(
      "graph {{ in %x: {} in %g: {} %y = grid_sample(%x, %g) {{{}}} out \"y\" = %y }}", x, grid,
      attrs);
}

std::string OnX(std::string_view type, std::string_view op) {
  return fmt::format("graph {{ in %x: {} %y = {} out \"y\" = %y }}", type, op);
}

std::vector<Row> Rows() {
  const double nan = std::nan(""), inf = INFINITY;
  std::vector<Row> rows = {
      {"hardmax", ExpandHardmax, OnX("f32[2, 3, 4]", "hardmax(%x) {axis = 1}")},
      {"hardmax of equal elements",
       ExpandHardmax,
       OnX("f32[2, 3]", "hardmax(%x) {axis = -1}"),
       {{1, 1, 0, -1, -1, -1}}},
      {"last of equal elements",
       ExpandLastIndex,
       OnX("f32[2, 4]", "arg_max(%x) {axis = -1, select_last_index = true}"),
       {{1, 2, 2, 0, 3, 3, 3, 3}}},
      {"last of the least",
       ExpandLastIndex,
       OnX("i32[3, 2]",
           "arg_min(%x) {axis = 0, select_last_index = true, keep_dims = false, output_type = "
           "i32}"),
       {{5, 1, 5, 1, 6, 2}}},
      {"upper triangle", ExpandTrilu, OnX("f32[2, 3, 4]", "trilu(%x) {upper = true, k = 1}")},
      {"lower triangle", ExpandTrilu,
       OnX("i64[4, 3]", "trilu(%x) {upper = false, k = -9223372036854775808}")},
      {"triangle of NaN",
       ExpandTrilu,
       OnX("f32[2, 2]", "trilu(%x) {upper = true}"),
       {{nan, 1, inf, nan}}},
      {"diagonal of a run",
       ExpandTrilu,
       "graph { in %x: f32[3, 3] in %k: i64[] %y = trilu(%x, %k) {upper = false} out \"y\" = %y }",
       {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {-1}}},
      {"gather_elements",
       ExpandGatherElements,
       "graph { in %x: f32[2, 3, 2] in %i: i64[2, 2, 2] "
       "%y = gather_elements(%x, %i) {axis = 1} out \"y\" = %y }",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, -1, 2, 1, -3, 0, 1, 1}}},
      {"fewer indices",
       ExpandGatherElements,
       "graph { in %x: i32[3, 4] in %i: i32[2, 3] "
       "%y = gather_elements(%x, %i) {axis = 0} out \"y\" = %y }",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 0, -1, -3, 1, 1}}},
      {"logarithm of sums",
       ExpandLogSumExp,
       OnX("f32[2, 3, 4]", "reduce_log_sum_exp(%x) {axes = [0, 2], keep_dims = false}"),
       {},
       1e-6},
      {"infinite elements",
       ExpandLogSumExp,
       OnX("f32[4, 2]", "reduce_log_sum_exp(%x) {axes = [1]}"),
       {{-inf, -inf, inf, 1, -inf, 2, 800, 800}},
       1e-6},
      {"layer_norm",
       ExpandNorm,
       "graph { in %x: f32[2, 3, 4] in %s: f32[4] in %b: f32[4] "
       "%y, %m, %d = layer_norm(%x, %s, %b) {axis = -1, epsilon = 0.01} "
       "out \"y\" = %y out \"m\" = %m out \"d\" = %d }",
       {},
       2e-6},
      {"instance_norm",
       ExpandNorm,
       "graph { in %x: f32[2, 3, 4, 2] in %s: f32[3] in %b: f32[3] "
       "%y = instance_norm(%x, %s, %b) {epsilon = 0.01} out \"y\" = %y }",
       {},
       2e-6},
      {"grid of volumes",
       ExpandGridSample,
       GridSample("f32[2, 2, 3, 2, 4]", "f32[2, 1, 2, 3, 3]", "padding = border"),
       {},
       1e-5},
      {"grid of sequences",
       ExpandGridSample,
       GridSample("f32[1, 2, 5]", "f32[1, 4, 1]", "padding = zeros"),
       {},
       1e-5},
      {"grid of channels last",
       ExpandGridSample,
       GridSample("f32[2, 3, 4, 2]", "f32[2, 3, 2, 2]", "layout = nxc"),
       {},
       1e-5},
  };
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* align : {"true", "false"})
        rows.push_back({"grid_sample",
                        ExpandGridSample,
                        GridSample("f32[2, 3, 4, 5]", "f32[2, 3, 4, 2]",
                                   fmt::format("mode = {}, padding = {}, align_corners = {}", mode,
                                               padding, align)),
                        {},
                        2e-5});
  return rows;
}

TEST_CASE("expand: the same results, to the bit unless it rounds differently") {
  for (const Row& r : Rows()) {
    CAPTURE(r.name);
    CAPTURE(r.graph);
    Graph g = Parse(r.graph);
    const auto inputs = InputsOf(g, r.inputs);
    const auto before = RunEverywhere(g, inputs);
    Node& node = g.nodes().front();
    const std::string op(node.op_name());
    const bool same_op = op.starts_with("arg_");
    const auto expanded = r.expand(g, node);
    REQUIRE(expanded.has_value());
    REQUIRE(*expanded);
    for (const Node& n : g.nodes()) CHECK((same_op || n.op_name() != op));
    const auto after = RunEverywhere(g, inputs);
    REQUIRE(after.size() == before.size());
    for (size_t k = 0; k < after.size(); ++k) {
      REQUIRE(after[k].dims() == before[k].dims());
      CHECK(after[k].dtype() == before[k].dtype());
      if (r.tolerance == 0) {
        CHECK(after[k].Identical(before[k]));
        continue;
      }
      const auto want = before[k].ToDoubles(), got = after[k].ToDoubles();
      for (size_t i = 0; i < want.size(); ++i)
        if (want[i] != got[i])
          CHECK(std::abs(got[i] - want[i]) <= r.tolerance * std::max(1.0, std::abs(want[i])));
    }
  }
}

TEST_CASE("expand: what does not apply stays") {
  const std::vector<std::pair<Expand, std::string>> rows = {
      {ExpandLastIndex, OnX("f32[2, 4]", "arg_max(%x) {axis = 1}")},
      {ExpandLastIndex, OnX("f32[2, n]", "arg_max(%x) {axis = 1, select_last_index = true}")},
      {ExpandHardmax, OnX("f32[2, n]", "hardmax(%x)")},
      {ExpandTrilu, OnX("f32[n, 3]", "trilu(%x)")},
      {ExpandTrilu, OnX("f32[8192, 8192]", "trilu(%x)")},
      {ExpandLogSumExp, OnX("f64[2, 2]", "reduce_log_sum_exp(%x)")},
      {ExpandNorm,
       "graph { in %x: f64[2, 3] in %s: f64[3] %y = layer_norm(%x, %s) out \"y\" = %y }"},
      {ExpandGridSample, GridSample("f32[1, 1, h, 3]", "f32[1, 2, 2, 2]", "mode = linear")},
      {ExpandGridSample, GridSample("f32[1, 1, 8192, 8192]", "f32[1, 2, 2, 2]", "mode = linear")},
      {ExpandGatherElements,
       "graph { in %x: f32[n, 3] in %i: i64[2, 3] %y = gather_elements(%x, %i) out \"y\" = %y }"},
  };
  for (const auto& row : rows) {
    const auto& [expand, text] = row;
    CAPTURE(row.second);
    Graph g = Parse(text);
    const std::string before = PrintGraph(g);
    const auto expanded = expand(g, g.nodes().front());
    REQUIRE(expanded.has_value());
    CHECK_FALSE(*expanded);
    CHECK(PrintGraph(g) == before);
  }
}

}  // namespace
}  // namespace nn::test::expand_test

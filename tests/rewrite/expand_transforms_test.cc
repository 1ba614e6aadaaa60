// Expansions of determinants, spectra and regions.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "ir/text/text.h"
#include "rewrite/expansion.h"
#include "support/run_graph.h"

namespace nn::test::expand_transforms_test {
namespace {

std::vector<ExpansionRow> Rows() {
  std::vector<ExpansionRow> rows;
  for (const char* type : {"f32[1, 1]", "f32[2, 2]", "f32[3, 5, 5]", "f32[2, 1, 9, 9]"})
    rows.push_back({"determinants", ExpandDet, OnX(type, "det(%x)"), {}});
  // The second matrix is singular, and the third one has pivots of equal size.
  rows.push_back({"special determinants",
                  ExpandDet,
                  OnX("f32[4, 2, 2]", "det(%x)"),
                  {{0, 2, -3, 1, 1, 2, 2, 4, 1, -2, -1, 3, 1, std::nan(""), 2, INFINITY}}});
  for (const char* type : {"f32[1, 1]", "f32[2, 2]", "f32[3, 5, 5]", "f32[2, 1, 9, 9]"})
    rows.push_back({"inverses", ExpandInverse, OnX(type, "inverse(%x)"), {}});
  rows.push_back({"special inverses",
                  ExpandInverse,
                  OnX("f32[4, 2, 2]", "inverse(%x)"),
                  {{0, 2, -3, 1, 1, 2, 2, 4, 1, -2, -1, 3, 1, std::nan(""), 2, INFINITY}}});
  for (const char* op : {"dft(%x)", "dft(%x) {axis = 0, inverse = true}", "dft(%x) {axis = 2}"}) {
    rows.push_back({"real numbers", ExpandDft, OnX("f32[3, 8, 5, 1]", op), {}, 2e-6});
    rows.push_back({"complex numbers", ExpandDft, OnX("f32[3, 8, 5, 2]", op), {}, 2e-6});
  }
  rows.push_back({"long transform", ExpandDft, OnX("f32[2, 1000, 1]", "dft(%x)"), {}, 1e-4});
  for (const char* type : {"f32[2, 5, 2]", "f32[2, 6, 2]"})
    rows.push_back({"half spectrum",
                    ExpandDft,
                    OnX(type, "dft(%x) {onesided = true, inverse = true}"),
                    {},
                    2e-6});
  for (const char* length : {"3", "6", "7", "11"})
    for (const char* attrs : {"", "{inverse = true}", "{inverse = true, onesided = true}"})
      rows.push_back({"other lengths",
                      ExpandDft,
                      fmt::format("graph {{ in %x: f32[2, 5, 2] const %l: i64[] = [{}] "
                                  "%y = dft(%x, %l) {} out \"y\" = %y }}",
                                  length, attrs),
                      {},
                      2e-6});
  for (const char* window : {"const %w: f32[6] = seeded(3)", "in %w: f32[6]"})
    for (const char* signal : {"%x: f32[2, 17, 1]", "%x: f32[2, 6, 2]"})
      rows.push_back({"frames",
                      ExpandStft,
                      fmt::format("graph {{ in {} const %s: i64[] = [3] {} "
                                  "%y = stft(%x, %s, %w) {{onesided = false}} out \"y\" = %y }}",
                                  signal, window),
                      {},
                      2e-6});
  for (const char* mode : {"avg", "max"})
    for (const char* attrs : {"half_pixel = true", "half_pixel = false, spatial_scale = 0.5"})
      rows.push_back(
          {"roi_align",
           ExpandRoiAlign,
           fmt::format(
               "graph {{ const %x: f32[2, 3, 6, 7] = seeded(3) in %r: f32[4, 4] in %b: i64[4] "
               "%y = roi_align(%x, %r, %b) {{mode = {}, height = 2, width = 3, "
               "sampling_ratio = 2, {}}} out \"y\" = %y }}",
               mode, attrs),
           {{-3, -2, 4, 5, 1, 1, 1.5, 2, 0, 0, 20, 20, 5, 4, 2, std::nan("")}, {0, 1, 1, 0}},
           2e-6});
  return rows;
}

std::vector<ExpansionRow> UniqueRows() {
  std::vector<ExpansionRow> rows;
  const double nan = std::nan("");
  const auto unique = [](std::string_view type, std::string_view attrs) {
    return fmt::format(
        "graph {{ in %x: {} %y, %f, %i, %c = unique(%x) {{{}}} out \"y\" = %y "
        "out \"f\" = %f out \"i\" = %i out \"c\" = %c }}",
        type, attrs);
  };
  const std::vector<double> numbers = {3, nan, 1, 0, 3, -0.0, nan, -2, 1, 3, INFINITY, 0};
  const std::vector<double> rows_of_two = {1, 2, nan, 0, 1, 2, 1, 1, nan, 0, nan, -1};
  for (const char* sorted : {"true", "false"}) {
    const std::string order = fmt::format("sorted = {}", sorted);
    rows.push_back({"distinct numbers", ExpandUnique, unique("f32[12]", order), {numbers}});
    rows.push_back({"distinct numbers of a matrix",
                    ExpandUnique,
                    unique("f32[3, 4]", order + ", index_type = i32"),
                    {numbers}});
    rows.push_back({"one number", ExpandUnique, unique("f32[1]", order), {{nan}}});
    rows.push_back({"distinct integers",
                    ExpandUnique,
                    unique("i8[7]", order),
                    {{-128, 127, 0, 5, -128, 0, 127}}});
    rows.push_back({"distinct rows",
                    ExpandUnique,
                    unique("f32[6, 2]", order + ", flatten = false, axis = 0"),
                    {rows_of_two}});
    rows.push_back({"distinct slices",
                    ExpandUnique,
                    unique("f32[2, 3, 2]", order + ", flatten = false, axis = 1"),
                    {{1, 0, 2, 0, 1, 0, 5, 6, 5, 6, 5, 6}}});
  }
  return rows;
}

std::vector<ExpansionRow> FilterRows() {
  std::vector<ExpansionRow> rows;
  for (const char* attrs :
       {"dilations = [2, 3]", "dilations = [1, 2], groups = 2, strides = [2, 1]"})
    for (const char* conv : {"conv", "conv_transpose"})
      rows.push_back(
          {conv, ExpandDilatedFilter,
           fmt::format("graph {{ in %x: f32[1, 4, 9, 9] in %w: f32[4, {}, 3, 2] "
                       "%y = {}(%x, %w) {{{}}} out \"y\" = %y }}",
                       std::string_view(attrs).find("groups") == std::string_view::npos ? 4 : 2,
                       conv, attrs)});
  return rows;
}

std::vector<ExpansionRow> SolidRows() {
  std::vector<ExpansionRow> rows;
  for (const char* attrs :
       {"strides = [2, 1, 2]", "pads = [1, 0, 1, 0, 1, 1], dilations = [2, 1, 2]",
        "padding = same_upper, strides = [1, 2, 1], groups = 2"})
    for (const char* bias : {"", ", %b"})
      rows.push_back(
          {"volumes", ExpandSolidConv,
           fmt::format("graph {{ in %x: f32[2, 4, 5, 6, 7] in %w: f32[2, {}, 3, 2, 3] "
                       "const %b: f32[2] = [0.5, -2] %y = conv(%x, %w{}) {{{}}} out \"y\" = %y }}",
                       std::string_view(attrs).find("groups") == std::string_view::npos ? 4 : 2,
                       bias, attrs)});
  return rows;
}

TEST_CASE("expand: distinct elements are the same") {
  for (const ExpansionRow& row : UniqueRows()) CheckExpansion(row);
  CheckNotExpanded(ExpandUnique, OnX("f32[n]", "unique(%x)"));
  CheckNotExpanded(ExpandUnique, OnX("str[3]", "unique(%x)"));
  CheckNotExpanded(ExpandUnique, OnX("f32[5000, 2]", "unique(%x) {flatten = false}"));
}

TEST_CASE("expand: a filter can be computed") {
  for (const ExpansionRow& row : FilterRows()) {
    Graph g = Parse(row.graph);
    const Graph before = Parse(row.graph);
    const auto expanded = row.expand(g, g.nodes().front());
    REQUIRE(expanded.has_value());
    CHECK(*expanded);
    CHECK(LargestDifference(before, g) == 0);
  }
  for (const ExpansionRow& row : SolidRows()) {
    Graph g = Parse(row.graph);
    const Graph before = Parse(row.graph);
    const auto expanded = row.expand(g, g.nodes().front());
    REQUIRE(expanded.has_value());
    CHECK(*expanded);
    CHECK(LargestDifference(before, g) < 1e-5);
  }
  CheckNotExpanded(ExpandDilatedFilter,
                   "graph { in %x: f32[1, 1, 4, 4] const %w: f32[1, 1, 2, 2] = seeded(1) "
                   "%y = conv(%x, %w) {dilations = [2, 2]} out \"y\" = %y }");
}

TEST_CASE("expand: determinants, spectra and regions have the same results but for rounding") {
  for (const ExpansionRow& row : Rows()) CheckExpansion(row);
}

TEST_CASE("expand: unknown and large sizes of determinants, spectra and regions") {
  CheckNotExpanded(ExpandDet, OnX("f32[33, 33]", "det(%x)"));
  CheckNotExpanded(ExpandDet, OnX("f32[n, n]", "det(%x)"));
  CheckNotExpanded(ExpandInverse, OnX("f32[33, 33]", "inverse(%x)"));
  CheckNotExpanded(ExpandDft, OnX("f32[2, n, 2]", "dft(%x)"));
  CheckNotExpanded(ExpandDft, OnX("f32[4096, 2]", "dft(%x) {axis = 0}"));
  CheckNotExpanded(ExpandRoiAlign,
                   "graph { in %x: f32[1, 1, 4, 4] in %r: f32[2, 4] in %b: i64[2] "
                   "%y = roi_align(%x, %r, %b) {height = 2, width = 2} out \"y\" = %y }");
}

}  // namespace
}  // namespace nn::test::expand_transforms_test

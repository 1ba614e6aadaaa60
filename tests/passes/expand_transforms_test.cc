// Expansions of determinants, spectra and regions.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "passes/expansion.h"

namespace nn::test::expand_transforms_test {
namespace {

std::vector<ExpansionRow> Rows() {
  std::vector<ExpansionRow> rows;
  for (const char* type : {"f32[1, 1]", "f32[2, 2]", "f32[3, 5, 5]", "f32[2, 1, 9, 9]"})
    rows.push_back({"determinants", ExpandDet, OnX(type, "det(%x)"), {}, 1e-5});
  // The second matrix is singular, and the third one has pivots of equal size.
  rows.push_back({"special determinants",
                  ExpandDet,
                  OnX("f32[4, 2, 2]", "det(%x)"),
                  {{0, 2, -3, 1, 1, 2, 2, 4, 1, -2, -1, 3, 1, std::nan(""), 2, INFINITY}},
                  1e-6});
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

TEST_CASE("expand: determinants, spectra and regions have the same results but for rounding") {
  for (const ExpansionRow& row : Rows()) CheckExpansion(row);
}

TEST_CASE("expand: unknown and large sizes of determinants, spectra and regions") {
  CheckNotExpanded(ExpandDet, OnX("f32[33, 33]", "det(%x)"));
  CheckNotExpanded(ExpandDet, OnX("f32[n, n]", "det(%x)"));
  CheckNotExpanded(ExpandDft, OnX("f32[2, n, 2]", "dft(%x)"));
  CheckNotExpanded(ExpandDft, OnX("f32[4096, 2]", "dft(%x) {axis = 0}"));
  CheckNotExpanded(ExpandRoiAlign,
                   "graph { in %x: f32[1, 1, 4, 4] in %r: f32[2, 4] in %b: i64[2] "
                   "%y = roi_align(%x, %r, %b) {height = 2, width = 2} out \"y\" = %y }");
}

}  // namespace
}  // namespace nn::test::expand_transforms_test

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <limits>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::roi_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 10 * row + column, of 4 rows and 5 columns: interpolation is exact, and the mean of a bin is the
// element at its center.
std::vector<double> Slope() {
  std::vector<double> x;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 5; ++column) x.push_back(10 * row + column);
  return x;
}

std::string Align(const std::string& attrs, int regions = 1) {
  return fmt::format(R"(graph {{ in %x: f32[1, 1, 4, 5]  in %r: f32[{}, 4]  in %b: i64[{}]
                        %y = roi_align(%x, %r, %b) {}  out "y" = %y }})",
                     regions, regions, Braced(attrs));
}

TEST_CASE("roi_align: by hand") {
  for (const OpCase& c : {
           OpCase{"centers of bins",
                  Align("height = 2, width = 2, half_pixel = false"),
                  {Slope(), {0, 0, 4, 2}, {0}},
                  {{6, 8, 16, 18}}},
           OpCase{"half a pixel before",
                  Align("height = 2, width = 2"),
                  {Slope(), {1, 1, 3, 3}, {0}},
                  {{11, 12, 21, 22}}},
           OpCase{"the scale",
                  Align("spatial_scale = 0.5, half_pixel = false"),
                  {Slope(), {2, 2, 6, 4}, {0}},
                  {{17}}},
           OpCase{"at least one element without half a pixel",
                  Align("half_pixel = false, sampling_ratio = 1"),
                  {Slope(), {1, 1, 1, 1}, {0}},
                  {{16.5}}},
           OpCase{"no samples", Align(""), {Slope(), {2, 2, 2, 2}, {0}}, {{0}}},
           // Samples at rows 0.5 and 1.5, columns -2, 0, 2, 4: those at -2 are 0.
           OpCase{"samples outside",
                  Align("half_pixel = false, sampling_ratio = 4", 1),
                  {std::vector<double>(20, 6), {-3, 0, 5, 2}, {0}},
                  {{4.5}}},
           OpCase{"NaN corners", Align(""), {Slope(), {kNan, 0, 3, 3}, {0}}, {{0}}},
       })
    CheckCase(c);
}

TEST_CASE("roi_align: the maximum is that of products") {
  // One sample at row 1.5, column 2.25: 0.5 * 0.75 * 12, 0.5 * 0.25 * 13, 0.5 * 0.75 * 22,
  // 0.5 * 0.25 * 23.
  CheckCase({"",
             Align("mode = max, sampling_ratio = 1, half_pixel = false"),
             {Slope(), {0, 0, 4.5, 3}, {0}},
             {{8.25}}});
}

TEST_CASE("roi_align: images that do not exist") {
  const Graph g = Parse(Align(""));
  for (const double image : {-1.0, 1.0})
    CheckSameError(g, InputsOf(g, {Slope(), {0, 0, 1, 1}, {image}}));
}

TEST_CASE("roi_align: operands that do not fit") {
  const auto fails = [](const std::string& rois, const std::string& batch, const char* why) {
    return Fails(fmt::format(R"(graph {{ in %x: f32[1, 1, 4, 5]  in %r: {}  in %b: {}
                                %y = roi_align(%x, %r, %b)  out "y" = %y }})",
                             rois, batch),
                 why);
  };
  CHECK(fails("f32[3, 5]", "i64[3]", "has 5 columns; must have 4"));
  CHECK(fails("f32[3, 4]", "i64[2]", "there are 3 rois and 2 entries of batch"));
  CHECK(fails("f64[3, 4]", "i64[3]", "different element types"));
  CHECK(fails("f32[3, 4]", "f32[3]", "holds image numbers"));
  CHECK(Fails(Align("sampling_ratio = -1"), "must not be negative"));
  CHECK(Fails(Align("height = 0"), "height is 0; must be positive"));
}

std::string Pool(const std::string& attrs, int regions = 1) {
  return fmt::format(R"(graph {{ in %x: f32[2, 1, 4, 5]  in %r: f32[{}, 5]
                        %y = max_roi_pool(%x, %r) {}  out "y" = %y }})",
                     regions, Braced(attrs));
}

TEST_CASE("max_roi_pool: by hand") {
  std::vector<double> x = Slope();
  for (int i = 0; i < 20; ++i) x.push_back(-x[static_cast<size_t>(i)] - 1);
  for (const OpCase& c : {
           OpCase{"the whole image",
                  Pool("height = 2, width = 2"),
                  {x, {0, 0, 0, 4, 3}},
                  {{12, 14, 32, 34}}},
           OpCase{"negative elements of the second image",
                  Pool("height = 1, width = 1"),
                  {x, {1, 1, 1, 3, 2}},
                  {{-12}}},
           OpCase{"halves round away from zero, and the end is included",
                  Pool(""),
                  {x, {0, 0.5, 0.5, 1.5, 2.5}},
                  {{32}}},
           OpCase{"the scale", Pool("spatial_scale = 0.5"), {x, {0, 0, 0, 4, 4}}, {{22}}},
           OpCase{"ends before its start", Pool(""), {x, {0, 3, 2, 1, 1}}, {{23}}},
           OpCase{"outside", Pool(""), {x, {0, 7, 7, 9, 9}}, {{0}}},
           OpCase{"starts outside", Pool(""), {x, {0, -9, 0, 2, 1}}, {{12}}},
           OpCase{"NaN counts as far to the left", Pool(""), {x, {0, 1, 0, kNan, 0}}, {{1}}},
       })
    CheckCase(c);
  const Graph g = Parse(Pool(""));
  for (const double image : {-1.0, 2.0, kNan})
    CheckSameError(g, InputsOf(g, {x, {image, 0, 0, 1, 1}}));
}

}  // namespace
}  // namespace nn::test::roi_test

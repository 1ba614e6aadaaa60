#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::exec_roi_test {
namespace {

// Regions inside, outside, empty and of NaN, in two images of 9 x 11 elements.
std::vector<double> Regions() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {0, 0, 10, 8, 1.5, 2, 7.25, 6, -5,  -3, 4, 4, 8,   7,   30,  20,
          5, 5, 5,  5, 6,   6, 2,    1, nan, 0,  3, 3, 100, 100, 120, 130};
}

std::vector<double> Elements(int channels) {
  std::vector<double> x;
  for (int i = 0; i < 2 * 9 * 11 * channels; ++i) x.push_back(i * 37 % 101 * 0.25 - 12);
  return x;
}

TEST_CASE("roi_align kernels: channels, modes and samples") {
  for (const char* index : {"i64", "i32"})
    for (const int channels : {1, 3, 16, 37, 64, 130})
      for (const char* mode : {"avg", "max"})
        for (const char* more : {"", ", half_pixel = false, spatial_scale = 0.5",
                                 ", sampling_ratio = 2", ", layout = nxc"}) {
          const std::string sizes = std::string(more) == ", layout = nxc"
                                        ? fmt::format("2, 9, 11, {}", channels)
                                        : fmt::format("2, {}, 9, 11", channels);
          const Graph graph = Parse(fmt::format(
              "graph {{ in %x: f32[{}]  in %r: f32[8, 4]  in %b: {}[8]  %y = roi_align(%x, %r, %b) "
              "{{height = 3, width = 2, mode = {}{}}}  out \"y\" = %y }}",
              sizes, index, mode, more));
          CheckHasKernels(graph);
          RunEverywhere(graph,
                        InputsOf(graph, {Elements(channels), Regions(), {0, 1, 1, 0, 1, 0, 0, 1}}));
        }
}

TEST_CASE("roi_align kernels: NaN, infinities and zeros of both signs") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> x;
  for (int i = 0; i < 2 * 20 * 9 * 11; ++i)
    x.push_back(i % 97 == 0 ? nan : i % 89 == 0 ? inf : i % 31 == 0 ? -0.0 : i % 7 - 3);
  for (const char* mode : {"avg", "max"}) {
    const Graph graph = Parse(
        fmt::format("graph {{ in %x: f32[2, 9, 11, 20]  in %r: f32[8, 4]  in %b: i64[8]  %y = "
                    "roi_align(%x, %r, %b) {{layout = nxc, height = 2, width = 3, mode = {}}}  "
                    "out \"y\" = %y }}",
                    mode));
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {x, Regions(), {0, 1, 1, 0, 1, 0, 0, 1}}));
  }
}

TEST_CASE("roi_align kernels: an image that does not exist") {
  const Graph graph = Parse(R"(graph { in %x: f32[2, 9, 11, 4]  in %r: f32[8, 4]  in %b: i64[8]
      %y = roi_align(%x, %r, %b) {layout = nxc}  out "y" = %y })");
  CheckSameError(graph, InputsOf(graph, {Elements(4), Regions(), {0, 1, 2, 0, -1, 0, 0, 1}}));
}

}  // namespace
}  // namespace nn::test::exec_roi_test

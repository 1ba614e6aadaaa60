#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::resample_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void Resize(const char* type, const std::string& attrs) {
  RunOnKernels(OneOp(type, fmt::format("resize(%x) {{{}}}", attrs)));
}

TEST_CASE("resize kernels: every mode and way of coordinates") {
  for (const char* mode : {"linear", "cubic"})
    for (const char* coordinates :
         {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric",
          "tf_half_pixel_for_nn", "crop, roi = [0.2, -0.1, 0.8, 1.3], extrapolation_value = 7.5"})
      for (const char* sizes : {"[13, 5]", "[1, 40]"})
        Resize("f32[2, 7, 9, 3]", fmt::format("layout = nxc, mode = {}, sizes = {}, "
                                              "coordinates = {}",
                                              mode, sizes, coordinates));
}

// Its positions are products by the quotient of the sizes: 4 * (14 / 8) is 7, 4 / (8 / 14) below.
TEST_CASE("resize kernels: TensorFlow Lite's arithmetic") {
  for (const char* mode : {"nearest, rounding = floor", "linear"})
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners"})
      for (const char* sizes : {"[8, 8]", "[3, 29]"})
        RunOnKernels(OneOp("f32[2, 4, 14, 3]",
                           fmt::format("resize(%x) {{layout = nxc, mode = {}, coordinates = {}, "
                                       "sizes = {}}} @tflite",
                                       mode, coordinates, sizes)));
}

TEST_CASE("resize kernels: antialiasing and positions outside") {
  for (const char* mode : {"linear", "cubic, cubic_coeff_a = -0.5"})
    for (const char* more :
         {"antialias = true", "exclude_outside = true", "antialias = true, exclude_outside = true"})
      for (const char* type : {"f32[1, 20, 30, 2]", "f32[1, 20, 30, 19]"})
        Resize(type, fmt::format("layout = nxc, sizes = [7, 41], mode = {}, {}", mode, more));
}

TEST_CASE("resize kernels: ranks, layouts and numbers of channels") {
  for (const char* channels : {"1", "3", "7", "8", "15", "16", "21", "70"}) {
    Resize(fmt::format("f32[2, 5, 6, {}]", channels).c_str(),
           "layout = nxc, mode = linear, scales = [2.5, 3.0]");
    Resize(fmt::format("f32[1, {}, 6, 5]", channels).c_str(), "mode = cubic, scales = [1.5, 2.0]");
  }
  Resize("f32[2, 5, 700]", "mode = linear, scales = [1.7]");
  Resize("f32[1, 300, 2]", "layout = nxc, mode = cubic, scales = [0.4]");
  Resize("f32[2, 3, 4, 5, 6]", "mode = linear, scales = [2.0, 1.5, 3.0]");
  Resize("f32[1, 3, 4, 5, 20]", "layout = nxc, mode = cubic, sizes = [4, 3, 11]");
  // Unchanged axes.
  Resize("f32[2, 5, 6, 20]", "layout = nxc, mode = linear, sizes = [9, 6]");
  Resize("f32[2, 5, 6, 20]", "layout = nxc, mode = linear, sizes = [5, 9]");
  Resize("f32[2, 5, 6, 20]", "layout = nxc, mode = cubic, sizes = [5, 6]");
  Resize("f32[2, 0, 6, 20]", "layout = nxc, mode = linear, sizes = [0, 9]");
  Resize("f32[0, 5, 6, 20]", "layout = nxc, mode = linear, sizes = [4, 9]");
  Resize("f32[1, 5, 6, 0]", "layout = nxc, mode = linear, sizes = [4, 9]");
}

TEST_CASE("resize kernels: infinity times zero") {
  CheckCase({"weights of 0 count",
             R"(graph { in %x: f32[1, 3, 1]
                %y = resize(%x) {layout = nxc, mode = linear, sizes = [6],
                                 coordinates = asymmetric}
                out "y" = %y })",
             {{1, kInf, 3}},
             {{kNan, kInf, kInf, kInf, 3, 3}}});
}

TEST_CASE("resize kernels: parts of other tensors") {
  for (const char* channels : {"4", "20"})
    for (const char* sizes : {"[9, 11]", "[5, 12]", "[10, 6]", "[5, 6]"})
      RunOnKernels(fmt::format(R"(graph {{ in %x: f32[1, 5, 6, 40]
        %p, %q = split(%x) {{axis = 3, sizes = [{0}, -1]}}
        %a = resize(%p) {{layout = nxc, mode = linear, sizes = {1}}}
        %b = resize(%q) {{layout = nxc, mode = cubic, sizes = {1}}}
        %y = concat(%a, %b) {{axis = 3}}  out "y" = %y }})",
                               channels, sizes));
}

// ---- grid_sample

void Sample(const char* x, const char* grid, const std::string& attrs) {
  const std::string text = fmt::format(
      "graph {{ in %x: f32{}  in %g: f32{}  const %s: f32[1] = [1.4]  %t = mul(%g, %s) "
      " %y = grid_sample(%x, %t) {}  out \"y\" = %y }}",
      x, grid, Braced(attrs));
  RunOnKernels(text);
}

TEST_CASE("grid_sample kernels: every mode, padding and way of counting") {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* corners : {"true", "false"}) {
        const std::string attrs =
            fmt::format("mode = {}, padding = {}, align_corners = {}", mode, padding, corners);
        Sample("[2, 3, 7, 9]", "[2, 11, 13, 2]", attrs);
        Sample("[1, 37, 1, 4]", "[1, 3, 50, 2]", attrs);
      }
  for (const char* attrs : {"", "mode = cubic", "mode = nearest, padding = reflection"}) {
    Sample("[2, 5, 30]", "[2, 17, 1]", attrs);
    Sample("[2, 50, 30]", "[2, 17, 1]", attrs);
    Sample("[1, 20, 4, 3, 5]", "[1, 2, 5, 3, 3]", attrs);
    Sample("[1, 2, 4, 3, 5]", "[1, 2, 5, 3, 3]", attrs);
  }
  Sample("[1, 5, 6, 8]", "[1, 20, 30, 2]", "layout = nxc");
  Sample("[1, 5, 6, 8]", "[1, 0, 3, 2]", "layout = nxc");
}

TEST_CASE("grid_sample kernels: positions far away and none") {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* corners : {"true", "false"}) {
        const Graph graph = Parse(fmt::format(
            R"(graph {{ in %x: f32[1, 1, 5]  in %g: f32[1, 24, 1]
               %y = grid_sample(%x, %g) {{mode = {}, padding = {}, align_corners = {}}}
               out "y" = %y }})",
            mode, padding, corners));
        CheckHasKernels(graph);
        RunEverywhere(graph,
                      InputsOf(graph, {{1, -2, 3, -4, 5},
                                       {kNan,  kInf, -kInf,  1e30,   -1e30, 1e9,    -1e9, 12345,
                                        -54.5, 1,    -1,     0,      -0.0,  1.0001, -1.2, 1.2,
                                        -1.4,  1.6,  -3.001, 2.9999, 5,     -0.75,  0.25, 1e-40}}));
      }
}

// PyTorch clamps the elements of a cubic sample to the border, not its position: 1 + w(1.75).
TEST_CASE("grid_sample kernels: cubic samples beyond the border") {
  const Graph graph = Parse(R"(graph { in %x: f32[1, 1, 4]  in %g: f32[1, 3, 1]
      %y = grid_sample(%x, %g) {mode = cubic, padding = border, align_corners = true}
      out "y" = %y })");
  const auto y = RunEverywhere(graph, InputsOf(graph, {{1, 2, 4, 8}, {-1.5, -3, 3}}));
  CHECK(y[0].ToDoubles() == std::vector<double>{0.96484375, 1, 8});
}

TEST_CASE("grid_sample kernels: parts of other tensors") {
  for (const char* channels : {"3", "20"})
    RunOnKernels(fmt::format(R"(graph {{ in %x: f32[1, 5, 6, 40]  in %g: f32[1, 4, 9, 2]
        %p, %q = split(%x) {{axis = 3, sizes = [{}, -1]}}
        %a = grid_sample(%p, %g) {{layout = nxc}}
        %b = grid_sample(%q, %g) {{layout = nxc, mode = cubic}}
        %y = concat(%a, %b) {{axis = 3}}  out "y" = %y }})",
                             channels));
}

}  // namespace
}  // namespace nn::test::resample_test

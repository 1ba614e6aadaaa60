#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::conv_test {
namespace {

struct Row {
  int width, channels, outputs, kernel, stride, dilation, pad, groups;
};

void RunConv(const Row& r) {
  CAPTURE(r.width);
  CAPTURE(r.channels);
  CAPTURE(r.kernel);
  CAPTURE(r.stride);
  CAPTURE(r.dilation);
  CAPTURE(r.pad);
  const Graph graph = Parse(fmt::format(
      R"(graph {{ in %x: f32[2, {0}, {1}, {1}]  const %w: f32[{2}, {3}, {4}, {4}] = seeded(3)
         const %b: f32[{2}] = seeded(4)
         %y = conv(%x, %w, %b) {{strides = [{5}, {5}], dilations = [{6}, {6}],
                                pads = [{7}, {7}, {7}, {7}], groups = {8}}}
         out "y" = %y }})",
      r.channels, r.width, r.outputs, r.channels / r.groups, r.kernel, r.stride, r.dilation, r.pad,
      r.groups));
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
}

TEST_CASE("convolution kernels: one channel per group") {
  // Widths around the numbers of outputs that are computed together; channels below, at and between
  // multiples of a vector.
  for (const int width : {1, 2, 3, 7, 9, 14, 20})
    for (const int channels : {3, 16, 21, 58, 130})
      for (const Row& r : {Row{width, channels, channels, 3, 1, 1, 1, channels},
                           Row{width, channels, channels, 3, 2, 1, 1, channels},
                           Row{width, channels, channels, 5, 1, 1, 2, channels},
                           Row{width, channels, channels, 5, 2, 1, 2, channels},
                           Row{width, channels, channels, 3, 1, 2, 2, channels}})
        RunConv(r);
  RunConv({30, 40, 40, 7, 3, 1, 3, 40});
  RunConv({12, 40, 40, 3, 1, 1, 0, 40});
}

TEST_CASE("convolution kernels: one channel per group, lines of every kind") {
  struct Lines {
    const char* name;
    int height, width, kernel_height, kernel_width;
    const char* strides;
    const char* pads;
  };
  for (const Lines& r : {
           Lines{"in several pieces", 5, 300, 3, 3, "[1, 1]", "[1, 1, 1, 1]"},
           Lines{"of the shortest kernels", 9, 14, 1, 3, "[1, 1]", "[0, 1, 0, 1]"},
           Lines{"of tall kernels", 9, 14, 5, 3, "[1, 1]", "[2, 1, 2, 1]"},
           Lines{"of different strides", 13, 21, 3, 3, "[1, 2]", "[1, 1, 1, 1]"},
           Lines{"of different strides, too", 13, 21, 3, 3, "[2, 1]", "[1, 1, 1, 1]"},
           Lines{"beyond the input", 6, 7, 3, 3, "[1, 1]", "[2, 3, 2, 3]"},
           Lines{"without padding", 8, 16, 5, 5, "[2, 2]", "[0, 0, 0, 0]"},
           Lines{"padded on one side", 8, 16, 3, 3, "[2, 2]", "[0, 0, 1, 1]"},
       }) {
    CAPTURE(r.name);
    const Graph graph = Parse(fmt::format(
        R"(graph {{ in %x: f32[2, 37, {}, {}]  const %w: f32[37, 1, {}, {}] = seeded(3)
           %y = conv(%x, %w) {{strides = {}, pads = {}, groups = 37}}  %z = tanh(%y)
           out "z" = %z }})",
        r.height, r.width, r.kernel_height, r.kernel_width, r.strides, r.pads));
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {}));
  }
}

TEST_CASE("convolution kernels: several groups in a vector") {
  for (const int group : {4, 8})
    for (const int channels : {16, 48})
      for (const int width : {1, 2, 5, 9, 10, 19})
        for (const int stride : {1, 2})
          for (const int pad : {0, 1, 2})
            if (width + 2 * pad >= 3)
              RunConv({width, channels, channels, 3, stride, 1, pad, channels / group});
  // Channels that do not fill whole vectors, other kernels and dilations use the matrix kernel.
  RunConv({6, 24, 24, 3, 1, 1, 1, 6});
  RunConv({9, 32, 32, 5, 1, 1, 2, 8});
  RunConv({9, 32, 32, 3, 1, 2, 2, 4});
  RunConv({9, 32, 64, 3, 1, 1, 1, 8});
}

TEST_CASE("convolution kernels: taps in the padding") {
  for (const Row& r :
       {Row{16, 20, 33, 3, 1, 12, 12, 1}, Row{16, 20, 33, 3, 1, 24, 24, 1},
        Row{9, 4, 16, 3, 1, 5, 5, 2}, Row{5, 20, 8, 5, 1, 1, 4, 1}, Row{3, 20, 8, 3, 2, 4, 4, 1},
        Row{4, 20, 8, 1, 1, 1, 3, 1}, Row{20, 3, 8, 3, 1, 9, 9, 1},
        Row{16, 20, 160, 3, 1, 12, 12, 1}, Row{7, 130, 130, 3, 1, 3, 3, 1}})
    RunConv(r);
}

}  // namespace
}  // namespace nn::test::conv_test

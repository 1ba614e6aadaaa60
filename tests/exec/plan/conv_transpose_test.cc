#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::conv_transpose_test {
namespace {

struct Row {
  const char* name;
  const char* x;
  const char* filter;
  const char* attrs;
  int channels = 0;  // of the bias; 0: none
};

void Run(const Row& r) {
  CAPTURE(r.name);
  const std::string bias =
      r.channels == 0 ? "" : fmt::format("const %b: f32[{}] = seeded(5)", r.channels);
  RunOnKernels(
      fmt::format("graph {{ in %x: f32{}  const %w: f32{} = seeded(3)  {}"
                  "  %y = conv_transpose(%x, %w{}) {}  out \"y\" = %y }}",
                  r.x, r.filter, bias, r.channels == 0 ? "" : ", %b", Braced(r.attrs)));
}

TEST_CASE("transposed convolution kernels: every rank, stride, dilation and padding") {
  for (const Row& r : {
           Row{"1-D", "[2, 5, 9]", "[5, 7, 4]", "strides = [2], pads = [1, 1]", 7},
           Row{"1-D, long", "[1, 3, 700]", "[3, 2, 5]", "strides = [3]"},
           Row{"1-D, steps wider than the kernel", "[1, 6, 8]", "[6, 20, 2]", "strides = [5]", 20},
           Row{"2-D", "[1, 20, 8, 8]", "[20, 35, 4, 4]", "strides = [2, 2], pads = [1, 1, 1, 1]",
               35},
           Row{"2-D nxc", "[2, 5, 6, 19]", "[19, 16, 3, 3]",
               "layout = nxc, strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 1]"},
           Row{"2-D, stride 1", "[1, 9, 5, 4]", "[9, 17, 3, 2]", "pads = [1, 0, 1, 1]", 17},
           Row{"2-D, uneven", "[1, 4, 3, 7]", "[4, 3, 5, 3]",
               "strides = [3, 2], dilations = [2, 1], pads = [2, 0, 1, 3]", 3},
           Row{"dilation shares a factor with the stride", "[1, 4, 5, 6]", "[4, 3, 3, 3]",
               "strides = [4, 6], dilations = [2, 3]"},
           Row{"padding that adds zeros", "[1, 4, 3, 3]", "[4, 3, 2, 2]",
               "strides = [2, 2], pads = [-3, 1, -2, -4]", 3},
           Row{"same", "[1, 4, 5, 6]", "[4, 3, 3, 4]", "strides = [2, 3], padding = same_upper"},
           Row{"output_shape", "[1, 4, 5, 6]", "[4, 3, 3, 4]",
               "strides = [2, 3], padding = same_lower, output_shape = [12, 14]", 3},
           Row{"one position", "[3, 40, 1, 1]", "[40, 33, 4, 4]", "", 33},
           Row{"one line", "[1, 8, 1, 5]", "[8, 4, 3, 3]", "strides = [2, 2]"},
           Row{"3-D", "[2, 5, 3, 4, 3]", "[5, 6, 2, 3, 4]",
               "strides = [2, 1, 2], pads = [0, 1, 1, 0, 1, 1]", 6},
           Row{"many positions", "[1, 3, 20, 70]", "[3, 40, 3, 3]", "strides = [2, 2]", 40},
           Row{"deep", "[1, 600, 3, 3]", "[600, 24, 2, 2]", "strides = [2, 2]", 24},
           Row{"many taps", "[1, 2, 6, 6]", "[2, 2, 40, 40]", "strides = [2, 2]"},
       })
    Run(r);
}

TEST_CASE("transposed convolution kernels: groups and filter layouts") {
  for (const Row& r : {
           Row{"groups", "[2, 12, 5, 4]", "[12, 5, 3, 3]", "groups = 3, strides = [2, 2]", 15},
           Row{"depthwise", "[2, 37, 6, 5]", "[37, 1, 4, 4]",
               "groups = 37, strides = [2, 2], pads = [1, 1, 1, 1]", 37},
           Row{"depthwise, dilated", "[1, 16, 6, 30]", "[16, 1, 3, 3]",
               "groups = 16, strides = [3, 2], dilations = [2, 3], pads = [1, 2, 0, 3]"},
           Row{"depthwise, gaps", "[1, 20, 4, 9]", "[20, 1, 2, 1]",
               "groups = 20, strides = [3, 2], pads = [-1, -3, 2, 0]", 20},
           Row{"depthwise, 1-D", "[1, 70, 300]", "[70, 1, 6]", "groups = 70, strides = [2]"},
           Row{"depthwise, 3-D", "[1, 5, 3, 4, 5]", "[5, 1, 2, 3, 2]",
               "groups = 5, strides = [1, 2, 2]"},
           Row{"one channel each, several results", "[1, 6, 4, 4]", "[6, 3, 3, 3]",
               "groups = 6, strides = [2, 2]", 18},
           Row{"oxi", "[1, 6, 4, 5]", "[7, 3, 2, 6]", "filter_layout = oxi, strides = [2, 1]", 7},
           Row{"xio", "[1, 6, 4, 5]", "[3, 2, 6, 7]", "filter_layout = xio, strides = [2, 1]", 7},
       })
    Run(r);
}

TEST_CASE("transposed convolution kernels: elementwise nodes after it") {
  CHECK(RunOnKernels(R"(graph { in %x: f32[2, 5, 6, 20]  in %z: f32[2, 11, 12, 33]
      const %w: f32[20, 33, 3, 2] = seeded(3)  const %b: f32[33] = seeded(4)
      %a = conv_transpose(%x, %w, %b) {layout = nxc, strides = [2, 2]}
      %s = add(%a, %z)  %y = clip(%s) {min = -0.5, max = 0.7}  out "y" = %y })") == 1);
  CHECK(RunOnKernels(R"(graph { in %x: f32[1, 40, 9, 20]  in %z: f32[80, 1, 20]
      const %w: f32[20, 1, 2, 2] = seeded(3)
      const %s: f32[20] = seeded(5)  const %t: f32[20] = seeded(6)  const %v: f32[20] = [
        1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]
      %a = conv_transpose(%x, %w) {layout = nxc, strides = [2, 2], groups = 20}
      %n = batch_norm(%a, %s, %t, %t, %v) {layout = nxc}  %r = relu(%n)  %m = mul(%z, %r)
      %y = tanh(%m)  out "y" = %y })") == 1);
}

TEST_CASE("transposed convolution kernels: parts of other tensors") {
  CHECK(RunOnKernels(R"(graph { in %x: f32[1, 5, 6, 20]
      const %v: f32[12, 16, 2, 2] = seeded(3)  const %w: f32[8, 1, 2, 2] = seeded(4)
      %p, %q = split(%x) {axis = 3, sizes = [12, 8]}
      %a = conv_transpose(%p, %v) {layout = nxc, strides = [2, 2]}
      %b = conv_transpose(%q, %w) {layout = nxc, strides = [2, 2], groups = 8}
      %y = concat(%a, %b) {axis = 3}  out "y" = %y })") == 2);
}

TEST_CASE("transposed convolution kernels: nothing to do") {
  Run({"no batch", "[0, 4, 3, 3]", "[4, 3, 2, 2]", "", 3});
  Run({"no inputs", "[1, 0, 3, 3]", "[0, 3, 2, 2]", "", 3});
  Run({"no outputs", "[1, 4, 3, 3]", "[4, 0, 2, 2]", ""});
  Run({"no positions", "[1, 4, 0, 3]", "[4, 3, 2, 2]", "output_shape = [4, 4]", 3});
}

TEST_CASE("transposed convolution kernels: weights that are NaN") {
  // Padding is not part of the sums, so the kernel, which reads zeros there, does not apply.
  const Graph graph = Parse(R"(graph { in %x: f32[1, 1, 3]  const %w: f32[1, 1, 3] = [1, inf, 2]
      %y = conv_transpose(%x, %w)  out "y" = %y })");
  RunEverywhere(graph, InputsOf(graph, {{1, 2, 3}}));
}

}  // namespace
}  // namespace nn::test::conv_transpose_test

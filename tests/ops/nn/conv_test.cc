#include <doctest/doctest.h>

#include <cmath>

#include "ir/eval.h"
#include "ops/nn/conv.h"
#include "support/run_graph.h"

namespace nn::test::conv_test {
namespace {

// Convolution of channels-first doubles, directly from the definition.
std::vector<double> NaiveConv2d(const Tensor& x, const Tensor& w, const std::vector<double>& bias,
                                int64_t stride, int64_t dilation, int64_t pad, int64_t groups) {
  const int64_t in_group = w.dim(1), out_group = w.dim(0) / groups;
  const auto size = [&](int64_t in, int64_t k) {
    return (in + 2 * pad - (k - 1) * dilation - 1) / stride + 1;
  };
  const int64_t oh = size(x.dim(2), w.dim(2)), ow = size(x.dim(3), w.dim(3));
  std::vector<double> y;
  for (int64_t n = 0; n < x.dim(0); ++n)
    for (int64_t o = 0; o < w.dim(0); ++o)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j) {
          double sum = bias.empty() ? 0 : bias[static_cast<size_t>(o)];
          for (int64_t c = 0; c < in_group; ++c)
            for (int64_t a = 0; a < w.dim(2); ++a)
              for (int64_t b = 0; b < w.dim(3); ++b) {
                const int64_t p = i * stride + a * dilation - pad;
                const int64_t q = j * stride + b * dilation - pad;
                if (p < 0 || q < 0 || p >= x.dim(2) || q >= x.dim(3)) continue;
                const int64_t channel = o / out_group * in_group + c;
                sum += x.GetDouble(((n * x.dim(1) + channel) * x.dim(2) + p) * x.dim(3) + q) *
                       w.GetDouble(((o * in_group + c) * w.dim(2) + a) * w.dim(3) + b);
              }
          y.push_back(sum);
        }
  return y;
}

TEST_CASE("conv: 2-D results are those of the definition") {
  struct Row {
    const char* name;
    int64_t n, c, h, w, o, k, stride, dilation, pad, groups;
  };
  for (const Row& r : {
           Row{"1x1", 1, 16, 5, 7, 24, 1, 1, 1, 0, 1},
           Row{"3x3 padded", 2, 5, 9, 8, 20, 3, 1, 1, 1, 1},
           Row{"strided", 1, 3, 15, 15, 33, 3, 2, 1, 1, 1},
           Row{"dilated", 1, 4, 12, 12, 8, 3, 1, 3, 3, 1},
           Row{"wide kernel", 1, 3, 20, 20, 7, 7, 2, 1, 3, 1},
           Row{"grouped", 1, 12, 6, 6, 24, 3, 1, 1, 1, 3},
           Row{"depthwise", 1, 19, 7, 7, 19, 3, 1, 1, 1, 19},
           Row{"depthwise, two outputs a channel", 1, 8, 7, 7, 16, 3, 2, 1, 1, 8},
           Row{"deep", 1, 600, 3, 3, 17, 1, 1, 1, 0, 1},
           Row{"many rows", 1, 2, 40, 40, 3, 3, 1, 1, 0, 1},
       }) {
    CAPTURE(r.name);
    const std::string text = fmt::format(
        R"(graph {{
             in %x: f32[{}, {}, {}, {}]
             const %w: f32[{}, {}, {}, {}] = seeded(3)
             const %b: f32[{}] = seeded(4)
             %y = conv(%x, %w, %b) {{strides = [{}, {}], dilations = [{}, {}],
                                     pads = [{}, {}, {}, {}], groups = {}}}
             out "y" = %y
           }})",
        r.n, r.c, r.h, r.w, r.o, r.c / r.groups, r.k, r.k, r.o, r.stride, r.stride, r.dilation,
        r.dilation, r.pad, r.pad, r.pad, r.pad, r.groups);
    const Graph g = Parse(text);
    const auto inputs = InputsOf(g, {});
    const auto outputs = RunEverywhere(g, inputs);
    const Node& conv = g.nodes().front();
    const auto want =
        NaiveConv2d(inputs[0], conv.input(1)->constant(), conv.input(2)->constant().ToDoubles(),
                    r.stride, r.dilation, r.pad, r.groups);
    REQUIRE(want.size() == static_cast<size_t>(outputs[0].elements()));
    for (size_t i = 0; i < want.size(); ++i)
      CHECK(std::fabs(outputs[0].GetDouble(static_cast<int64_t>(i)) - want[i]) < 1e-4);
  }
}

TEST_CASE("conv: 8-bit integers are the same everywhere") {
  struct Row {
    const char* name;
    const char* type;
    const char* filter;
    int64_t c, o, k, groups, h;
  };
  const char* per_tensor = "{scale=0.02, zp=3}";
  const char* per_channel = "{axis=0, scale=[0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]}";
  for (const Row& r : {
           Row{"u8", "u8", "{scale=0.02, zp=120}", 5, 19, 3, 1, 9},
           Row{"u8 1x1", "u8", "{scale=0.02, zp=120}", 32, 40, 1, 1, 13},
           Row{"u8 depthwise", "u8", "{scale=0.02, zp=99}", 21, 21, 3, 21, 10},
           Row{"i8", "i8", per_tensor, 7, 8, 3, 1, 11},
           Row{"i8 per channel", "i8", per_channel, 7, 8, 5, 1, 8},
           Row{"i8 depthwise per channel", "i8", per_channel, 8, 8, 3, 8, 12},
           Row{"i8 grouped", "i8", per_channel, 8, 8, 3, 2, 6},
       }) {
    CAPTURE(r.name);
    CheckCase(
        {r.name, fmt::format(R"(graph {{
        in %x: {0}[2, {1}, {4}, {4}]{{scale=0.05, zp=7}}
        const %w: {0}[{2}, {5}, {3}, {3}]{6} = seeded(3)
        const %b: i32[{2}] = seeded(9)
        %y = conv(%x, %w, %b) {{padding = same_upper, groups = {7}}} @tflite
            : {0}[2, {2}, {4}, {4}]{{scale=0.9, zp=11}}
        %z = clip(%y) {{min = 0.0, max = 6.0}} : {0}[2, {2}, {4}, {4}]{{scale=0.9, zp=11}}
        out "z" = %z
      }})",
                             r.type, r.c, r.o, r.k, r.h, r.c / r.groups, r.filter, r.groups)});
  }
}

// 64-bit accumulators have a factor of 15 bits, so that 872.511 and 873.507 are below a half.
TEST_CASE("conv: 16-bit integers, with accumulators of the type of the bias") {
  for (const char* const bias : {"i32", "i64"}) {
    CAPTURE(bias);
    const Graph graph = Parse(fmt::format(R"(graph {{
        in %x: i16[1, 1, 1, 4]{{scale=0.001}}
        const %w: i8[1, 1, 1, 1]{{scale=0.01}} = [100]
        const %b: {}[1] = [0]
        %y = conv(%x, %w, %b) @tflite : i16[1, 1, 1, 4]{{scale=0.0231}}
        out "y" = %y
      }})",
                                          bias));
    const bool wide = std::string_view(bias) == "i64";
    const auto inputs = InputsOf(graph, {{20155, 20178, 20000, -20155}});
    CHECK(RunEverywhere(graph, inputs)[0].ToDoubles() ==
          (wide ? std::vector<double>{872, 873, 866, -872}
                : std::vector<double>{873, 874, 866, -873}));
  }
}

TEST_CASE("conv: errors name what does not fit") {
  CHECK(ErrorOf(R"(graph { in %x: f32[1, 4, 8, 8]  const %w: f32[8, 3, 3, 3] = splat(0)
                           %y = conv(%x, %w)  out "y" = %y })")
            .find("4 input channels, but the filter f32[8, 3, 3, 3] with 1 group(s) requires 3") !=
        std::string::npos);
  CHECK(ErrorOf(R"(graph { in %x: f32[1, 3, 2, 2]  const %w: f32[8, 3, 3, 3] = splat(0)
                           %y = conv(%x, %w)  out "y" = %y })")
            .find("a window of 3 elements does not fit spatial axis 0 of size 2") !=
        std::string::npos);
}

TEST_CASE("conv: the bias of integers is an integer") {
  for (const char* op : {"conv", "conv_transpose"})
    CHECK(Fails(fmt::format(R"(graph {{ in %x: i8[1, 3, 4, 4]{{scale=0.05}}
                                        const %w: i8[3, 3, 2, 2]{{scale=0.1}} = splat(1)
                                        const %b: f32[3] = splat(1)
                                        %y = {}(%x, %w, %b) @tflite : i8[*]{{scale=0.2}}
                                        out "y" = %y }})",
                            op),
                "input 2 holds a bias of integer sums and must be an integer tensor"));
}

TEST_CASE("conv: a filter has one scale, or one for each output channel") {
  CHECK(Fails(R"(graph { in %x: i8[1, 3, 4, 4]{scale=0.05}
                         const %w: i8[3, 3, 2, 2]{axis=1, scale=[0.1, 0.2, 0.3]} = splat(1)
                         %y = conv(%x, %w) @tflite : i8[*]{scale=0.2}  out "y" = %y })",
              "the filter along axis 1, which is not its output channel axis"));
}

TEST_CASE("conv: a constant filter without elements") {
  for (const char* graph :
       {R"(graph { in %x: f32[1, 5, 5, 0]  const %w: f32[3, 3, 3, 0] = []
                   const %b: f32[3] = [1, -2, 3]
                   %c = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi}
                   %y = relu(%c)  out "y" = %y })",
        R"(graph { in %x: i8[1, 6, 0]{scale=0.05}  const %w: i8[3, 3, 0]{scale=0.01} = []
                   %y = conv(%x, %w) {layout = nxc, filter_layout = oxi} @tflite
                        : i8[1, 4, 3]{scale=0.2}
                   out "y" = %y })"}) {
    const Graph g = Parse(graph);
    RunEverywhere(g, InputsOf(g, {}));
  }
}

}  // namespace
}  // namespace nn::test::conv_test

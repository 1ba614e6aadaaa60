// Convolutions of 8-bit integers: every SIMD target gives the bits of the reference evaluation.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::conv_quant_test {
namespace {

struct Row {
  int width, channels, outputs, kernel, stride, pad, groups;
};

void RunConv(const Row& r, const std::string& type, const std::string& filter) {
  CAPTURE(r.width);
  CAPTURE(r.channels);
  CAPTURE(r.outputs);
  CAPTURE(r.kernel);
  CAPTURE(r.stride);
  CAPTURE(type);
  CAPTURE(filter);
  const int side = (r.width + 2 * r.pad - r.kernel) / r.stride + 1;
  const Graph graph = Parse(fmt::format(
      R"(graph {{ in %x: {0}[2, {2}, {1}, {1}]{{scale=0.5, zp=7}}
         const %w: {0}[{3}, {4}, {5}, {5}]{9} = seeded(3)
         const %b: i32[{3}] = seeded(4)
         %c = conv(%x, %w, %b) {{strides = [{6}, {6}], pads = [{7}, {7}, {7}, {7}],
                                groups = {8}}} @tflite : {0}[2, {3}, {10}, {10}]{{scale=0.9, zp=11}}
         %y = relu(%c) @tflite : {0}[2, {3}, {10}, {10}]{{scale=0.9, zp=11}}
         out "y" = %y }})",
      type, r.width, r.channels, r.outputs, r.channels / r.groups, r.kernel, r.stride, r.pad,
      r.groups, filter, side));
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
}

TEST_CASE("quantized convolution kernels: rows, columns and depths of every remainder") {
  for (const char* type : {"u8", "i8"})
    for (const char* filter : {"{scale=0.01, zp=0}", "{scale=0.01, zp=5}"})
      for (const Row& r :
           {Row{5, 3, 8, 3, 2, 1, 1}, Row{5, 1, 17, 3, 1, 1, 1}, Row{7, 16, 96, 1, 1, 0, 1},
            Row{1, 70, 37, 1, 1, 0, 1}, Row{11, 5, 33, 3, 1, 1, 1}, Row{4, 130, 48, 1, 1, 0, 1},
            Row{6, 12, 24, 3, 1, 1, 3}, Row{13, 24, 20, 1, 1, 0, 1}})
        RunConv(r, type, filter);
}

TEST_CASE("quantized convolution kernels: one channel per group") {
  for (const char* type : {"u8", "i8"})
    for (const char* filter : {"{scale=0.01, zp=0}", "{scale=0.01, zp=5}"})
      for (const int channels : {2, 3, 7, 8, 12, 16, 21, 31, 48, 64, 96, 112, 130})
        for (const Row& r : {Row{6, channels, channels, 3, 1, 1, channels},
                             Row{7, channels, channels, 3, 2, 1, channels},
                             Row{3, channels, channels, 2, 1, 0, channels}})
          RunConv(r, type, filter);
}

// Several outputs at several positions of a line at a time, and all remainders.
TEST_CASE("quantized convolution kernels: one channel per group, long lines and larger kernels") {
  for (const char* type : {"u8", "i8"})
    for (const int channels : {3, 16, 40, 100})
      for (const auto& [width, kernel, stride, pad] : {std::array{19, 3, 1, 1},
                                                       {35, 3, 2, 1},
                                                       {18, 5, 1, 2},
                                                       {37, 5, 2, 2},
                                                       {19, 7, 1, 3},
                                                       {20, 3, 3, 0}})
        RunConv({width, channels, channels, kernel, stride, pad, channels}, type,
                "{scale=0.01, zp=0}");
}

TEST_CASE("quantized convolution kernels: one channel per group, every axis") {
  const auto run = [](const char* x, const char* w, const char* attrs, const char* y) {
    CAPTURE(x);
    CAPTURE(attrs);
    const Graph graph = Parse(fmt::format(
        R"(graph {{ in %x: u8{}{{scale=0.5, zp=7}}  const %w: u8{}{{scale=0.01, zp=131}} = seeded(3)
           %y = conv(%x, %w) {{{}}} @tflite : u8{}{{scale=0.9, zp=11}}  out "y" = %y }})",
        x, w, attrs, y));
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {}));
  };
  // Lines that are shorter than the part that is read at once.
  run("[1, 2, 3, 1]", "[2, 1, 3, 1]", "pads = [1, 0, 1, 0], groups = 2", "[1, 2, 3, 1]");
  run("[2, 3, 1, 1]", "[3, 1, 1, 1]", "groups = 3", "[2, 3, 1, 1]");
  run("[1, 20, 9, 40]", "[20, 1, 3, 3]", "pads = [2, 3, 2, 3], dilations = [2, 3], groups = 20",
      "[1, 20, 9, 40]");
  run("[1, 24, 600]", "[24, 1, 5]", "pads = [2, 2], groups = 24", "[1, 24, 600]");
  run("[2, 18, 3, 5, 9]", "[18, 1, 3, 3, 3]", "pads = [1, 1, 1, 1, 1, 1], groups = 18",
      "[2, 18, 3, 5, 9]");
}

TEST_CASE("quantized convolution kernels: a scale for each filter") {
  std::string scales;
  for (int i = 0; i < 19; ++i) scales += fmt::format("{}{}", i == 0 ? "" : ", ", 0.003 * (i + 1));
  const std::string filter = fmt::format("{{axis=0, scale=[{}]}}", scales);
  RunConv({6, 4, 19, 3, 1, 1, 1}, "i8", filter);
  RunConv({6, 19, 19, 3, 1, 1, 19}, "i8", filter);
}

// All inputs are at the zero point, so a sum is the bias: around the halves that round away from
// zero, near the ends of int32, and outside the range of the type.
std::vector<int64_t> Sums(double factor) {
  std::vector<int64_t> sums = {0,          1,          -1, 2, -2, 3, -3, 0x7FFFFFFF, -0x80000000LL,
                               0x40000000, -0x40000000};
  for (const int half : {-259, -258, -255, -131, -3, -1, 1, 3, 5, 127, 255, 257})
    for (const int offset : {-1, 0, 1}) {
      const double sum = std::round(half / 2.0 / factor) + offset;
      if (std::abs(sum) < 0x7FFFFFFF) sums.push_back(static_cast<int64_t>(sum));
    }
  return sums;
}

void RunRescale(const std::string& type, double factor, bool depthwise) {
  CAPTURE(type);
  CAPTURE(factor);
  CAPTURE(depthwise);
  const std::vector<int64_t> sums = Sums(factor);
  const Graph graph = Parse(fmt::format(
      R"(graph {{ in %x: {0}[1, {1}, 1, 1]{{scale={2}, zp=0}}
         const %w: {0}[{3}, 1, 1, 1]{{scale=1, zp=0}} = seeded(3)
         const %b: i32[{3}] = [{4}]
         %y = conv(%x, %w, %b) {{groups = {1}}} @tflite : {0}[1, {3}, 1, 1]{{scale=1, zp=1}}
         out "y" = %y }})",
      type, depthwise ? sums.size() : 1, factor, sums.size(), fmt::join(sums, ", ")));
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {std::vector<double>(depthwise ? sums.size() : 1, 0)}));
}

TEST_CASE("quantized convolution kernels: rescaling by every kind of factor") {
  // Exact powers, where halves occur; and factors of both roundings, with left shifts (from 1 on),
  // with none (from 1/2 on) and down to the largest right shift.
  std::vector<double> factors = {1.9, 1, 3.7, 0.75, 0.999, 0.3, 0.0123, 1e-4, 3e-7, 1e-9, 3e-10};
  for (const int shift : {1, 2, 3, 7, 15, 22, 30}) factors.push_back(std::ldexp(1.0, -shift));
  for (const char* type : {"u8", "i8"})
    for (const double factor : factors)
      for (const bool depthwise : {false, true}) RunRescale(type, factor, depthwise);
}

}  // namespace
}  // namespace nn::test::conv_quant_test

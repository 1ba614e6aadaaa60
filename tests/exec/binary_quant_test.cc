// Sums, differences and products of 8-bit integers: every SIMD target gives the bits of the
// reference evaluation.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "support/run_graph.h"

namespace nn::test::binary_quant_test {
namespace {

// Scales of the operands and of the result; their ratios determine the shifts.
struct Scales {
  double a, b, y;
};

void RunBinary(const std::string& op, const std::string& type, const std::string& a,
               const std::string& b, const std::string& y, const Scales& scales, bool relu) {
  CAPTURE(op);
  CAPTURE(type);
  CAPTURE(a);
  CAPTURE(b);
  CAPTURE(scales.a);
  CAPTURE(scales.y);
  const std::string result = fmt::format("{}{}{{scale={}, zp=11}}", type, y, scales.y);
  const Graph graph = Parse(fmt::format(
      R"(graph {{ in %a: {0}{1}{{scale={2}, zp=3}}  in %b: {0}{3}{{scale={4}, zp=7}}
         %s = {5}(%a, %b) @tflite : {6}  {7} out "y" = %{8} }})",
      type, a, scales.a, b, scales.b, op, result,
      relu ? fmt::format("%r = relu(%s) @tflite : {}", result) : "", relu ? "r" : "s"));
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
}

TEST_CASE("quantized binary kernels: rows of every kind of length, operands that repeat") {
  for (const char* type : {"u8", "i8"})
    for (const char* op : {"add", "sub", "mul"})
      for (const bool relu : {false, true}) {
        const Scales scales = {0.5, 0.3, 0.7};
        for (const char* shape : {"[1]", "[5]", "[64]", "[2, 100]", "[5000]"})
          RunBinary(op, type, shape, shape, shape, scales, relu);
        RunBinary(op, type, "[3, 70]", "[70]", "[3, 70]", scales, relu);
        RunBinary(op, type, "[3, 1]", "[3, 70]", "[3, 70]", scales, relu);
        RunBinary(op, type, "[1]", "[3, 70]", "[3, 70]", scales, relu);
      }
}

TEST_CASE("quantized binary kernels: factors of every kind") {
  for (const char* type : {"u8", "i8"})
    for (const char* op : {"add", "sub", "mul"})
      for (const Scales& scales :
           {Scales{1, 1, 1}, Scales{0.001, 1, 1}, Scales{1, 0.001, 0.01}, Scales{1e-6, 1e-6, 1},
            Scales{0.9, 0.8, 0.05}, Scales{0.5, 0.25, 0.125}, Scales{3, 2, 100}})
        RunBinary(op, type, "[300]", "[300]", "[300]", scales, false);
}

}  // namespace
}  // namespace nn::test::binary_quant_test

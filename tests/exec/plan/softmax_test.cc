#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::softmax_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("softmax kernels: float32 along any axis") {
  for (const auto& row : {
           std::pair("[3, 1001]", -1),
           std::pair("[40, 7]", 1),
           std::pair("[203, 49]", 1),
           std::pair("[9, 197]", 1),
           std::pair("[2, 21, 5, 13]", 1),
           std::pair("[5, 70]", 0),
           std::pair("[2, 3, 1]", 2),
           std::pair("[4, 0]", 1),
           std::pair("[0, 4]", 1),
       }) {
    const char* const shape = row.first;
    const int axis = row.second;
    CAPTURE(shape);
    CAPTURE(axis);
    const Graph graph =
        Parse(fmt::format("graph {{ in %x: f32{0}  %y = softmax(%x) {{axis = {1}, beta = 1.7}}  "
                          "%z = log_softmax(%x) {{axis = {1}}}  out \"y\" = %y  out \"z\" = %z }}",
                          shape, axis));
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {}));
  }
}

TEST_CASE("softmax kernels: values") {
  CheckCase({"softmax",
             R"(graph { in %x: f32[4, 2]
                %y = softmax(%x)  %z = log_softmax(%x)  out "y" = %y  out "z" = %z })",
             {{0, 0, 1000, 1001, -kInf, 3, kNan, 1}},
             {{0.5, 0.5, 0.2689414213699951, 0.7310585786300049, 0, 1, kNan, kNan},
              {-0.6931471805599453, -0.6931471805599453, -1.3132616875182228, -0.3132616875182228,
               -kInf, 0, kNan, kNan}},
             1e-6});
}

TEST_CASE("softmax kernels: 8-bit integers") {
  for (const char* type : {"u8", "i8"})
    for (const auto& row : {std::pair("[3, 1001]", -1), std::pair("[2, 5, 9]", 1)}) {
      const char* const shape = row.first;
      const int axis = row.second;
      CAPTURE(type);
      CAPTURE(shape);
      const Graph graph = Parse(fmt::format(
          R"(graph {{ in %x: {0}{1}{{scale=0.06, zp=7}}
             %y = softmax(%x) {{axis = {2}}} @tflite : {0}{1}{{scale=0.00390625, zp={3}}}
             out "y" = %y }})",
          type, shape, axis, *type == 'u' ? 0 : -128));
      CheckHasKernels(graph);
      RunEverywhere(graph, InputsOf(graph, {}));
    }
  // e^0, e^-1 and e^-2 in units of 1/256 of their sum.
  CheckCase({"values",
             R"(graph { in %x: u8[1, 3]{scale=1, zp=0}
                %y = softmax(%x) @tflite : u8[1, 3]{scale=0.00390625, zp=0}  out "y" = %y })",
             {{9, 8, 7}},
             {{170, 63, 23}}});
}

}  // namespace
}  // namespace nn::test::softmax_test

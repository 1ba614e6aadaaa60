#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::reduce_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("reduction kernels: float32 over any axes") {
  const auto check = [](const char* op, const char* shape, const char* axes) {
    CAPTURE(op);
    CAPTURE(shape);
    CAPTURE(axes);
    const Graph graph = Parse(
        fmt::format("graph {{ in %x: f32{}  %y = {}(%x) {{axes = {}}}  %z = {}(%x) {{axes = {}, "
                    "keep_dims = false}}  out \"y\" = %y  out \"z\" = %z }}",
                    shape, op, axes, op, axes));
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {}));
  };
  for (const char* op :
       {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1",
        "reduce_l2", "reduce_sum_square", "reduce_log_sum", "reduce_log_sum_exp"}) {
    check(op, "[2, 7, 7, 130]", "[1, 2]");
    check(op, "[3, 51]", "[1]");
    check(op, "[1, 1000, 70]", "[1]");
  }
  for (const auto& [shape, axes] : {
           std::pair("[2, 130, 7, 7]", "[2, 3]"),  // channels first
           std::pair("[2, 7, 5, 3]", "[1, 2]"),
           std::pair("[40, 15]", "[1]"),
           std::pair("[3, 4, 5]", "[0, 2]"),
           std::pair("[3, 4, 50]", "[1, 0]"),  // listed out of order
           std::pair("[300]", "[0]"),
           std::pair("[1, 1, 1, 20]", "[1, 2]"),
           std::pair("[3, 0, 20]", "[1]"),
           std::pair("[0, 4, 20]", "[1]"),
       })
    for (const char* op : {"reduce_mean", "reduce_log_sum_exp"}) check(op, shape, axes);
}

TEST_CASE("reduction kernels: the logarithm of a sum of exponentials, with infinities and NaN") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& x : {std::vector<double>{1, 2, -inf, 100},
                                       {-inf, -inf, -inf, -inf},
                                       {inf, 1, 2, 3},
                                       {kNan, 1, 2, inf},
                                       {-0.0, -0.0, -0.0, -0.0},
                                       {3e38, 3e38, -3e38, 0}})
    for (const char* shape : {"[1, 4]", "[4, 1]"}) {
      const std::string text = fmt::format(
          "graph {{ in %x: f32{}  %y = reduce_log_sum_exp(%x) {{axes = [{}]}}  out \"y\" = %y }}",
          shape, shape[1] == '1' ? 1 : 0);
      const Graph graph = Parse(text);
      CheckHasKernels(graph);
      RunEverywhere(graph, InputsOf(graph, {x}));
    }
}

TEST_CASE("reduction kernels: truth values") {
  for (const char* op : {"reduce_any", "reduce_all"})
    for (const auto& [shape, axes] : {std::pair("[2, 3, 5]", "[1]"),
                                      {"[40, 3]", "[1]"},
                                      {"[3, 300]", "[0]"},
                                      {"[3, 0, 2]", "[1]"},
                                      {"[2, 2, 2, 2]", "[0, 2]"}})
      RunOnKernels(fmt::format(
          "graph {{ in %x: bool{}  %y = {}(%x) {{axes = {}}}  out \"y\" = %y }}", shape, op, axes));
}

TEST_CASE("reduction kernels: values") {
  CheckCase({"mean, largest and smallest",
             R"(graph { in %x: f32[1, 3, 2]
                %a = reduce_mean(%x) {axes = [1]}  %b = reduce_max(%x) {axes = [1]}
                %c = reduce_min(%x) {axes = [2]}
                out "a" = %a  out "b" = %b  out "c" = %c })",
             {{1, -2, 5, kNan, 3, 4}},
             {{3, kNan}, {5, kNan}, {-2, kNan, 3}}});
}

TEST_CASE("reduction kernels: 8-bit sums and means") {
  for (const char* type : {"u8", "i8"})
    for (const char* op : {"reduce_mean", "reduce_sum"})
      for (const char* channels : {"3", "20", "200"}) {
        CAPTURE(type);
        CAPTURE(op);
        CAPTURE(channels);
        const Graph graph = Parse(fmt::format(
            R"(graph {{ in %x: {0}[2, 7, 7, {1}]{{scale=0.05, zp=7}}
               %y = {2}(%x) {{axes = [1, 2]}} @tflite : {0}[2, 1, 1, {1}]{{scale=0.04, zp=9}}
               %z = {2}(%x) {{axes = [3]}} @tflite : {0}[2, 7, 7, 1]{{scale=0.04, zp=9}}
               out "y" = %y  out "z" = %z }})",
            type, channels, op));
        CheckHasKernels(graph);
        RunEverywhere(graph, InputsOf(graph, {}));
      }
}

}  // namespace
}  // namespace nn::test::reduce_test

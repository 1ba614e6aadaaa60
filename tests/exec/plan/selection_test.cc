#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::selection_test {
namespace {

void Run(const std::string& text, const std::vector<std::vector<double>>& values = {}) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, values));
}

TEST_CASE("top_k kernels: every type, axis and count") {
  for (const char* type : {"f32", "f64", "i8", "u8", "i32", "i64"})
    for (const char* attrs :
         {"axis = -1", "axis = 0, largest = false", "axis = 1, index_type = i32"})
      for (const int k : {0, 1, 3, 5})
        Run(fmt::format(R"(graph {{ in %x: {}[5, 6, 70]  const %k: i64[1] = [{}]
                                    %y, %i = top_k(%x, %k) {{{}}}  out "y" = %y  out "i" = %i }})",
                        type, k, attrs));
  for (const int k : {16, 17, 300, 1000})
    Run(fmt::format(R"(graph {{ in %x: f32[40, 1000]  const %k: i64[1] = [{}]
                                %y, %i = top_k(%x, %k)  out "y" = %y  out "i" = %i }})",
                    k));
}

TEST_CASE("top_k kernels: long rows in ascending, descending and random order") {
  std::vector<double> ascending;
  for (int i = 0; i < 9000; ++i) ascending.push_back(i / 3 % 2900 - 100);
  const std::vector<double> descending(ascending.rbegin(), ascending.rend());
  std::vector<double> random;
  for (int64_t i = 0; i < 9000; ++i) random.push_back(static_cast<double>(i * i * 7919 % 4001));
  for (const char* type : {"f32", "f64", "i32", "i64"})
    for (const auto& x : {random, ascending, descending})
      for (const char* largest : {"true", "false"})
        for (const int k : {1, 700, 4400, 8999})
          Run(fmt::format(R"(graph {{ in %x: {}[9000]  const %k: i64[1] = [{}]
                                      %y, %i = top_k(%x, %k) {{largest = {}}}
                                      out "y" = %y  out "i" = %i }})",
                          type, k, largest),
              {x});
}

TEST_CASE("top_k kernels: equal elements, NaN and zeros of both signs") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> x = {1, nan, -0.0, 0.0, 1, -inf, nan, inf, -2, 1, 0.0, -0.0, inf, 5};
  while (x.size() < 42) x.push_back(x[x.size() - 14]);
  for (const char* largest : {"true", "false"})
    for (const int k : {1, 5, 20, 42})
      Run(fmt::format(R"(graph {{ in %x: f32[42]  const %k: i64[1] = [{}]
                                  %y, %i = top_k(%x, %k) {{largest = {}}}
                                  out "y" = %y  out "i" = %i }})",
                      k, largest),
          {x});
}

TEST_CASE("hardmax kernels") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const char* axis : {"0", "1", "2"})
    Run(
        fmt::format("graph {{ in %x: f32[5, 6, 70]  %y = hardmax(%x) {{axis = {}}}  "
                    "out \"y\" = %y }}",
                    axis));
  Run(R"(graph { in %x: f32[5, 3]  %y = hardmax(%x)  out "y" = %y })",
      {{1, nan, nan, -inf, -inf, -inf, 2, 2, 1, -0.0, 0.0, -1, inf, nan, inf}});
}

TEST_CASE("one_hot kernels") {
  for (const char* index : {"i32", "i64"})
    for (const char* type : {"f32", "u8", "i64", "f16", "bool"})
      for (const int axis : {-1, 0, 1})
        for (const char* wrap : {"true", "false"})
          Run(fmt::format(R"(graph {{ in %i: {}[3, 50]  const %d: i64[] = [9]
                                      const %v: {}[2] = [0, 1]
                                      %y = one_hot(%i, %d, %v) {{axis = {}, wrap = {}}}
                                      out "y" = %y }})",
                          index, type, axis, wrap));
  Run(R"(graph { in %i: i64[7]  in %v: f32[2]  const %d: i64[] = [5]  %y = one_hot(%i, %d, %v)
                 out "y" = %y })",
      {{0, 4, 5, -1, -5, -6, 2}, {0.5, 3}});
}

}  // namespace
}  // namespace nn::test::selection_test

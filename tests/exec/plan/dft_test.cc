#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "support/run_graph.h"

namespace nn::test::exec_dft_test {
namespace {

TEST_CASE("dft kernels: sizes of every factor, and primes") {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 30, 49, 53, 64, 100, 106, 120, 401})
    for (const int rows : {1, 3, 8, 19})
      for (const char* attrs : {"", "{inverse = true}"})
        RunOnKernels(
            fmt::format("graph {{ in %x: f32[{}, {}, 2]  %y = dft(%x) {}  "
                        "out \"y\" = %y }}",
                        rows, n, attrs));
}

TEST_CASE("dft kernels: types, parts, axes and lengths") {
  for (const char* type : {"f32", "f64"}) {
    for (const char* axis : {"0", "1", "-2"}) {
      for (const char* real : {"", ", onesided = true", ", inverse = true"})
        RunOnKernels(
            fmt::format("graph {{ in %x: {}[6, 10, 9, 1]  %y = dft(%x) {{axis = {}{}}}  "
                        "out \"y\" = %y }}",
                        type, axis, real));
      RunOnKernels(
          fmt::format("graph {{ in %x: {}[6, 10, 9, 2]  %y = dft(%x) "
                      "{{axis = {}, inverse = true, onesided = true}}  out \"y\" = %y }}",
                      type, axis));
    }
    for (const int length : {1, 7, 20})
      for (const char* attrs : {"", "{onesided = true}"})
        RunOnKernels(
            fmt::format("graph {{ in %x: {}[5, 12, 1]  const %n: i64[] = [{}]  "
                        "%y = dft(%x, %n) {}  out \"y\" = %y }}",
                        type, length, attrs));
    RunOnKernels(
        fmt::format("graph {{ in %x: {}[5, 12, 2]  const %n: i64[] = [16]  %y = "
                    "dft(%x, %n) {{inverse = true, onesided = true}}  out \"y\" = %y }}",
                    type));
  }
}

TEST_CASE("stft kernels: windows, lengths and parts") {
  for (const char* type : {"f32", "f64"})
    for (const std::string form :
         {"1 {onesided = true}", "1 {onesided = false}", "2 {onesided = false}"}) {
      const std::string parts = form.substr(0, 1), attrs = form.substr(2);
      const std::string signal =
          fmt::format("in %x: {}[2, 100, {}]  const %s: i64[] = [7]  ", type, parts);
      const auto run = [&](const std::string& more, const char* operands) {
        RunOnKernels("graph { " + signal + more + "  %y = stft(%x, %s" + operands + ") " + attrs +
                     "  out \"y\" = %y }");
      };
      run("", "");
      run("const %l: i64[] = [30]", ", _, %l");
      run(fmt::format("const %w: {}[24] = seeded(4)", type), ", %w");
      run(fmt::format("in %w: {}[25]", type), ", %w");
    }
}

}  // namespace
}  // namespace nn::test::exec_dft_test

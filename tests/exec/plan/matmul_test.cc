#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::matmul_test {
namespace {

TEST_CASE("matmul kernels: float32 operands of every form") {
  struct Row {
    const char* name;
    const char* a;
    const char* b;
    const char* attrs;
    const char* bias;  // its length; empty: none
  };
  for (const Row& r : {
           Row{"one row", "[1, 300]", "[300, 130]", "", "130"},
           Row{"rows", "[37, 65]", "[65, 21]", "", "21"},
           Row{"b transposed", "[5, 64]", "[100, 64]", "transpose_b = true", "100"},
           Row{"a transposed", "[64, 5]", "[64, 100]", "transpose_a = true", ""},
           Row{"both transposed", "[2, 64, 5]", "[2, 100, 64]",
               "transpose_a = true, transpose_b = true", ""},
           Row{"columns", "[5, 4, 1]", "[5, 4, 3]", "transpose_a = true", ""},
           Row{"columns, both transposed", "[5, 1, 1]", "[5, 7, 1]",
               "transpose_a = true, transpose_b = true", ""},
           Row{"columns of one matrix", "[5, 4, 1]", "[4, 3]", "transpose_a = true", "3"},
           Row{"batch over one matrix", "[3, 4, 16]", "[16, 9]", "", "9"},
           Row{"batch of matrices", "[3, 4, 16]", "[3, 16, 9]", "", ""},
           Row{"broadcast batch", "[2, 1, 4, 16]", "[3, 16, 9]", "", "9"},
           Row{"row vector", "[16]", "[16, 40]", "", "40"},
           Row{"column vector", "[5, 16]", "[16]", "", "1"},
           Row{"batch by column vector", "[2, 5, 16]", "[16]", "", ""},
           Row{"column vectors", "[1, 70]", "[70]", "", ""},
           Row{"no k", "[4, 0]", "[0, 5]", "", "5"},
           Row{"no rows", "[0, 4]", "[4, 5]", "", "5"},
           Row{"no columns", "[3, 4]", "[4, 0]", "", ""},
           Row{"no batch", "[0, 3, 4]", "[4, 5]", "", ""},
       }) {
    CAPTURE(r.name);
    const bool biased = *r.bias != 0;
    for (const char* b : {"const", "in"}) {
      CAPTURE(b);
      const std::string seeded = *b == 'c' ? " = seeded(3)" : "";
      const std::string bias =
          biased ? fmt::format("{} %c: f32[{}]{}", b, r.bias, *b == 'c' ? " = seeded(4)" : "") : "";
      const Graph graph =
          Parse(fmt::format("graph {{ in %a: f32{}  {} %b: f32{}{}  {}  %y = matmul(%a, %b{}) {}  "
                            "%z = tanh(%y)  out \"z\" = %z }}",
                            r.a, b, r.b, seeded, bias, biased ? ", %c" : "",
                            *r.attrs == 0 ? "" : fmt::format("{{{}}}", r.attrs)));
      CheckHasKernels(graph);
      RunEverywhere(graph, InputsOf(graph, {}));
    }
  }
}

TEST_CASE("matmul kernels: float32 of every height and depth of a tile") {
  const auto run = [](int m, int k, int n) {
    CAPTURE(m);
    CAPTURE(k);
    CAPTURE(n);
    const Graph graph =
        Parse(fmt::format("graph {{ in %a: f32[{0}, {1}]  const %b: f32[{1}, {2}] = seeded(3)  "
                          "const %c: f32[{2}] = seeded(4)  %y = matmul(%a, %b, %c)  "
                          "%z = clip(%y) {{min = -0.5, max = 0.75}}  out \"z\" = %z }}",
                          m, k, n));
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {}));
  };
  for (int rows = 1; rows <= 31; ++rows)
    for (const int columns : {24, 136}) run(rows, 9, columns);
  // Whole and partial slices, with and without a rest of a vector.
  for (const int depth : {192, 511, 512, 513, 1100}) {
    run(19, depth, 40);
    run(19, depth, 151);
  }
}

TEST_CASE("matmul kernels: values") {
  CheckCase({"a b + c",
             R"(graph { in %a: f32[2, 3]  in %b: f32[3, 2]  in %c: f32[2]
                %y = matmul(%a, %b, %c)  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 1, 1}, {10, 20}},
             {{14, 25, 20, 31}}});
}

TEST_CASE("matmul kernels: 8-bit integers") {
  for (const char* type : {"u8", "i8"})
    for (const char* arithmetic : {"tflite", "tflite_fixed"})
      for (const char* rows : {"1", "13"}) {
        CAPTURE(type);
        CAPTURE(arithmetic);
        CAPTURE(rows);
        const Graph graph = Parse(fmt::format(
            R"(graph {{ in %a: {0}[{2}, 70]{{scale=0.05, zp=7}}
               const %b: {0}[37, 70]{{scale=0.02, zp=3}} = seeded(3)
               const %c: i32[37] = seeded(9)
               %y = matmul(%a, %b, %c) {{transpose_b = true}} @{1}
                   : {0}[{2}, 37]{{scale=0.9, zp=11}}
               out "y" = %y }})",
            type, arithmetic, rows));
        CheckHasKernels(graph);
        RunEverywhere(graph, InputsOf(graph, {}));
      }
}

TEST_CASE("matmul kernels: weights of 4 and 2 bits with TensorFlow Lite's arithmetic") {
  for (const char* type : {"i4", "i2"})
    for (const int rows : {1, 7})
      for (const char* quant : {"scale=0.5", "axis=0, scale=[0.5, 0.25, 1]"}) {
        const Graph graph = Parse(fmt::format(
            "graph {{ in %a: i8[{}, 65]{{scale=0.25, zp=3}}  const %b: {}[3, 65]{{{}}} = seeded(3) "
            " "
            "const %c: i32[3] = [5, -40, 100]  %y = matmul(%a, %b, %c) {{transpose_b = true}} "
            "@tflite : i8[{}, 3]{{scale=0.9, zp=11}}  out \"y\" = %y }}",
            rows, type, quant, rows));
        CheckHasKernels(graph);
        RunEverywhere(graph, InputsOf(graph, {}));
      }
}

}  // namespace
}  // namespace nn::test::matmul_test

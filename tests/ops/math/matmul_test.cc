#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::matmul_test {
namespace {

// The product of inputs a and b.
std::string Product(std::string_view a, std::string_view b, std::string_view attrs = "") {
  return fmt::format("graph {{ in %a: {}  in %b: {}  %y = matmul(%a, %b) {}  out \"y\" = %y }}", a,
                     b, Braced(attrs));
}

TEST_CASE("matmul: by hand") {
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  for (const OpCase& c : {
           OpCase{"plain", Product("f32[2, 3]", "f32[3, 2]"), {six, six}, {{22, 28, 49, 64}}},
           OpCase{"b transposed",
                  Product("f32[2, 3]", "f32[2, 3]", "transpose_b = true"),
                  {six, six},
                  {{14, 32, 32, 77}}},
           OpCase{"a transposed",
                  Product("f32[3, 2]", "f32[3, 2]", "transpose_a = true"),
                  {six, six},
                  {{35, 44, 44, 56}}},
           OpCase{"the batch of a broadcasts b",
                  Product("f32[2, 1, 2]", "f32[2, 2]"),
                  {{1, 2, 3, 4}, {0, 1, 2, 0}},
                  {{4, 1, 8, 3}}},
           OpCase{"the batch of b broadcasts a",
                  Product("f32[1, 2]", "f32[2, 2, 1]"),
                  {{1, 10}, {1, 2, 3, 4}},
                  {{21, 43}}},
           OpCase{"vectors", Product("f32[3]", "f32[3]"), {{1, 2, 3}, {1, 2, 3}}, {{14}}},
           OpCase{"vector and matrix",
                  Product("f32[2]", "f32[2, 2]"),
                  {{1, 2}, {1, 2, 3, 4}},
                  {{7, 10}}},
           OpCase{"matrix and vector",
                  Product("f32[2, 2]", "f32[2]"),
                  {{1, 2, 3, 4}, {1, 2}},
                  {{5, 11}}},
           OpCase{"no terms", Product("f32[2, 0]", "f32[0, 2]"), {{}, {}}, {{0, 0, 0, 0}}},
           OpCase{"f64", Product("f64[1, 2]", "f64[2, 1]"), {{1e-9, 1}, {1, 1}}, {{1.000000001}}},
           OpCase{"i32 wraps", Product("i32[1, 1]", "i32[1, 1]"), {{65536}, {65536}}, {{0}}},
       })
    CheckCase(c);
}

TEST_CASE("matmul: bias") {
  CheckCase({"bias",
             R"(graph { in %a: f32[2, 3]  in %b: f32[3, 2]  const %c: f32[2] = [10, 20]
                                %y = matmul(%a, %b, %c)  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}},
             {{32, 48, 59, 84}}});
}

TEST_CASE("matmul: large products are the same everywhere") {
  CheckCase({"odd sizes", Product("f32[37, 129]", "f32[129, 51]")});
  CheckCase({"constant b", R"(graph { in %a: f32[3, 19, 65]  const %b: f32[65, 33] = seeded(5)
                                      const %c: f32[33] = seeded(6)
                                      %y = matmul(%a, %b, %c)  out "y" = %y })"});
}

// The width of tiles is limited by the remaining panels; products of few rows use wider tiles.
TEST_CASE("matmul: few rows, every number of panels") {
  for (const int rows : {1, 2, 3})
    for (const int columns : {15, 16, 17, 33, 49, 65, 81, 97, 113, 128, 145})
      CheckCase({fmt::format("{} x {}", rows, columns),
                 fmt::format(R"(graph {{ in %a: f32[{}, 5]  const %b: f32[5, {}] = seeded(5)
                                         %y = matmul(%a, %b)  out "y" = %y }})",
                             rows, columns)});
}

TEST_CASE("matmul: errors name what does not fit") {
  CHECK(Fails(Product("f32[2, 3]", "f32[2, 3]"), "f32[2, 3]"));
  CHECK(Fails(Product("f32[2, 2, 3]", "f32[3, 3, 2]"), "matmul"));
  CHECK(Fails(R"(graph { in %a: i8[2, 3]{scale=0.5}  const %b: i8[3, 2]{scale=0.5} = splat(1)
                         const %c: f32[2] = [10, 20]
                         %y = matmul(%a, %b, %c) @tflite : i8[*]{scale=1}  out "y" = %y })",
              "input 2 holds a bias of integer sums and must be an integer tensor, but is f32[2]"));
}

}  // namespace
}  // namespace nn::test::matmul_test

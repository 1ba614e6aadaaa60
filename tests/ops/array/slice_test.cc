#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::slice_test {
namespace {

TEST_CASE("slice: bounds and steps") {
  const std::vector<std::vector<double>> x = {{1, 2, 3, 4, 5, 6, 7, 8}};
  const auto slice = [](std::string_view attrs) {
    return OneOp("f32[2, 4]", fmt::format("slice(%x) {}", Braced(attrs)));
  };
  for (const OpCase& c : {
           OpCase{"range", slice("axes = [1], starts = [1], ends = [3]"), x, {{2, 3, 6, 7}}},
           OpCase{"from the end",
                  slice("axes = [-1], starts = [-2], ends = [1000]"),
                  x,
                  {{3, 4, 7, 8}}},
           OpCase{"step",
                  slice("axes = [1], starts = [0], ends = [4], steps = [2]"),
                  x,
                  {{1, 3, 5, 7}}},
           OpCase{"backwards",
                  slice("axes = [1], starts = [-1], ends = [-1000], steps = [-3]"),
                  x,
                  {{4, 1, 8, 5}}},
           OpCase{"two axes", slice("axes = [1, 0], starts = [3, 1], ends = [4, 2]"), x, {{8}}},
           OpCase{"nothing", slice("axes = [1], starts = [3], ends = [1]"), x, {{}}},
       })
    CheckCase(c);
  CheckCase({"operands",
             R"(graph { in %x: f32[2, 4]  const %s: i32[1] = [1]  const %e: i32[1] = [3]
                                    const %a: i32[1] = [1]
                                    %y = slice(%x, %s, %e, %a) : f32[2, 2]  out "y" = %y })",
             x,
             {{2, 3, 6, 7}}});
  CHECK(Fails(slice("axes = [2], starts = [0], ends = [1]"),
              "axis 2 is out of range for a tensor of rank 2"));
  CHECK(Fails(slice("axes = [1], starts = [0], ends = [1], steps = [0]"), "step"));
}

TEST_CASE("reverse: the order along axes") {
  CheckCase(
      {"inner", OneOp("f32[2, 2]", "reverse(%x) {axes = [1]}"), {{1, 2, 3, 4}}, {{2, 1, 4, 3}}});
  CheckCase(
      {"both", OneOp("f32[2, 2]", "reverse(%x) {axes = [0, 1]}"), {{1, 2, 3, 4}}, {{4, 3, 2, 1}}});
}

TEST_CASE("slice, pad: lists that cannot go together") {
  CHECK(Fails(R"(graph { in %x: f32[2, 3, 4]  in %s: i64[6]  in %e: i64[3]
                         %y = slice(%x, %s, %e)  out "y" = %y })",
              "input 2 is i64[3]; must be a vector of 6 elements"));
  CHECK(Fails(R"(graph { in %x: f32[2, 3]  in %p: i64[3]
                         %y = pad(%x, _, %p)  out "y" = %y })",
              "input 2 is i64[3]; must be a vector of 4 elements"));
}

}  // namespace
}  // namespace nn::test::slice_test

#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::concat_test {
namespace {

TEST_CASE("concat: any axis, any element size") {
  for (const char* type : {"f32", "u8", "i64", "bool"}) {
    const auto graph = [&](int axis) {
      return fmt::format(R"(graph {{ in %a: {0}[1, 2]  in %b: {0}[1, 2]
                                    %y = concat(%a, %b) {{axis = {1}}}  out "y" = %y }})",
                         type, axis);
    };
    CheckCase({"rows", graph(0), {{1, 0}, {1, 1}}, {{1, 0, 1, 1}}});
    CheckCase({"columns", graph(-1), {{1, 0}, {1, 1}}, {{1, 0, 1, 1}}});
  }
  CheckCase({"inner axis",
             R"(graph { in %a: f32[2, 1, 2]  in %b: f32[2, 2, 2]
                                      %y = concat(%a, %b) {axis = 1} : f32[2, 3, 2]  out "y" = %y })",
             {{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10, 11, 12}},
             {{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}}});
  CHECK(Fails(R"(graph { in %a: f32[2, 1]  in %b: f32[3, 1]
                         %y = concat(%a, %b) {axis = 1}  out "y" = %y })",
              "concat"));
}

TEST_CASE("split: sizes, equal parts") {
  CheckCase({"sizes",
             R"(graph { in %x: f32[2, 3]  %a, %b = split(%x) {axis = 1, sizes = [1, 2]}
                                 out "a" = %a  out "b" = %b })",
             {{1, 2, 3, 4, 5, 6}},
             {{1, 4}, {2, 3, 5, 6}}});
  CHECK(Fails(R"(graph { in %x: f32[2, 3]  %a, %b = split(%x) {axis = 1, sizes = [1, 1]}
                         out "a" = %a })",
              "3"));
  CHECK(Fails(R"(graph { in %x: f32[2, 3]  in %s: i64[20]  %a, %b = split(%x, %s) {axis = 1}
                         out "a" = %a })",
              "input 1 is i64[20]; must be a vector of 2 elements"));
}

}  // namespace
}  // namespace nn::test::concat_test

#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::scatter_test {
namespace {

TEST_CASE("scatter_elements: by hand") {
  const auto graph = [](std::string_view attrs) {
    return fmt::format(R"(graph {{ in %x: f32[1, 4]  const %i: i64[1, 3] = [1, -1, 1]
                                  const %u: f32[1, 3] = [10, 20, 30]
                                  %y = scatter_elements(%x, %i, %u) {}  out "y" = %y }})",
                       Braced(attrs));
  };
  const std::vector<std::vector<double>> x = {{1, 2, 3, 4}};
  CheckCase({"add", graph("axis = 1, reduction = add"), x, {{1, 42, 3, 24}}});
  CheckCase({"mul", graph("axis = 1, reduction = mul"), x, {{1, 600, 3, 80}}});
  CheckCase({"min", graph("axis = 1, reduction = min"), x, {{1, 2, 3, 4}}});
  CheckCase({"max", graph("axis = 1, reduction = max"), x, {{1, 30, 3, 20}}});
  CheckCase({"the last one stays", graph("axis = 1"), x, {{1, 30, 3, 20}}});
}

TEST_CASE("scatter_nd: by hand") {
  CheckCase({"rows",
             R"(graph { in %x: f32[3, 2]  const %i: i64[2, 1] = [2, 0]
                                const %u: f32[2, 2] = [10, 20, 30, 40]
                                %y = scatter_nd(%x, %i, %u)  out "y" = %y })",
             {{1, 2, 3, 4, 5, 6}},
             {{30, 40, 3, 4, 10, 20}}});
  CheckCase({"elements, added",
             R"(graph { in %x: f32[2, 2]  const %i: i64[2, 2] = [0, 1, 0, 1]
                                const %u: f32[2] = [10, 20]
                                %y = scatter_nd(%x, %i, %u) {reduction = add}  out "y" = %y })",
             {{1, 2, 3, 4}},
             {{1, 32, 3, 4}}});
  CHECK(Fails(
      R"(graph { in %x: f32[3, 2]  const %i: i64[2, 1] = [2, 0]  const %u: f32[2, 3] = splat(0)
                         %y = scatter_nd(%x, %i, %u)  out "y" = %y })",
      "the updates have shape [2, 3]; must be [2, 2]"));
}

}  // namespace
}  // namespace nn::test::scatter_test

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program.h"
#include "ir/tensor.h"
#include "ir/text/text.h"
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

TEST_CASE("slice_update: by hand") {
  const auto graph = [](std::string_view update, std::string_view starts, std::string_view attrs) {
    return fmt::format(R"(graph {{ in %x: f32[2, 4]  const %u: f32{}  const %s: i64{}
                                  %y = slice_update(%x, %s, %u) {}  out "y" = %y }})",
                       update, starts, Braced(attrs));
  };
  const std::vector<std::vector<double>> x = {{1, 2, 3, 4, 5, 6, 7, 8}};
  CheckCase({"columns",
             graph("[2, 2] = [10, 20, 30, 40]", "[1] = [1]", "axes = [1]"),
             x,
             {{1, 10, 20, 4, 5, 30, 40, 8}}});
  CheckCase({"steps",
             graph("[2, 2] = [10, 20, 30, 40]", "[1] = [-1]", "axes = [-1], steps = [-2]"),
             x,
             {{1, 20, 3, 10, 5, 40, 7, 30}}});
  CheckCase({"both",
             graph("[1, 1] = [10]", "[2] = [1, 2]", "axes = [0, 1]"),
             x,
             {{1, 2, 3, 4, 5, 6, 10, 8}}});
  CHECK(Fails(graph("[2, 5] = splat(0)", "[1] = [0]", "axes = [1]"),
              "update f32[2, 5] does not fit x f32[2, 4]"));
  CHECK(Fails(graph("[1, 2] = splat(0)", "[1] = [0]", "axes = [1]"),
              "update f32[1, 2] does not fit x f32[2, 4]"));
  CHECK(Fails(graph("[2, 2] = splat(0)", "[1] = [0]", "axes = [1], steps = [1, 1]"),
              "axes and steps have 1 and 2 entries"));
}

TEST_CASE("slice_update: an element outside is an error of the run") {
  auto graph = ParseGraph(R"(graph { in %x: f32[4]  in %u: f32[2]  in %s: i32[1]
                                     %y = slice_update(%x, %s, %u) {axes = [0]}  out "y" = %y })");
  REQUIRE(graph.has_value());
  const std::vector<Tensor> inputs = {Tensor::Of({4}, std::vector<float>{1, 2, 3, 4}),
                                      Tensor::Of({2}, std::vector<float>{5, 6}),
                                      Tensor::Of({1}, std::vector<int32_t>{3})};
  auto program = Program::Compile(*std::move(graph), {});
  REQUIRE(program.has_value());
  const auto run = program->Run(inputs);
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().code() == ErrorCode::kModel);
  CHECK(run.error().message().find("element 4 of axis 0 is outside of its 4 elements") !=
        std::string::npos);
}

}  // namespace
}  // namespace nn::test::scatter_test

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::gather_test {
namespace {

void Gather(const char* x, const char* indices, const char* attrs,
            const std::vector<double>& values, const char* op = "gather") {
  RunOnKernelsWithIndices(
      fmt::format("graph {{ in %x: {}  in %i: {}  %y = {}(%x, %i) {}  out \"y\" = %y }}", x,
                  indices, op, Braced(attrs)),
      values);
}

TEST_CASE("gather kernels: indices that the run computes") {
  const std::vector<double> some = {2, -1, 0, 1, -3};
  for (const char* type : {"f32", "u8", "i64", "f16", "c128"})
    for (const char* index : {"i32", "i64"}) {
      const auto t = [&](const char* shape) { return fmt::format("{}{}", type, shape); };
      const auto i = [&](const char* shape) { return fmt::format("{}{}", index, shape); };
      Gather(t("[3, 40]").c_str(), i("[2, 5]").c_str(), "", some);
      Gather(t("[4, 3, 5]").c_str(), i("[7]").c_str(), "axis = 1", some);
      Gather(t("[4, 6, 3]").c_str(), i("[2, 2]").c_str(), "axis = -1", some);
      Gather(t("[3]").c_str(), i("[]").c_str(), "", some);
      Gather(t("[2, 4, 3, 5]").c_str(), i("[2, 6]").c_str(), "axis = 2, batch_dims = 1", some);
      Gather(t("[3, 4, 3, 5]").c_str(), i("[6, 2]").c_str(), "", some, "gather_nd");
      Gather(t("[2, 3, 3, 5]").c_str(), i("[2, 4, 2]").c_str(), "batch_dims = 1", some,
             "gather_nd");
      Gather(t("[3, 3]").c_str(), i("[5, 2]").c_str(), "", some, "gather_nd");
    }
  Gather("f32[3, 40000]", "i32[9]", "", some);
  Gather("f32[3, 40]", "i32[0]", "", some);
  Gather("f32[1000, 4]", "i64[20000]", "", {17, 999, -1000, 3});
}

TEST_CASE("gather kernels: parts of other tensors") {
  for (const char* attrs : {"axis = 0", "axis = 1"})
    RunOnKernelsWithIndices(fmt::format(R"(graph {{ in %x: f32[3, 3, 40]  in %i: i64[3]
        %p, %q = split(%x) {{axis = 2, sizes = [12, 28]}}
        %a = gather(%p, %i) {{{}}}  %b = tanh(%q)
        %y = concat(%a, %b) {{axis = 2}}  out "y" = %y }})",
                                        attrs),
                            {2, 0, -2});
}

TEST_CASE("gather kernels: the first index outside is an error of that run alone") {
  const Graph graph = Parse(R"(graph { in %x: f32[3, 2]  in %i: i32[400]
      %y = gather(%x, %i)  out "y" = %y })");
  std::vector<double> indices(400, 1);
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const auto good = InputsOf(graph, {x, indices});
  indices[7] = 3;
  indices[300] = -4;
  const auto bad = InputsOf(graph, {x, indices});
  CheckHasKernels(graph);
  Program planned = CheckSameError(graph, bad);
  CHECK(planned.Run(good).has_value());
}

}  // namespace
}  // namespace nn::test::gather_test

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::transpose_test {
namespace {

void RunPlanned(const char* type, const std::string& shape, const char* perm) {
  const Graph graph = Parse(
      OneOp(fmt::format("{}{}", type, shape), fmt::format("transpose(%x) {{perm = {}}}", perm)));
  CAPTURE(shape);
  CAPTURE(perm);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
}

TEST_CASE("transpose kernels: matrices of every kind of side") {
  const int sides[] = {1, 2, 3, 4, 5, 15, 16, 17, 33, 70, 300};
  for (const int rows : sides)
    for (const int columns : sides)
      RunPlanned("f32", fmt::format("[{}, {}]", rows, columns), "[1, 0]");
  for (const char* type : {"u8", "f16", "i64", "c128"}) RunPlanned(type, "[37, 300]", "[1, 0]");
}

TEST_CASE("transpose kernels: several axes, more than an item") {
  for (const char* type : {"f32", "u8"}) {
    for (const char* shape : {"[2, 3, 40, 50]", "[2, 5, 19, 17]", "[1, 4, 300, 301]"})
      for (const char* perm : {"[0, 2, 3, 1]", "[0, 3, 1, 2]", "[0, 2, 1, 3]", "[3, 2, 1, 0]",
                               "[1, 0, 2, 3]", "[2, 0, 3, 1]"})
        RunPlanned(type, shape, perm);
    RunPlanned(type, "[2, 70000]", "[1, 0]");
    RunPlanned(type, "[70000, 3]", "[1, 0]");
    RunPlanned(type, "[600, 700]", "[1, 0]");
    RunPlanned(type, "[2, 3, 40000]", "[1, 0, 2]");
    RunPlanned(type, "[3, 0, 4]", "[2, 1, 0]");
    RunPlanned(type, "[1, 1, 1]", "[2, 1, 0]");
  }
}

}  // namespace
}  // namespace nn::test::transpose_test

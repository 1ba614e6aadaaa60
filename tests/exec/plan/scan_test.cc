#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::scan_test {
namespace {

void Run(const std::string& text, const std::vector<std::vector<double>>& values = {}) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, values));
}

TEST_CASE("kernels of scans") {
  for (const char* op : {"cum_sum", "cum_prod"})
    for (const char* type : {"f32", "f64", "i32", "i64"})
      for (const int axis : {0, 1, 2})
        for (const char* exclusive : {"true", "false"})
          for (const char* reverse : {"true", "false"})
            Run(fmt::format(R"(graph {{ in %x: {}[4, 7, 300]
                                      %y = {}(%x) {{axis = {}, exclusive = {}, reverse = {}}}
                                      out "y" = %y }})",
                            type, op, axis, exclusive, reverse));
  Run(R"(graph { in %x: f32[3]  %y = cum_sum(%x)  out "y" = %y })", {{-0.0, -0.0, 1}});
}

}  // namespace
}  // namespace nn::test::scan_test

#include "apps/nnrun/results/expected.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/nnrun/options.h"
#include "convert/outputs/expectation.h"

namespace nn::app {
namespace {

PortFinder FinderOf(const Graph& graph, std::span<const NamedTensor> outputs) {
  if (outputs.size() == graph.outputs().size()) return {graph.outputs(), {"out"}};
  std::vector<std::string> names;
  for (const NamedTensor& output : outputs) names.push_back(output.name);
  return {names, {"out"}};
}

}  // namespace

Result<bool> CompareWithFile(const Graph& graph, std::span<const NamedTensor> outputs,
                             const RunOptions& options, RunReport& report) {
  std::vector<PortType> ports = TypesOf(graph.outputs());
  for (const NamedTensor& output : outputs.subspan(ports.size()))
    ports.push_back({output.name, Type(output.tensor.dtype(), ToDims(output.tensor.dims())), {}});
  NN_ASSIGN(Expectation expectation,
            CompareWithExpected(ports, FinderOf(graph, outputs), outputs, options.expected));
  const bool passed = expectation.passed();
  const std::string& file = options.expected.file;
  report.text += fmt::format("{}: {}\n{}", file, passed ? "outputs match" : "outputs differ",
                             expectation.Text());
  report.json["expect"] = ExpectationJson(file, expectation);
  return passed;
}

}  // namespace nn::app

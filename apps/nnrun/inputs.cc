#include "apps/nnrun/inputs.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "convert/runs/sequence.h"

namespace nn::app {

void SayBatch(const std::vector<std::string>& symbols) {
  std::string names;
  for (const std::string& symbol : symbols) names += (names.empty() ? "" : ", ") + Quote(symbol);
  if (!names.empty()) spdlog::info("{} is set to 1; use --batch to change it", names);
}

Result<ImportedModel> ImportForInputs(const ReadModel& read, const InputImporter& import,
                                      RunOptions& options) {
  return nn::ImportForInputs(read, import, options, ShapesOfStep(options.sequence));
}

Result<PortArrays> GivenInputs(Graph& graph, const ReadModel& read, const RunOptions& options) {
  NN_ASSIGN(const PortArrays given, ReadGiven(graph, options));
  return BindGiven(graph, read, options, given);
}

Result<PortArrays> BindGiven(Graph& graph, const ReadModel& read, const RunOptions& options,
                             const PortArrays& given) {
  std::vector<std::string> batch;
  auto arrays = nn::BindGiven(graph, read, options, given, &batch);
  SayBatch(batch);
  return arrays;
}

Result<std::vector<Tensor>> CompleteInputs(const Graph& graph, std::span<const Domain> domains,
                                           PortArrays given, const RunOptions& options) {
  const uint64_t seed = options.seed.value_or(0);
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    const std::string domain = domains[i].Describe();
    spdlog::debug("input {} is seeded with {}{}{}", Quote(graph.inputs()[i].name), seed,
                  domain.empty() ? "" : ", ", domain);
  }
  return nn::CompleteInputs(graph, domains, std::move(given), seed);
}

}  // namespace nn::app

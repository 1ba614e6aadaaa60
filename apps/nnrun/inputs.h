// The inputs of a run (convert/inputs/run_inputs.h), with messages that say what was chosen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "convert/inputs/run_inputs.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ops/support/domain.h"

namespace nn::app {

// That a batch without a size is 1: its symbols.
void SayBatch(const std::vector<std::string>& symbols);

// nn::ImportForInputs() for the shapes of one step.
Result<ImportedModel> ImportForInputs(const ReadModel& read, const InputImporter& import,
                                      RunOptions& options);

Result<PortArrays> GivenInputs(Graph& graph, const ReadModel& read, const RunOptions& options);
Result<PortArrays> BindGiven(Graph& graph, const ReadModel& read, const RunOptions& options,
                             const PortArrays& given);

Result<std::vector<Tensor>> CompleteInputs(const Graph& graph, std::span<const Domain> domains,
                                           PortArrays given, const RunOptions& options);

}  // namespace nn::app

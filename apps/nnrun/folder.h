// Runs for all files of a folder (--inputs DIR).
#pragma once

#include <vector>

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "tensorio/named_tensor.h"

namespace nn::app {

// Runs the model once for each file of the folder options.inputs_file: an archive of inputs, or a
// tensor file or picture for the input that is not given otherwise. Reports each run. Returns, if
// there is a file for them, the outputs of all runs along a new first axis, and the names of the
// files as "files".
Result<std::vector<NamedTensor>> RunFolder(const Graph& graph, const ReadModel& read,
                                           const RunOptions& options, RunReport& report);

}  // namespace nn::app

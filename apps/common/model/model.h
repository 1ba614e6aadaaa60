// Models in the programs: sizes of files, dumps, shapes and names from the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"

namespace nn::app {

// Logs that a side file got a name other than the requested one.
void SayOtherName(std::string_view wanted, std::string_view name);

// WriteDump(), with a log message if the tensor file got another name than requested.
Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options);

// Imports the model at `path` again if one of the shapes has another rank than the graph's input of
// that name, and the format may allow it (formats/given_inputs.h).
Status FitRanks(Graph& graph, const ReadModel& read, const std::string& path,
                const InputShapes& shapes);

}  // namespace nn::app

// Inputs given as arrays of ranks or types other than the declared ones, for formats whose runtimes
// accept them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

// Shapes by the name of the input.
using InputShapes = std::map<std::string, std::vector<int64_t>>;

// Whether the inputs of a model may be given with more axes than it declares.
bool TakesOtherRanks(const Format& format);

// Whether arrays of other numeric types are converted to those of the inputs.
bool ConvertsInputs(const Format& format);

// ImportGraph() for inputs of these shapes. Shapes that cannot replace the declared ones are
// ignored. Requires TakesOtherRanks() of the format.
Result<Graph> ImportGraph(const ReadModel& read, const std::string& path,
                          const InputShapes& shapes);

}  // namespace nn

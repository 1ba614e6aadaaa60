// The values of a model and their types.
#pragma once

#include <vector>

#include "formats/format.h"
#include "inspect/loaded.h"

namespace nn::inspect {

// The inputs, constant tensors and results of operators that a model names, in this order and that
// of the file, with the types that follow from the file, or from the shapes that were bound when
// the model was loaded. Unless the format infers types itself (ModelDescriber::ValuesOf), they are
// those of the graph: unknown if the model was loaded without one, and outside the main graph.
Result<std::vector<ValueEntry>> ValuesOf(const LoadedModel& model);

}  // namespace nn::inspect

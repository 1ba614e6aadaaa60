// Lists of the shapes that inputs may have, for models that enumerate them: symbols in the types of
// the inputs say only which sizes vary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Without effect if there are no shapes.
void SetAllowedShapes(Graph& graph, const std::string& input,
                      const std::vector<std::vector<int64_t>>& shapes);

// kUsage, with the list, if an input has a fixed shape that is not in its list. Shapes of another
// rank than the list's are accepted.
Status CheckAllowedShapes(const Graph& graph);

}  // namespace nn

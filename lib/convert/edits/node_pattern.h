// Patterns for operators, as nnconvert --keep-float32 takes them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace nn {

// Whether one of the patterns (fnmatch) matches the name of a node, the type of the operator in its
// file, or the name of a result. Null without patterns.
std::function<bool(const Node&)> NodesMatching(std::vector<std::string> patterns);

}  // namespace nn

// Whether a target has a node as it is.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"
#include "rewrite/target.h"

namespace nn {

// Target::why_illegal for any node: also for one that a target is not asked about, because a value
// has no rank for example.
std::optional<std::string> WhyIllegal(const Target& target, const Node& node);

}  // namespace nn

// Elementary functions by the operations of NNAPI 1.0.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/graph.h"
#include "passes/legalize.h"

namespace nn::nnapi {

// Of float32. They round differently. Functions of which 0 has an infinite result apply only where
// the operators before them keep 0 away (value_range.h): no operation tells 0 from -0.
std::span<const Rewrite> FunctionRewrites();

// Why none of them applies to a node of float32, if it is one of their operators and the shape or
// the range of the operands is the reason.
std::optional<std::string> WhyNoFunction(const Node& node);

}  // namespace nn::nnapi

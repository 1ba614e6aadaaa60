// Elementary functions in terms of the operations of NNAPI 1.0.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "rewrite/target.h"

namespace nn::nnapi {

// For float32; they round differently. A function that is infinite at 0 is rewritten only if its
// operand is bounded away from 0 (passes/facts/ranges.h), because no operation distinguishes 0 from
// -0. Sines and cosines beyond 2^24 pi are NaN.
//
// Those that depend on operands are rows for any operator, so that no rule (rewrite/rules) counts
// on them.
std::span<const Rewrite> FunctionRewrites();
// Whether there are rewrites for the operator.
bool IsFunction(std::string_view op);

// Why none of them applies to a float32 node with one of their operators, if the reason is the
// range of its operands.
std::optional<std::string> WhyNoFunction(const Node& node);

}  // namespace nn::nnapi

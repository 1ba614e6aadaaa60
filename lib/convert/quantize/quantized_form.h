// The form in which a quantized model runs when it is compared with another one, which may have the
// other form.
#pragma once

#include "base/status.h"
#include "ir/graph.h"
#include "passes/qdq/qdq.h"

namespace nn {

// Whether the node quantizes, dequantizes, or is an operator on quantized types.
bool IsQuantization(const Node& node);

// Fuses operators between dequantize and quantize to integer operators, so that a quantized model
// computes the same in either form. True if there were any.
Result<bool> RunQdqAsIntegers(Graph& graph, Status (*fuse)(Graph&) = FuseQdq);

// Gives the source the form in which the converted model computes with quantized values: operators
// on them, also in place of integer products; pairs of dequantize and quantize, which run as such
// operators; or real numbers. True if the form changed.
Result<bool> ComputeAlike(Graph& source, const Graph& converted);

}  // namespace nn

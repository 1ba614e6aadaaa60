// Floating-point types in float32.
// Design: docs/design/026-float-types.md.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Whether the model computes, or takes or returns, f16, bf16 or f64.
bool HasOtherFloats(const Graph& graph);

// Makes f32 of all values of type f16, bf16 and f64, inputs, outputs and constants included, and of
// these types in attributes. Values are no longer rounded to 16 bits, or no longer hold 64; numbers
// of f64 beyond float32 become infinite. Quantized types stay. kModel if an operator does not
// support its types.
Status ComputeInFloat32(Graph& graph);

// The same for the f64 of one operator of the file that no other node sees: a definition by double
// precision of an operator on smaller floats, whose constants float32 has. For targets without f64.
// Rounds differently; absolute values of pairs are scaled, so that they neither overflow nor
// vanish. Not in regions.
Status ComputeInnerInFloat32(Graph& graph);

}  // namespace nn

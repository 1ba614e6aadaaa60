// Products of float16 by weights in blocks.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// MatMulNBits of float16 computes in float32 and rounds its result, so that it is imported as a
// product of float32 between casts. Removes the casts around products that the operator set has in
// that form (PrefersPackedForm()), if scales, zero points and bias are numbers of float16. For the
// writer: other parts of the library require one type of both operands.
Status NarrowProducts(Graph& graph, int64_t opset);

}  // namespace nn::onnx

// Addends of matrix products.
#pragma once

#include "base/status.h"
#include "formats/onnx/import/import.h"
#include "ir/graph.h"

namespace nn::onnx {

// The addend C of a Gemm as a bias if it has one element for each column: [N] or [1, N]; else null.
Result<Value*> AsBias(ImportContext& ctx, Value* c, const Dim& columns);

}  // namespace nn::onnx

// Finds the operators whose numbers exceed a floating-point type.
#pragma once

#include <vector>

#include "base/status.h"
#include "convert/verify/verify.h"
#include "ir/graph.h"
#include "ir/types/dtype.h"

namespace nn {

// For each node, in order: whether a float32 operand or result of it was out of the range of the
// type in the runs of a verification (passes/types/half.h): had a number above LargestHalf(), or
// none but 0 above SmallestNormalHalf(); constants, above SmallestHalf(). Errors are those of the
// runs.
Result<std::vector<bool>> OutOfRange(const Graph& graph, DType type, const VerifyOptions& options);

}  // namespace nn

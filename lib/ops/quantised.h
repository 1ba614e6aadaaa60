// Checks on quantised operands that many operators share.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kUnsupported unless the node names an integer algorithm; kModel unless output 0 is quantised;
// kUnsupported if it or input 0 is quantised per axis.
Status RequireTflite(const EvalContext& ctx);

// kModel unless input 0 and output 0 stand for reals in the same way: operators that select or
// average integers need it. Scales may differ by the 1e-6 that TensorFlow Lite allows.
Status RequireSameQuant(const EvalContext& ctx);

// The nearest integer that the type holds.
int64_t ClampTo(DType dtype, int64_t v);

}  // namespace nn

// lstm on quantized types, as TensorFlow Lite's integer kernel computes it: 8-bit activations and
// weights, 16-bit gates and cell state.
//
//   x, w, r, y, y_h, initial_h   i8; w and r with zero point 0, and a scale for each gate (per
//                                axis 1, equal within a gate) or one for all
//   bias                         i32 in units of the products' scales
//   initial_c, y_c               i16, zero point 0, a power of two as the scale
//   peepholes                    i16, zero point 0
//
// Both initial states are required, because their types are those of the states. Gates are Q3.12
// before their functions, sigmoid and tanh, and Q0.15 after them.
#pragma once

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kModel or kUnsupported unless the operands of a quantized node have these types. Shapes are not
// checked.
Status CheckQuantizedLstm(const InferContext& ctx);

// Requires operands that passed CheckQuantizedLstm and the shapes of lstm.
Status EvalQuantizedLstm(EvalContext& ctx);

}  // namespace nn

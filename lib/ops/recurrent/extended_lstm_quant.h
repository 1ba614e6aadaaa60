// extended_lstm on quantized types, as TensorFlow Lite's integer kernel computes it: 8-bit
// activations and weights, 16-bit gates and cell state.
//
//   x, w, r, projection          i8; all but x with zero point 0, w and r with one scale or one for
//                                each row (axis 0), equal within a gate
//   bias, projection_bias        i32 in units of the products' scales; with norm the bias in units
//                                of 2^-10 of the norm's scale
//   initial_h, y, y_h            i8 of one quantization
//   initial_c, y_c               i16, zero point 0, a power of two as the scale
//   peepholes                    i16, zero point 0, one scale or one for each element
//   norm                         i16, zero point 0, scales like those of w
//
// Both initial states are required, because their types are those of the states. The sums of a gate
// are of 16 bits, with the scale 2^-12 or, with norm, that of gate_scales; the results of the gates
// are Q0.15. projection_clip limits the stored integers, whatever their zero point.
#pragma once

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kModel or kUnsupported unless the operands of a quantized node have these types. Shapes are not
// checked.
Status CheckQuantizedExtendedLstm(const InferContext& ctx);

// Requires operands that passed CheckQuantizedExtendedLstm and the shapes of extended_lstm.
Status EvalQuantizedExtendedLstm(EvalContext& ctx);

}  // namespace nn

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

#include <array>
#include <cstdint>

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/quant/requant.h"

namespace nn {

// kModel or kUnsupported unless the operands of a quantized node have these types. Shapes are not
// checked.
Status CheckQuantizedLstm(const InferContext& ctx);

// The factors of the arithmetic.
struct QuantizedLstmFactors {
  // Of the products with w and r, by gate (i, o, f, n), and with the peepholes: to Q3.12.
  std::array<FixedMultiplier, 4> input, state;
  FixedMultiplier peephole;
  FixedMultiplier hidden;  // of sigmoid times tanh, to h
  int cell_bits = 0;       // integer bits of the cell state
  int16_t clip = 0;        // of the cell state; 0: none
};
// Requires operands that passed CheckQuantizedLstm, with a scale for each row if there are several.
QuantizedLstmFactors FactorsOf(const Node& node);

// Requires operands that passed CheckQuantizedLstm and the shapes of lstm.
Status EvalQuantizedLstm(EvalContext& ctx);

}  // namespace nn

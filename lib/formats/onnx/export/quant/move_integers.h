// The order of DequantizeLinear and of operators that only move elements.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// The first operator set whose QuantizeLinear has `output_dtype`. From it on, ONNX Runtime refuses
// models in which anything but a quantize follows `dequantize -> transpose` (or reshape, squeeze,
// slice, max_pool):
// its optimizer adds a QuantizeLinear with `output_dtype` INT8 after it and then changes the zero
// point to u8.
inline constexpr int64_t kOutputDTypeOpset = 21;

// `dequantize -> transpose` -> `transpose -> dequantize`, and the same for all operators that only
// move elements, for slice and max_pool, also in regions; a product of other than two axes with a
// bias, which becomes a Gemm between reshapes there, is written between reshapes. Every bit stays.
// Leaves those that only a quantize follows and scales per axis.
Status MoveIntegers(Graph& graph);

}  // namespace nn::onnx

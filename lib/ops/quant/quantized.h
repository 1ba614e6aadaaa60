// Checks on quantized operands, shared by many operators.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kUnsupported unless the node has an integer arithmetic; kModel unless output 0 is quantized;
// kUnsupported if output 0 or input 0 is quantized per axis.
Status RequireTflite(const EvalContext& ctx);

// kModel unless input 0 and output 0 have the same quantization, which operators that select or
// average integers require. Scales may differ by 1e-6, as TensorFlow Lite allows.
Status RequireSameQuant(const EvalContext& ctx);

// The quantization of a product of x and w, and thus of a bias added to it: the scales are the
// products of their scales, per channel (axis 0 of the bias) if w is per channel, and the zero
// points are 0. Null unless both are quantized; x must not be per axis.
std::shared_ptr<const Quant> ProductQuant(const Type& x, const Type& w);

// Whether scales and zero points are the same, up to a relative difference of the scales of 1e-6.
bool SameButForRounding(const Quant& a, const Quant& b);

// Whether TensorFlow Lite's QUANTIZE converts between these integer types.
bool CanRequantize(DType from, DType to);

// kModel unless inputs 0 and 1 are u8 or i8, inputs 2 and 3, their zero points, have the same
// types, and input 4, a bias, is i32: the inputs of matmul_integer and conv_integer.
Status RequireIntegerProduct(const InferContext& ctx);

// Whether a zero point is not 0.
bool HasZeroPoints(const Quant& quant);

// Whether it is a type of signed integers of fewer than 8 bits.
bool IsNarrowSigned(DType dtype);
// Such integers as i8; other tensors as they are.
Tensor InBytes(const Tensor& tensor);

// Clamps to the range of the type.
int64_t ClampTo(DType dtype, int64_t v);

// Whether kernels accept the quantization of a result from input 0 of type x, among those that are
// fixed for its type.
bool HasFixedQuant(std::span<const FixedQuant> fixed, DType x, const Type& y);

// The exponent of a scale that is a power of two within 0.1 % of an octave.
std::optional<int> PowerOfTwo(float scale);

}  // namespace nn

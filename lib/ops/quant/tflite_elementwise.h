// Elementwise operators on quantized types as in TensorFlow Lite's reference kernels. Each is a
// function of the stored integers, built once for the types of a node; the reference evaluation
// applies it element by element and kernels tabulate it.
//
// Source: tflite/kernels/{activations,elementwise,exp,neg,add,sub,mul,div,maximum_minimum,
// squared_difference,comparisons}.cc and internal/reference/, kernel_type kReference. TensorFlow
// Lite fills tables of 8-bit functions with libm; here numeric/elementary-inl.h does.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/quant/requant.h"

namespace nn {

struct QuantizedUnary {
  std::function<int32_t(int32_t)> run;
  // The kernel fails on smaller integers.
  int32_t smallest = std::numeric_limits<int32_t>::min();
};

struct QuantizedBinary {
  std::function<int32_t(int32_t, int32_t)> run;
  // The kernel fails if the second operand represents 0.
  bool divides = false;
};

// kUnsupported if TensorFlow Lite has no such kernel for these types and parameters. kModel if a
// zero point or scale is out of range or the types do not match.
Result<QuantizedUnary> TfliteUnary(const Node& node, const Type& x, const Type& y);
Result<QuantizedBinary> TfliteBinary(const Node& node, const Type& a, const Type& b, const Type& y);

// The integer bounds that an activation sets on quantized type `y`.
struct QuantizedBounds {
  int32_t low, high;
};
QuantizedBounds BoundsOn(const Type& y, float min, float max);

// The factors of add and sub: both operands are rescaled to twice the larger scale in units of
// 2^-shift, added, and rescaled to the output.
struct SumFactors {
  int shift;
  FixedMultiplier a, b, y;
};
Result<SumFactors> SumFactorsOf(const Type& a, const Type& b, const Type& y);

// The factor for the product of two scales divided by a third.
FixedMultiplier MulFactor(const Type& a, const Type& b, const Type& y);

// kUnsupported unless the types are integers of at most 16 bits, quantized per tensor. kModel if a
// zero point is out of range (for i16 it must be 0) or a scale is not positive and finite.
Status RequirePerTensor(const Node& node, std::initializer_list<const Type*> types);

}  // namespace nn

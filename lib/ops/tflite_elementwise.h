// Elementwise operators on quantised types as TensorFlow Lite's reference kernels compute them.
// Each is a function of the stored integers, built once for the types of a node; the reference
// evaluation applies it element by element and kernels tabulate it.
//
// Source: tflite/kernels/{activations,elementwise,exp,neg,add,sub,mul,div,maximum_minimum,
// squared_difference,comparisons}.cc and internal/reference/, kernel_type kReference. Their tables
// of 8-bit functions hold what libm gives; here it is what ops/elementary-inl.h gives.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/requant.h"

namespace nn {

struct QuantisedUnary {
  std::function<int32_t(int32_t)> run;
  // The kernel fails on smaller integers.
  int32_t smallest = std::numeric_limits<int32_t>::min();
};

struct QuantisedBinary {
  std::function<int32_t(int32_t, int32_t)> run;
  // The kernel fails on a second operand that stands for 0.
  bool divides = false;
};

// kUnsupported: there is no such kernel, or not for these types and parameters.
Result<QuantisedUnary> TfliteUnary(const Node& node, const Type& x, const Type& y);
Result<QuantisedBinary> TfliteBinary(const Node& node, const Type& a, const Type& b, const Type& y);

// The integers that a bounded activation leaves on quantised type `y`.
struct QuantisedBounds {
  int32_t low, high;
};
QuantisedBounds BoundsOn(const Type& y, float min, float max);

// The factors of add and sub: both operands are brought to twice the larger scale in units of
// 2^-shift, added, and brought to the output's scale.
struct SumFactors {
  int shift;
  FixedMultiplier a, b, y;
};
Result<SumFactors> SumFactorsOf(const Type& a, const Type& b, const Type& y);

// The factor of a product of two scales over a third.
FixedMultiplier MulFactor(const Type& a, const Type& b, const Type& y);

// kUnsupported unless the types are quantised per tensor, on integers of at most 16 bits, with zero
// points that they hold, which for i16 must be 0.
Status RequirePerTensor(const Node& node, std::initializer_list<const Type*> types);

}  // namespace nn

// The linear mapping of integers to real numbers whose scale and zero point are inputs of an ONNX
// node: real = scale * (integer - zero point).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "formats/onnx/import/import.h"
#include "ir/graph.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {

// The domain of the operators that ONNX Runtime adds.
inline constexpr std::string_view kMicrosoft = "com.microsoft";

// Scale and zero point are constants if operators on constants compute them.
struct LinearQuant {
  Value* scale = nullptr;
  Value* zero = nullptr;  // may be null: 0
  // The axis of scales that are not scalars: scales have this one axis, or with blocks the rank of
  // the operand.
  int64_t axis = 1;
  // The number of elements along the axis that share a scale; 0: no blocks.
  int64_t block = 0;

  bool is_constant() const {
    return scale->is_constant() && (zero == nullptr || zero->is_constant());
  }
};

// The inputs `scale` and `zero` of the node, the latter optional. kModel without a scale, or if the
// shapes of scales and zero points differ.
Result<LinearQuant> ReadLinearQuant(ImportContext& ctx, size_t scale, size_t zero);

// The value as a constant if operators on constants compute it, else the value.
Result<Value*> Folded(ImportContext& ctx, Value* v);

// Adds the quantization of real numbers to `to`, rounding halves to even; `saturate` is for 8-bit
// floats. Integers with a constant mapping have it in their type.
Result<Value*> AddQuantize(ImportContext& ctx, Value* x, const LinearQuant& q, DType to,
                           bool saturate = true);
// Adds the dequantization to the type `to`. A constant mapping becomes part of the type of an input
// or a constant.
Result<Value*> AddDequantize(ImportContext& ctx, Value* x, const LinearQuant& q, DType to);

// The integers with a constant mapping in their type, if they are a constant or an input without a
// different mapping; otherwise the value itself. kModel if the mapping does not match the type.
Result<Value*> WithMapping(ImportContext& ctx, Value* x, const LinearQuant& q);

// The numbers of a mapping (its scales or zero points), shaped to broadcast to a value of this
// type.
Result<Value*> AlongAxis(ImportContext& ctx, const Term& numbers, const LinearQuant& q,
                         const Type& type);

// Integers of at most 16 bits between two numbers, each of which may be null. Constants stay
// constants, and quantized integers keep their mapping: they are clipped as real numbers, which
// quantize to the same integers. Null for others. Exporters of networks with fewer than 8 bits, and
// of weights without the least integer, clip the integers before they dequantize them.
Result<Value*> ClipIntegers(ImportContext& ctx, Value* x, const Tensor* low, const Tensor* high);

}  // namespace nn::onnx

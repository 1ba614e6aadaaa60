// Expressions of 64-bit integers, in which the integer arithmetic of TensorFlow Lite
// (ops/quant/requant.h) has the same bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ops/quant/requant.h"
#include "rewrite/expand.h"

namespace nn::onnx {

// Adds expressions before the node that they replace. Values are i64, and their magnitudes less
// than 2^62, unless a function says otherwise.
class Integers {
 public:
  Integers(Graph& graph, Node& node) : node_(node), e_(graph, node) {}

  // The stored integers of a quantized value, less the zero point.
  Result<Value*> Of(Value* x);
  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) {
    return e_.Add(op, std::move(inputs), std::move(attrs));
  }
  Value* Number(int64_t n) { return e_.Constant(Tensor::Of<int64_t>({}, {n})); }
  Value* Constant(Tensor tensor) { return e_.Constant(std::move(tensor)); }
  Result<Value*> Cast(Value* v, DType to);

  Result<Value*> Plus(Value* v, int64_t n);
  Result<Value*> Times(Value* v, int64_t n);
  // v / 2^bits, rounded down.
  Result<Value*> Floor(Value* v, int bits);
  // v / 2^bits, rounded to nearest, up in the middle.
  Result<Value*> Round(Value* v, int bits);
  Result<Value*> Clamp(Value* v, int64_t least, int64_t most);
  // As a 32-bit integer wraps.
  Result<Value*> Wrap32(Value* v);

  // RoundingDoublingHighMul() and RoundingShiftRight().
  Result<Value*> HighMul(Value* v, int32_t multiplier);
  Result<Value*> ShiftRight(Value* v, int bits);
  // Rescale() and Rescale64().
  Result<Value*> Rescale(Value* v, FixedMultiplier m);
  Result<Value*> Rescale64(Value* v, FixedMultiplier m);

  // The saturated sum of the integers and the zero point, as a value of the quantized type.
  Result<Value*> Stored(Value* v, const Type& type);
  // Replaces the node by what its result stores.
  Result<bool> Finish(Value* v);

 private:
  static constexpr int64_t kLargest = int64_t{1} << 62;

  // (v + plus) / 2^bits, rounded down.
  Result<Value*> Shifted(Value* v, int64_t plus, int bits);

  Node& node_;
  Expansion e_;
};

}  // namespace nn::onnx

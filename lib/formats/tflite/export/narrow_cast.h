// CAST from and to integers of less than 8 bits. TensorFlow Lite's kernel converts these from and
// to float32 only, and saturates where cast wraps.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "ir/graph.h"

namespace nn::tflite {

inline bool IsNarrowInteger(DType t) {
  return IsInteger(t) && DTypeBits(t) < 8;
}

// Why CAST from x to a type is not cast; nullopt if it is, or if both types are others.
std::optional<std::string> WhyNotNarrowCast(const Value* x, DType to);

// The cast by way of float32, if that has all values of the other type. A rewrite
// (rewrite/target.h).
Result<bool> NarrowCast(Graph& graph, Node& node);

}  // namespace nn::tflite

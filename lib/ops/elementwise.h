// Attributes of elementwise operators.
#pragma once

#include <limits>
#include <span>

#include "ir/attrs.h"

namespace nn {

// A unary operator's numbers, in the order in which functions-inl.h takes them, are its fields.
struct ClipAttrs {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  static std::span<const AttrField> Fields();
};

struct LeakyReluAttrs {
  float alpha = 0.01f;
  static std::span<const AttrField> Fields();
};

struct HardSigmoidAttrs {
  float alpha = 0.2f;
  float beta = 0.5f;
  static std::span<const AttrField> Fields();
};

}  // namespace nn

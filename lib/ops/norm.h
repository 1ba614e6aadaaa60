// Normalisation.
#pragma once

#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ops/window.h"

namespace nn {

// y = x * s + t per channel (fused), with s = scale / sqrt(variance + epsilon) and
// t = bias - mean * s (fused). Inference form: mean and variance are inputs.
struct BatchNormAttrs {
  float epsilon = 1e-5f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// s and t of a channel, as the contract computes them.
struct ScaleShift {
  float scale;
  float shift;
};
ScaleShift BatchNormFactors(float scale, float bias, float mean, float variance, float epsilon);

}  // namespace nn

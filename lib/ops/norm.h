// Normalisation.
//
// Statistics of a row of n elements: mean = (sum x) / n; variance = (sum d * d) / n with
// d = x - mean; the sums over 16 lanes (ops/reduction.h). A row is normalised by
//   y = d * (1 / sqrt(variance + epsilon)), then y * scale, or y * scale + bias fused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ops/window.h"

namespace nn {

class Node;

// y = x * s + t per channel, product and sum each rounded, with s = scale / sqrt(variance +
// epsilon) and t = bias - mean * s (fused). Inference form: mean and variance are inputs.
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
ScaleShift BatchNormFactor(float scale, float bias, float mean, float variance, float epsilon);
// Those of every channel of a batch_norm; nullopt if scale, bias, mean or variance is not constant.
std::optional<std::vector<ScaleShift>> BatchNormFactors(const Node& batch_norm);

// A row is a channel of an element of the batch, in row-major order of the spatial axes. Inputs
// scale and bias have one element for each channel.
struct InstanceNormAttrs {
  float epsilon = 1e-5f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// A row is a group of neighbouring channels of an element of the batch, in order of channels, then
// of spatial positions. Inputs scale and bias have one element for each channel or for each group.
struct GroupNormAttrs {
  int64_t groups = 1;
  float epsilon = 1e-5f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// A row are the axes from `axis` on. Inputs scale and bias broadcast to x (not beyond it). The
// outputs mean and inv_std_dev, of size 1 on the axes of the row, are f64 for f64 and f32
// otherwise.
struct LayerNormAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  static std::span<const AttrField> Fields();
};

// y = x * (1 / sqrt((sum x * x) / n + epsilon)), then * scale, over the axes from `axis` on. Input
// scale broadcasts to x.
struct RmsNormAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  static std::span<const AttrField> Fields();
};

// y = x / v^beta with v = (alpha / size) * s + bias (fused) and s the sum of squares of the
// channels c - floor((size - 1) / 2) .. c + ceil((size - 1) / 2) that exist, added one by one from
// +0.
struct LrnAttrs {
  int64_t size = 1;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1.0f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// What epsilon does to a root that something is divided by.
enum class EpsilonRule : uint8_t {
  kInside,   // sqrt(v + epsilon): Core ML
  kOutside,  // sqrt(v) + epsilon: ONNX
  kFloor,    // max(sqrt(v), epsilon): TensorFlow Lite
};
template <>
struct EnumNames<EpsilonRule> {
  static constexpr std::string_view kNames[] = {"inside", "outside", "floor"};
};

// y = x / root of v, v the sum of squares of a row over 16 lanes. Axes as in ReduceAttrs.
struct L2NormalizationAttrs {
  std::vector<int64_t> axes = {-1};
  float epsilon = 1e-6f;
  EpsilonRule epsilon_rule = EpsilonRule::kFloor;
  static std::span<const AttrField> Fields();
};

// y = x / norm, 0 where the norm is 0; the norm is the sum of |x| (p = 1) or the square root of the
// sum of squares (p = 2) along the axis, over 16 lanes.
struct LpNormalizationAttrs {
  int64_t axis = -1;
  int64_t p = 2;
  static std::span<const AttrField> Fields();
};

// y = d, or d / root of the variance. Axes as in ReduceAttrs.
struct MeanVarianceNormalizationAttrs {
  std::vector<int64_t> axes;
  bool normalize_variance = true;
  float epsilon = 1e-5f;
  EpsilonRule epsilon_rule = EpsilonRule::kInside;
  static std::span<const AttrField> Fields();
};

}  // namespace nn

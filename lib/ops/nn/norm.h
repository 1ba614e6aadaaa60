// Normalization.
//
// Statistics of a row of n elements: mean = (sum x) / n; variance = (sum d * d) / n with
// d = x - mean; sums use 16 lanes (ops/reduce/reduction.h). A row is normalized by
//   y = d * (1 / sqrt(variance + epsilon)), then y * scale, or y * scale + bias fused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ops/support/window.h"

namespace nn {

class Node;

// y = x * s + t per channel, with product and sum each rounded, with s = scale / sqrt(variance +
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
// The scales and shifts of all channels of a batch_norm; nullopt if scale, bias, mean or variance
// is not constant.
std::optional<std::vector<ScaleShift>> BatchNormFactors(const Node& batch_norm);

// A row is a channel of an element of the batch, in row-major order of the spatial axes. Inputs
// scale and bias have one element per channel.
struct InstanceNormAttrs {
  float epsilon = 1e-5f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// A row is a group of adjacent channels of an element of the batch, ordered by channel, then by
// spatial position. Inputs scale and bias have one element per channel or per group.
struct GroupNormAttrs {
  int64_t groups = 1;
  float epsilon = 1e-5f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// A row consists of the axes starting at `axis`. Inputs scale and bias broadcast to x (not beyond
// it). The outputs mean and inv_std_dev have size 1 on the axes of the row; they are f64 for f64
// and f32 otherwise.
struct LayerNormAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  static std::span<const AttrField> Fields();
};

// y = x * (1 / sqrt((sum x * x) / n + epsilon)), then * scale, over the axes starting at `axis`.
// Input scale broadcasts to x.
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

// How epsilon enters a root used as a divisor.
enum class EpsilonRule : uint8_t {
  kInside,   // sqrt(v + epsilon): Core ML
  kOutside,  // sqrt(v) + epsilon: ONNX
  kFloor,    // max(sqrt(v), epsilon): TensorFlow Lite
};
template <>
struct EnumNames<EpsilonRule> {
  static constexpr std::string_view kNames[] = {"inside", "outside", "floor"};
};

// y = x / root of v, where v is the sum of squares of a row over 16 lanes. Axes as in ReduceAttrs.
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

// Attributes of elementwise operators.
#pragma once

#include <limits>
#include <span>

#include "ir/attrs.h"
#include "numeric/functions.h"

namespace nn {

class Node;

// The fields of a unary operator's attributes, in the order in which functions-inl.h takes them.

struct ClipAttrs {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  static std::span<const AttrField> Fields();
};

// A bound of a clip of integers, as an element of their type: truncated, and saturated to the range
// of the type.
int64_t ClipBound(DType dtype, float v);

struct LeakyReluAttrs {
  float alpha = 0.01f;
  static std::span<const AttrField> Fields();
};

// elu, celu, thresholded_relu.
struct AlphaAttrs {
  float alpha = 1.0f;
  static std::span<const AttrField> Fields();
};

struct HardSigmoidAttrs {
  float alpha = 0.2f;
  float beta = 0.5f;
  static std::span<const AttrField> Fields();
};

// gamma * (x > 0 ? x : alpha * (e^x - 1))
struct SeluAttrs {
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
  static std::span<const AttrField> Fields();
};

// x + bias below -lambd, x - bias above lambd, 0 between.
struct ShrinkAttrs {
  float bias = 0.0f;
  float lambd = 0.5f;
  static std::span<const AttrField> Fields();
};

enum class GeluApproximation : uint8_t {
  kNone,     // x / 2 (1 + erf(x / sqrt(2)))
  kTanh,     // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kSigmoid,  // x sigmoid(1.702 x)
};
template <>
struct EnumNames<GeluApproximation> {
  static constexpr std::string_view kNames[] = {"none", "tanh", "sigmoid"};
};

struct GeluAttrs {
  GeluApproximation approximate = GeluApproximation::kNone;
  static std::span<const AttrField> Fields();
};

struct IsInfAttrs {
  bool detect_negative = true;
  bool detect_positive = true;
  static std::span<const AttrField> Fields();
};

// How a float is rounded to float8e8m0, which has powers of two only.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest /* halves up */ };
template <>
struct EnumNames<PowerRounding> {
  static constexpr std::string_view kNames[] = {"up", "down", "nearest"};
};

struct CastAttrs {
  DType to = DType::kF32;
  // 8-bit floats: values out of range saturate to the largest finite value; if false, they become
  // infinity or NaN.
  bool saturate = true;
  PowerRounding round_mode = PowerRounding::kUp;  // of float8e8m0
  static std::span<const AttrField> Fields();
};

// How a real number is rounded to an integer.
enum class Rounding : uint8_t {
  kHalfEven,  // ONNX
  kHalfAway,  // TensorFlow Lite
};
template <>
struct EnumNames<Rounding> {
  static constexpr std::string_view kNames[] = {"half_even", "half_away"};
};

struct QuantizeAttrs {
  Rounding rounding = Rounding::kHalfEven;
  bool saturate = true;  // for 8-bit floats, as in CastAttrs
  static std::span<const AttrField> Fields();
};

struct DequantizeAttrs {
  DType to = DType::kF32;
  static std::span<const AttrField> Fields();
};

// The numbers of a unary operator's attributes.
FunctionParams ParamsOf(const Node& node);

}  // namespace nn

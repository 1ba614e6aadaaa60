#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ops/nn/resize/resize.h"

namespace nn {
namespace {

// One axis of a resize.
struct Axis {
  int64_t input, output;
  float scale;       // s
  float target;      // m' of kAlignCorners
  float begin, end;  // of the region, for kCrop
};

template <typename T>
T Ratio(T a, T b) {
  return b == 0 ? 0.0f : a / b;
}

float Position(Coordinates coordinates, const Axis& axis, int64_t i) {
  const auto n = static_cast<float>(axis.input);
  const auto m = static_cast<float>(axis.output);
  const auto at = static_cast<float>(i);
  switch (coordinates) {
    case Coordinates::kHalfPixel:
      return (at + 0.5f) / axis.scale - 0.5f;
    case Coordinates::kPytorchHalfPixel:
      return axis.output > 1 ? (at + 0.5f) / axis.scale - 0.5f : 0.0f;
    case Coordinates::kHalfPixelSymmetric: {
      const float adjustment = m / (axis.scale * n);
      return n / 2 * (1 - adjustment) + (at + 0.5f) / axis.scale - 0.5f;
    }
    case Coordinates::kAlignCorners:
      return axis.target == 1 ? 0.0f : at * (n - 1) / (axis.target - 1);
    case Coordinates::kAsymmetric:
      return at / axis.scale;
    case Coordinates::kTfHalfPixelForNn:
      return (at + 0.5f) / axis.scale;
    case Coordinates::kCrop:
      if (axis.output == 1) return 0.5f * (axis.begin + axis.end) * (n - 1);
      return axis.begin * (n - 1) + at * (axis.end - axis.begin) * (n - 1) / (m - 1);
  }
  return 0;
}

float TflitePosition(Coordinates coordinates, const Axis& axis, int64_t i) {
  const auto at = static_cast<float>(i);
  const float whole = Ratio(static_cast<float>(axis.input), static_cast<float>(axis.output));
  switch (coordinates) {
    case Coordinates::kHalfPixel:
      return (at + 0.5f) * whole - 0.5f;
    case Coordinates::kTfHalfPixelForNn:
      return (at + 0.5f) * whole;
    case Coordinates::kAlignCorners:
      if (axis.output > 1)
        return at * Ratio(static_cast<float>(axis.input - 1), static_cast<float>(axis.output - 1));
      return at * whole;
    default:
      return at * whole;  // kAsymmetric
  }
}

int64_t Nearest(float position, NearestRounding rounding, float scale) {
  const float floor = std::floor(position);
  const float distance = position - floor;
  switch (rounding) {
    case NearestRounding::kRoundPreferFloor:
      return static_cast<int64_t>(floor) + (distance > 0.5f);
    case NearestRounding::kRoundPreferCeil:
      return static_cast<int64_t>(floor) + (distance >= 0.5f);
    case NearestRounding::kFloor:
      return static_cast<int64_t>(floor);
    case NearestRounding::kCeil:
      return static_cast<int64_t>(floor) + (distance > 0);
    case NearestRounding::kSimple:
      return static_cast<int64_t>(floor) + (scale < 1 && distance > 0);
  }
  return 0;
}

float CubicWeight(float a, float distance) {
  const float c = std::fabs(distance);
  if (c <= 1) return ((a + 2) * c - (a + 3)) * c * c + 1;
  if (c < 2) return ((a * c - 5 * a) * c + 8 * a) * c - 4 * a;
  return 0;
}

// Adds the taps of one element. `stretch` is min(s, 1) where the filter is stretched, else 1.
void AddTaps(const ResizeAttrs& a, const Axis& axis, float position, float stretch,
             ResizeAxis& out) {
  const bool stretched = stretch < 1;
  if (a.mode == ResizeMode::kLinear && !stretched)
    position = std::clamp(position, 0.0f, static_cast<float>(axis.input - 1));
  const float floor = std::floor(position);
  const float distance = position - floor;
  const int64_t first = 1 - out.taps / 2;
  float sum = 0;
  const size_t begin = out.weight.size();
  for (int64_t t = 0; t < out.taps; ++t) {
    const int64_t index = static_cast<int64_t>(floor) + first + t;
    const float away = (static_cast<float>(first + t) - distance) * stretch;
    float weight = 0;
    if (a.mode == ResizeMode::kCubic)
      weight = CubicWeight(a.cubic_coeff_a, away);
    else if (stretched)
      weight = std::max(0.0f, 1 - std::fabs(away));
    else
      weight = t == 0 ? 1 - distance : distance;
    const int64_t inside = std::clamp<int64_t>(index, 0, axis.input - 1);
    if (a.exclude_outside && index != inside) weight = 0;
    sum += weight;
    out.index.push_back(inside);
    out.weight.push_back(weight);
  }
  if (!stretched && !(a.exclude_outside && a.mode == ResizeMode::kCubic)) return;
  for (size_t k = begin; k < out.weight.size(); ++k) out.weight[k] = Ratio(out.weight[k], sum);
}

int64_t TapsOf(const ResizeAttrs& a, float stretch) {
  if (a.mode == ResizeMode::kNearest) return 1;
  const float reach = a.mode == ResizeMode::kLinear ? 1.0f : 2.0f;
  const auto first = static_cast<int64_t>(std::floor(-reach / stretch)) + 1;
  return 2 - 2 * first;
}

Result<ResizeAxis> MakeAxis(const ResizeAttrs& a, Arithmetic arithmetic, const Axis& axis) {
  ResizeAxis out;
  if (axis.output == 0) return out;
  if (axis.input == 0) return ModelError("cannot resize an axis without elements");
  const float stretch =
      a.antialias && a.mode != ResizeMode::kNearest ? std::min(axis.scale, 1.0f) : 1.0f;
  // The filter must not be wider than the axis on either side.
  if (static_cast<float>(axis.input) * stretch < 0.25f)
    return ModelError("scale {} is too small for an axis of size {}", axis.scale, axis.input);
  out.taps = TapsOf(a, stretch);
  const auto last = static_cast<float>(axis.input - 1);
  for (int64_t i = 0; i < axis.output; ++i) {
    const float position = arithmetic == Arithmetic::kTflite
                               ? TflitePosition(a.coordinates, axis, i)
                               : Position(a.coordinates, axis, i);
    if (!std::isfinite(position) || std::fabs(position) > 0x1p62f)
      return ModelError("element {} of an axis is sampled at position {}, out of range", i,
                        position);
    out.outside.push_back(a.coordinates == Coordinates::kCrop && (position < 0 || position > last));
    if (a.mode == ResizeMode::kNearest) {
      const int64_t index = Nearest(position, a.rounding, axis.scale);
      out.index.push_back(std::clamp<int64_t>(index, 0, axis.input - 1));
      out.weight.push_back(1);
    } else {
      AddTaps(a, axis, position, stretch, out);
    }
  }
  return out;
}

}  // namespace

bool ResizeAxis::IsIdentity(int64_t input_size) const {
  if (size() != input_size) return false;
  for (int64_t i = 0; i < size(); ++i) {
    int64_t own = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const auto at = static_cast<size_t>(i * taps + t);
      if (weight[at] == 0) continue;
      if (index[at] != i || weight[at] != 1) return false;
      ++own;
    }
    if (own != 1) return false;
  }
  return true;
}

namespace {

// The scale of all axes under a policy that keeps the aspect ratio.
template <typename T>
T CommonScale(AspectPolicy policy, const std::vector<int64_t>& sizes,
              std::span<const int64_t> input) {
  T common = 0;
  for (size_t k = 0; k < input.size(); ++k) {
    const T s = Ratio(static_cast<T>(sizes[k]), static_cast<T>(input[k]));
    const bool better = policy == AspectPolicy::kNotLarger ? s < common : s > common;
    if (k == 0 || better) common = s;
  }
  return common;
}

// The size that axis k, of size n, gets by scales or under such a policy; a number in T.
template <typename T>
T ScaledSize(const ResizeAttrs& a, const ResizeNumbers& numbers, std::span<const int64_t> input,
             size_t k, T n) {
  if (!numbers.sizes.empty())
    return std::floor(CommonScale<T>(a.aspect, numbers.sizes, input) * n + T{0.5});
  if (a.coordinates == Coordinates::kCrop)
    return std::floor(numbers.scales[k] * n * (numbers.roi[input.size() + k] - numbers.roi[k]));
  return std::floor(numbers.scales[k] * n);
}

Status CheckNumbers(const ResizeAttrs& a, const ResizeNumbers& numbers, size_t axes) {
  if (numbers.scales.empty() == numbers.sizes.empty())
    return ModelError("exactly one of scales and sizes must be given");
  const size_t have = numbers.scales.size() + numbers.sizes.size();
  if (have != axes)
    return ModelError("scales or sizes has {} entries for {} spatial axes", have, axes);
  if (a.coordinates == Coordinates::kCrop && numbers.roi.size() != 2 * axes)
    return ModelError("roi has {} entries for {} spatial axes", numbers.roi.size(), axes);
  for (const float s : numbers.scales)
    if (!(s > 0) || !std::isfinite(s)) return ModelError("scale {} is not positive and finite", s);
  for (const int64_t m : numbers.sizes)
    if (m < 0) return ModelError("size {} is negative", m);
  return {};
}

}  // namespace

Result<std::vector<int64_t>> ResizedSizes(const ResizeAttrs& a, const ResizeNumbers& numbers,
                                          std::span<const int64_t> input) {
  NN_RETURN_IF_ERROR(CheckNumbers(a, numbers, input.size()));
  if (!numbers.sizes.empty() && TakesSizes(a, input.size())) return numbers.sizes;
  std::vector<int64_t> out;
  for (size_t k = 0; k < input.size(); ++k) {
    // Products in float, as runtimes compute them, unless it cannot hold the size.
    const auto n = static_cast<float>(input[k]);
    const double size = static_cast<int64_t>(n) == input[k]
                            ? ScaledSize(a, numbers, input, k, n)
                            : ScaledSize(a, numbers, input, k, static_cast<double>(input[k]));
    if (!(size >= 0 && size <= 0x1p40))
      return ModelError("an axis of size {} would be resized to {}, out of range", input[k], size);
    out.push_back(static_cast<int64_t>(size));
  }
  return out;
}

Result<std::vector<ResizeAxis>> ResizeAxes(const ResizeAttrs& a, Arithmetic arithmetic,
                                           const ResizeNumbers& numbers,
                                           std::span<const int64_t> input,
                                           std::span<const int64_t> output) {
  const bool keeps_aspect = !numbers.sizes.empty() && a.aspect != AspectPolicy::kStretch;
  std::vector<ResizeAxis> axes;
  for (size_t k = 0; k < input.size(); ++k) {
    const auto n = static_cast<float>(input[k]);
    const auto m = static_cast<float>(output[k]);
    Axis axis{input[k], output[k], Ratio(m, n), m, 0, 1};
    if (keeps_aspect) axis.scale = CommonScale<float>(a.aspect, numbers.sizes, input);
    if (!numbers.scales.empty()) {
      axis.scale = numbers.scales[k];
      axis.target = numbers.scales[k] * n;
    }
    if (a.coordinates == Coordinates::kCrop) {
      axis.begin = numbers.roi[k];
      axis.end = numbers.roi[input.size() + k];
    }
    NN_ASSIGN(ResizeAxis made, MakeAxis(a, arithmetic, axis));
    axes.push_back(std::move(made));
  }
  return axes;
}

}  // namespace nn

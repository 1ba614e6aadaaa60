// Constants as integers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/file/file.h"
#include "numeric/doubles.h"
#include "ops/quant/quantized.h"
#include "passes/quantize/quantize.h"

namespace nn {
namespace {

// The index of the scale of each element.
class ScaleOfElement {
 public:
  ScaleOfElement(const Tensor& t, int axis) {
    if (axis < 0) return;
    channels_ = std::max<int64_t>(t.dim(axis), 1);
    inner_ = std::max<int64_t>(Strides(t.dims())[static_cast<size_t>(axis)], 1);
  }
  size_t count() const { return static_cast<size_t>(channels_); }
  size_t operator()(int64_t i) const { return static_cast<size_t>(i / inner_ % channels_); }

 private:
  int64_t channels_ = 1, inner_ = 1;
};

// The smallest number of 16 significant bits that is not less.
float ShortScale(double scale) {
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);
  constexpr double kSteps = 0x1p16;
  return static_cast<float>(std::ldexp(std::ceil(fraction * kSteps) / kSteps, exponent));
}

}  // namespace

std::shared_ptr<const Quant> Int8Quant(const ValueRange& range, bool symmetric) {
  const double low = std::min(range.min, 0.0);
  const double high = std::max(range.max, 0.0);
  constexpr double kSteps = 255;
  constexpr double kHalf = 127;
  double scale = symmetric ? std::max(-low, high) / kHalf : (high - low) / kSteps;
  // Smaller scales have no reciprocal in float32.
  if (!(scale >= 0x1p-120)) return Quant::PerTensor(1.0f, 0);
  if (!(scale <= 0x1p120)) scale = 0x1p120;
  if (symmetric) return Quant::PerTensor(static_cast<float>(scale), 0);
  const double zero = std::nearbyint(-128 - low / scale);
  return Quant::PerTensor(static_cast<float>(scale),
                          static_cast<int64_t>(std::clamp(zero, -128.0, 127.0)));
}

Result<std::vector<double>> LargestMagnitudes(const Tensor& tensor, int axis) {
  const ScaleOfElement index(tensor, axis);
  std::vector<double> out(index.count(), 0.0);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = std::fabs(tensor.GetDouble(i));
    if (!std::isfinite(x)) return ModelError("a weight is infinite or NaN");
    double& largest = out[index(i)];
    largest = std::max(largest, x);
  }
  DropResidentPages(tensor.blob());
  return out;
}

Result<QuantizedTensor> QuantizeConstant(const Tensor& tensor, const Type& type) {
  const Quant& q = *type.quant;
  const ScaleOfElement index(tensor, q.axis);
  const auto most = static_cast<double>(MaxInteger(type.dtype));
  const double least = q.zero_points.empty() ? -most : static_cast<double>(MinInteger(type.dtype));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(type.dtype, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    const size_t c = index(i);
    const double steps = std::nearbyint(tensor.GetDouble(i) / static_cast<double>(q.scale(c)));
    const double integer = steps + static_cast<double>(q.zero_point(c));
    b.SetInt(i, std::isnan(integer) ? q.zero_point(c)
                                    : static_cast<int64_t>(std::clamp(integer, least, most)));
  }
  return QuantizedTensor{b.Finish(), type.quant};
}

Result<QuantizedTensor> QuantizeSymmetric(const Tensor& tensor, int axis, DType type) {
  NN_ASSIGN(const std::vector<double> largest, LargestMagnitudes(tensor, axis));
  auto quant = std::make_shared<Quant>();
  quant->axis = std::max(axis, -1);
  for (const double x : largest) {
    const double scale = x / static_cast<double>(MaxInteger(type));
    quant->scales.push_back(scale >= 0x1p-100 ? ShortScale(scale) : 1.0f);
  }
  return QuantizeConstant(tensor, Type(type, ToDims(tensor.dims()), std::move(quant)));
}

Result<Tensor> RealsOf(const QuantizedTensor& tensor) {
  const ScaleOfElement index(tensor.integers, tensor.quant->axis);
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, tensor.integers.dims()));
  for (int64_t i = 0; i < b.elements(); ++i)
    b.SetDouble(i, static_cast<double>(static_cast<float>(tensor.integers.GetInt(i) -
                                                          tensor.quant->zero_point(index(i))) *
                                       tensor.quant->scale(index(i))));
  return b.Finish();
}

std::string QuantizedTypeText(const Type& type) {
  const Quant& q = *type.quant;
  const std::string_view dtype = DTypeName(type.dtype);
  if (q.per_axis()) return fmt::format("{}, {} scales", dtype, q.scales.size());
  return fmt::format("{}, scale {:.4g}, zero point {}", dtype, q.scale(), q.zero_point());
}

double SnrOf(const Tensor& want, const Tensor& got) {
  double signal = 0, noise = 0;
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double x = want.GetDouble(i);
    const double error = got.GetDouble(i) - x;
    if (!std::isfinite(error)) continue;
    signal += x * x;
    noise += error * error;
  }
  DropResidentPages(want.blob());
  constexpr double kDecibels = 10 / std::numbers::ln10;
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return kDecibels * (LogOfAny(signal) - LogOf(noise));
}

}  // namespace nn

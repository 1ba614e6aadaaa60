#include "ops/quant/requant.h"

namespace nn {

FixedMultiplier QuantizeMultiplier(double factor) {
  if (factor == 0 || !std::isfinite(factor)) return {};
  FixedMultiplier m;
  const double fraction = std::frexp(factor, &m.shift);
  auto fixed = static_cast<int64_t>(std::round(fraction * 0x1p31));
  if (fixed == (int64_t{1} << 31)) {
    fixed /= 2;
    ++m.shift;
  }
  if (m.shift < -31) return {};
  if (m.shift > 31) return {std::numeric_limits<int32_t>::max(), 31};
  m.multiplier = static_cast<int32_t>(fixed);
  return m;
}

int32_t QuantizeBound(float value, float scale, int64_t zero_point) {
  const double steps = std::round(value / scale) + static_cast<double>(zero_point);
  constexpr double kLowest = std::numeric_limits<int32_t>::min();
  constexpr double kHighest = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(CutToRange(steps, kLowest, kHighest));
}

FixedMultiplier ProductMultiplier(DType activation, const Quant& input, const Quant& filter,
                                  size_t c, const Quant& output) {
  const float a = input.scale();
  const float b = filter.scale(c);
  const double product = activation == DType::kU8 ? static_cast<double>(a * b)
                                                  : static_cast<double>(a) * static_cast<double>(b);
  return QuantizeMultiplier(product / static_cast<double>(output.scale()));
}

}  // namespace nn

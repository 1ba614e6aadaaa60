#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "numeric/scalar_functions.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"
#include "ops/quant/fixed_point.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/quant/tflite_elementwise.h"

namespace nn {
namespace {

using Fn = std::function<int32_t(int32_t)>;

// The types of a node, quantized per tensor.
struct UnaryTypes {
  const Node& node;
  const Type& y;
  DType dtype;
  float x_scale, y_scale;
  int32_t x_zero, y_zero;

  int32_t Clamp(int64_t v) const { return static_cast<int32_t>(ClampTo(dtype, v)); }
  bool Is(DType t) const { return dtype == t; }
  tl::unexpected<Error> Unsupported(std::string_view why) const {
    return UnsupportedError("{} is not supported by TensorFlow Lite ({})", DTypeName(dtype), why);
  }
};

constexpr std::string_view kNoUnaryKernel = "no kernel for this type";

// ---- Tables

// An 8-bit function, tabulated from a function of reals.
template <typename F>
Fn ByTable8(const UnaryTypes& t, F f) {
  const auto low = static_cast<int32_t>(MinInteger(t.dtype));
  std::array<int32_t, 256> table;
  const float inverse = 1 / t.y_scale;
  for (int32_t i = 0; i < 256; ++i) {
    const float x = t.x_scale * static_cast<float>(low + i - t.x_zero);
    const float steps = std::round(f(x) * inverse) + static_cast<float>(t.y_zero);
    table[static_cast<size_t>(i)] =
        t.Clamp(CutToRange(static_cast<double>(steps), -0x1p31, 0x1p31));
  }
  return [table, low](int32_t q) { return table[static_cast<size_t>(q - low)]; };
}

// A 16-bit function as 513 samples of a function of reals; each is corrected by half of the
// interpolation error in the middle of the following step.
template <typename F>
Fn ByTable16(const UnaryTypes& t, F f) {
  constexpr int kSteps = 512;
  const auto integer = [](int64_t v, int32_t zero) { return static_cast<float>(v - zero); };
  const float low = t.x_scale * integer(-32768, t.x_zero);
  const float high = t.x_scale * integer(32767, t.x_zero);
  const float step = (high - low) / kSteps;
  const float scaling =
      65536.0f / (t.y_scale * integer(32767, t.y_zero) - t.y_scale * integer(-32768, t.y_zero));
  const auto cut = [](float v) {
    return static_cast<int32_t>(CutToRange(static_cast<double>(v), -32768, 32767));
  };
  std::array<int32_t, kSteps + 1> table;
  for (int i = 0; i < kSteps; ++i) {
    const float at = low + static_cast<float>(i) * step;
    const float sample = std::round(f(at) * scaling);
    const float next = f(low + static_cast<float>(i + 1) * step) * scaling;
    const float interpolated = std::round((next + sample) / 2);
    const float middle = std::round(f(at + step / 2) * scaling);
    table[static_cast<size_t>(i)] = cut(sample - std::round((interpolated - middle) / 2));
  }
  table[kSteps] = cut(std::round(f(high) * scaling));
  return [table](int32_t q) {
    const int32_t interval = 256 + (q >> 7);
    const auto index = static_cast<size_t>(interval);
    const int32_t slope = table[index + 1] - table[index];
    return table[index] + ((slope * (q & 0x7F) + 64) >> 7);
  };
}

// ---- Activations

Result<Fn> Bounded(const UnaryTypes& t, QuantizedBounds bounds) {
  const FixedMultiplier m = QuantizeMultiplier(static_cast<double>(t.x_scale / t.y_scale));
  return Fn([=](int32_t q) {
    const int32_t v = t.y_zero + Rescale(q - t.x_zero, m);
    return std::min(bounds.high, std::max(bounds.low, v));
  });
}

Result<Fn> LeakyRelu(const UnaryTypes& t) {
  const float alpha = t.node.attrs<LeakyReluAttrs>().alpha;
  const FixedMultiplier same = QuantizeMultiplier(static_cast<double>(t.x_scale / t.y_scale));
  const FixedMultiplier below =
      QuantizeMultiplier(static_cast<double>(t.x_scale * std::fabs(alpha) / t.y_scale));
  const int32_t sign = alpha < 0 ? -1 : 1;
  return Fn([=](int32_t q) {
    const int32_t v = q - t.x_zero;
    return t.Clamp(int64_t{t.y_zero} + (v >= 0 ? Rescale(v, same) : sign * Rescale(v, below)));
  });
}

// The reference's int16 arithmetic.
int32_t To16(int32_t v) {
  return static_cast<int16_t>(v);
}
int32_t Saturate16(int32_t v) {
  return std::clamp(v, -32768, 32767);
}
int32_t RoundingHighMul16(int32_t a, int32_t b) {
  return Saturate16((a * b + (1 << 14)) >> 15);
}
FixedMultiplier Multiplier16(float factor) {
  FixedMultiplier m = QuantizeMultiplier(static_cast<double>(factor));
  m.multiplier = m.multiplier >= 0x7FFF8000 - 1 ? 0x7FFF : (m.multiplier + (1 << 15)) >> 16;
  return m;
}

// x times a ramp from 0 to 1 on [-3, 3], which is "reluish" in units of 3 / 2^15.
Result<Fn> HardSwish(const UnaryTypes& t) {
  if (!t.Is(DType::kU8) && !t.Is(DType::kI8)) return t.Unsupported(kNoUnaryKernel);
  const float fine = (1.0f / 128.0f) * t.x_scale;
  const FixedMultiplier output = Multiplier16(fine / t.y_scale);
  const FixedMultiplier ramp = Multiplier16(fine / (3.0f / 32768.0f));
  if (output.shift > 0)
    return t.Unsupported("the output scale is less than 1/128 of the input scale");
  return Fn([=](int32_t q) {
    const int32_t x = To16((q - t.x_zero) * (1 << 7));
    const int32_t preshift = RoundingHighMul16(x, output.multiplier);
    int32_t r = x;
    if (ramp.shift > 0) r = Saturate16(r * (1 << std::min(ramp.shift - 1, 15)));
    r = RoundingHighMul16(r, ramp.multiplier);
    if (ramp.shift > 0) r = Saturate16(r * 2);
    if (ramp.shift < 0) r = RoundingShiftRight(r, std::min(-ramp.shift, 31));
    r = (r + (1 << 15)) >> 1;
    const int32_t product = To16(r * preshift / (1 << 15));
    return t.Clamp(To16(RoundingShiftRight(product, std::min(-output.shift, 31)) + t.y_zero));
  });
}

// ---- The sigmoid on 16 bits

// 2^16 sigmoid(x), in double.
double SigmoidForTable(double x) {
  // e^-x: the series at -x / 32, to the 32nd power.
  const double u = -x / 32;
  double e = 1;
  for (int k = 20; k > 0; --k) e = 1 + e * u / k;
  for (int k = 0; k < 5; ++k) e *= e;
  return 65536.0 / (1 + e);
}

// 2^16 sigmoid(i / 24), corrected by half of the interpolation error in the middle of the following
// step; the last one is the largest 16-bit number.
const std::array<uint32_t, 256>& SigmoidTable() {
  static const auto table = [] {
    constexpr double kStep = 1.0 / 24;
    std::array<uint32_t, 256> out{};
    for (size_t i = 0; i < out.size(); ++i) {
      const double x = static_cast<double>(i) * kStep;
      const double sample = SigmoidForTable(x);
      const double interpolated = (sample + SigmoidForTable(x + kStep)) / 2;
      const double error = interpolated - SigmoidForTable(x + kStep / 2);
      out[i] = static_cast<uint32_t>(std::round(sample - error / 2));
    }
    out.back() = 65535;
    return out;
  }();
  return table;
}

// Rescales an integer to units of 1 / (3 * 4096).
struct Sixteen {
  int32_t multiplier;
  int right;
  int32_t operator()(int32_t q) const {
    return (q * multiplier + (right > 0 ? 1 << (right - 1) : 0)) >> right;
  }
};

Result<Sixteen> SixteenOf(const UnaryTypes& t, int largest_shift) {
  if (PowerOfTwo(t.y_scale) != -15) return t.Unsupported("the output scale must be 1/32768");
  if (const auto log = PowerOfTwo(t.x_scale))
    if (const int shift = 12 + *log; shift >= 0 && shift <= largest_shift)
      return Sixteen{3 << shift, 0};
  double multiplier = static_cast<double>(t.x_scale) * 4096.0 * 3.0;
  int right = 0;
  for (; multiplier <= 32767.0 / 2.0 && right <= 30; ++right) multiplier *= 2.0;
  if (multiplier > 65535.0) return t.Unsupported("the input scale is too large");
  return Sixteen{static_cast<int32_t>(multiplier), right};
}

Result<Fn> Sigmoid16(const UnaryTypes& t) {
  NN_ASSIGN(const Sixteen scaled, SixteenOf(t, 0));
  return Fn([scaled](int32_t q) {
    const int32_t x = scaled(q);
    const auto a = static_cast<uint32_t>(std::abs(x));
    const uint32_t i = a >> 9;
    uint32_t y = 0x7FFFu << 10;
    if (i < 255) {
      const auto& table = SigmoidTable();
      y = (table[i] << 9) + (a & 0x1FF) * (table[i + 1] - table[i]);
    }
    y = x >= 0 ? y + (1 << 9) : (1 << 25) - y + (1 << 9) - 1;
    return To16(static_cast<int32_t>(y >> 10));
  });
}

// 2 sigmoid(2 x) - 1
Result<Fn> Tanh16(const UnaryTypes& t) {
  NN_ASSIGN(const Sixteen scaled, SixteenOf(t, 1));
  return Fn([scaled](int32_t q) {
    const int32_t x = scaled(q);
    const auto a = static_cast<uint32_t>(std::abs(x));
    const uint32_t i = a >> 8;
    int32_t y = 0xFFFF << 8;
    if (i < 255) {
      const auto& table = SigmoidTable();
      y = static_cast<int32_t>((table[i] << 8) + (a & 0xFF) * (table[i + 1] - table[i]));
    }
    y = x >= 0 ? y - (1 << 23) + (1 << 7) : -y + (1 << 23) + (1 << 7) - 1;
    return To16(y >> 8);
  });
}

Result<Fn> Sigmoid(const UnaryTypes& t) {
  if (!HasFixedQuant(t.node.op().fixed_quants, t.dtype, t.y))
    return t.Unsupported(t.Is(DType::kI16) ? "the output scale must be 1/32768"
                                           : "the output scale must be 1/256");
  if (t.Is(DType::kI16)) return Sigmoid16(t);
  return ByTable8(t, [](float x) { return 1.0f / (1.0f + ScalarFunctions::Exp(-x)); });
}

Result<Fn> Tanh(const UnaryTypes& t) {
  return t.Is(DType::kI16) ? Tanh16(t)
                           : ByTable8(t, [](float x) { return ScalarFunctions::Tanh(x); });
}

// ---- Others

Result<Fn> Elu(const UnaryTypes& t) {
  if (!t.Is(DType::kI8)) return t.Unsupported(kNoUnaryKernel);
  if (t.node.attrs<AlphaAttrs>().alpha != 1.0f) return t.Unsupported("alpha must be 1");
  return ByTable8(t, [](float x) { return x < 0 ? ScalarFunctions::Expm1(x) : x; });
}

Result<Fn> Gelu(const UnaryTypes& t) {
  const auto table = [&](auto f) { return t.Is(DType::kI16) ? ByTable16(t, f) : ByTable8(t, f); };
  switch (t.node.attrs<GeluAttrs>().approximate) {
    case GeluApproximation::kNone:
      return table([](float x) { return ScalarFunctions::GeluErf(x); });
    case GeluApproximation::kTanh:
      return table([](float x) { return ScalarFunctions::GeluTanh(x); });
    default:
      return t.Unsupported("no kernel for this approximation");
  }
}

Result<Fn> Exp(const UnaryTypes& t) {
  const auto f = [](float x) { return ScalarFunctions::Exp(x); };
  if (t.Is(DType::kU8)) return t.Unsupported(kNoUnaryKernel);
  return t.Is(DType::kI8) ? ByTable8(t, f) : ByTable16(t, f);
}

Result<Fn> Log(const UnaryTypes& t) {
  if (t.Is(DType::kU8)) return t.Unsupported(kNoUnaryKernel);
  const float least = static_cast<float>(MinInteger(t.dtype) - t.y_zero) * t.y_scale;
  const auto f = [least](float x) { return x <= 0 ? least : ScalarFunctions::Log(x); };
  return t.Is(DType::kI8) ? ByTable8(t, f) : ByTable16(t, f);
}

Result<Fn> Abs(const UnaryTypes& t) {
  if (t.Is(DType::kU8)) return t.Unsupported(kNoUnaryKernel);
  const bool rescale = t.x_scale != t.y_scale;
  const FixedMultiplier m = QuantizeMultiplier(static_cast<double>(t.x_scale / t.y_scale));
  return Fn([=](int32_t q) {
    const int32_t v = std::abs(q - t.x_zero);
    return t.Clamp(int64_t{rescale ? Rescale(v, m) : v} + t.y_zero);
  });
}

// The kernel negates the stored integers.
Result<Fn> Neg(const UnaryTypes& t) {
  if (!t.Is(DType::kI8)) return t.Unsupported(kNoUnaryKernel);
  if (t.x_zero != 0 || t.y_zero != 0 || t.x_scale != t.y_scale)
    return t.Unsupported("the zero points must be 0 and the scales the same");
  return Fn([](int32_t q) { return static_cast<int32_t>(static_cast<int8_t>(-q)); });
}

Result<Fn> Sqrt(const UnaryTypes& t) {
  if (t.Is(DType::kU8)) return t.Unsupported(kNoUnaryKernel);
  return Fn([t](int32_t q) {
    const float x = t.x_scale * static_cast<float>(q - t.x_zero);
    return t.Clamp(t.y_zero + static_cast<int64_t>(std::min(std::sqrt(x) / t.y_scale, 0x1p31f)));
  });
}

Result<Fn> Rsqrt(const UnaryTypes& t) {
  if (t.Is(DType::kU8)) return t.Unsupported(kNoUnaryKernel);
  if (t.Is(DType::kI16))
    return ByTable16(t, [s = t.y_scale](float x) { return x <= 0 ? 32767 * s : 1 / std::sqrt(x); });
  constexpr int kShift = 20;
  FixedMultiplier m =
      QuantizeMultiplier(1.0 / static_cast<double>(std::sqrt(t.x_scale) * t.y_scale));
  m.shift = std::max(m.shift - kShift, -31);
  return Fn([=](int32_t q) {
    const int32_t v = q - t.x_zero;
    if (v == 0) return 127;
    const FixedInvSqrtResult inverse = FixedInvSqrt(v);
    const int32_t y = Rescale(1, {inverse.multiplier, inverse.shift + kShift});
    return t.Clamp(int64_t{Rescale(y, m)} + t.y_zero);
  });
}

struct UnaryKernel {
  std::string_view op;
  Result<Fn> (*find)(const UnaryTypes&);
  bool fails_below_zero = false;
};

constexpr UnaryKernel kUnaryKernels[] = {
    {"abs", Abs},
    {"elu", Elu},
    {"exp", Exp},
    {"gelu", Gelu},
    {"hard_swish", HardSwish},
    {"leaky_relu", LeakyRelu},
    {"log", Log},
    {"neg", Neg},
    {"rsqrt", Rsqrt, true},
    {"sigmoid", Sigmoid},
    {"sqrt", Sqrt, true},
    {"tanh", Tanh},
};

Result<Fn> Find(const UnaryTypes& t, const Type& y) {
  if (const auto clamp = t.node.op().clamp; clamp != nullptr) {
    const auto [min, max] = clamp(t.node);
    return Bounded(t, BoundsOn(y, static_cast<float>(min), static_cast<float>(max)));
  }
  for (const UnaryKernel& kernel : kUnaryKernels)
    if (kernel.op == t.node.op_name()) return kernel.find(t);
  return t.Unsupported("no kernel for this operator");
}

}  // namespace

QuantizedBounds BoundsOn(const Type& y, float min, float max) {
  const auto on = [&](float bound, int64_t infinite) {
    if (std::isinf(bound)) return infinite;
    return ClampTo(y.dtype, QuantizeBound(bound, y.quant->scale(), y.quant->zero_point()));
  };
  return {static_cast<int32_t>(min > 0 && std::isinf(min) ? MaxInteger(y.dtype)
                                                          : on(min, MinInteger(y.dtype))),
          static_cast<int32_t>(max < 0 && std::isinf(max) ? MinInteger(y.dtype)
                                                          : on(max, MaxInteger(y.dtype)))};
}

Status RequirePerTensor(const Node& node, std::initializer_list<const Type*> types) {
  for (const Type* type : types) {
    const DType d = type->dtype;
    const bool integer = d == DType::kU8 || d == DType::kI8 || d == DType::kI16;
    if (!type->quantized() || type->quant->per_axis() || !integer)
      return UnsupportedError("{} is not supported by TensorFlow Lite", type->ToString());
    const int64_t zero = type->quant->zero_point();
    if (zero < MinInteger(d) || zero > MaxInteger(d) || (d == DType::kI16 && zero != 0))
      return ModelError("{} of {}: the zero point is out of range", node.op_name(),
                        type->ToString());
    if (!(type->quant->scale() > 0) || std::isinf(type->quant->scale()))
      return ModelError("{} of {}: the scale is not positive and finite", node.op_name(),
                        type->ToString());
  }
  return {};
}

Result<QuantizedUnary> TfliteUnary(const Node& node, const Type& x, const Type& y) {
  NN_RETURN_IF_ERROR(RequirePerTensor(node, {&x, &y}));
  if (x.dtype != y.dtype)
    return ModelError("the element types of {} and {} must be the same", x.ToString(),
                      y.ToString());
  const UnaryTypes t = {node,
                        y,
                        x.dtype,
                        x.quant->scale(),
                        y.quant->scale(),
                        static_cast<int32_t>(x.quant->zero_point()),
                        static_cast<int32_t>(y.quant->zero_point())};
  QuantizedUnary out;
  NN_ASSIGN(out.run, Find(t, y));
  for (const UnaryKernel& kernel : kUnaryKernels)
    if (kernel.op == node.op_name() && kernel.fails_below_zero) out.smallest = t.x_zero;
  return out;
}

}  // namespace nn

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>

#include "ops/math/elementwise/impl.h"
#include "ops/quant/fixed_point.h"
#include "ops/quant/quantized.h"
#include "ops/quant/tflite_elementwise.h"

namespace nn {
namespace {

// The types of a node, quantized per tensor; y is bool for comparisons.
struct BinaryTypes {
  const Node& node;
  const Type &a, &b, &y;

  bool Are(DType t) const { return a.dtype == t; }
  tl::unexpected<Error> Unsupported(std::string_view why) const {
    return UnsupportedError("{} and {} to {} is not supported by TensorFlow Lite ({})",
                            a.ToString(), b.ToString(), y.ToString(), why);
  }
};

constexpr std::string_view kNoBinaryKernel = "no kernel for these types";

// The zero points, and the type that the result is clamped to.
struct Zeros {
  int32_t a, b, y;
  DType dtype;

  explicit Zeros(const BinaryTypes& t)
      : a(static_cast<int32_t>(t.a.quant->zero_point())),
        b(static_cast<int32_t>(t.b.quant->zero_point())),
        y(t.y.quantized() ? static_cast<int32_t>(t.y.quant->zero_point()) : 0),
        dtype(t.y.dtype) {}
  int32_t Result(int32_t v) const { return static_cast<int32_t>(ClampTo(dtype, int64_t{v} + y)); }
};

// x * 2^shift, wrapping, as in the reference.
int32_t ShiftLeft(int32_t x, int shift) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << shift);
}

double LargerScaleTwice(const Type& a, const Type& b) {
  return static_cast<double>(2 * std::max(a.quant->scale(), b.quant->scale()));
}

Result<QuantizedBinary> Sum(const BinaryTypes& t, int32_t sign) {
  NN_ASSIGN(const SumFactors f, SumFactorsOf(t.a, t.b, t.y));
  return QuantizedBinary{[=, zero = Zeros(t)](int32_t a, int32_t b) {
    const int32_t x = Rescale(ShiftLeft(a - zero.a, f.shift), f.a);
    const int32_t y = Rescale(ShiftLeft(b - zero.b, f.shift), f.b);
    return zero.Result(Rescale(x + sign * y, f.y));
  }};
}

Result<QuantizedBinary> Mul(const BinaryTypes& t) {
  return QuantizedBinary{[m = MulFactor(t.a, t.b, t.y), zero = Zeros(t)](int32_t a, int32_t b) {
    return zero.Result(Rescale((a - zero.a) * (b - zero.b), m));
  }};
}

// a / b as a times the reciprocal of b in fixed point.
Result<QuantizedBinary> Div(const BinaryTypes& t) {
  const FixedMultiplier m = QuantizeMultiplier(
      static_cast<double>(t.a.quant->scale() / (t.b.quant->scale() * t.y.quant->scale())));
  return QuantizedBinary{
      [m, zero = Zeros(t)](int32_t a, int32_t b) {
        int32_t x = a - zero.a;
        int32_t y = b - zero.b;
        if (y < 0) {
          x = -x;
          y = -y;
        }
        const FixedReciprocalResult r = FixedReciprocal(y, 31);
        const int headroom =
            x == 0 ? 31 : std::countl_zero(static_cast<uint32_t>(x < 0 ? ~x : x)) - 1;
        const int32_t quotient = RoundingDoublingHighMul(ShiftLeft(x, headroom), r.scale);
        const int right = r.bits_over_unit + headroom - m.shift;
        return zero.Result(RoundingShiftRight(RoundingDoublingHighMul(quotient, m.multiplier),
                                              std::clamp(right, 0, 31)));
      },
      true};
}

// The kernels compare the stored integers.
Result<QuantizedBinary> MinMax(const BinaryTypes& t, bool maximum) {
  if (!t.a.quant->SameMapping(*t.b.quant) || !t.a.quant->SameMapping(*t.y.quant))
    return t.Unsupported("the scales and zero points must be the same");
  return QuantizedBinary{[maximum](int32_t a, int32_t b) { return (a > b) == maximum ? a : b; }};
}

// Differences in 1/128 of twice the larger scale, squared.
Result<QuantizedBinary> SquaredDifference(const BinaryTypes& t) {
  if (!t.Are(DType::kI8)) return t.Unsupported(kNoBinaryKernel);
  constexpr int kShift = 7;
  const double twice = LargerScaleTwice(t.a, t.b);
  const FixedMultiplier fa = QuantizeMultiplier(static_cast<double>(t.a.quant->scale()) / twice);
  const FixedMultiplier fb = QuantizeMultiplier(static_cast<double>(t.b.quant->scale()) / twice);
  const FixedMultiplier fy = QuantizeMultiplier(
      twice * twice / static_cast<double>((1 << (2 * kShift)) * t.y.quant->scale()));
  if (fy.shift > 0) return t.Unsupported("the output scale is too small");
  return QuantizedBinary{[=, zero = Zeros(t)](int32_t a, int32_t b) {
    const int32_t d =
        Rescale((a - zero.a) * (1 << kShift), fa) - Rescale((b - zero.b) * (1 << kShift), fb);
    return zero.Result(Rescale(d * d, fy));
  }};
}

Result<QuantizedBinary> Prelu(const BinaryTypes& t) {
  const FixedMultiplier same =
      QuantizeMultiplier(static_cast<double>(t.a.quant->scale() / t.y.quant->scale()));
  const FixedMultiplier below = MulFactor(t.a, t.b, t.y);
  return QuantizedBinary{[=, zero = Zeros(t)](int32_t a, int32_t b) {
    const int32_t x = a - zero.a;
    return zero.Result(x >= 0 ? Rescale(x, same) : Rescale(x * (b - zero.b), below));
  }};
}

// Both sides times 2^8 and their scale.
template <typename Compare>
Result<QuantizedBinary> Comparison(const BinaryTypes& t) {
  constexpr int kShift = 8;
  const FixedMultiplier fa = QuantizeMultiplier(static_cast<double>(t.a.quant->scale()));
  const FixedMultiplier fb = QuantizeMultiplier(static_cast<double>(t.b.quant->scale()));
  if (fa.shift > 0 || fb.shift > 0) return t.Unsupported("the scales must be less than 1");
  return QuantizedBinary{[=, zero = Zeros(t)](int32_t a, int32_t b) {
    const int32_t x = Rescale((a - zero.a) * (1 << kShift), fa);
    const int32_t y = Rescale((b - zero.b) * (1 << kShift), fb);
    return static_cast<int32_t>(Compare()(x, y));
  }};
}

template <int32_t sign>
Result<QuantizedBinary> SignedSum(const BinaryTypes& t) {
  return Sum(t, sign);
}

template <bool maximum>
Result<QuantizedBinary> Extreme(const BinaryTypes& t) {
  return MinMax(t, maximum);
}

struct BinaryKernel {
  std::string_view op;
  Result<QuantizedBinary> (*find)(const BinaryTypes&);
  bool has_i16 = true;
  DType second_of_i16 = DType::kI16;  // the type of operand 1 if operand 0 is i16
};

constexpr bool kNoI16 = false;
constexpr BinaryKernel kBinaryKernels[] = {
    {"add", SignedSum<1>},
    {"sub", SignedSum<-1>},
    {"mul", Mul},
    {"div", Div},
    {"minimum", Extreme<false>},
    {"maximum", Extreme<true>},
    {"squared_difference", SquaredDifference},
    {"prelu", Prelu, true, DType::kI8},
    {"equal", Comparison<std::equal_to<>>},
    {"not_equal", Comparison<std::not_equal_to<>>},
    {"less", Comparison<std::less<>>, kNoI16},
    {"less_equal", Comparison<std::less_equal<>>, kNoI16},
    {"greater", Comparison<std::greater<>>, kNoI16},
    {"greater_equal", Comparison<std::greater_equal<>>, kNoI16},
};

const BinaryKernel* KernelOf(const Node& node) {
  const auto it = std::ranges::find(kBinaryKernels, node.op_name(), &BinaryKernel::op);
  return it == std::end(kBinaryKernels) ? nullptr : &*it;
}

}  // namespace

FixedMultiplier MulFactor(const Type& a, const Type& b, const Type& y) {
  return QuantizeMultiplier(
      static_cast<double>(a.quant->scale() * b.quant->scale() / y.quant->scale()));
}

Result<SumFactors> SumFactorsOf(const Type& a, const Type& b, const Type& y) {
  SumFactors f;
  f.shift = y.dtype == DType::kI16 ? 15 : 20;
  const double twice = LargerScaleTwice(a, b);
  f.a = QuantizeMultiplier(static_cast<double>(a.quant->scale()) / twice);
  f.b = QuantizeMultiplier(static_cast<double>(b.quant->scale()) / twice);
  f.y = QuantizeMultiplier(
      twice / static_cast<double>(static_cast<float>(1 << f.shift) * y.quant->scale()));
  if (f.y.shift > 0)
    return UnsupportedError(
        "{} and {} to {} is not supported, because the output scale is too small", a.ToString(),
        b.ToString(), y.ToString());
  return f;
}

Result<QuantizedBinary> TfliteBinary(const Node& node, const Type& a, const Type& b,
                                     const Type& y) {
  NN_RETURN_IF_ERROR(RequirePerTensor(node, {&a, &b}));
  const BinaryTypes t = {node, a, b, y};
  const BinaryKernel* const kernel = KernelOf(node);
  const bool is_i16 = a.dtype == DType::kI16;
  if (b.dtype != (is_i16 && kernel != nullptr ? kernel->second_of_i16 : a.dtype))
    return t.Unsupported(kNoBinaryKernel);
  if (y.dtype != DType::kBool) {
    NN_RETURN_IF_ERROR(RequirePerTensor(node, {&y}));
    if (y.dtype != a.dtype) return t.Unsupported(kNoBinaryKernel);
  }
  if (kernel == nullptr) return t.Unsupported("no kernel for this operator");
  if (is_i16 && !kernel->has_i16) return t.Unsupported(kNoBinaryKernel);
  return kernel->find(t);
}

}  // namespace nn

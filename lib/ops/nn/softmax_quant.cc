// Quantized softmax and log_softmax as in TensorFlow Lite's reference kernels.
//
// Source: tflite/kernels/activations.cc (SoftmaxPrepare, LogSoftmaxPrepare with kernel_type
// kReference), internal/quantization_util.cc (PreprocessSoftmaxScaling), internal/reference/
// {softmax,log_softmax}.h, internal/reference/integer_ops/log_softmax.h, internal/common.h
// (LUTPopulate, LUTLookup).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/nn/softmax.h"
#include "ops/quant/fixed_point.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"

namespace nn {
namespace {

constexpr int kDifferenceBits = 5;  // integer bits of scaled differences: Q5.26
constexpr int kSumBits = 12;        // of sums of exponentials: Q12.19

// Rescales differences from a row's maximum, which are at most 0, to Q5.26.
struct DifferenceScaling {
  FixedMultiplier multiplier;
  int32_t smallest;  // differences below it count as minus infinity

  int32_t operator()(int32_t difference) const {
    const auto shifted =
        static_cast<int32_t>(static_cast<uint32_t>(difference) << multiplier.shift);
    return RoundingDoublingHighMul(shifted, multiplier.multiplier);
  }
};

Result<DifferenceScaling> ScalingOf(float scale, float beta) {
  const double factor = std::min(static_cast<double>(beta) * static_cast<double>(scale) *
                                     static_cast<double>(1 << (31 - kDifferenceBits)),
                                 0x1p31 - 1.0);
  if (!(factor > 1.0))
    return UnsupportedError("scale {} with beta {} is too small for the fixed-point softmax", scale,
                            beta);
  DifferenceScaling s;
  s.multiplier = QuantizeMultiplier(factor);
  const double radius = static_cast<double>((1 << kDifferenceBits) - 1) *
                        static_cast<double>(1 << (31 - kDifferenceBits)) /
                        static_cast<double>(int64_t{1} << s.multiplier.shift);
  s.smallest = -static_cast<int32_t>(std::floor(radius));
  return s;
}

// A row of quantized elements as differences from its maximum.
class Differences {
 public:
  Differences(const std::vector<int64_t>& x, const Rows& rows, int64_t start)
      : x_(x), rows_(rows), start_(start) {
    max_ = std::numeric_limits<int64_t>::min();
    for (int64_t i = 0; i < rows.length(); ++i) max_ = std::max(max_, Element(i));
  }
  int32_t operator[](int64_t i) const { return static_cast<int32_t>(Element(i) - max_); }

 private:
  int64_t Element(int64_t i) const { return x_[static_cast<size_t>(start_ + rows_.offset(i))]; }
  const std::vector<int64_t>& x_;
  const Rows& rows_;
  int64_t start_;
  int64_t max_;
};

// Wraps, as in the reference's accumulator.
int32_t SumOfExponentials(const Differences& d, int64_t n, const DifferenceScaling& scaling) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < n; ++i)
    if (d[i] >= scaling.smallest)
      sum += static_cast<uint32_t>(RoundingShiftRight(FixedExp(scaling(d[i])), kSumBits));
  return static_cast<int32_t>(sum);
}

Status Softmax8(EvalContext& ctx, const Rows& rows) {
  NN_ASSIGN(const std::vector<int32_t> exponentials,
            SoftmaxExponentials8(ctx.in_type(0).quant->scale(), ctx.attrs<SoftmaxAttrs>().beta));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const Tensor& x = ctx.in(0);
  const auto n = static_cast<size_t>(rows.length());
  rows.ForEach([&](int64_t, int64_t start) {
    if (n == 0) return;
    const auto stride = n > 1 ? static_cast<size_t>(rows.offset(1)) : 1;
    SoftmaxRow8(exponentials, x.dtype(), x.blob().data() + start, y.data() + start, n, stride);
  });
  ctx.set_out(0, y.Finish());
  return {};
}

// The same with a result of 16 bits.
Status Softmax8To16(EvalContext& ctx, const Rows& rows) {
  NN_ASSIGN(const DifferenceScaling scaling,
            ScalingOf(ctx.in_type(0).quant->scale(), ctx.attrs<SoftmaxAttrs>().beta));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const std::vector<int64_t> x = ctx.in(0).ToInts();
  const int64_t n = rows.length();
  rows.ForEach([&](int64_t, int64_t start) {
    if (n == 0) return;
    const Differences d(x, rows, start);
    const auto reciprocal = FixedReciprocal(SumOfExponentials(d, n, scaling), kSumBits);
    const int exponent = std::clamp(reciprocal.bits_over_unit + 31 - 16, 0, 31);
    for (int64_t i = 0; i < n; ++i) {
      int64_t v = MinInteger(DType::kI16);
      if (d[i] >= scaling.smallest)
        v += RoundingShiftRight(RoundingDoublingHighMul(reciprocal.scale, FixedExp(scaling(d[i]))),
                                exponent);
      y.SetInt(start + rows.offset(i), ClampTo(DType::kI16, v));
    }
  });
  ctx.set_out(0, y.Finish());
  return {};
}

// ---- 16 bits: tables with linear interpolation --------------------------------------------------

using Table16 = std::array<int16_t, 513>;

// The function sampled at 513 positions from `low` to `high`, scaled by 32768; each sample is
// corrected by half of the interpolation error in the middle of the following step.
template <typename Fn>
Table16 MakeTable(double low, double high, Fn fn) {
  constexpr int kSteps = 512;
  constexpr double kScale = 32768.0;
  const auto cut = [](double v) { return static_cast<int16_t>(CutToRange(v, -32768, 32767)); };
  const double step = (high - low) / kSteps;
  Table16 table;
  for (int i = 0; i < kSteps; ++i) {
    const double at = low + i * step;
    const double sample = std::round(fn(at) * kScale);
    const double interpolated = std::round((fn(low + (i + 1) * step) * kScale + sample) / 2);
    const double error = interpolated - std::round(fn(at + step / 2) * kScale);
    table[static_cast<size_t>(i)] = cut(sample - std::round(error / 2));
  }
  table[kSteps] = cut(std::round(fn(high) * kScale));
  return table;
}

// Interpolates for v over the whole range of int16.
int16_t LookUp(const Table16& table, int32_t v) {
  const int32_t step = 256 + (v >> 7);
  const auto index = static_cast<size_t>(step);
  const int32_t slope = table[index + 1] - table[index];
  return static_cast<int16_t>(table[index] + ((slope * (v & 0x7F) + 64) >> 7));
}

// e^x for x in [-10, 0], far more accurate than the 16-bit table requires: the series at x / 16, to
// the 16th power.
double ExpForTable(double x) {
  const double t = x / 16;
  double sum = 1;
  for (int k = 24; k > 0; --k) sum = 1 + sum * t / k;
  for (int k = 0; k < 4; ++k) sum *= sum;
  return sum;
}

const Table16& ExpTable() {
  static const Table16 table = MakeTable(-10.0, 0.0, ExpForTable);
  return table;
}
const Table16& ReciprocalTable() {
  static const Table16 table = MakeTable(0.0, 1.0, [](double x) { return 1.0 / (1.0 + x); });
  return table;
}

int32_t ToInt16(int32_t v) {
  return std::clamp(v, -32768, 32767);
}

Status Softmax16(EvalContext& ctx, const Rows& rows) {
  const Quant& xq = *ctx.in_type(0).quant;
  if (xq.zero_point() != 0 || ctx.out_type().quant->zero_point() != 0)
    return ModelError("softmax of i16: the zero points must be 0");
  // Differences in [-10, 0] become [-65535, 0].
  const FixedMultiplier scaling = QuantizeMultiplier(
      static_cast<double>(xq.scale() * ctx.attrs<SoftmaxAttrs>().beta) / (10.0 / 65535.0));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const std::vector<int64_t> x = ctx.in(0).ToInts();
  const int64_t n = rows.length();
  std::vector<int32_t> e(static_cast<size_t>(n));
  rows.ForEach([&](int64_t, int64_t start) {
    const Differences d(x, rows, start);
    uint32_t sum = 0;  // Q16.15
    for (int64_t i = 0; i < n; ++i) {
      const int32_t v = LookUp(ExpTable(), ToInt16(Rescale(d[i], scaling) + 32767));
      e[static_cast<size_t>(i)] = v;
      sum += static_cast<uint32_t>(v);
    }
    const int zeros = std::max(1, std::countl_zero(sum));
    const auto normal =
        static_cast<int32_t>(((static_cast<int64_t>(sum) << (zeros - 1)) + (1 << 13)) >> 14);
    const int32_t scale = LookUp(ReciprocalTable(), ToInt16(normal - (1 << 15) - (1 << 16)));
    const int shift = std::max(1, 31 - zeros);  // less if the sum of a long row wraps
    for (int64_t i = 0; i < n; ++i) {
      const int64_t product = int64_t{e[static_cast<size_t>(i)]} * scale;
      const int64_t v = (product + (int64_t{1} << (shift - 1))) >> shift;
      y.SetInt(start + rows.offset(i), std::clamp<int64_t>(v, 0, 32767));
    }
  });
  ctx.set_out(0, y.Finish());
  return {};
}

// The integers of a row. T is uint8_t or int8_t.
template <typename T>
void SoftmaxRow(std::span<const int32_t> exponentials, const std::byte* x, std::byte* y, size_t n,
                size_t stride) {
  constexpr auto kMax = static_cast<size_t>(std::numeric_limits<uint8_t>::max()) + 1;
  const auto at = [&](size_t i) -> int32_t { return static_cast<T>(x[i * stride]); };
  int32_t largest = at(0);
  for (size_t i = 1; i < n; ++i) largest = std::max(largest, at(i));
  uint32_t sum = 0;  // wraps, as in the reference's accumulator
  for (size_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(largest - at(i));
    if (k < exponentials.size())
      sum += static_cast<uint32_t>(RoundingShiftRight(exponentials[k], kSumBits));
  }
  const auto reciprocal = FixedReciprocal(static_cast<int32_t>(sum), kSumBits);
  const int exponent = std::clamp(reciprocal.bits_over_unit + 31 - 8, 0, 31);
  const int64_t low = MinInteger(kDTypeOf<T>), high = MaxInteger(kDTypeOf<T>);
  std::array<std::byte, kMax> results;
  for (size_t k = 0; k < kMax; ++k) {
    int64_t v = low;
    if (k < exponentials.size())
      v += RoundingShiftRight(RoundingDoublingHighMul(reciprocal.scale, exponentials[k]), exponent);
    results[k] = static_cast<std::byte>(std::clamp(v, low, high));
  }
  for (size_t i = 0; i < n; ++i) y[i * stride] = results[static_cast<size_t>(largest - at(i))];
}

}  // namespace

Result<std::vector<int32_t>> SoftmaxExponentials8(float scale, float beta) {
  NN_ASSIGN(const DifferenceScaling scaling, ScalingOf(scale, beta));
  std::vector<int32_t> exponentials;
  for (int32_t k = 0; k < 256 && -k >= scaling.smallest; ++k)
    exponentials.push_back(FixedExp(scaling(-k)));
  return exponentials;
}

void SoftmaxRow8(std::span<const int32_t> exponentials, DType dtype, const std::byte* x,
                 std::byte* y, size_t n, size_t stride) {
  if (dtype == DType::kU8)
    SoftmaxRow<uint8_t>(exponentials, x, y, n, stride);
  else
    SoftmaxRow<int8_t>(exponentials, x, y, n, stride);
}

std::span<const FixedQuant> SoftmaxQuants() {
  using enum DType;
  constexpr float kSlack = 0.001f;  // as in the interpreter
  static constexpr FixedQuant kQuants[] = {{kU8, kU8, 1.0f / 256, 0, kSlack},
                                           {kI8, kI8, 1.0f / 256, -128, kSlack},
                                           {kU8, kI16, 1.0f / 65536, -32768, kSlack},
                                           {kI8, kI16, 1.0f / 65536, -32768, kSlack},
                                           {kI16, kI16, 1.0f / 32768, 0, kSlack}};
  return kQuants;
}

std::span<const FixedQuant> LogSoftmaxQuants() {
  using enum DType;
  static constexpr FixedQuant kQuants[] = {{kU8, kU8, 1.0f / 16, 255}, {kI8, kI8, 1.0f / 16, 127}};
  return kQuants;
}

bool HasSoftmaxRange(DType x, const Type& y) {
  return HasFixedQuant(SoftmaxQuants(), x, y);
}

Status QuantizedSoftmax(EvalContext& ctx, const Rows& rows) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const DType x = ctx.in(0).dtype();
  if (ctx.out_type().dtype != x && (DTypeBits(x) != 8 || ctx.out_type().dtype != DType::kI16))
    return ModelError("a result of {} does not match {}", ctx.out_type().ToString(),
                      ctx.in_type(0).ToString());
  if (!HasSoftmaxRange(x, ctx.out_type()))
    return ModelError("the scale and zero point of {} must cover the range 0 to 1",
                      ctx.out_type().ToString());
  switch (x) {
    case DType::kU8:
    case DType::kI8:
      if (ctx.out_type().dtype != DType::kI16) return Softmax8(ctx, rows);
      return Softmax8To16(ctx, rows);
    case DType::kI16:
      return Softmax16(ctx, rows);
    default:
      return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  }
}

Status QuantizedLogSoftmax(EvalContext& ctx, const Rows& rows) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const DType dtype = ctx.in(0).dtype();
  if (dtype != DType::kU8 && dtype != DType::kI8)
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  constexpr int kOutputBits = 4;  // of a fraction: scale 1/16
  const int64_t zero = MaxInteger(dtype);
  if (!HasFixedQuant(LogSoftmaxQuants(), dtype, ctx.out_type()))
    return ModelError("the scale of {} must be 1/16 and the zero point {}",
                      ctx.out_type().ToString(), zero);
  NN_ASSIGN(const DifferenceScaling scaling, ScalingOf(ctx.in_type(0).quant->scale(), 1.0f));
  const FixedMultiplier inverse =
      QuantizeMultiplier(static_cast<double>(int64_t{1} << (31 - scaling.multiplier.shift)) /
                         static_cast<double>(scaling.multiplier.multiplier));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const std::vector<int64_t> x = ctx.in(0).ToInts();
  const int64_t n = rows.length();
  bool overflow = false;
  rows.ForEach([&](int64_t, int64_t start) {
    const Differences d(x, rows, start);
    const int32_t sum = SumOfExponentials(d, n, scaling);
    overflow |= n > 0 && sum <= 0;
    if (overflow || n == 0) return;
    const int32_t log_sum = FixedLog(sum);
    // Differences from here on, minus log_sum, fit the fixed-point type.
    const int32_t above = std::max(scaling.smallest - 1,
                                   Rescale(std::numeric_limits<int32_t>::min() + log_sum, inverse));
    for (int64_t i = 0; i < n; ++i) {
      int64_t v = MinInteger(dtype);
      if (d[i] > above)
        v = zero + RoundingShiftRight(scaling(d[i]) - log_sum, 31 - kDifferenceBits - kOutputBits);
      y.SetInt(start + rows.offset(i), ClampTo(dtype, v));
    }
  });
  if (overflow)
    return UnsupportedError(
        "{} is not supported, because a row of {} elements overflows the accumulator",
        ctx.in_type(0).ToString(), n);
  ctx.set_out(0, y.Finish());
  return {};
}

}  // namespace nn

#include "ops/reduce/quant_reduce.h"

#include <algorithm>
#include <bit>

#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"

namespace nn {

namespace {

bool IsTfliteType(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kI8 || dtype == DType::kI16;
}

// Source: tflite/kernels/reduce.cc and internal/reference/reduce.h, QuantizedMeanOrSum.
Status SumOrMean(EvalContext& ctx, const Rows& rows, bool mean) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const Tensor& x = ctx.in(0);
  if (!IsTfliteType(x.dtype()))
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  const Quant& xq = *ctx.in_type(0).quant;
  const Quant& yq = *ctx.out_type().quant;
  const int64_t n = rows.length();
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const FixedMultiplier m = ReductionMultiplier(xq, yq, mean ? std::max<int64_t>(1, n) : 1);
  rows.ForEach([&](int64_t row, int64_t start) {
    // Without elements the raw value is 0.
    if (n == 0) return y.SetInt(row, 0);
    int64_t sum = -xq.zero_point() * n;
    for (int64_t i = 0; i < n; ++i) sum += x.GetInt(start + rows.offset(i));
    const int64_t scaled = int64_t{Rescale(static_cast<int32_t>(sum), m)} + yq.zero_point();
    y.SetInt(row, ClampTo(x.dtype(), scaled));
  });
  ctx.set_out(0, y.Finish());
  return {};
}

// The n-th root of v > 0, to about an ULP, by bisection to avoid a library function.
double NthRoot(double v, int64_t n) {
  const auto power = [n](double x) {
    double result = 1;
    for (int64_t e = n; e > 0; e >>= 1) {
      if (e & 1) result *= x;
      x *= x;
    }
    return result;
  };
  double low = std::min(1.0, v);
  double high = std::max(1.0, v);
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return power(high) <= v ? high : low;
    (power(middle) <= v ? low : high) = middle;
  }
}

}  // namespace

// Source: as above. The division is folded into the multiplier.
FixedMultiplier ReductionMultiplier(const Quant& x, const Quant& y, int64_t n) {
  FixedMultiplier m =
      QuantizeMultiplier(static_cast<double>(x.scale()) / static_cast<double>(y.scale()));
  int shift = 63 - std::countl_zero(static_cast<uint64_t>(n));
  shift = std::max(0, std::min({shift, 32, 31 + m.shift}));
  m.multiplier = static_cast<int32_t>((static_cast<int64_t>(m.multiplier) << shift) / n);
  m.shift -= shift;
  return m;
}

FixedMultiplier FactorMultiplier(const Quant& x, const Quant& y, int64_t n) {
  return QuantizeMultiplier(static_cast<double>(x.scale()) /
                            NthRoot(static_cast<double>(y.scale()), n));
}

Status QuantizedSum(EvalContext& ctx, const Rows& rows) {
  return SumOrMean(ctx, rows, false);
}
Status QuantizedMean(EvalContext& ctx, const Rows& rows) {
  return SumOrMean(ctx, rows, true);
}

// Source: tflite/kernels/reduce.cc (GetQuantProdScaling) and internal/reference/reduce.h,
// QuantizedReduceProd. Each factor is rescaled by input scale / n-th root of the output scale.
Status QuantizedProd(EvalContext& ctx, const Rows& rows) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const Tensor& x = ctx.in(0);
  if (x.dtype() != DType::kI8 && x.dtype() != DType::kI16)
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  const Quant& xq = *ctx.in_type(0).quant;
  const Quant& yq = *ctx.out_type().quant;
  const int64_t n = rows.length();
  if (n == 0) return UnsupportedError("a quantized tensor without elements is not supported");
  if (!(yq.scale() > 0))
    return ModelError("the scale of the output is {}; must be positive", yq.scale());
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const FixedMultiplier m = FactorMultiplier(xq, yq, n);
  rows.ForEach([&](int64_t row, int64_t start) {
    const auto factor = [&](int64_t i) {
      return x.GetInt(start + rows.offset(i)) - xq.zero_point();
    };
    int64_t product = factor(0);
    for (int64_t i = 1; i < n; ++i) product = Rescale64(product * factor(i), m);
    y.SetInt(row, ClampTo(x.dtype(), Rescale64(product, m) + yq.zero_point()));
  });
  ctx.set_out(0, y.Finish());
  return {};
}

}  // namespace nn

#include "ops/math/mel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/arith.h"
#include "ir/op_def.h"
#include "numeric/doubles.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> MelWeightMatrixAttrs::Fields() {
  static const AttrField fields[] = {Field<&MelWeightMatrixAttrs::dtype>("dtype")};
  return fields;
}

namespace {

enum MelInput : size_t { kBins, kSpectrum, kRate, kLow, kHigh };
constexpr std::string_view kMelInputs[] = {"bins", "length", "rate", "low", "high"};

// Frequencies are far beyond any spectrum at this number of them.
constexpr double kMaxFrequencies = 0x1p40;

Status InferMelWeightMatrix(InferContext& ctx) {
  const DType dtype = ctx.attrs<MelWeightMatrixAttrs>().dtype;
  if (!IsInteger(dtype) && !IsFloat(dtype))
    return ModelError("weights cannot be {}", DTypeName(dtype));
  for (const size_t i : {kBins, kSpectrum, kRate, kLow, kHigh}) {
    const Type& type = ctx.in(i);
    if (type.ranked() && type.rank() != 0)
      return ModelError("{} is {}; must be a scalar", kMelInputs[i], type.ToString());
    const bool fits = i < kLow ? IsInteger(type.dtype) : IsFloat(type.dtype);
    if (type.dtype != DType::kUnknown && (!fits || type.quantized()))
      return ModelError("{} is {}; must be {}", kMelInputs[i], type.ToString(),
                        i < kLow ? "an integer" : "a floating-point number");
  }
  const auto size = [&](size_t input) -> Result<Dim> {
    const auto contents = Contents(ctx, input);
    if (!contents || contents->size() != 1) return ctx.NewSymbol();
    const Dim& n = contents->front();
    if (n.is_const() && n.value() < 1)
      return ModelError("{} is {}; must be positive", kMelInputs[input], n.ToString());
    return n;
  };
  NN_ASSIGN(const Dim length, size(kSpectrum));
  NN_ASSIGN(const Dim bins, size(kBins));
  const bool known = !length.symbol() || !InferContext::IsNewSymbol(*length.symbol());
  ctx.set_out(0, Type(dtype, {known ? Dim::FloorDiv(length, 2) + 1 : length, bins}));
  return {};
}

// The corners of the filters.
std::vector<int64_t> Corners(int64_t bins, int64_t length, double rate, double low, double high) {
  std::vector<int64_t> corners;
  const double ratio = LogOf((700 + high) / (700 + low));
  const auto steps = static_cast<double>(bins + 2);
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double growth = ExpOf(static_cast<double>(i) / steps * ratio) - 1;
    const double hertz = Fma(700 + low, growth, low);
    const double corner = std::floor(static_cast<double>(length + 1) * hertz / rate);
    corners.push_back(static_cast<int64_t>(std::clamp(corner, -kMaxFrequencies, kMaxFrequencies)));
  }
  return corners;
}

Status EvalMelWeightMatrix(EvalContext& ctx) {
  const int64_t bins = ctx.in(kBins).GetInt(0), length = ctx.in(kSpectrum).GetInt(0);
  const auto rate = static_cast<double>(ctx.in(kRate).GetInt(0));
  const double low = ctx.in(kLow).GetDouble(0), high = ctx.in(kHigh).GetDouble(0);
  if (bins < 1 || length < 1 || !(rate > 0))
    return ModelError("{} filters for {} samples at a rate of {}", bins, length, rate);
  if (!(low > -700) || !(high > -700) || !std::isfinite(low) || !std::isfinite(high))
    return ModelError("filters from {} to {} hertz are not defined", low, high);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const int64_t frequencies = y.dims()[0];
  const bool is_integer = IsInteger(y.dtype());
  const auto set = [&](int64_t frequency, int64_t bin, double weight) {
    const int64_t at = frequency * bins + bin;
    if (is_integer)
      y.SetInt(at, static_cast<int64_t>(weight));
    else
      y.SetDouble(at, weight);
  };
  const std::vector<int64_t> corners = Corners(bins, length, rate, low, high);
  for (int64_t frequency = 0; frequency < frequencies; ++frequency)
    for (int64_t bin = 0; bin < bins; ++bin) set(frequency, bin, 0);
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t* const c = corners.data() + bin;
    for (int64_t j = std::max<int64_t>(0, c[0]); j < std::min(c[1], frequencies); ++j)
      set(j, bin, static_cast<double>(j - c[0]) / static_cast<double>(c[1] - c[0]));
    if (c[1] >= 0 && c[1] < frequencies) set(c[1], bin, 1);
    for (int64_t j = std::max<int64_t>(0, c[1] + 1); j < std::min(c[2], frequencies); ++j)
      set(j, bin, static_cast<double>(c[2] - j) / static_cast<double>(c[2] - c[1]));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

Domain MelWeightMatrixDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto y = DimsOf(node.output());
  const bool known = y && y->size() == 2;
  const auto exactly = [](int64_t n) {
    return Between(static_cast<double>(n), static_cast<double>(n));
  };
  switch (input) {
    case kBins:
      return known ? exactly((*y)[1]) : Between(1, 8);
    case kSpectrum:
      return known ? exactly(2 * std::max<int64_t>((*y)[0] - 1, 1)) : Between(2, 32);
    case kRate:
      return Between(8000, 16000);
    case kLow:
      return Between(0, 100);
    default:
      return Between(1000, 4000);
  }
}

}  // namespace

void RegisterMelOps(OpRegistry& ops) {
  OpDef op;
  op.name = "mel_weight_matrix";
  op.summary = "the weights of frequencies in triangular filters on the mel scale";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<MelWeightMatrixAttrs>();
  for (const std::string_view name : kMelInputs) op.inputs.push_back({name});
  op.infer = InferMelWeightMatrix;
  op.eval = EvalMelWeightMatrix;
  ops.Add(std::move(op));
}

void AddMelDomains(DomainTable& domains) {
  domains["mel_weight_matrix"] = MelWeightMatrixDomain;
}

}  // namespace nn

#include "convert/quantize/quantize_text.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/text/from_chars.h"
#include "base/text/text.h"

namespace nn {
namespace {

template <typename T>
std::optional<T> NumberOf(std::string_view text) {
  T value{};
  const auto [end, error] = FromChars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// "NAME" or "NAME:REST".
std::pair<std::string_view, std::optional<std::string_view>> SplitAtColon(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// The value of --quantize.
struct QuantizeForm {
  bool weights_only = false;
  DType type = DType::kI8;
  int table_bits = 0;
  double zeros = 0;
  int64_t block = 0;
};
Result<QuantizeForm> FormOf(const std::string& text) {
  const auto [name, rest] = SplitAtColon(text);
  QuantizeForm form;
  form.weights_only = name != "int8";
  constexpr std::string_view kTable = "weights-lut";
  if (name.starts_with(kTable) && !rest)
    form.table_bits = NumberOf<int>(name.substr(kTable.size())).value_or(0);
  if (name == "weights-sparse") {
    form.zeros = rest ? NumberOf<double>(*rest).value_or(0) : 0;
    if (form.zeros > 0 && form.zeros < 1) return form;
    return UsageError("--quantize {}: expected the part of the weights that becomes 0, as in {}",
                      Quote(text), "weights-sparse:0.5");
  }
  if (name == "weights-int4")
    form.type = DType::kI4;
  else if (form.weights_only && name != "weights-int8" &&
           !(form.table_bits >= 1 && form.table_bits <= 8))
    return UsageError(
        "--quantize {}: expected int8, weights-int8[:BLOCK], weights-int4[:BLOCK], weights-lutN "
        "with N from 1 to 8, or weights-sparse:PART",
        Quote(text));
  if (!rest) return form;
  const auto block = NumberOf<int64_t>(*rest);
  constexpr int64_t kMinBlock = 8;
  // Limit of options: weights of a block of --quantize, which share a scale.
  constexpr int64_t kMaxBlock = 65536;
  if (!form.weights_only || !block || *block < kMinBlock || *block > kMaxBlock)
    return UsageError("--quantize {}: expected a block of {} to {} weights that share a scale",
                      Quote(text), kMinBlock, kMaxBlock);
  form.block = *block;
  return form;
}

struct RangeChoice {
  RangeMethod method = RangeMethod::kMinMax;
  double percentile = CalibrationOptions().percentile;
};
Result<RangeChoice> MethodOf(const std::string& text) {
  const auto [name, rest] = SplitAtColon(text);
  RangeChoice out;
  if (name == "percentile" && rest) {
    const auto percentile = NumberOf<double>(*rest);
    if (!percentile || !(*percentile > 50 && *percentile <= 100))
      return UsageError("--calibrate-method {}: expected a number from 50 to 100", Quote(text));
    out.percentile = *percentile;
  }
  if (name == "percentile")
    out.method = RangeMethod::kPercentile;
  else if (name == "entropy" && !rest)
    out.method = RangeMethod::kEntropy;
  else if (name == "mse" && !rest)
    out.method = RangeMethod::kMse;
  else if (name != "minmax" || rest)
    return UsageError("--calibrate-method {}: expected minmax, percentile[:P], entropy or mse",
                      Quote(text));
  return out;
}

Status CheckForm(const nnsuite::QuantizeOptions& o, const QuantizeForm& form) {
  if (form.weights_only && (o.symmetric || o.integer_interface))
    return UsageError("{} requires --quantize int8",
                      o.symmetric ? "--symmetric" : "--integer-interface");
  if (o.per_tensor && (form.block > 0 || form.table_bits > 0 || form.zeros > 0))
    return UsageError("--per-tensor does not apply to --quantize {}", o.form);
  return {};
}

}  // namespace

Result<QuantizeSettings> QuantizeSettingsOf(const nnsuite::QuantizeOptions& o,
                                            const Format& target) {
  NN_ASSIGN(const QuantizeForm form, FormOf(o.form));
  NN_ASSIGN(const RangeChoice choice, MethodOf(o.method));
  NN_RETURN_IF_ERROR(CheckForm(o, form));
  QuantizeSettings s;
  s.weights_only = form.weights_only;
  s.options.type = form.type;
  s.options.block = form.block;
  s.options.table_bits = form.table_bits;
  s.options.zeros = form.zeros;
  s.options.per_tensor = o.per_tensor;
  s.options.symmetric = o.symmetric;
  s.options.rounding = target.name == "onnx" ? Rounding::kHalfEven : Rounding::kHalfAway;
  s.equalize = o.equalize;
  s.correct_biases = o.bias_correction;
  s.integer_interface = o.integer_interface;
  s.calibration.method = choice.method;
  s.calibration.percentile = choice.percentile;
  s.calibration.seeded = o.seeded;
  return s;
}

}  // namespace nn

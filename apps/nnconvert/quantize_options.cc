#include "apps/nnconvert/quantize_options.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/common/port_arrays.h"
#include "base/text.h"

namespace nn::app {
namespace {

template <typename T>
std::optional<T> NumberIn(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
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
  int64_t block = 0;
};
Result<QuantizeForm> FormOf(const std::string& text) {
  const auto [name, rest] = SplitAtColon(text);
  QuantizeForm form;
  form.weights_only = name != "int8";
  constexpr std::string_view kTable = "weights-lut";
  if (name.starts_with(kTable) && !rest)
    form.table_bits = NumberIn<int>(name.substr(kTable.size())).value_or(0);
  if (name == "weights-int4")
    form.type = DType::kI4;
  else if (form.weights_only && name != "weights-int8" &&
           !(form.table_bits >= 1 && form.table_bits <= 8))
    return UsageError(
        "--quantize {}: expected int8, weights-int8[:BLOCK], weights-int4[:BLOCK] or weights-lutN "
        "with N from 1 to 8",
        Quote(text));
  if (!rest) return form;
  const auto block = NumberIn<int64_t>(*rest);
  constexpr int64_t kLeastBlock = 8;
  constexpr int64_t kMostBlock = 65536;
  if (!form.weights_only || !block || *block < kLeastBlock || *block > kMostBlock)
    return UsageError("--quantize {}: expected a block of {} to {} weights that share a scale",
                      Quote(text), kLeastBlock, kMostBlock);
  form.block = *block;
  return form;
}

// N of "seeded:N"; nullopt for a path.
std::optional<std::string_view> SeededText(std::string_view text) {
  constexpr std::string_view kPrefix = "seeded:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  return text.substr(kPrefix.size());
}

struct RangeChoice {
  RangeMethod method = RangeMethod::kMinMax;
  double percentile = CalibrationOptions().percentile;
};
Result<RangeChoice> MethodOf(const std::string& text) {
  const auto [name, rest] = SplitAtColon(text);
  RangeChoice out;
  if (name == "percentile" && rest) {
    const auto percentile = NumberIn<double>(*rest);
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

Status CheckSamples(const ConvertArguments& o, const QuantizeForm& form) {
  const bool needs_samples = !form.weights_only || o.bias_correction;
  if (needs_samples && o.calibrate.empty())
    return UsageError(
        "{} needs samples of the model's inputs: --calibrate FILE.npz or DIR with real data; "
        "--calibrate seeded:16 takes random numbers, whose ranges are rarely those of real data",
        form.weights_only ? "--bias-correction" : "--quantize int8");
  if (!needs_samples && !o.calibrate.empty())
    return UsageError("--calibrate has no effect on weights without --bias-correction");
  for (const std::string& text : o.calibrate) {
    const auto seeded = SeededText(text);
    if (!seeded) continue;
    constexpr uint64_t kMostSeeded = 100000;
    const auto count = NumberIn<uint64_t>(*seeded);
    if (o.calibrate.size() > 1 || !count || *count == 0 || *count > kMostSeeded)
      return UsageError("--calibrate {}: expected seeded:N alone, with N from 1 to {}", Quote(text),
                        kMostSeeded);
  }
  return {};
}

}  // namespace

void AddQuantizeOptions(CommandLine& command, ConvertArguments& o) {
  CLI::App& app = command.options();
  CLI::Option* const quantize =
      app.add_option(
             "--quantize", o.quantize,
             "Quantize a float32 model. int8: operators compute with 8-bit integers, as TensorFlow "
             "Lite's specification says; ONNX models have QuantizeLinear and DequantizeLinear "
             "around them; needs --calibrate. weights-int8 and weights-int4: only weights are "
             "integers, with a scale for each output channel or block of BLOCK weights; operators "
             "compute in float32. weights-lutN: weights are one of 2^N numbers of a table (Core "
             "ML). "
             "The report shows the signal-to-noise ratio (SNR) of every "
             "quantized value")
          ->type_name("FORM")
          ->excludes("--fp16")
          ->excludes("--bf16");
  command
      .AddRepeated(
          "--calibrate", o.calibrate,
          "With --quantize: samples of the inputs, from which the ranges of all values are "
          "determined: files and folders as for --verify-inputs, or seeded:N, N samples of "
          "random numbers; repeatable")
      ->type_name("FILE|DIR|seeded:N")
      ->needs(quantize);
  app.add_option("--calibrate-method", o.calibrate_method,
                 "With --quantize int8: the range of a value. minmax: all numbers of the samples; "
                 "percentile[:P]: the middle P percent (99.99); entropy: the most similar "
                 "distribution; mse: the smallest squared error")
      ->type_name("METHOD")
      ->capture_default_str()
      ->needs(quantize);
  app.add_flag("--symmetric", o.symmetric,
               "With --quantize int8: zero points are 0, except those that the specification fixes")
      ->needs(quantize);
  app.add_flag("--per-tensor", o.per_tensor,
               "With --quantize: one scale for all weights of a tensor")
      ->needs(quantize);
  app.add_flag("--bias-correction", o.bias_correction,
               "With --quantize: change biases so that the means of all channels over the samples "
               "stay")
      ->needs(quantize);
  app.add_flag("--equalize", o.equalize,
               "With --quantize: scale the channels between two convolutions so that their weights "
               "have equal ranges (cross-layer equalization)")
      ->needs(quantize);
  app.add_flag("--integer-interface", o.integer_interface,
               "With --quantize int8: inputs and outputs are integers, too, where an integer "
               "operator takes or computes them")
      ->needs(quantize);
}

Status CheckQuantizeUsage(const ConvertArguments& o) {
  if (o.quantize.empty()) return {};
  NN_ASSIGN(const QuantizeForm form, FormOf(o.quantize));
  NN_RETURN_IF_ERROR(MethodOf(o.calibrate_method).map([](const RangeChoice&) {}));
  NN_RETURN_IF_ERROR(CheckSamples(o, form));
  if (form.weights_only && (o.symmetric || o.integer_interface))
    return UsageError("{} requires --quantize int8",
                      o.symmetric ? "--symmetric" : "--integer-interface");
  if (o.per_tensor && (form.block > 0 || form.table_bits > 0))
    return UsageError("--per-tensor does not apply to --quantize {}", o.quantize);
  return {};
}

QuantizeSettings QuantizeSettingsOf(const ConvertArguments& o, const Format& source,
                                    const Format& target, std::function<bool(const Node&)> keeps) {
  const QuantizeForm form = FormOf(o.quantize).value_or(QuantizeForm());
  const RangeChoice choice = MethodOf(o.calibrate_method).value_or(RangeChoice());
  QuantizeSettings s;
  s.weights_only = form.weights_only;
  s.options.type = form.type;
  s.options.block = form.block;
  s.options.table_bits = form.table_bits;
  s.options.per_tensor = o.per_tensor;
  s.options.symmetric = o.symmetric;
  s.options.keeps = std::move(keeps);
  s.options.rounding = target.name == "onnx" ? Rounding::kHalfEven : Rounding::kHalfAway;
  s.equalize = o.equalize;
  s.correct_biases = o.bias_correction;
  s.integer_interface = o.integer_interface;
  s.calibration.method = choice.method;
  s.calibration.percentile = choice.percentile;
  if (o.calibrate.empty()) return s;
  if (const auto seeded = SeededText(o.calibrate[0]))
    s.calibration.seeded = NumberIn<uint64_t>(*seeded).value_or(0);
  else
    s.calibration.samples = [&o, &source](const Graph& graph,
                                          const std::function<Status(VerifyInputs)>& take) {
      return ForEachInputSet(o.calibrate, graph, source, o.arrays, o.limits, take);
    };
  return s;
}

}  // namespace nn::app

#include "apps/nnconvert/quantize_options.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/common/ports/port_arrays.h"
#include "base/text/from_chars.h"
#include "base/text/text.h"
#include "convert/quantize/quantize_text.h"

namespace nn::app {
namespace {

template <typename T>
std::optional<T> NumberIn(std::string_view text) {
  T value{};
  const auto [end, error] = FromChars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// N of "seeded:N"; nullopt for a path.
std::optional<std::string_view> SeededText(std::string_view text) {
  constexpr std::string_view kPrefix = "seeded:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  return text.substr(kPrefix.size());
}

nnsuite::QuantizeOptions OptionsOf(const ConvertArguments& o) {
  nnsuite::QuantizeOptions out;
  out.form = o.quantize;
  out.method = o.calibrate_method;
  out.symmetric = o.symmetric;
  out.per_tensor = o.per_tensor;
  out.bias_correction = o.bias_correction;
  out.equalize = o.equalize;
  out.integer_interface = o.integer_interface;
  return out;
}

Status CheckSamples(const ConvertArguments& o, bool weights_only) {
  const bool needs_samples = !weights_only || o.bias_correction;
  if (needs_samples && o.calibrate.empty())
    return UsageError(
        "{} needs samples of the model's inputs: --calibrate FILE.npz or DIR with real data; "
        "--calibrate seeded:16 takes random numbers, whose ranges are rarely those of real data",
        weights_only ? "--bias-correction" : "--quantize int8");
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
  NN_ASSIGN(const QuantizeSettings s, nn::QuantizeSettingsOf(OptionsOf(o), *FindFormat("onnx")));
  return CheckSamples(o, s.weights_only);
}

QuantizeSettings QuantizeSettingsOf(const ConvertArguments& o, const Format& source,
                                    const Format& target, std::function<bool(const Node&)> keeps) {
  QuantizeSettings s = nn::QuantizeSettingsOf(OptionsOf(o), target).value_or(QuantizeSettings());
  s.options.keeps = std::move(keeps);
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

#include "apps/nnconvert/quantize_options.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/text/from_chars.h"
#include "base/text/text.h"

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

// Limit of options: samples of --calibrate seeded:N.
constexpr uint64_t kMaxSeeded = 100000;

}  // namespace

Status SetSeededSamples(ConvertArguments& o) {
  for (const std::string& text : o.calibrate) {
    const auto seeded = SeededText(text);
    if (!seeded) continue;
    const auto count = NumberIn<uint64_t>(*seeded);
    if (o.calibrate.size() > 1 || !count || *count == 0 || *count > kMaxSeeded)
      return UsageError("--calibrate {}: expected seeded:N alone, with N from 1 to {}", Quote(text),
                        kMaxSeeded);
    o.quantize->seeded = *count;
  }
  return {};
}

bool TakesSampleFiles(const ConvertArguments& o) {
  return !o.calibrate.empty() && !SeededText(o.calibrate[0]);
}

Status CheckSamples(const ConvertArguments& o) {
  if (!o.quantize) return {};
  const bool weights_only = o.quantize->form != "int8";
  const bool needs_samples = !weights_only || o.quantize->bias_correction;
  if (needs_samples && o.calibrate.empty())
    return UsageError(
        "{} needs samples of the model's inputs: --calibrate FILE.npz or DIR with real data; "
        "--calibrate seeded:16 takes random numbers, whose ranges are rarely those of real data",
        weights_only ? "--bias-correction" : "--quantize int8");
  if (!needs_samples && !o.calibrate.empty())
    return UsageError("--calibrate has no effect on weights without --bias-correction");
  return {};
}

}  // namespace nn::app

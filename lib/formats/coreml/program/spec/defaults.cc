#include "formats/coreml/program/spec/defaults.h"

#include <algorithm>
#include <charconv>

namespace nn::coreml::program {
namespace {

// What a default repeats for each axis: "1...".
constexpr std::string_view kEach = "...";

}  // namespace

std::optional<double> DefaultNumber(std::string_view text) {
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<double>> DefaultNumbers(std::string_view text, int count) {
  if (text.ends_with(kEach)) {
    const auto each = DefaultNumber(text.substr(0, text.size() - kEach.size()));
    if (!each) return std::nullopt;
    return std::vector<double>(static_cast<size_t>(std::max(count, 0)), *each);
  }
  std::vector<double> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const auto number = DefaultNumber(text.substr(0, end));
    if (!number) return std::nullopt;
    out.push_back(*number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace nn::coreml::program

#include "formats/coreml/program/spec/defaults.h"

#include <algorithm>
#include <charconv>

namespace nn::coreml::program {

Result<double> NumberIn(std::string_view text) {
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return InternalError("{} is not a number", text);
  return value;
}

Result<std::vector<double>> NumbersIn(std::string_view text, int count) {
  if (text.ends_with(kEach)) {
    NN_ASSIGN(const double each, NumberIn(text.substr(0, text.size() - kEach.size())));
    return std::vector<double>(static_cast<size_t>(std::max(count, 0)), each);
  }
  std::vector<double> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    NN_ASSIGN(out.emplace_back(), NumberIn(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace nn::coreml::program

#include "formats/input_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "base/text/text.h"

namespace nn {
namespace {

Result<std::vector<int64_t>> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  while (!text.empty()) {
    int64_t v = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
    if (r.ec != std::errc() || v < 0)
      return UsageError("{} is not a list of sizes such as 1,3,224,224", Quote(text));
    text.remove_prefix(static_cast<size_t>(r.ptr - text.data()));
    shape.push_back(v);
    if (text.empty()) break;
    if (text[0] != ',' || text.size() == 1)
      return UsageError("{} is not a list of sizes such as 1,3,224,224", Quote(text));
    text.remove_prefix(1);
  }
  return shape;
}

// Names may contain colons: the shape follows the last one.
Result<std::pair<std::string, std::vector<int64_t>>> ParseInputShape(std::string_view option,
                                                                     const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return UsageError("{} {}: expected NAME:SIZE,SIZE,...", option, Quote(text));
  auto shape = ParseShape(std::string_view(text).substr(colon + 1));
  if (!shape) return tl::unexpected(shape.error().In(std::string(option)));
  return std::pair(text.substr(0, colon), *std::move(shape));
}

}  // namespace

Result<InputShapes> InputShapesOf(std::string_view option, const std::vector<std::string>& texts) {
  InputShapes shapes;
  for (const std::string& text : texts) {
    NN_ASSIGN(auto shape, ParseInputShape(option, text));
    if (!shapes.insert(std::move(shape)).second)
      return UsageError("{} {}: the input already has a shape", option, Quote(text));
  }
  return shapes;
}

std::vector<std::string> TextsOf(const InputShapes& shapes) {
  std::vector<std::string> out;
  for (const auto& [name, dims] : shapes)
    out.push_back(fmt::format("{}:{}", name, fmt::join(dims, ",")));
  return out;
}

Result<InputLengths> InputLengthsOf(const std::vector<std::string>& texts) {
  InputLengths lengths;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    int64_t length = 0;
    const char* const end = value.data() + value.size();
    const auto r = std::from_chars(value.data(), end, length);
    const bool is_number = r.ec == std::errc() && r.ptr == end && length >= 0;
    if (!is_number && value != "none")
      return UsageError("--length {}: expected NAME=NUMBER or NAME=none", Quote(text));
    if (!lengths
             .emplace(text.substr(0, equals),
                      is_number ? std::optional<int64_t>(length) : std::nullopt)
             .second)
      return UsageError("--length {}: the input already has a length", Quote(text));
  }
  return lengths;
}

std::vector<std::string> TextsOf(const InputLengths& lengths) {
  std::vector<std::string> out;
  for (const auto& [name, n] : lengths)
    out.push_back(fmt::format("{}={}", name, n ? std::to_string(*n) : "none"));
  return out;
}

ListLengths ListLengthsOf(const InputLengths& lengths) {
  ListLengths out;
  for (const auto& [name, length] : lengths) out.emplace(name, length.value_or(kAbsent));
  return out;
}

}  // namespace nn

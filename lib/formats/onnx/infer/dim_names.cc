#include "formats/onnx/infer/dim_names.h"

#include <fmt/format.h>

#include <charconv>

namespace nn::onnx {
namespace {

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<Dim> NumberOf(std::string_view word) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return Dim(value);
}

}  // namespace

Status DimNames::Bind(std::string_view name, const Dim& dim) {
  if (const auto number = NumberOf(name)) {
    NN_RETURN_IF_ERROR(context_.Same(*number, dim, "dimension"));
    return {};
  }
  const auto it = dims_.find(name);
  if (it == dims_.end()) {
    dims_.emplace(name, dim);
    return {};
  }
  NN_ASSIGN(it->second, context_.Same(it->second, dim, fmt::format("dimension {}", name)));
  return {};
}

Status DimNames::Match(size_t i, std::string_view names) {
  const Dims* dims = context_.dims(i);
  if (dims == nullptr) return {};
  const auto words = Words(names);
  if (dims->size() != words.size())
    return ModelError("input {} is {}; its shape must be [{}]", i, context_.in(i).ToString(),
                      fmt::join(words, ", "));
  for (size_t d = 0; d < words.size(); ++d)
    if (auto s = Bind(words[d], (*dims)[d]); !s)
      return tl::unexpected(s.error().In(fmt::format("input {}", i)));
  return {};
}

Dims DimNames::Make(std::string_view names) {
  Dims out;
  for (const std::string_view word : Words(names)) {
    if (const auto number = NumberOf(word)) {
      out.push_back(*number);
      continue;
    }
    const auto it = dims_.find(word);
    out.push_back(it == dims_.end() ? context_.Unknown() : it->second);
  }
  return out;
}

std::optional<int64_t> DimNames::Number(std::string_view name) const {
  const auto it = dims_.find(name);
  if (it == dims_.end() || !it->second.is_const()) return std::nullopt;
  return it->second.value();
}

}  // namespace nn::onnx

// The names of enumerators while compiling, from what the compiler calls a template argument.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace nn {

// "kSameShape" of Label::kSameShape; "" for values without a name.
template <auto kValue>
consteval std::string_view EnumeratorName() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("kValue = ") + 9);
  text = text.substr(0, text.find_first_of(";]"));
  if (text.empty() || text[0] == '(') return {};
  const size_t scope = text.rfind("::");
  return scope == std::string_view::npos ? text : text.substr(scope + 2);
}

// The names of the enumerators first, first + 1, ..., first + n - 1.
template <typename E, int first, size_t n>
consteval std::array<std::string_view, n> EnumeratorNames() {
  return []<size_t... i>(std::index_sequence<i...>) {
    return std::array<std::string_view, n>{
        EnumeratorName<static_cast<E>(first + static_cast<int>(i))>()...};
  }
  (std::make_index_sequence<n>());
}

// The words of the names of enumerators: "same_shape" of kSameShape, "windows3d" of kWindows3d.
template <typename E, size_t n, char separator>
struct EnumeratorWords {
  static constexpr size_t kMax = 64;
  static constexpr std::array<std::array<char, kMax>, n> kTexts = [] {
    std::array<std::array<char, kMax>, n> texts{};
    const std::array<std::string_view, n> names = EnumeratorNames<E, 0, n>();
    for (size_t i = 0; i < n; ++i) {
      size_t size = 0;
      for (const char c : names[i].substr(1)) {  // without "k"
        const bool capital = c >= 'A' && c <= 'Z';
        if (capital && size > 0) texts[i][size++] = separator;
        texts[i][size++] = capital ? static_cast<char>(c - 'A' + 'a') : c;
      }
    }
    return texts;
  }();
  static constexpr std::array<std::string_view, n> kWords = [] {
    std::array<std::string_view, n> words;
    for (size_t i = 0; i < n; ++i) words[i] = std::string_view(kTexts[i].data());
    return words;
  }();
};

}  // namespace nn

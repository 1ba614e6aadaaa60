#include "base/unicode.h"

#include <utf8proc.h>

namespace nn {
namespace {

template <typename Fn>
std::optional<std::string> MapCharacters(std::string_view text, Fn map) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    if (!c.code_point) return std::nullopt;
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t n = utf8proc_encode_char(map(*c.code_point), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    text.remove_prefix(c.bytes);
  }
  return out;
}

// utf8proc maps sharp s to its capital letter, which Unicode's simple mapping does not.
int32_t ToUpper(int32_t c) {
  constexpr int32_t kSharpS = 0xDF;
  return c == kSharpS ? c : utf8proc_toupper(c);
}

}  // namespace

Character FirstCharacter(std::string_view text) {
  utf8proc_int32_t c = -1;
  const utf8proc_ssize_t n =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &c);
  if (n <= 0) return {1, std::nullopt};
  return {static_cast<size_t>(n), c};
}

bool IsWhiteSpace(int32_t code_point) {
  constexpr int32_t kNextLine = 0x85;
  if ((code_point >= '\t' && code_point <= '\r') || code_point == kNextLine) return true;
  const utf8proc_category_t category = utf8proc_category(code_point);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::optional<std::string> LowerCase(std::string_view text) {
  return MapCharacters(text, utf8proc_tolower);
}

std::optional<std::string> UpperCase(std::string_view text) {
  return MapCharacters(text, ToUpper);
}

std::optional<std::string> FoldCase(std::string_view text) {
  // Capitals first: several small letters may have one capital, as the two forms of sigma.
  return MapCharacters(text, [](int32_t c) { return utf8proc_tolower(ToUpper(c)); });
}

}  // namespace nn

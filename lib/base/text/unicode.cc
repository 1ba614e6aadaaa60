#include "base/text/unicode.h"

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

size_t ControlLength(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  const auto in = [](uint32_t c, uint32_t first, uint32_t last) { return c >= first && c <= last; };
  const uint32_t c = at(0);
  if (c < 0x20 || c == 0x7F) return 1;
  if (c == 0xC2) return in(at(1), 0x80, 0x9F) ? 2 : 0;
  if (c == 0xD8) return at(1) == 0x9C ? 2 : 0;  // U+061C
  if (c != 0xE2) return 0;
  if (at(1) == 0x80) return in(at(2), 0x8E, 0x8F) || in(at(2), 0xA8, 0xAE) ? 3 : 0;
  return at(1) == 0x81 && in(at(2), 0xA6, 0xA9) ? 3 : 0;
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

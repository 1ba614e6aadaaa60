#include "tensorio/unicode.h"

#include <cstdint>

namespace nn {
namespace {

void AppendUtf8(uint32_t c, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::optional<std::string> Utf8FromUtf32(std::string_view utf32) {
  const auto unit = [&](size_t i) {
    uint32_t c = 0;
    for (size_t k = 4; k-- > 0;) c = c << 8 | static_cast<uint8_t>(utf32[i * 4 + k]);
    return c;
  };
  size_t count = utf32.size() / 4;
  while (count > 0 && unit(count - 1) == 0) --count;
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t c = unit(i);
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return std::nullopt;
    AppendUtf8(c, out);
  }
  return out;
}

std::string Utf32FromUtf8(std::string_view utf8) {
  std::string out;
  for (size_t i = 0; i < utf8.size();) {
    const auto first = static_cast<uint8_t>(utf8[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t c = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t k = 1; k < length; ++k) c = c << 6 | (static_cast<uint8_t>(utf8[i + k]) & 0x3Fu);
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(c >> shift);
    i += length;
  }
  return out;
}

}  // namespace nn

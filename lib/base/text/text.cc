#include "base/text/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text/unicode.h"

namespace nn {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `s` (RFC 3629), 0 if there is none.
size_t Utf8Length(std::string_view s) {
  const auto at = [&](size_t i) { return i < s.size() ? static_cast<uint8_t>(s[i]) : 0u; };
  const auto continuation = [&](size_t i) { return (at(i) & 0xC0u) == 0x80u; };
  const uint32_t c = at(0);
  if (c < 0x80) return s.empty() ? 0 : 1;
  if (c >= 0xC2 && c <= 0xDF) return continuation(1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    if (!continuation(1) || !continuation(2)) return 0;
    if (c == 0xE0 && at(1) < 0xA0) return 0;  // overlong
    if (c == 0xED && at(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    if (!continuation(1) || !continuation(2) || !continuation(3)) return 0;
    if (c == 0xF0 && at(1) < 0x90) return 0;
    if (c == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// "\\xe2\\x80\\xae".
std::string HexEscapes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  return out;
}

std::string EscapeText(std::string_view text, bool quotes) {
  const auto is_plain = [&](char c) {
    return c >= 0x20 && c < 0x7F && (!quotes || (c != '"' && c != '\\'));
  };
  std::string out;
  out.reserve(text.size());
  while (true) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
    if (text.empty()) return out;
    const size_t n = Utf8Length(text);
    if (n == 1) {
      switch (text[0]) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\r':
          out += "\\r";
          break;
        default:
          out += HexEscapes(text.substr(0, 1));
      }
    } else if (n > 1 && ControlLength(text) > 0) {
      out += HexEscapes(text.substr(0, n));
    } else if (n > 1) {
      out += text.substr(0, n);
    } else {
      out += HexEscapes(text.substr(0, 1));
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
}

}  // namespace

std::string Escape(std::string_view text) {
  return EscapeText(text, true);
}

std::string EscapeControls(std::string_view text) {
  return EscapeText(text, false);
}

std::string EscapeLines(std::string_view text, std::string_view line_end) {
  std::string out;
  while (true) {
    const size_t end = text.find('\n');
    out += EscapeControls(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += line_end;
    text.remove_prefix(end + 1);
  }
}

std::string Quote(std::string_view text) {
  return "\"" + Escape(text) + "\"";
}

std::string JsonPointerToken(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string WithThousands(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string HumanBytes(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not a continuation byte
  }));
}

bool IsPlainText(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t n = Utf8Length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

}  // namespace nn

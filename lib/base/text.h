// Small helpers for text that is printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nn {

// `text` with control characters, quotes, backslashes and invalid UTF-8 escaped, so that a name
// from a file cannot change a terminal, a log line or a quoted string.
std::string Escape(std::string_view text);

// Escape() of text that stands alone: quotes and backslashes stay as they are.
std::string EscapeControls(std::string_view text);

// EscapeControls() of text of several lines, which then end in `line_end`.
std::string EscapeLines(std::string_view text, std::string_view line_end = "\n");

// "\"" + Escape(text) + "\"".
std::string Quote(std::string_view text);

// 1234567 -> "1,234,567".
std::string WithThousands(uint64_t value);

// 1536 -> "1.5 KiB".
std::string HumanBytes(uint64_t bytes);

// A member's name as a part of a JSON pointer (RFC 6901).
std::string JsonPointerToken(std::string_view name);

// True when `text` is a well-formed UTF-8 string.
bool IsUtf8(std::string_view text);

}  // namespace nn

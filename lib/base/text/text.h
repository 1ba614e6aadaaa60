// Helpers for printed text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nn {

// `text` with quotes, backslashes, invalid UTF-8 and controls (ControlLength() of
// base/text/unicode.h) escaped, so that a name from a file cannot corrupt a terminal, a log line or
// a quoted string.
std::string Escape(std::string_view text);

// Like Escape(), but keeps quotes and backslashes. For text that is not quoted.
std::string EscapeControls(std::string_view text);

// EscapeControls() for each line; lines are joined with `line_end`.
std::string EscapeLines(std::string_view text, std::string_view line_end = "\n");

// "\"" + Escape(text) + "\"".
std::string Quote(std::string_view text);

// 1234567 -> "1,234,567".
std::string WithThousands(uint64_t value);

// 1536 -> "1.5 KiB".
std::string HumanBytes(uint64_t bytes);

// Escapes a member name for use in a JSON pointer (RFC 6901).
std::string JsonPointerToken(std::string_view name);

// The width of UTF-8 text in terminal cells, one per character.
size_t DisplayWidth(std::string_view text);

// True when `text` has no control characters other than tabs and line ends.
bool IsPlainText(std::string_view text);

// True when `text` is a well-formed UTF-8 string.
bool IsUtf8(std::string_view text);

}  // namespace nn

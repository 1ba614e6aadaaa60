// Characters of UTF-8 text, by the tables of utf8proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nn {

// The number of bytes of the first character, and its code point. A byte that does not begin a
// well-formed sequence is a character of its own, without a code point.
struct Character {
  size_t bytes = 0;
  std::optional<int32_t> code_point;
};
// Requires text that is not empty.
Character FirstCharacter(std::string_view text);

// The bytes of the first character if it does not show, but changes how the text around it does;
// 0 for all others. Such are the controls of ASCII and Unicode (U+0000 to U+001F, U+007F to
// U+009F), the separators of lines and paragraphs (U+2028, U+2029), and what changes the direction
// of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). Requires text that is not
// empty.
size_t ControlLength(std::string_view text);

// Whether the code point has Unicode's property White_Space.
bool IsWhiteSpace(int32_t code_point);

// Unicode's simple case mappings: one character becomes one character, in every locale. nullopt if
// the text is not UTF-8.
std::optional<std::string> LowerCase(std::string_view text);
std::optional<std::string> UpperCase(std::string_view text);
// A form that is equal for texts that differ only in case.
std::optional<std::string> FoldCase(std::string_view text);

}  // namespace nn

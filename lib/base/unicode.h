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

// Whether the code point has Unicode's property White_Space.
bool IsWhiteSpace(int32_t code_point);

// Unicode's simple case mappings: one character becomes one character, in every locale. nullopt if
// the text is not UTF-8.
std::optional<std::string> LowerCase(std::string_view text);
std::optional<std::string> UpperCase(std::string_view text);
// A form that is equal for texts that differ only in case.
std::optional<std::string> FoldCase(std::string_view text);

}  // namespace nn

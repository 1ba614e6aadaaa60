// Converts between UTF-8 and the UTF-32 of NumPy's Unicode strings (little-endian, padded with
// NULs).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nn {

// Requires a multiple of 4 bytes; drops trailing NULs. nullopt for surrogates and values above
// U+10FFFF.
std::optional<std::string> Utf8FromUtf32(std::string_view utf32);

// Requires IsUtf8(utf8).
std::string Utf32FromUtf8(std::string_view utf8);

}  // namespace nn

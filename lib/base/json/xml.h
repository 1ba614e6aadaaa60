// XML escaping.
#pragma once

#include <string>
#include <string_view>

namespace nn {

// Escapes `text` for XML character data or attribute values: markup characters and line breaks
// become references. The caller must escape control characters, which XML cannot represent.
std::string EscapeXml(std::string_view text);

}  // namespace nn

// Text in XML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace nn {

// `text` as character data or an attribute's value: markup and line breaks as references. Control
// characters, which XML does not have, are the caller's to escape.
std::string EscapeXml(std::string_view text);

}  // namespace nn

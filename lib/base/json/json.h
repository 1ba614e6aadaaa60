// JSON output.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nn {

// Members keep their insertion order, so that equal data gives equal bytes.
using Json = nlohmann::ordered_json;

// Escapes controls (ControlLength() of base/text/unicode.h) from U+007F on as \uXXXX. JSON allows
// them in strings, but terminals and viewers interpret them.
std::string EscapeJsonControls(std::string json);

// Indented text with a final newline. Invalid UTF-8 is replaced with U+FFFD; NaN and infinities,
// which JSON cannot represent, become null.
inline std::string JsonText(const Json& json) {
  return EscapeJsonControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace nn

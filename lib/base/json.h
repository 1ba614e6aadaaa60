// JSON that programs write.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nn {

// Members keep the order in which they were added, so that the same facts give the same bytes.
using Json = nlohmann::ordered_json;

// JSON text with the control characters that JSON allows in strings, and terminals obey, as
// \uXXXX: U+007F to U+009F.
std::string EscapeJsonControls(std::string json);

// Indented text with a final newline. Bytes that are not UTF-8 become U+FFFD; NaN and infinities,
// which JSON cannot say, become null.
inline std::string JsonText(const Json& json) {
  return EscapeJsonControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace nn

// Parses JSON text to a tree in linear time, apart from member lookups.
//
// nlohmann's own parser with a callback scans a list at the end of each object, and keeps the last
// of several members with the same name.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nn {

// Callbacks during parsing; an error ends the parse. Null callbacks are skipped.
struct JsonHooks {
  // An object or array begins; `depth` is the number of enclosing ones.
  std::function<Status(int depth)> open;
  // A scalar value, before it is stored.
  std::function<Status(nlohmann::json& value)> value;
  // A duplicate member name in an object.
  std::function<Error(const std::string& name)> repeated;
};

// Errors: kParse ("not JSON: ...") for invalid JSON, and those of the hooks.
Result<nlohmann::json> ParseJson(std::string_view text, const JsonHooks& hooks);

// What an exception of the library means, in words for users: what is wrong with the document, and
// where the text is no JSON, its place.
std::string JsonErrorText(const nlohmann::json::exception& e);

}  // namespace nn

// JSON text to a tree, in steps linear in the text but for the lookup of members.
//
// nlohmann's own parser with a callback looks through a list at the end of each of its objects, and
// takes the last of several members of one name.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nn {

// What is asked on the way; an error ends the parse. Null: nothing.
struct JsonHooks {
  // An object or array begins; `depth` of them are open around it.
  std::function<Status(int depth)> open;
  // A value that is not an object or array, before it takes its place.
  std::function<Status(nlohmann::json& value)> value;
  // A name that its object has already.
  std::function<Error(const std::string& name)> repeated;
};

// kParse ("not JSON: ...") for what is not JSON.
Result<nlohmann::json> ParseJson(std::string_view text, const JsonHooks& hooks);

}  // namespace nn

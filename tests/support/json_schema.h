// Checks JSON against a JSON Schema, for the keywords that our schemas use.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"

namespace nn::test {

// What is wrong, one line each: a JSON pointer and a reason; empty if the value is valid. Keywords
// that the checker does not support are reported too: nothing is ignored.
std::vector<std::string> SchemaErrors(const Json& schema, const Json& value);

}  // namespace nn::test

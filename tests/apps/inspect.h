// nninspect's JSON.
#pragma once

#include <string>

#include "base/json/json.h"

namespace nn::test {

// The output of nninspect --format json, checked against its schema.
Json Inspect(const std::string& arguments);

}  // namespace nn::test

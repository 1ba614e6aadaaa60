// nninspect's JSON.
#pragma once

#include <string>

#include "base/json.h"

namespace nn::test {

// What nninspect --format json prints, checked against its schema.
Json Inspect(const std::string& arguments);

}  // namespace nn::test

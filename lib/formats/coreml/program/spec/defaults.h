// The numbers in the defaults of the specification texts.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn::coreml::program {

// What a default repeats for each axis ends in this: "1...".
inline constexpr std::string_view kEach = "...";

// A number, or "true" or "false".
Result<double> NumberIn(std::string_view text);
// The numbers of a default: "1...", "0.5", "1 1". `count`: of those that it repeats.
Result<std::vector<double>> NumbersIn(std::string_view text, int count);

}  // namespace nn::coreml::program

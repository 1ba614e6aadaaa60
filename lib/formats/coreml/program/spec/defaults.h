// The numbers of defaults in rows: "1...", "0.5", "1 1".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace nn::coreml::program {

// nullopt if it is not a number. "true" is 1.
std::optional<double> DefaultNumber(std::string_view text);

// `count`: the length of a default that is one number for all; nullopt if a part is not a number.
std::optional<std::vector<double>> DefaultNumbers(std::string_view text, int count);

}  // namespace nn::coreml::program

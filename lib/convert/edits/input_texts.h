// Shapes and lengths of inputs from the texts of the programs' options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/given_inputs.h"

namespace nn {

// "NAME:1,3,224,224" each, where names may contain colons. kUsage, with the name of the option, for
// other texts, and for an input with two shapes.
Result<InputShapes> InputShapesOf(std::string_view option, const std::vector<std::string>& texts);

// The texts of such shapes.
std::vector<std::string> TextsOf(const InputShapes& shapes);

// --length: "NAME=3" or "NAME=none" each; std::nullopt for "none".
using InputLengths = std::map<std::string, std::optional<int64_t>>;
Result<InputLengths> InputLengthsOf(const std::vector<std::string>& texts);

// The same as the import takes them.
ListLengths ListLengthsOf(const InputLengths& lengths);

}  // namespace nn

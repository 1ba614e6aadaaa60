// Expands nnvalidate's arguments to model files.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace nn::app {

// A file, or "-", is kept as it is; a folder is replaced by all files below it with the extension
// of a model, except hidden files and links to folders; a pattern ("models/**/*.onnx") by its
// matches. In the order of the arguments, sorted within each argument, without duplicates. A folder
// that is a model itself (.mlpackage) counts as a file. kUsage for a folder or pattern without
// models.
Result<std::vector<std::string>> ExpandModels(const std::vector<std::string>& arguments);

}  // namespace nn::app

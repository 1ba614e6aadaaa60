// The model files that nnvalidate's arguments stand for.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace nn::app {

// Files as they are given, "-" included; of folders, all files below them that have a model's
// extension, hidden ones and links to folders aside; of patterns ("models/**/*.onnx"), what
// matches. In the order of the arguments, sorted within one, each once. A folder that is a model
// itself
// (.mlpackage) counts as a file. kUsage for folders and patterns without a model.
Result<std::vector<std::string>> ExpandModels(const std::vector<std::string>& arguments);

}  // namespace nn::app

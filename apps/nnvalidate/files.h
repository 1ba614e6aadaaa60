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
struct ModelFile {
  std::string path;
  bool named = false;  // an argument itself, which configurations do not exclude
};
Result<std::vector<ModelFile>> ExpandModels(const std::vector<std::string>& arguments);

// Whether a pattern matches a path or a folder of it. Both are relative to the same folder. "**"
// matches any number of folders. A pattern without "/" matches a name at any depth.
bool MatchesPath(const std::string& pattern, const std::string& path);

}  // namespace nn::app

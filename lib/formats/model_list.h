// Expands arguments to model files.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace nn {

// A file, or "-", is kept as it is; a folder is replaced by all files below it with the extension
// of a model, except hidden files and links to folders; a pattern ("models/**/*.onnx") by its
// matches. In the order of the arguments, sorted within each argument, without duplicates. A folder
// that is a model itself (.mlpackage) counts as a file. kUsage for a folder or pattern without
// models.
struct ModelFile {
  std::string path;
  bool named = false;  // an argument itself, which configurations do not exclude
  std::string name;    // below the folder, or below the parts of a pattern without wildcards
};
Result<std::vector<ModelFile>> ExpandModels(const std::vector<std::string>& arguments);

// The folder that the names of models are relative to: the argument, or the part of a pattern
// before the first wildcard.
std::string FolderOfModels(const std::string& argument);

// Whether the argument is a pattern: it has wildcards, and there is no file of that name.
bool IsPattern(const std::string& argument);

// Whether the argument is expanded: a folder that is no model itself, or a pattern.
bool StandsForModels(const std::string& argument);

// Whether a pattern matches a path or a folder of it. Both are relative to the same folder. "**"
// matches any number of folders. A pattern without "/" matches a name at any depth.
bool MatchesPath(const std::string& pattern, const std::string& path);

}  // namespace nn

// Which models of a folder are converted to which files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

struct PlannedModel {
  std::string name;  // relative to the folder
  std::string input;
  std::string output;  // "" without an output folder
};

struct FolderPlan {
  std::vector<PlannedModel> models;  // sorted by name
  uint64_t skipped = 0;              // files that are not models
};

// The models below the folder `input` (IsModel), or those that the pattern `input` matches, and
// their files below `output`, with the extension of the format in place of that of a model. Hidden
// files and folders are ignored. Links to folders are not followed, nor are links out of the
// folder. `output` may be empty, for a dry run.
//
// kUsage if there are no models, if two models would become one file, and if a file would be
// written to the folder `input`. kIo for folders that cannot be read.
Result<FolderPlan> PlanFolder(const std::string& input, const std::string& output,
                              const Format& format);

}  // namespace nn

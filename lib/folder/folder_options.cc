#include "folder/folder_options.h"

#include <cstdint>
#include <vector>

#include "nnsuite/folder.h"

namespace nn {
namespace {

// Limit of options: the number of --jobs.
constexpr int64_t kMaxJobs = 1000;

}  // namespace

OptionTable FolderOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&nnsuite::FolderOptions::jobs>(
          "jobs", {.help = "Folders: number of models to convert at the same time; they share "
                           "memory and processors; 0: one per processor; default 1",
                   .value = "N",
                   .group = kFolderGroup,
                   .effects = kNoResult,
                   .least = 0,
                   .most = kMaxJobs}),
      Option<&nnsuite::FolderOptions::force>(
          "force", {.help = "Folders: also convert models that have not changed since the last run",
                    .group = kFolderGroup,
                    .effects = kNoResult}),
  };
  return fields;
}

}  // namespace nn

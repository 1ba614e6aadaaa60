// Converts all models of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/json/json.h"
#include "base/status.h"
#include "folder/convert_report.h"
#include "folder/plan.h"
#include "formats/format.h"
#include "nnsuite/folder.h"

namespace nn {

// Ends the conversion of a folder if it has an error. For the progress of a model's conversion.
using FolderTick = std::function<Status()>;

struct FolderJob {
  std::string input;   // a folder, or a pattern
  std::string output;  // "" in a dry run
  const Format* format = nullptr;
  uint64_t jobs = 1;  // nnsuite::FolderOptions
  bool force = false;
  bool dry_run = false;
  Json key = {};  // what decides what is written, or how it is verified
  // Called when the folders of the outputs exist, with the number of models at the same time, which
  // share memory and processors (ShareAmong()). Null: nothing.
  std::function<Status(size_t jobs)> begin = nullptr;
  // Converts a model, with digests of all files. Called for several models at the same time.
  std::function<Status(const PlannedModel&, const FolderTick&, ConvertReport&)> convert = nullptr;
  // Told how many of the models are done, and again with each tick of a model's conversion. An
  // error ends the conversion of the folder. Called by one thread at a time. Null: not told.
  std::function<Status(uint64_t done, uint64_t total)> progress = nullptr;
  // Told of a state file that is damaged. Null: not told.
  std::function<void(const std::string&)> warn = nullptr;
};

// Whether `path` matches several models: a pattern, or a folder that is not itself a model, or
// known to be something else.
bool IsFolderOfModels(const std::string& path);

// Converts the models below a folder (folder/plan.h). A model whose conversion fails does not stop
// the others: its error is in the report. Models whose files have not changed since a conversion
// with the same key (folder/state.h) are skipped, unless `force` is set.
//
// Errors are those of PlanFolder and of the callbacks. kUsage if `output` is a file. kIo if the
// output folder cannot be written. Models that are done by then stay, and are not converted again.
Result<FolderReport> ConvertFolder(const FolderJob& job);

}  // namespace nn

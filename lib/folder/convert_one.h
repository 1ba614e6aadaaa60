// Converts one model file: edits in its own format first, then the conversion.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "convert/convert.h"
#include "edit/plan.h"
#include "folder/convert_report.h"
#include "formats/format.h"
#include "nnsuite/convert.h"

namespace nn {

struct FileJob {
  nnsuite::ConvertOptions options = {};
  std::string input = {};  // as those of ConvertJob; `output` may be empty in a dry run
  std::string output = {};
  edit::EditOptions edits = {};
  const Format* format = nullptr;  // null: a dump, which `dump` writes
  bool digests = false;            // of all files
  // What the caller does in the conversion of a model of this format. Null: nothing.
  std::function<ConvertHooks(const Format& source)> hooks = nullptr;
  std::function<Status(const ReadModel&, ConvertReport&)> dump = nullptr;
};

bool HasNativeEdits(const edit::EditOptions& edits);

// The conversion of a model of this format, after the edits.
ConvertJob JobOf(const FileJob& file, const Format& source);

// Edits the model of the job, and verifies the edit unless it changes only texts.
Result<edit::EditReport> ApplyNativeEdits(const edit::EditOptions& edits, const ConvertJob& job,
                                          ReadModel& read);

// Adds the digests of files beside the model at `path`.
Status AddDigests(const std::string& path, const std::vector<std::string>& beside,
                  std::vector<FileDigest>& files);

// Fills in the report as far as the conversion got, but not ConvertReport::error. May be called
// concurrently. Errors are those of ReadModelFile, edit::ApplyEdits and ConvertOrCopy.
Status ConvertOne(const FileJob& file, ConvertReport& report);

}  // namespace nn

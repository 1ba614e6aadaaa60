// Stages the files of a model until they are checked. Objects may be used by one thread at a time;
// several objects may have the same target, also in several processes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file.h"
#include "base/file/staging.h"
#include "base/status.h"
#include "formats/format.h"

namespace nn {

// Reports that `done` of `total` bytes are written: 0 at the beginning, `total` at the end. An
// error ends the writing.
using WriteProgress = std::function<Status(uint64_t done, uint64_t total)>;

// The files of a model, written but not yet in place, so that they can be read back, side files
// included, before the target changes. A single file has no name; several are in a staging folder
// beside the target, under their final names.
//
// Owns the staged files: its destructor removes those that are not in place.
class StagedModel {
 public:
  // `target` may be "-". kUsage for side files outside the target's folder, for side files of a
  // model on standard output or a device, and for side files named by the model that are hidden or
  // exist with different contents (SideFile::keep_existing). Also kUsage for a folder model if the
  // target is a file, or a folder with other contents.
  // `progress` may be null.
  static Result<StagedModel> Write(const FileImage& image, const std::string& target,
                                   const WriteProgress& progress = nullptr);

  // The path of the written model: a file, or a folder.
  const std::string& path() const { return model_; }
  // Reads it back, side files included.
  Result<ReadModel> Read(const ReadLimits& limits = {}) const;

  // Moves the files into place: first the side files, which replace nothing, then the model,
  // atomically. On failure, files that were moved are removed again.
  Status Commit();
  // Whether Commit() may fail with lost_name(), so that other names must be tried.
  bool needs_names() const { return kind_ == Kind::kWithSideFiles; }
  // Whether Commit() failed because another program took the name of a side file.
  bool lost_name() const { return lost_name_; }

 private:
  enum class Kind : uint8_t {
    kFile,           // alone
    kDirect,         // on standard output, a pipe or a device
    kWithSideFiles,  // in folder_
    kFolder,         // in folder_
  };

  StagedModel() = default;
  class Writer;
  Status WriteSideFile(const SideFile& side, Writer& writer);
  Status CommitFolder();

  Kind kind_ = Kind::kFile;
  std::string target_;
  std::string model_;
  AtomicFile file_;  // kFile, kDirect
  StagingFolder folder_;
  std::vector<std::string> side_files_;
  bool lost_name_ = false;
};

// The first side file not named by the model that exists beside `target` with different contents.
// It needs another name, because nothing is replaced. nullptr if there is none.
Result<const SideFile*> FindTakenName(const FileImage& image, const std::string& target);

// A name like `name`, derived from the contents of all side files that the model did not name.
std::string FreeName(const FileImage& image, std::string_view name);

}  // namespace nn

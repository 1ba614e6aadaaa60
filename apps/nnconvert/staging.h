// A converted model on its way to its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/staging.h"
#include "base/status.h"
#include "formats/format.h"

namespace nn::app {

// The files of a model, written but not yet in their places, so that they can be read back, side
// files included, before anything changes. One file has no name; several lie in a staging folder
// beside the target, under the names that they will have.
class StagedModel {
 public:
  // `target` may be "-". kUsage for side files that lie outside the target's folder, that a model
  // on standard output or on a device would have, or that a model names and a copy does not make:
  // hidden ones, and those whose place has other contents (SideFile::keep_existing); for a model
  // that is a folder where there is a file, or a folder with other things in it.
  static Result<StagedModel> Write(const FileImage& image, const std::string& target);

  // The model as it was written: a file, or a folder.
  const std::string& path() const { return model_; }
  // Reads it again, its side files included.
  Result<ReadModel> Read() const;

  // Puts the files in their places: side files first, none of which replaces anything, then the
  // model, which is there completely or not at all. If that fails, what was put in place is removed
  // again.
  Status Commit();
  // Whether Commit() may fail so that other names must be tried (lost_name).
  bool needs_names() const { return kind_ == Kind::kWithSideFiles; }
  // Whether Commit() failed because another program took the name of a side file meanwhile.
  bool lost_name() const { return lost_name_; }

 private:
  enum class Kind : uint8_t {
    kFile,           // alone
    kDirect,         // on standard output, a pipe or a device
    kWithSideFiles,  // in folder_
    kFolder,         // in folder_
  };

  StagedModel() = default;
  Status WriteSideFile(const SideFile& side);
  Status CommitFolder();

  Kind kind_ = Kind::kFile;
  std::string target_;
  std::string model_;
  AtomicFile file_;  // kFile, kDirect
  StagingFolder folder_;
  std::vector<std::string> side_files_;
  bool lost_name_ = false;
};

// The first side file that was not named by the model and whose place beside `target` has other
// contents: it needs another name, for nothing is replaced. nullptr if there is none.
Result<const SideFile*> FindTakenName(const FileImage& image, const std::string& target);

// A name like `name` that follows from the contents of all side files that the model did not name.
std::string FreeName(const FileImage& image, std::string_view name);

}  // namespace nn::app

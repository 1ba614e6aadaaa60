// A converted model on its way to its place.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"

namespace nn::app {

// The files of a model in a folder of their own, beside the target, under the names that they will
// have: so they can be read back, side files included, before anything stands in its place.
class StagedModel {
 public:
  StagedModel(StagedModel&& other) noexcept;
  StagedModel& operator=(StagedModel&&) = delete;
  ~StagedModel();  // removes the folder and what is still in it

  // `target` may be "-". kUsage for side files that lie outside the target's folder, that a model
  // on standard output or on a device would have, or whose place is taken
  // (SideFile::keep_existing); for a model that is a folder where there is a file, or a folder with
  // other things in it.
  static Result<StagedModel> Write(const FileImage& image, const std::string& target);

  // The model file in the folder.
  const std::string& path() const { return model_; }
  // Moves the files to their places, side files first, or the folder to its own; each is there
  // completely or not at all.
  Status Commit();

 private:
  StagedModel() = default;
  Status WriteSideFile(const SideFile& side);

  std::string target_;
  std::string folder_;
  std::string model_;
  std::vector<std::string> side_files_;
  bool direct_ = false;     // the target is no regular file
  bool is_folder_ = false;  // the model is a folder with all files in it
};

}  // namespace nn::app

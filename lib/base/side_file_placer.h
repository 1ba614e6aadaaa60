// Puts files beside one that names them: a model's weights, a dump's tensors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/blob.h"
#include "base/file_descriptor.h"
#include "base/status.h"

namespace nn {

// Files that are put beside one that names them: a model's, a dump's. None of them replaces
// anything, so whoever reads what named the files before still finds them.
class SideFilePlacer {
 public:
  // Side files lie beneath `directory`, which is locked while this lives.
  explicit SideFilePlacer(std::string directory);
  SideFilePlacer(const SideFilePlacer&) = delete;
  SideFilePlacer& operator=(const SideFilePlacer&) = delete;
  ~SideFilePlacer();  // removes what was added, unless Keep() was called

  // Moves a file of the same file system to `relative`, a plain path; folders are created, symbolic
  // links not followed. Nothing is done if the same bytes are there already; false if anything else
  // is there.
  Result<bool> Add(const std::string& staged, const std::string& relative);
  // The file that names them has taken its place.
  void Keep() { added_.clear(); }

 private:
  struct Added {
    FileDescriptor folder;
    std::string name;
    bool is_folder;
  };
  std::string directory_;
  FileDescriptor lock_;
  std::vector<Added> added_;
};

// What is at the place of a side file: nothing, a file of these bytes, or something else.
enum class SidePlace : uint8_t { kFree, kSame, kTaken };
// Requires a plain relative path; kTaken also for what ReadFileBeneath refuses to open.
Result<SidePlace> LookAtSidePlace(const std::string& directory, const std::string& relative,
                                  std::span<const Blob> contents);

// "dir/w-0123456789abcdef.bin" for "dir/w.bin": a name that follows from the contents of files.
std::string NameByContents(std::string_view name, std::span<const std::span<const Blob>> files);

}  // namespace nn

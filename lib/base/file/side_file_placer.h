// Places side files, such as a model's weights or a dump's tensors, beside the file that refers to
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/file/file_descriptor.h"
#include "base/status.h"

namespace nn {

// Places side files without replacing existing files, so that readers of the previous version of
// the main file still find its side files.
class SideFilePlacer {
 public:
  // Side files are placed below `directory`, which is locked during the lifetime of this object.
  explicit SideFilePlacer(std::string directory);
  SideFilePlacer(const SideFilePlacer&) = delete;
  SideFilePlacer& operator=(const SideFilePlacer&) = delete;
  ~SideFilePlacer();  // removes the added files unless Keep() was called

  // Moves a file on the same file system to `relative`, a plain relative path; creates folders and
  // does not follow symbolic links. Does nothing if a file with the same contents exists; returns
  // false if something else exists there.
  Result<bool> Add(const std::string& staged, const std::string& relative);
  // Call after the main file has been committed.
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

// What exists at the path of a side file: nothing, a file with the same contents, or something
// else.
enum class SidePathState : uint8_t { kFree, kSame, kTaken };
// Requires a plain relative path. Returns kTaken also for files that ReadFileBeneath rejects.
Result<SidePathState> CheckSidePath(const std::string& directory, const std::string& relative,
                                    std::span<const Blob> contents);

// "dir/w-0123456789abcdef.bin" for "dir/w.bin": adds a digest of the files' contents to the name.
std::string NameByContents(std::string_view name, std::span<const std::span<const Blob>> files);

}  // namespace nn

// Names for what is written before it takes its place. Staging files and folders lie beside their
// place under names that begin with kStagingPrefix, locked (flock) by the process that writes them:
// what has no lock was left by a process that is gone, and the next one removes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/status.h"

namespace nn {

inline constexpr std::string_view kStagingPrefix = ".nn-staging-";

// A staging name that RemoveStaging() removes as long as this lives. The file or folder itself
// belongs to the caller.
class StagingName {
 public:
  StagingName() = default;
  // A random name in the folder; "" is the current one.
  explicit StagingName(std::string_view folder);
  StagingName(StagingName&& other) noexcept;
  StagingName& operator=(StagingName&& other) noexcept;
  ~StagingName();

  const std::string& path() const { return path_; }
  bool empty() const { return path_.empty(); }

 private:
  std::string path_;
  int slot_ = -1;
};

// A new file beneath a staging name, locked and open for reading and writing, private to its owner.
struct StagingFile {
  FileDescriptor fd;
  StagingName name;  // empty where the file has no name in any folder (O_TMPFILE)
};
// errno if there cannot be one. Removes what is left of other processes in the folder.
tl::expected<StagingFile, int> CreateStagingFile(const std::string& folder);

// A new folder beneath a staging name, which is removed with all that is in it.
class StagingFolder {
 public:
  StagingFolder() = default;
  StagingFolder(StagingFolder&&) noexcept = default;
  StagingFolder& operator=(StagingFolder&&) noexcept = default;
  ~StagingFolder();

  // errno if there cannot be one. Removes what is left of other processes in `folder`.
  static tl::expected<StagingFolder, int> Create(const std::string& folder);

  const std::string& path() const { return name_.path(); }

 private:
  StagingName name_;
  FileDescriptor lock_;
};

// Removes what processes that are gone have left in the folder; looks once at each folder.
void SweepStaging(const std::string& folder);

// Removes all staging of this process; for handlers of signals that end it (async-signal-safe).
void RemoveStaging() noexcept;

// A lock on the folder, so that programs of this suite put their files in place one after the
// other. Waits up to a few seconds; without a lock afterwards where the system has none.
FileDescriptor LockFolder(const std::string& folder);

}  // namespace nn

// Staging files and folders: output that is written before it is moved to its destination. They are
// in the destination's folder, have names that begin with kStagingPrefix, and are locked (flock) by
// the process that writes them. Unlocked ones were left behind by a process that died; the next
// process removes them.
//
// Design: docs/design/045-atomic-output.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file/file_descriptor.h"
#include "base/status.h"

namespace nn {

inline constexpr std::string_view kStagingPrefix = ".nn-staging-";

// A staging name, registered with RemoveStaging() during its lifetime. The caller owns the file or
// folder itself.
class StagingName {
 public:
  StagingName() = default;
  // A random name in the folder; "" is the current folder.
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

// A new file with a staging name: locked, open for reading and writing, and accessible to its owner
// only.
struct StagingFile {
  FileDescriptor fd;
  StagingName name;  // empty for an unnamed file (O_TMPFILE)
};
// Creates a staging file; returns errno on failure. Sweeps the folder first (see SweepStaging).
tl::expected<StagingFile, int> CreateStagingFile(const std::string& folder);

// A new folder with a staging name. The destructor removes it with its contents.
class StagingFolder {
 public:
  StagingFolder() = default;
  StagingFolder(StagingFolder&&) noexcept = default;
  StagingFolder& operator=(StagingFolder&&) noexcept = default;
  ~StagingFolder();

  // Returns errno on failure. Sweeps `folder` first (see SweepStaging).
  static tl::expected<StagingFolder, int> Create(const std::string& folder);

  const std::string& path() const { return name_.path(); }

 private:
  StagingName name_;
  FileDescriptor lock_;
};

// The folder for temporary files, as the environment has it.
Result<std::string> TemporaryFolder();

// Removes staging files and folders that dead processes left in the folder. Each folder is scanned
// once per process.
void SweepStaging(const std::string& folder);

// Removes all staging files and folders of this process. Async-signal-safe, for handlers of fatal
// signals.
void RemoveStaging() noexcept;

// Locks the folder, so that programs of this suite move files into it one at a time. Waits a few
// seconds; returns without a lock if it times out or the file system has no locks.
FileDescriptor LockFolder(const std::string& folder);

}  // namespace nn

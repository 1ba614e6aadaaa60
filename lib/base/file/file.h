// Reads whole files, and writes files atomically.
// Design: docs/design/045-atomic-output.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/file/staging.h"
#include "base/status.h"

namespace nn {

// Default upper bound of one input file: 64 GiB.
inline constexpr uint64_t kMaxFileBytes = uint64_t{64} << 30;
// Default upper bound of the bytes read from one pipe: 2 GiB.
inline constexpr uint64_t kMaxPipedBytes = uint64_t{2} << 30;

// Returns the bytes of a file. A regular file is mapped read-only, so its pages are read on first
// access; a pipe or "-" (standard input) is read into memory. kIo for directories and devices;
// kLimit for a file above `max_bytes` and a pipe with more than `max_piped` bytes.
Result<Blob> ReadFile(const std::string& path, uint64_t max_bytes = kMaxFileBytes,
                      uint64_t max_piped = kMaxPipedBytes);

// Tells the system to evict the pages of a mapped blob; they are read again on the next access.
// Does nothing for other blobs.
void DropResidentPages(const Blob& blob);

// The path without "." and empty components; nullopt unless it names something below a folder:
// paths that are empty, absolute, contain ".." or NUL, end in "/" or are longer than 4096 bytes.
std::optional<std::string> PlainRelativePath(std::string_view path);

// Whether PlainRelativePath() would return the path unchanged.
bool IsPlainRelativePath(std::string_view path);

// Opens `relative` beneath `directory` and returns its bytes. kModel for absolute paths, "..",
// symbolic links that leave the directory, hard links and anything that is not a regular file; file
// type and links are checked on the opened file. kLimit above `max_bytes`, kIo for other failures.
// A model's external data must be opened with this function only.
Result<Blob> ReadFileBeneath(const std::filesystem::path& directory, std::string_view relative,
                             uint64_t max_bytes = kMaxFileBytes);

// The file that writing to `path` replaces: `path` itself, or the target of a symbolic link.
// nullopt for destinations that cannot be replaced: "-" (standard output), devices, pipes,
// directories.
std::optional<std::string> ReplaceableFile(const std::string& path);

// The size of a file, or of all files in a folder; nullopt if it cannot be determined.
std::optional<uint64_t> BytesOnDisk(const std::string& path);

// The folder of a path; "" for a bare name.
std::string ParentFolder(const std::string& path);

// Writes a file atomically: bytes go to a staging file in the folder of ReplaceableFile(path), and
// Commit() renames it. The new file inherits the mode and, where the system permits it, the owner
// of the file it replaces. "-" is standard output; devices and pipes are written directly;
// directories are rejected with kIo.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes the staging file unless Commit() succeeded

  static Result<AtomicFile> Create(const std::string& path) { return Create(path, path); }
  // Error messages use `shown` as the file's name.
  static Result<AtomicFile> Create(const std::string& path, const std::string& shown);
  // A private temporary file. It has no destination and must not be committed.
  static Result<AtomicFile> CreateTemporary();

  // Write errors are recorded and returned by Commit().
  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text) { Write(std::as_bytes(std::span(text))); }
  // Writes the parts in order.
  void Write(std::span<const Blob> parts);
  // Overwrites or appends at `offset`. Requires a staging file.
  void WriteAt(uint64_t offset, std::span<const std::byte> bytes);
  // Bytes written so far.
  uint64_t size() const { return size_; }
  // A path to the staging file that is valid in this process; empty if there is no staging file.
  const std::string& temporary_path() const { return temporary_; }
  // The first write error so far.
  Status status() const;

  Status Commit();

 private:
  // Opens the staging file / moves it to its destination. Returns 0 or errno.
  int Stage(const std::string& folder);
  int Place();

  std::string path_;
  std::string shown_;  // in errors
  std::string temporary_;
  StagingFile staging_;  // without a name for O_TMPFILE and direct output
  bool is_standard_output_ = false;
  int error_ = 0;
  uint64_t size_ = 0;
};

// Copies mode and owner of the file or folder at `path` to the open one; if `path` does not exist,
// sets the default mode of new files. Returns 0 or errno.
int KeepModeAndOwner(int fd, const std::string& path);

// Writes a file with AtomicFile: the bytes, or the parts in order. Errors name the file `shown`.
Status WriteFile(const std::string& path, std::span<const std::byte> bytes);
Status WriteFile(const std::string& path, std::span<const Blob> parts);
Status WriteFile(const std::string& path, std::span<const Blob> parts, const std::string& shown);
Status WriteFile(const std::string& path, std::string_view text);

}  // namespace nn

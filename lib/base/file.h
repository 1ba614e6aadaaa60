// Reading whole files, and writing them so that they are complete or not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/blob.h"
#include "base/staging.h"
#include "base/status.h"

namespace nn {

// Default upper bound of one input file: 64 GiB.
inline constexpr uint64_t kMaxFileBytes = uint64_t{64} << 30;
// Of one pipe: 2 GiB.
inline constexpr uint64_t kMaxPipedBytes = uint64_t{2} << 30;

// The bytes of a file. A regular file is mapped read-only (its pages are read when touched); a pipe
// or "-" (standard input) is read into memory. Directories and devices are refused with kIo, a file
// above `max_bytes` and a pipe of more than `max_piped` bytes with kLimit.
Result<Blob> ReadFile(const std::string& path, uint64_t max_bytes = kMaxFileBytes,
                      uint64_t max_piped = kMaxPipedBytes);

// Lets the system drop the pages of a mapped blob from memory; they are read again when touched.
// Does nothing for other blobs.
void DropResidentPages(const Blob& blob);

// The path without "." and empty parts; nullopt if it is none below a folder: empty, absolute, with
// "..", a "/" at its end, or longer than 4096 bytes.
std::optional<std::string> PlainRelativePath(std::string_view path);

// Whether it is a path below a folder: not empty, not absolute, without "..", "." and empty parts,
// of at most 4096 bytes.
bool IsPlainRelativePath(std::string_view path);

// Opens `relative` beneath `directory` and returns its bytes. Refused with kModel: absolute paths,
// "..", symbolic links that leave the directory, hard links, anything that is not a regular file.
// What is checked is the file that was opened. This is the one way in which a model's external data
// is opened.
Result<Blob> ReadFileBeneath(const std::filesystem::path& directory, std::string_view relative,
                             uint64_t max_bytes = kMaxFileBytes);

// The file that is replaced when `path` is written: `path` itself, or where a symbolic link leads.
// nullopt for what can only be written to: "-" (standard output), devices, pipes, directories.
std::optional<std::string> ReplaceableFile(const std::string& path);

// The folder in which a path lies, "" for a name alone.
std::string ParentFolder(const std::string& path);

// Writes a file so that it is either there and complete or not there at all: bytes go to a
// staging file in the folder of ReplaceableFile(path), which Commit() puts in its place. A file
// that is replaced leaves its mode and, where the system allows it, its owner to the new one. "-"
// is standard output; devices and pipes are written to directly, directories refused with kIo.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes the staging file if Commit() was not called

  static Result<AtomicFile> Create(const std::string& path);
  // A file of the process alone, which Commit() gives no place.
  static Result<AtomicFile> CreateTemporary();

  // Failures are remembered and reported by Commit().
  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text) { Write(std::as_bytes(std::span(text))); }
  // The parts one after the other.
  void Write(std::span<const Blob> parts);
  // Overwrites from `offset` on, or appends there; for staging files only.
  void WriteAt(uint64_t offset, std::span<const std::byte> bytes);
  // Bytes written so far.
  uint64_t size() const { return size_; }
  // A path of the staging file, for this process; empty where there is none.
  const std::string& temporary_path() const { return temporary_; }
  // The failure so far.
  Status status() const;

  Status Commit();

 private:
  // Opens the staging file, or gives it its place; 0 or errno.
  int Stage(const std::string& folder);
  int Place();

  std::string path_;
  std::string temporary_;
  StagingFile staging_;  // without a name: O_TMPFILE, or no staging file at all
  bool is_standard_output_ = false;
  int error_ = 0;
  uint64_t size_ = 0;
};

// Mode and owner of the file or folder at `path` become those of the open one, if there is one at
// `path`; otherwise it becomes as readable as any new file. 0 or errno.
int KeepModeAndOwner(int fd, const std::string& path);

// AtomicFile in one call: the bytes, or the parts one after the other.
Status WriteFile(const std::string& path, std::span<const std::byte> bytes);
Status WriteFile(const std::string& path, std::span<const Blob> parts);
Status WriteFile(const std::string& path, std::string_view text);

}  // namespace nn

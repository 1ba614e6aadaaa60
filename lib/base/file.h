// Reading and writing whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/blob.h"
#include "base/status.h"

namespace nn {

// Default upper bound of one input file: 64 GiB.
inline constexpr uint64_t kMaxFileBytes = uint64_t{64} << 30;

// The bytes of a file. A regular file is mapped read-only (its pages are read when touched); a pipe
// or "-" (standard input) is read into memory. Directories and devices are refused with kIo, a file
// above `max_bytes` with kLimit.
Result<Blob> ReadFile(const std::string& path, uint64_t max_bytes = kMaxFileBytes);

// Lets the system drop the pages of a mapped blob from memory; they are read again when touched.
// Does nothing for other blobs.
void DropResidentPages(const Blob& blob);

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

// Writes a file so that it is either there and complete or not there at all: bytes go to a
// temporary file beside ReplaceableFile(path), which Commit() renames. "-" is standard output;
// devices and pipes are written to directly, directories refused with kIo.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes the temporary file if Commit() was not called

  static Result<AtomicFile> Create(const std::string& path);

  // Failures are remembered and reported by Commit().
  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text) { Write(std::as_bytes(std::span(text))); }
  // Bytes written so far.
  uint64_t size() const { return size_; }
  // Path of the temporary file, for libraries that write by name; empty where there is none.
  const std::string& temporary_path() const { return temporary_; }

  Status Commit();

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  int error_ = 0;
  uint64_t size_ = 0;
};

// AtomicFile in one call: the bytes, or the parts one after the other.
Status WriteFile(const std::string& path, std::span<const std::byte> bytes);
Status WriteFile(const std::string& path, std::span<const Blob> parts);
Status WriteFile(const std::string& path, std::string_view text);

}  // namespace nn

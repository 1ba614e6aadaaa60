#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "base/file/file_descriptor.h"
#include "base/file/mapping.h"

namespace nn {
namespace {

// The message for a write error on standard output; EBADF means that it was closed before the
// program started. See OpenStandardFiles() in apps/common.
std::string OutputError(int code) {
  return code == EBADF ? "is closed" : ErrnoText(code);
}

// The mask of the process, without setting it: files that other threads create at that moment would
// have the wrong mode. Linux 4.7 and later report it; otherwise only the owner may read new files.
mode_t ModeOfNewFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kName = "Umask:";
    if (!line.starts_with(kName)) continue;
    const size_t at = line.find_first_not_of(" \t", kName.size());
    mode_t mask = 0;
    if (at == std::string::npos ||
        std::from_chars(line.data() + at, line.data() + line.size(), mask, 8).ec != std::errc())
      break;
    return 0666 & ~mask;
  }
  return 0600;
}

// A file system may report write errors only on close(); closing a duplicate descriptor reports
// them, too.
int FlushErrors([[maybe_unused]] int fd) {
#ifdef __EMSCRIPTEN__
  return 0;  // whose duplicates are new descriptors of the same path
#else
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return errno;
  return close(copy) == 0 || errno == EINTR ? 0 : errno;
#endif
}

}  // namespace

int KeepModeAndOwner(int fd, const std::string& path) {
  constexpr mode_t kAccess = 0777;
  struct stat old {
  }, own{};
  if (stat(path.c_str(), &old) != 0) {
    if (errno != ENOENT) return errno;
    return fchmod(fd, ModeOfNewFiles()) == 0 ? 0 : errno;
  }
  if (fstat(fd, &own) != 0) return errno;
  mode_t mode = old.st_mode & kAccess;
  if ((own.st_uid != old.st_uid || own.st_gid != old.st_gid) &&
      fchown(fd, old.st_uid, old.st_gid) != 0 && own.st_gid != old.st_gid &&
      fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0)
    // The group could not be kept: the new group gets only the permissions of others.
    mode = (mode & ~mode_t{070}) | ((mode & mode_t{07}) << 3);
  return fchmod(fd, mode) == 0 ? 0 : errno;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept {
  *this = std::move(other);
}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(shown_, other.shown_);
  std::swap(temporary_, other.temporary_);
  std::swap(staging_, other.staging_);
  std::swap(is_standard_output_, other.is_standard_output_);
  std::swap(error_, other.error_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (!staging_.name.empty()) unlink(staging_.name.path().c_str());
}

Result<AtomicFile> AtomicFile::Create(const std::string& path, const std::string& shown) {
  AtomicFile file;
  file.path_ = path;
  file.shown_ = shown;
  if (path == "-") {
    file.staging_.fd = FileDescriptor(STDOUT_FILENO);
    file.is_standard_output_ = true;
    return file;
  }
  const auto replaceable = ReplaceableFile(path);
  if (!replaceable) {
    file.staging_.fd =
        FileDescriptor(Retry([&] { return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); }));
    if (!file.staging_.fd) return IoError("{}: {}", shown, ErrnoText(errno));
    return file;
  }
  file.path_ = *replaceable;
  if (const int error = file.Stage(ParentFolder(*replaceable)); error != 0)
    return IoError("{}: {}", shown, ErrnoText(error));
  return file;
}

Result<AtomicFile> AtomicFile::CreateTemporary() {
  NN_ASSIGN(const std::string folder, TemporaryFolder());
  AtomicFile file;
  file.shown_ = "a temporary file in " + folder;
  if (const int failed = file.Stage(folder); failed != 0)
    return IoError("{}: {}", file.shown_, ErrnoText(failed));
  return file;
}

int AtomicFile::Stage(const std::string& folder) {
  auto staging = CreateStagingFile(folder);
  if (!staging) return staging.error();
  staging_ = *std::move(staging);
  temporary_ = staging_.name.empty() ? fmt::format("/proc/self/fd/{}", staging_.fd.get())
                                     : staging_.name.path();
  return 0;
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  const int fd = staging_.fd.get();
  if (error_ == 0) {
    const size_t copied = CopyFromMapping(bytes, fd);
    size_ += copied;
    bytes = bytes.subspan(copied);
  }
  while (!bytes.empty() && error_ == 0) {
    const ssize_t n = Retry([&] { return write(fd, bytes.data(), bytes.size()); });
    if (n < 0) {
      error_ = errno;
      return;
    }
    size_ += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void AtomicFile::Write(std::span<const Blob> parts) {
  for (const Blob& part : parts) {
    size_t at = 0;
    part.Visit([&](std::span<const std::byte> piece) {
      Write(piece);
      // Mapped bytes that have been written need not stay in memory.
      DropResidentPages(part.Slice(at, piece.size()));
      at += piece.size();
      return error_ == 0;
    });
  }
}

void AtomicFile::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  size_ = std::max(size_, offset + bytes.size());
  while (!bytes.empty() && error_ == 0) {
    const ssize_t n = Retry([&] {
      return pwrite(staging_.fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (n < 0) {
      error_ = errno;
      return;
    }
    offset += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

int AtomicFile::Place() {
  const char* target = path_.c_str();
  const int fd = staging_.fd.get();
  if (const int error = KeepModeAndOwner(fd, path_); error != 0) return error;
  if (!staging_.name.empty()) return rename(staging_.name.path().c_str(), target) == 0 ? 0 : errno;
  const auto link = [&](const char* to) {
    return linkat(AT_FDCWD, temporary_.c_str(), AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(target)) return 0;
  if (errno != EEXIST) return errno;
  // linkat() cannot replace a file: link under a staging name, then rename.
  const StagingName name(ParentFolder(path_));
  if (!link(name.path().c_str())) return errno;
  if (rename(name.path().c_str(), target) == 0) return 0;
  const int error = errno;
  unlink(name.path().c_str());
  return error;
}

Status AtomicFile::status() const {
  if (error_ == 0) return {};
  if (is_standard_output_) return IoError("standard output: {}", OutputError(error_));
  return IoError("{}: {}", shown_, ErrnoText(error_));
}

Status AtomicFile::Commit() {
  if (error_ == 0) error_ = FlushErrors(staging_.fd.get());
  if (error_ == 0 && !temporary_.empty()) error_ = Place();
  if (error_ != 0) return status();
  temporary_.clear();
  staging_ = StagingFile();
  return {};
}

Status WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  file.Write(bytes);
  return file.Commit();
}

Status WriteFile(const std::string& path, std::span<const Blob> parts) {
  return WriteFile(path, parts, path);
}

Status WriteFile(const std::string& path, std::span<const Blob> parts, const std::string& shown) {
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path, shown));
  file.Write(parts);
  return file.Commit();
}

Status WriteFile(const std::string& path, std::string_view text) {
  return WriteFile(path, std::as_bytes(std::span(text)));
}

}  // namespace nn

#include "base/file/side_file_placer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#endif

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file/file.h"
#include "base/file/staging.h"
#include "base/sha256.h"
#include "base/text/text.h"

namespace nn {
namespace {

bool HasContents(const Blob& file, std::span<const Blob> parts) {
  size_t at = 0;
  for (const Blob& part : parts) {
    if (part.size() > file.size() - at) return false;
    bool equal = true;
    part.Visit([&](std::span<const std::byte> piece) {
      equal = std::memcmp(file.data() + at, piece.data(), piece.size()) == 0;
      at += piece.size();
      return equal;
    });
    if (!equal) return false;
  }
  return at == file.size();
}

FileDescriptor OpenFolder(const std::string& path) {
  const char* name = path.empty() ? "." : path.c_str();
  return FileDescriptor(Retry([&] { return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC); }));
}

// Does not follow symbolic links.
FileDescriptor OpenInnerFolder(int folder, const std::string& name) {
  return FileDescriptor(Retry(
      [&] { return openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
}

// Renames a file unless the name exists; returns 0 or errno.
int MoveIfFree(const std::string& from, int folder, const char* name) {
#ifdef __EMSCRIPTEN__
  // Neither links nor other processes.
  if (faccessat(folder, name, F_OK, 0) == 0) return EEXIST;
  return renameat(AT_FDCWD, from.c_str(), folder, name) == 0 ? 0 : errno;
#else
  if (renameat2(AT_FDCWD, from.c_str(), folder, name, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // The file system does not support RENAME_NOREPLACE.
  if (linkat(AT_FDCWD, from.c_str(), folder, name, 0) != 0) return errno;
  unlink(from.c_str());
  return 0;
#endif
}

}  // namespace

Result<SidePathState> CheckSidePath(const std::string& directory, const std::string& relative,
                                    std::span<const Blob> contents) {
  FileDescriptor at = OpenFolder(directory);
  std::string_view rest = relative;
  for (size_t slash = rest.find('/'); at && slash != std::string_view::npos;
       slash = rest.find('/')) {
    const std::string part(rest.substr(0, slash));
    at = OpenInnerFolder(at.get(), part);
    rest.remove_prefix(slash + 1);
  }
  struct stat st {};
  if (!at || fstatat(at.get(), std::string(rest).c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return SidePathState::kFree;
    // A component of the path is a file or a symbolic link.
    if (errno == ENOTDIR || errno == ELOOP) return SidePathState::kTaken;
    return IoError("{}: {}", relative, ErrnoText(errno));
  }
  if (!S_ISREG(st.st_mode)) return SidePathState::kTaken;
  const auto file = ReadFileBeneath(directory, relative);
  if (!file && file.error().code() != ErrorCode::kModel) return tl::unexpected(file.error());
  return file && HasContents(*file, contents) ? SidePathState::kSame : SidePathState::kTaken;
}

SideFilePlacer::SideFilePlacer(std::string directory)
    : directory_(std::move(directory)), lock_(LockFolder(directory_)) {}

SideFilePlacer::~SideFilePlacer() {
  for (auto a = added_.rbegin(); a != added_.rend(); ++a)
    unlinkat(a->folder.get(), a->name.c_str(), a->is_folder ? AT_REMOVEDIR : 0);
}

Result<bool> SideFilePlacer::Add(const std::string& staged, const std::string& relative) {
  const auto fail = [&](int error) { return IoError("{}: {}", relative, ErrnoText(error)); };
  NN_ASSIGN(const Blob contents, ReadFile(staged));
  NN_ASSIGN(const SidePathState place,
            CheckSidePath(directory_, relative, std::span(&contents, 1)));
  if (place != SidePathState::kFree) return place == SidePathState::kSame;
  FileDescriptor at = OpenFolder(directory_);
  if (!at) return fail(errno);
  std::string_view rest = relative;
  for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    const std::string part(rest.substr(0, slash));
    added_.reserve(added_.size() + 1);  // push_back below must not throw
    Added folder{.folder = {}, .name = part, .is_folder = true};
    const bool made = mkdirat(at.get(), part.c_str(), 0777) == 0;
    if (!made && errno != EEXIST) return fail(errno);
    const int parent = at.get();
    if (made) {
      folder.folder = std::move(at);
      added_.push_back(std::move(folder));
    }
    FileDescriptor inner = OpenInnerFolder(parent, part);
    if (!inner) return fail(errno);
    at = std::move(inner);
    rest.remove_prefix(slash + 1);
  }
  added_.reserve(added_.size() + 1);
  Added file{.folder = std::move(at), .name = std::string(rest), .is_folder = false};
  const int error = MoveIfFree(staged, file.folder.get(), file.name.c_str());
  if (error == EEXIST) return false;
  if (error != 0) return fail(error);
  added_.push_back(std::move(file));
  return true;
}

std::string NameByContents(std::string_view name, std::span<const std::span<const Blob>> files) {
  constexpr size_t kDigits = 16;
  Sha256 hash;
  for (const auto& parts : files) {
    uint64_t size = 0;
    for (const Blob& part : parts) size += part.size();
    hash.Number(size);
    for (const Blob& part : parts) hash.Contents(part);
  }
  const std::string digest = hash.Finish();
  const size_t slash = name.rfind('/');
  const size_t first = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.rfind('.');
  const size_t end = dot == std::string_view::npos || dot <= first ? name.size() : dot;
  return fmt::format("{}-{}{}", name.substr(0, end), digest.substr(digest.find(':') + 1, kDigits),
                     name.substr(end));
}

}  // namespace nn

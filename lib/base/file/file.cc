#include "base/file/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/file/file_descriptor.h"
#include "base/file/mapping.h"
#include "base/text/text.h"

namespace nn {
namespace {

// Reads to the end. Of a pipe that was opened without blocking, reads say that it is at its end
// until a program opens it to write; that is waited for as long as a shell may need to start one.
Result<Blob> ReadStream(int fd, const std::string& path, uint64_t max_bytes, std::string_view limit,
                        bool may_lack_writer = false) {
  constexpr size_t kChunk = size_t{1} << 20;
  constexpr int kTries = 100, kMilliseconds = 50;
  const auto wait = [&](int milliseconds) {
    pollfd ready = {fd, POLLIN, 0};
    return poll(&ready, 1, milliseconds) > 0;
  };
  auto bytes = std::make_shared<std::vector<std::byte>>();
  size_t have = 0;
  int tries = may_lack_writer ? kTries : 0;
  while (true) {
    if (have > max_bytes)
      return LimitError("{}: exceeds the limit of {} bytes ({})", path, max_bytes, limit);
    bytes->resize(have + kChunk);
    const ssize_t n = read(fd, bytes->data() + have, kChunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      tries = 0;
      wait(-1);
      continue;
    }
    if (n < 0) return IoError("{}: {}", path, ErrnoText(errno));
    if (n == 0 && tries > 0) {
      if (wait(kMilliseconds))
        tries = 0;  // bytes, or a writer that has ended
      else if (--tries == 0)
        return IoError("{}: no program writes to this pipe", path);
      continue;
    }
    if (n == 0) break;
    tries = 0;
    have += static_cast<size_t>(n);
  }
  bytes->resize(have);
  return Blob(std::span<const std::byte>(*bytes), bytes);
}

Result<Blob> ReadRegular(int fd, uint64_t size, const std::string& path, uint64_t max_bytes) {
  if (size > max_bytes)
    return LimitError("{}: {} bytes exceed the limit of {} bytes (max-file-bytes)", path, size,
                      max_bytes);
  if (size == 0) return Blob();
  auto mapped = MapFile(fd, size, path);
  return mapped ? mapped : ReadStream(fd, path, max_bytes, "max-file-bytes");
}

// Opens without following symbolic links, for systems without openat2.
FileDescriptor OpenComponents(FileDescriptor at, const std::filesystem::path& relative) {
  auto it = relative.begin();
  while (it != relative.end()) {
    const std::string part = *it++;
    const bool last = it == relative.end();
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    at = FileDescriptor(Retry([&] { return openat(at.get(), part.c_str(), flags); }));
    if (!at) break;
  }
  return at;
}

FileDescriptor OpenBeneath(const std::filesystem::path& directory,
                           const std::filesystem::path& relative) {
  const char* folder = directory.empty() ? "." : directory.c_str();
  FileDescriptor base(Retry([&] { return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!base) return base;
#ifdef __linux__
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  FileDescriptor file(
      static_cast<int>(syscall(SYS_openat2, base.get(), relative.c_str(), &how, sizeof(how))));
  if (file || (errno != ENOSYS && errno != EPERM)) return file;
#endif
  return OpenComponents(std::move(base), relative);
}

}  // namespace

Result<Blob> ReadFile(const std::string& path, uint64_t max_bytes, uint64_t max_piped) {
  const auto read_pipe = [&](int fd, const std::string& name, bool may_lack_writer) {
    const bool piped = max_piped < max_bytes;
    return ReadStream(fd, name, piped ? max_piped : max_bytes,
                      piped ? "max-piped-bytes" : "max-file-bytes", may_lack_writer);
  };
  if (path == "-") return read_pipe(STDIN_FILENO, "standard input", false);
  // Opening a pipe without O_NONBLOCK waits for a program that writes to it.
  const FileDescriptor file(
      Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!file) return IoError("{}: {}", path, ErrnoText(errno));
  struct stat st {};
  if (fstat(file.get(), &st) != 0) return IoError("{}: {}", path, ErrnoText(errno));
  if (S_ISREG(st.st_mode))
    return ReadRegular(file.get(), static_cast<uint64_t>(st.st_size), path, max_bytes);
  if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) return read_pipe(file.get(), path, true);
  return IoError("{}: {}", path, S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
}

Result<Blob> ReadFileBeneath(const std::filesystem::path& directory, std::string_view relative,
                             uint64_t max_bytes) {
  const std::filesystem::path path(relative);
  const std::string shown = "external file " + Quote(relative);
  if (relative.empty() || relative.find('\0') != std::string_view::npos)
    return ModelError("{}: not a valid file name", shown);
  if (path.is_absolute()) return ModelError("{}: must not be an absolute path", shown);
  for (const auto& part : path)
    if (part == "..") return ModelError("{}: must not contain \"..\"", shown);
  const FileDescriptor file = OpenBeneath(directory, path);
  if (!file) {
    if (errno == EXDEV || errno == ELOOP)
      return ModelError("{}: a symbolic link leaves the model's folder", shown);
    return IoError("{}: {}", shown, ErrnoText(errno));
  }
  struct stat st {};
  if (fstat(file.get(), &st) != 0) return IoError("{}: {}", shown, ErrnoText(errno));
  if (!S_ISREG(st.st_mode)) return ModelError("{}: not a regular file", shown);
  if (st.st_nlink > 1)
    return ModelError("{}: has other hard links, perhaps outside the model's folder; copy the file",
                      shown);
  return ReadRegular(file.get(), static_cast<uint64_t>(st.st_size), shown, max_bytes);
}

std::optional<std::string> ReplaceableFile(const std::string& path) {
  if (path == "-") return std::nullopt;
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return path;
  if (type != std::filesystem::file_type::regular) return std::nullopt;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

std::optional<uint64_t> BytesOnDisk(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? std::nullopt : std::optional<uint64_t>(bytes);
  }
  uint64_t total = 0;
  for (auto it = fs::recursive_directory_iterator(path, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error))
    if (it->is_regular_file(error)) total += it->file_size(error);
  return error ? std::nullopt : std::optional(total);
}

std::string ParentFolder(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::optional<std::string> PlainRelativePath(std::string_view path) {
  // Limit of all formats: characters of the path of a file in a Core ML package.
  constexpr size_t kMaxPath = 4096;
  if (path.empty() || path.size() > kMaxPath || path.front() == '/' || path.back() == '/' ||
      path.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::string out;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") (out += out.empty() ? "" : "/") += part;
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

bool IsPlainRelativePath(std::string_view path) {
  return PlainRelativePath(path) == path;
}

}  // namespace nn

#include "base/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

namespace nn {
namespace {

std::string ErrnoText(int code) {
  return std::generic_category().message(code);
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// All live file mappings, by address: DropResidentPages must never touch other memory. Large files
// stay open, so that bytes can be copied from file to file.
class MappingTable {
 public:
  struct Place {
    int fd = -1;  // -1: the file is not kept open
    off_t offset = 0;
  };

  static MappingTable& Get() {
    static MappingTable table;
    return table;
  }
  void Add(uintptr_t begin, size_t size, int fd) {
    constexpr size_t kLargeFile = size_t{16} << 20;
    constexpr size_t kMaxOpen = 256;
    const std::lock_guard lock(mutex_);
    const bool keep = size >= kLargeFile && open_ < kMaxOpen;
    FileDescriptor kept(keep ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1);
    open_ += kept ? 1 : 0;
    ranges_.insert_or_assign(begin, Range{begin + size, std::move(kept)});
  }
  void Remove(uintptr_t begin) {
    const std::lock_guard lock(mutex_);
    const auto it = ranges_.find(begin);
    open_ -= it->second.file ? 1 : 0;
    ranges_.erase(it);
  }
  // Where bytes come from; nullopt if that is no file.
  std::optional<Place> Find(const std::byte* bytes, size_t size) {
    const auto begin = reinterpret_cast<uintptr_t>(bytes);
    const std::lock_guard lock(mutex_);
    auto it = ranges_.upper_bound(begin);
    if (it == ranges_.begin() || begin + size > (--it)->second.end) return std::nullopt;
    return Place{it->second.file.get(), static_cast<off_t>(begin - it->first)};
  }

 private:
  struct Range {
    uintptr_t end;
    FileDescriptor file;
  };
  std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;
  size_t open_ = 0;
};

class Mapping {
 public:
  Mapping(void* address, size_t size, int fd) : address_(address), size_(size) {
    MappingTable::Get().Add(reinterpret_cast<uintptr_t>(address), size, fd);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    MappingTable::Get().Remove(reinterpret_cast<uintptr_t>(address_));
    munmap(address_, size_);
  }

 private:
  void* address_;
  size_t size_;
};

Result<Blob> ReadStream(int fd, const std::string& path, uint64_t max_bytes) {
  constexpr size_t kChunk = size_t{1} << 20;
  auto bytes = std::make_shared<std::vector<std::byte>>();
  size_t have = 0;
  while (true) {
    if (have > max_bytes)
      return LimitError("{}: more than the limit (max-file-bytes) of {} bytes", path, max_bytes);
    bytes->resize(have + kChunk);
    const ssize_t n = read(fd, bytes->data() + have, kChunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("{}: {}", path, ErrnoText(errno));
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes->resize(have);
  return Blob(std::span<const std::byte>(*bytes), bytes);
}

Result<Blob> ReadRegular(int fd, uint64_t size, const std::string& path, uint64_t max_bytes) {
  if (size > max_bytes)
    return LimitError("{}: {} bytes, the limit (max-file-bytes) is {}", path, size, max_bytes);
  if (size == 0) return Blob();
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return ReadStream(fd, path, max_bytes);
  return Blob({static_cast<const std::byte*>(address), size},
              std::make_shared<Mapping>(address, size, fd));
}

// Copies bytes of a mapped file to another without touching their pages. Returns how many: none
// where the system cannot do it.
size_t CopyFromFile(std::span<const std::byte> bytes, int to) {
  constexpr size_t kWorthwhile = size_t{64} << 10;
  if (bytes.size() < kWorthwhile) return 0;
  auto place = MappingTable::Get().Find(bytes.data(), bytes.size());
  if (!place || place->fd < 0) return 0;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        copy_file_range(place->fd, &place->offset, to, nullptr, bytes.size() - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

// Opens without following any symbolic link: for systems without openat2.
FileDescriptor OpenComponents(FileDescriptor at, const std::filesystem::path& relative) {
  auto it = relative.begin();
  while (it != relative.end()) {
    const std::string part = *it++;
    const bool last = it == relative.end();
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    at = FileDescriptor(openat(at.get(), part.c_str(), flags));
    if (!at) break;
  }
  return at;
}

FileDescriptor OpenBeneath(const std::filesystem::path& directory,
                           const std::filesystem::path& relative) {
  FileDescriptor base(
      open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base) return base;
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  FileDescriptor file(
      static_cast<int>(syscall(SYS_openat2, base.get(), relative.c_str(), &how, sizeof(how))));
  if (!file && (errno == ENOSYS || errno == EPERM))
    return OpenComponents(std::move(base), relative);
  return file;
}

}  // namespace

Result<Blob> ReadFile(const std::string& path, uint64_t max_bytes) {
  if (path == "-") return ReadStream(STDIN_FILENO, "standard input", max_bytes);
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return IoError("{}: {}", path, ErrnoText(errno));
  struct stat st {};
  if (fstat(file.get(), &st) != 0) return IoError("{}: {}", path, ErrnoText(errno));
  if (S_ISREG(st.st_mode))
    return ReadRegular(file.get(), static_cast<uint64_t>(st.st_size), path, max_bytes);
  if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) return ReadStream(file.get(), path, max_bytes);
  return IoError("{}: {}", path, S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
}

void DropResidentPages(const Blob& blob) {
  if (blob.empty()) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(blob.data());
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + blob.size()) / page * page;
  if (begin >= end || !MappingTable::Get().Find(blob.data(), blob.size())) return;
  madvise(const_cast<std::byte*>(blob.data()) + (begin - first), end - begin, MADV_DONTNEED);
}

Result<Blob> ReadFileBeneath(const std::filesystem::path& directory, std::string_view relative,
                             uint64_t max_bytes) {
  const std::filesystem::path path(relative);
  const std::string shown = fmt::format("external file \"{}\"", relative);
  if (relative.empty() || relative.find('\0') != std::string_view::npos)
    return ModelError("{}: not a file name", shown);
  if (path.is_absolute()) return ModelError("{}: absolute paths are refused", shown);
  for (const auto& part : path)
    if (part == "..") return ModelError("{}: leaves the model's folder", shown);
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
    return ModelError("{}: a hard link, so perhaps a file of somewhere else; copy it", shown);
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

bool IsPlainRelativePath(std::string_view path) {
  constexpr size_t kMaxPath = 4096;
  if (path.empty() || path.size() > kMaxPath || path.find('\0') != std::string_view::npos)
    return false;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept {
  *this = std::move(other);
}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
  std::swap(error_, other.error_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (fd_ > STDERR_FILENO) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  file.path_ = path;
  if (path == "-") {
    file.fd_ = STDOUT_FILENO;
    return file;
  }
  const auto replaceable = ReplaceableFile(path);
  if (!replaceable) {
    file.fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file.fd_ < 0) return IoError("{}: {}", path, ErrnoText(errno));
    return file;
  }
  file.path_ = *replaceable;
  std::string name = *replaceable + ".XXXXXX";
  file.fd_ = mkostemp(name.data(), O_CLOEXEC);
  if (file.fd_ < 0) return IoError("{}: {}", path, ErrnoText(errno));
  file.temporary_ = std::move(name);
  // mkostemp makes files private; a result is as readable as any other new file.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(file.fd_, 0666 & ~mask) != 0) return IoError("{}: {}", path, ErrnoText(errno));
  return file;
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  if (error_ == 0) {
    const size_t copied = CopyFromFile(bytes, fd_);
    size_ += copied;
    bytes = bytes.subspan(copied);
  }
  while (!bytes.empty() && error_ == 0) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno != EINTR) error_ = errno;
      continue;
    }
    size_ += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

Status AtomicFile::Commit() {
  if (fd_ == STDOUT_FILENO) {
    if (error_ != 0) return IoError("standard output: {}", ErrnoText(error_));
    return {};
  }
  if (error_ == 0 && close(std::exchange(fd_, -1)) != 0) error_ = errno;
  if (error_ == 0 && !temporary_.empty() && rename(temporary_.c_str(), path_.c_str()) != 0)
    error_ = errno;
  if (error_ != 0) return IoError("{}: {}", path_, ErrnoText(error_));
  temporary_.clear();
  return {};
}

Status WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  file.Write(bytes);
  return file.Commit();
}

Status WriteFile(const std::string& path, std::span<const Blob> parts) {
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  for (const Blob& part : parts) {
    // Mapped bytes that were written need not stay in memory.
    constexpr size_t kStep = size_t{4} << 20;
    for (size_t at = 0; at < part.size(); at += kStep) {
      const Blob piece = part.Slice(at, std::min(kStep, part.size() - at));
      file.Write(piece.bytes());
      DropResidentPages(piece);
    }
  }
  return file.Commit();
}

Status WriteFile(const std::string& path, std::string_view text) {
  return WriteFile(path, std::as_bytes(std::span(text)));
}

}  // namespace nn

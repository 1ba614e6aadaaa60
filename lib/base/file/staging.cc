#include "base/file/staging.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <thread>

namespace nn {
namespace {

constexpr size_t kRandomLetters = 16;
constexpr int kAttempts = 16;
// Without locks of files, those of a running process would look stale.
#ifdef __EMSCRIPTEN__
constexpr bool kHasLocks = false;
#else
constexpr bool kHasLocks = true;
#endif

// Paths that a signal handler may remove. A thread takes ownership of a path by exchanging its slot
// with null, so no path is freed while in use.
constexpr int kSlots = 256;
std::array<std::atomic<char*>, kSlots> slots;

int TakeSlot(const std::string& path) {
  char* copy = strdup(path.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  for (int i = 0; i < kSlots; ++i) {
    char* none = nullptr;
    if (slots[static_cast<size_t>(i)].compare_exchange_strong(none, copy)) return i;
  }
  std::free(copy);
  return -1;  // no slot: the next process removes it
}

std::string FolderPath(const std::string& folder) {
  return folder.empty() ? "." : folder;
}

FileDescriptor OpenToLock(const std::string& folder) {
  const std::string path = FolderPath(folder);
  return FileDescriptor(
      Retry([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

std::string RandomName() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  std::array<unsigned char, kRandomLetters> bytes{};
  // If it fails, the bytes stay 0; a name collision is retried.
  [[maybe_unused]] const int failed = getentropy(bytes.data(), bytes.size());
  std::string name(kStagingPrefix);
  for (const unsigned char b : bytes) name += kLetters[b % kLetters.size()];
  return name;
}

bool IsStagingName(std::string_view name) {
  return name.size() == kStagingPrefix.size() + kRandomLetters && name.starts_with(kStagingPrefix);
}

// ---- Removal, by system calls only (async-signal-safe) ------------------------------------------

struct DirectoryEntry {  // struct linux_dirent64 of getdents64(2)
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

constexpr int kMaxFolderDepth = 64;

// The next entries of a folder.
long ReadEntries(int folder, std::span<char> buffer) noexcept {
#ifdef __linux__
  return syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
#else
  return getdents(folder, reinterpret_cast<dirent*>(buffer.data()), buffer.size());
#endif
}

void RemoveAt(int folder, const char* name, int depth) noexcept;

void RemoveContents(int folder, int depth) noexcept {
  alignas(DirectoryEntry) std::array<char, 2048> buffer;
  while (true) {
    const long n = ReadEntries(folder, buffer);
    if (n <= 0) return;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer.data() + at);
      const char* name = reinterpret_cast<const char*>(entry) + offsetof(DirectoryEntry, name);
      at += entry->length;
      if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0)
        RemoveAt(folder, name, depth);
    }
  }
}

void RemoveAt(int folder, const char* name, int depth) noexcept {
  if (unlinkat(folder, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  if (depth >= kMaxFolderDepth) return;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return;
  RemoveContents(inner, depth + 1);
  close(inner);
  unlinkat(folder, name, AT_REMOVEDIR);
}

// ---- Stale files of other processes -------------------------------------------------------------

// Whether the name in the folder still refers to the open file.
bool IsSameFile(int folder, const char* name, int fd) {
  struct stat open_file {
  }, named{};
  return fstat(fd, &open_file) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

void RemoveIfLeft(int folder, const char* name) {
  const FileDescriptor file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st {};
  if (!file || fstat(file.get(), &st) != 0 || st.st_uid != geteuid()) return;
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return;
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (IsSameFile(folder, name, file.get())) RemoveAt(folder, name, 0);
}

// Locks a new file; false if another process took it for a stale one.
bool LockNew(int folder, const char* name, int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return IsSameFile(folder, name, fd);
}

}  // namespace

StagingName::StagingName(std::string_view folder)
    : path_(folder.empty() ? RandomName() : std::string(folder) + "/" + RandomName()),
      slot_(TakeSlot(path_)) {}

StagingName::StagingName(StagingName&& other) noexcept
    : path_(std::exchange(other.path_, {})), slot_(std::exchange(other.slot_, -1)) {}

StagingName& StagingName::operator=(StagingName&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(slot_, other.slot_);
  return *this;
}

StagingName::~StagingName() {
  if (slot_ >= 0) std::free(slots[static_cast<size_t>(slot_)].exchange(nullptr));
}

tl::expected<StagingFile, int> CreateStagingFile(const std::string& folder) {
  SweepStaging(folder);
#ifdef __linux__
  const std::string path = FolderPath(folder);
  // An unnamed file is linked through /proc.
  if (access("/proc/self/fd", X_OK) == 0) {
    FileDescriptor fd(
        Retry([&] { return open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }));
    if (fd) {
      flock(fd.get(), LOCK_EX | LOCK_NB);
      return StagingFile{std::move(fd), {}};
    }
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return tl::unexpected(errno);
  }
#endif
  for (int i = 0; i < kAttempts; ++i) {
    StagingName name(folder);
    FileDescriptor fd(Retry([&] {
      return open(name.path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }));
    if (!fd && errno != EEXIST) return tl::unexpected(errno);
    if (fd && LockNew(AT_FDCWD, name.path().c_str(), fd.get()))
      return StagingFile{std::move(fd), std::move(name)};
  }
  return tl::unexpected(EEXIST);
}

StagingFolder::~StagingFolder() {
  if (!name_.empty()) RemoveAt(AT_FDCWD, name_.path().c_str(), 0);
}

tl::expected<StagingFolder, int> StagingFolder::Create(const std::string& folder) {
  SweepStaging(folder);
  for (int i = 0; i < kAttempts; ++i) {
    StagingName name(folder);
    if (mkdir(name.path().c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      return tl::unexpected(errno);
    }
    StagingFolder out;
    out.name_ = std::move(name);
    const char* path = out.path().c_str();
    out.lock_ = FileDescriptor(
        Retry([&] { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
    if (!out.lock_ && errno != ENOENT) return tl::unexpected(errno);
    if (out.lock_ && LockNew(AT_FDCWD, path, out.lock_.get())) return out;
  }
  return tl::unexpected(EEXIST);
}

void SweepStaging(const std::string& folder) {
  if (!kHasLocks) return;
  static std::mutex mutex;
  static std::set<std::pair<std::string, ino_t>> seen;  // inode numbers can be reused
  const FileDescriptor fd = OpenToLock(folder);
  struct stat st {};
  if (!fd || fstat(fd.get(), &st) != 0) return;
  {
    const std::lock_guard lock(mutex);
    if (!seen.emplace(folder, st.st_ino).second) return;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator it(FolderPath(folder), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (IsStagingName(name)) RemoveIfLeft(fd.get(), name.c_str());
  }
}

Result<std::string> TemporaryFolder() {
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) return IoError("cannot find a folder for temporary files: {}", error.message());
  return folder;
}

void RemoveStaging() noexcept {
  for (std::atomic<char*>& slot : slots)
    // The path is not freed: the process is ending, and the signal may have interrupted the
    // allocator.
    if (const char* path = slot.exchange(nullptr)) RemoveAt(AT_FDCWD, path, 0);
}

FileDescriptor LockFolder(const std::string& folder) {
  constexpr int kTries = 1000;
  constexpr auto kPause = std::chrono::milliseconds(5);
  FileDescriptor fd = OpenToLock(folder);
  for (int i = 0; fd && i < kTries; ++i) {
    if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) break;
    std::this_thread::sleep_for(kPause);
  }
  return fd;
}

}  // namespace nn

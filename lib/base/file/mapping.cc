#include "base/file/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/file/file.h"
#include "base/file/file_descriptor.h"
#include "base/text/text.h"

namespace nn {
namespace {

// All live file mappings by address: DropResidentPages must not touch other memory. Large files
// stay open so that bytes can be copied from file to file. The lock is never held while mapped
// bytes are read, so a SIGBUS on a truncated file cannot occur under it.
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
  void Add(uintptr_t begin, size_t size, int fd, std::string shown) {
    constexpr size_t kLargeFile = size_t{16} << 20;
#ifdef __linux__
    constexpr size_t kMaxOpen = 256;
#else
    constexpr size_t kMaxOpen = 0;
#endif
    const std::lock_guard lock(mutex_);
    const bool keep = size >= kLargeFile && open_ < kMaxOpen;
    FileDescriptor kept(keep ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1);
    open_ += kept ? 1 : 0;
    ranges_.insert_or_assign(begin, Range{begin + size, std::move(kept), std::move(shown)});
  }
  void Remove(uintptr_t begin) {
    const std::lock_guard lock(mutex_);
    const auto it = ranges_.find(begin);
    open_ -= it->second.file ? 1 : 0;
    ranges_.erase(it);
  }
  // The file and offset of the bytes; nullopt if they are not mapped.
  std::optional<Place> Find(const std::byte* bytes, size_t size) {
    const auto begin = reinterpret_cast<uintptr_t>(bytes);
    const std::lock_guard lock(mutex_);
    const auto it = At(begin);
    if (it == ranges_.end() || begin + size > it->second.end) return std::nullopt;
    return Place{it->second.file.get(), static_cast<off_t>(begin - it->first)};
  }
  bool NameAt(uintptr_t address, std::span<char> name) {
    const std::lock_guard lock(mutex_);
    const auto it = At(address);
    // The last page of a mapping extends beyond the file.
    if (it == ranges_.end() || address >= it->second.end + kLargestPage) return false;
    const size_t n = std::min(it->second.shown.size(), name.size() - 1);
    std::memcpy(name.data(), it->second.shown.data(), n);
    name[n] = '\0';
    return true;
  }

 private:
  static constexpr uintptr_t kLargestPage = uintptr_t{1} << 16;
  struct Range {
    uintptr_t end;
    FileDescriptor file;
    std::string shown;
  };
  using Ranges = std::map<uintptr_t, Range>;

  // The last range that begins at or before the address.
  Ranges::iterator At(uintptr_t address) {
    const auto it = ranges_.upper_bound(address);
    return it == ranges_.begin() ? ranges_.end() : std::prev(it);
  }

  std::mutex mutex_;
  Ranges ranges_;
  size_t open_ = 0;
};

class Mapping {
 public:
  Mapping(void* address, size_t size) : address_(address), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (is_listed_) MappingTable::Get().Remove(reinterpret_cast<uintptr_t>(address_));
    munmap(address_, size_);
  }
  void List(int fd, std::string shown) {
    MappingTable::Get().Add(reinterpret_cast<uintptr_t>(address_), size_, fd, std::move(shown));
    is_listed_ = true;
  }

 private:
  void* address_;
  size_t size_;
  bool is_listed_ = false;
};

}  // namespace

Result<Blob> MapFile(int fd, size_t size, const std::string& shown) {
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return IoError("{}: {}", shown, ErrnoText(errno));
  const auto mapping = std::make_shared<Mapping>(address, size);
  mapping->List(fd, EscapeControls(shown));
  return Blob({static_cast<const std::byte*>(address), size}, mapping);
}

bool IsMapped(const Blob& blob) {
  return !blob.empty() && !blob.is_deferred() &&
         MappingTable::Get().Find(blob.data(), blob.size()).has_value();
}

size_t CopyFromMapping([[maybe_unused]] std::span<const std::byte> bytes, [[maybe_unused]] int to) {
#ifdef __linux__
  constexpr size_t kWorthwhile = size_t{64} << 10;
  if (bytes.size() < kWorthwhile) return 0;
  auto place = MappingTable::Get().Find(bytes.data(), bytes.size());
  if (!place || place->fd < 0) return 0;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = Retry([&] {
      return copy_file_range(place->fd, &place->offset, to, nullptr, bytes.size() - done, 0);
    });
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
#else
  return 0;
#endif
}

bool MappedFileAt(const void* address, std::span<char> name) noexcept {
  return MappingTable::Get().NameAt(reinterpret_cast<uintptr_t>(address), name);
}

void DropResidentPages(const Blob& blob) {
  if (blob.empty() || blob.is_deferred()) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(blob.data());
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + blob.size()) / page * page;
  if (begin >= end || !IsMapped(blob)) return;
  madvise(const_cast<std::byte*>(blob.data()) + (begin - first), end - begin, MADV_DONTNEED);
}

}  // namespace nn

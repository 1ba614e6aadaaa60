#include "formats/common/flatbuffers/fb_stable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/file/mapping.h"
#include "base/text/text.h"

namespace nn {
namespace {

class Pages {
 public:
  explicit Pages(size_t size)
      : address_(
            mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        size_(size) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (*this) munmap(address_, size_);
  }
  explicit operator bool() const { return address_ != MAP_FAILED; }
  std::byte* data() { return static_cast<std::byte*>(address_); }

  // Makes whole pages writable; false if there is no memory for them.
  bool Open(uint64_t begin, uint64_t end) {
    return mprotect(data() + begin, end - begin, PROT_READ | PROT_WRITE) == 0;
  }
  // Copies whole pages; false if there is no memory for them.
  bool Fill(std::span<const std::byte> from, uint64_t begin, uint64_t end) {
    if (begin >= end) return true;
    if (!Open(begin, end)) return false;
    std::memcpy(data() + begin, from.data() + begin, std::min<uint64_t>(end, from.size()) - begin);
    return true;
  }
  bool Finish() { return mprotect(address_, size_, PROT_READ) == 0; }

 private:
  void* address_;
  size_t size_;
};

uint64_t PageSize() {
  return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

tl::unexpected<Error> NoMemory(size_t size) {
  return LimitError("not enough memory for the structure of a flatbuffer of {}", HumanBytes(size));
}

}  // namespace

Result<StableFlatbuffer> StableFlatbuffer::Make(const Blob& file, std::vector<ByteRange> payloads) {
  StableFlatbuffer out;
  out.parts_ = {file};
  out.structure_ = file;
  if (!IsMapped(file)) return out;
  const uint64_t page = PageSize();
  const auto pages = std::make_shared<Pages>(file.size());
  const auto no_memory = [&] { return NoMemory(file.size()); };
  if (!*pages) return no_memory();
  std::sort(payloads.begin(), payloads.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  uint64_t done = 0;
  for (const ByteRange& p : payloads) {
    if (p.size < kLargePayload || !InRange(p.begin, p.size, file.size())) continue;
    const uint64_t begin = std::max(done, (p.begin + page - 1) / page * page);
    const uint64_t end = (p.begin + p.size) / page * page;
    if (begin >= end) continue;
    if (!pages->Fill(file.bytes(), done, begin)) return no_memory();
    done = end;
  }
  const uint64_t all = (file.size() + page - 1) / page * page;
  if (!pages->Fill(file.bytes(), done, all) || !pages->Finish()) return no_memory();
  out.structure_ = Blob({pages->data(), file.size()}, pages);
  return out;
}

Result<StableFlatbuffer> StableFlatbuffer::Join(std::vector<Part> parts) {
  StableFlatbuffer out;
  const uint64_t page = PageSize();
  size_t size = 0;  // of parts in memory, which fit
  for (const Part& part : parts) size += part.bytes.size();
  const auto pages = std::make_shared<Pages>(size);
  if (!*pages) return NoMemory(size);
  uint64_t at = 0;
  for (Part& part : parts) {
    const uint64_t end = at + part.bytes.size();
    if (!part.is_payload || part.bytes.size() < kLargePayload) {
      if (!pages->Open(at / page * page, RoundUp(end, page))) return NoMemory(size);
      std::ranges::copy(part.bytes.bytes(), pages->data() + at);
    }
    at = end;
    out.parts_.push_back(std::move(part.bytes));
  }
  if (!pages->Finish()) return NoMemory(size);
  out.structure_ = Blob({pages->data(), size}, pages);
  return out;
}

std::vector<Blob> StableFlatbuffer::Pieces(uint64_t begin, uint64_t size) const {
  std::vector<Blob> pieces;
  const uint64_t end = begin + size;
  uint64_t at = 0;
  for (const Blob& part : parts_) {
    const uint64_t from = std::max(begin, at), to = std::min(end, at + part.size());
    if (from < to) pieces.push_back(part.Slice(from - at, to - from));
    at += part.size();
  }
  return pieces;
}

Blob StableFlatbuffer::Slice(uint64_t begin, uint64_t size) const {
  const std::vector<Blob> pieces = Pieces(begin, size);
  if (pieces.empty()) return {};
  if (pieces.size() == 1) return pieces.front();
  Buffer joined(size);
  std::byte* to = joined.data();
  for (const Blob& piece : pieces) to = std::ranges::copy(piece.bytes(), to).out;
  return Blob(std::move(joined));
}

Result<Blob> JoinSparse(std::span<const Blob> parts) {
  constexpr size_t kPiece = 4096;
  size_t size = 0;
  for (const Blob& part : parts) size += part.size();
  const auto pages = std::make_shared<Pages>(size);
  if (!*pages || mprotect(pages->data(), size, PROT_READ | PROT_WRITE) != 0) return NoMemory(size);
  std::byte* to = pages->data();
  for (const Blob& part : parts)
    for (size_t at = 0; at < part.size(); at += kPiece) {
      const auto piece = part.bytes().subspan(at, std::min(kPiece, part.size() - at));
      if (std::ranges::any_of(piece, [](std::byte b) { return b != std::byte{0}; }))
        std::ranges::copy(piece, to);
      to += piece.size();
    }
  if (!pages->Finish()) return NoMemory(size);
  return Blob({pages->data(), size}, pages);
}

template <typename T>
std::optional<T> FlatbufferPeek::Read(uint64_t at) const {
  if (!InRange(at, sizeof(T), bytes_.size())) return std::nullopt;
  T value;
  std::memcpy(&value, bytes_.data() + at, sizeof(T));
  return value;
}

std::optional<uint64_t> FlatbufferPeek::Target(uint64_t at) const {
  const auto offset = Read<flatbuffers::uoffset_t>(at);
  return offset ? std::optional(at + *offset) : std::nullopt;
}

std::optional<uint64_t> FlatbufferPeek::Field(uint64_t table, flatbuffers::voffset_t field) const {
  const auto to_vtable = Read<flatbuffers::soffset_t>(table);
  if (!to_vtable) return std::nullopt;
  const uint64_t vtable = table - static_cast<uint64_t>(int64_t{*to_vtable});
  const auto size = Read<flatbuffers::voffset_t>(vtable);
  if (!size || field + sizeof(flatbuffers::voffset_t) > *size) return std::nullopt;
  const auto offset = Read<flatbuffers::voffset_t>(vtable + field);
  return offset && *offset != 0 ? std::optional(table + *offset) : std::nullopt;
}

std::vector<uint64_t> FlatbufferPeek::Tables(std::optional<uint64_t> table,
                                             flatbuffers::voffset_t field) const {
  std::vector<uint64_t> tables;
  const auto at = table ? Field(*table, field) : std::nullopt;
  const auto vector = at ? Target(*at) : std::nullopt;
  const auto count = vector ? Read<flatbuffers::uoffset_t>(*vector) : std::nullopt;
  for (uint64_t i = 0; count && i < *count; ++i) {
    const auto target = Target(*vector + (i + 1) * sizeof(flatbuffers::uoffset_t));
    if (!target) break;
    tables.push_back(*target);
  }
  return tables;
}

std::optional<uint32_t> FlatbufferPeek::Number(uint64_t table, flatbuffers::voffset_t field) const {
  const auto at = Field(table, field);
  return at ? Read<uint32_t>(*at) : std::nullopt;
}

std::optional<ByteRange> FlatbufferPeek::Bytes(std::optional<uint64_t> table,
                                               flatbuffers::voffset_t field) const {
  const auto at = table ? Field(*table, field) : std::nullopt;
  const auto vector = at ? Target(*at) : std::nullopt;
  const auto size = vector ? Read<flatbuffers::uoffset_t>(*vector) : std::nullopt;
  if (!size) return std::nullopt;
  return ByteRange{*vector + sizeof(flatbuffers::uoffset_t), *size};
}

std::optional<ByteRange> FlatbufferPeek::Outside(uint64_t table, flatbuffers::voffset_t offset,
                                                 flatbuffers::voffset_t size) const {
  const auto offset_at = Field(table, offset), size_at = Field(table, size);
  const auto begin = offset_at ? Read<uint64_t>(*offset_at) : std::nullopt;
  const auto bytes = size_at ? Read<uint64_t>(*size_at) : std::nullopt;
  if (!begin || !bytes) return std::nullopt;
  return ByteRange{*begin, *bytes};
}

}  // namespace nn

#include "formats/tflite/file/archive.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked_math.h"

namespace nn::tflite {
namespace {

constexpr uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint64_t kEndSize = 22, kEntrySize = 46;
constexpr uint32_t kZip64 = std::numeric_limits<uint32_t>::max();  // the value is elsewhere

template <typename T>
T NumberAt(std::span<const std::byte> file, uint64_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

// The record that ends an archive; a comment of any length follows it.
std::optional<uint64_t> FindEnd(std::span<const std::byte> file) {
  constexpr uint64_t kMaxComment = std::numeric_limits<uint16_t>::max();
  if (file.size() < kEndSize) return std::nullopt;
  const uint64_t last = file.size() - kEndSize;
  for (uint64_t comment = 0; comment <= std::min(last, kMaxComment); ++comment) {
    const uint64_t at = last - comment;
    if (NumberAt<uint32_t>(file, at) == kEndMark && NumberAt<uint16_t>(file, at + 20) == comment)
      return at;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Archive>> FindArchive(std::span<const std::byte> file) {
  const auto end = FindEnd(file);
  if (!end) return std::nullopt;
  const auto entries = NumberAt<uint16_t>(file, *end + 10);
  const auto size = NumberAt<uint32_t>(file, *end + 12),
             offset = NumberAt<uint32_t>(file, *end + 16);
  if (size == kZip64 || offset == kZip64)
    return UnsupportedError("the archive at the end of the file is in ZIP64 form");
  if (size > *end || *end - size < offset) return std::nullopt;
  const uint64_t directory = *end - size, base = directory - offset;
  Archive archive;
  archive.begin_ = directory;
  archive.offsets_.emplace_back(*end + 16, offset);
  uint64_t at = directory;
  for (int i = 0; i < entries; ++i) {
    if (!InRange(at, kEntrySize, *end) || NumberAt<uint32_t>(file, at) != kEntryMark)
      return std::nullopt;
    const auto local = NumberAt<uint32_t>(file, at + 42);
    if (local == kZip64)
      return UnsupportedError("the archive at the end of the file is in ZIP64 form");
    if (!InRange(base + local, sizeof(kLocalMark), directory) ||
        NumberAt<uint32_t>(file, base + local) != kLocalMark)
      return std::nullopt;
    archive.begin_ = std::min(archive.begin_, base + local);
    archive.offsets_.emplace_back(at + 42, local);
    at += kEntrySize + NumberAt<uint16_t>(file, at + 28) + NumberAt<uint16_t>(file, at + 30) +
          NumberAt<uint16_t>(file, at + 32);
  }
  if (base != 0) archive.offsets_.clear();
  return archive;
}

Result<std::vector<std::pair<uint64_t, uint32_t>>> Archive::Moved(int64_t distance) const {
  std::vector<std::pair<uint64_t, uint32_t>> fields;
  for (const auto& [position, offset] : offsets_) {
    const int64_t moved = offset + distance;
    if (moved >= kZip64)
      return UnsupportedError("the archive at the end of the file would end beyond 4 GiB");
    fields.emplace_back(position, static_cast<uint32_t>(moved));
  }
  return fields;
}

Result<std::optional<Blob>> ArchiveAt(std::span<const std::byte> file, uint64_t begin) {
  NN_ASSIGN(const auto archive, FindArchive(file));
  if (!archive) return std::nullopt;
  const auto bytes = file.subspan(archive->begin());
  Buffer moved(bytes.size());
  std::ranges::copy(bytes, moved.data());
  NN_ASSIGN(const auto fields,
            archive->Moved(static_cast<int64_t>(begin) - static_cast<int64_t>(archive->begin())));
  for (const auto& [position, value] : fields)
    std::memcpy(moved.data() + (position - archive->begin()), &value, sizeof(value));
  return Blob(std::move(moved));
}

}  // namespace nn::tflite

#include "formats/coreml/file/blob_storage.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/checked_math.h"

namespace nn::coreml {
namespace {

constexpr size_t kHeaderBytes = 64;  // of the file, and of an entry
constexpr uint32_t kVersion = 2;
constexpr uint32_t kSentinel = 0xDEADBEEF;

struct TypeRow {
  uint32_t number;
  std::string_view name;
  int bits;
};

constexpr TypeRow kBlobTypes[] = {{1, "FLOAT16", 16},      {2, "FLOAT32", 32},   {3, "UINT8", 8},
                                  {4, "INT8", 8},          {5, "BFLOAT16", 16},  {6, "INT16", 16},
                                  {7, "UINT16", 16},       {8, "INT4", 4},       {9, "UINT1", 1},
                                  {10, "UINT2", 2},        {11, "UINT4", 4},     {12, "UINT3", 3},
                                  {13, "UINT6", 6},        {14, "INT32", 32},    {15, "UINT32", 32},
                                  {16, "FLOAT8E4M3FN", 8}, {17, "FLOAT8E5M2", 8}};

const TypeRow* RowNamed(std::string_view type) {
  const auto* const row = std::ranges::find(kBlobTypes, type, &TypeRow::name);
  return row == std::end(kBlobTypes) ? nullptr : row;
}

// A header that begins with these numbers.
template <typename... Numbers>
Blob Header(Numbers... numbers) {
  Buffer buffer(kHeaderBytes);
  buffer.Clear();
  size_t at = 0;
  ((std::memcpy(buffer.data() + at, &numbers, sizeof(numbers)), at += sizeof(numbers)), ...);
  return Blob(std::move(buffer));
}

// Requires that it is in the file.
template <typename T>
T Read(const Blob& file, uint64_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(value));
  return value;
}

}  // namespace

Result<BlobStorage> BlobStorage::Open(Blob file) {
  if (file.size() < kHeaderBytes)
    return ModelError("it has {} bytes; the header needs {}", file.size(), kHeaderBytes);
  const auto count = Read<uint32_t>(file, 0), version = Read<uint32_t>(file, 4);
  if (version != kVersion)
    return ModelError("not blob storage of version {}: the header has version {}", kVersion,
                      version);
  const uint64_t room = (file.size() - kHeaderBytes) / kHeaderBytes;
  if (count > room)
    return ModelError("the header has {} entries, but {} bytes have room for {}", count,
                      file.size(), room);
  return BlobStorage(std::move(file), count);
}

Result<BlobEntry> BlobStorage::At(uint64_t offset) const {
  if (!InRange(offset, kHeaderBytes, file_.size()))
    return ModelError("the entry at {} is outside the file of {} bytes", offset, file_.size());
  if (const auto sentinel = Read<uint32_t>(file_, offset); sentinel != kSentinel)
    return ModelError("no entry at {}: it begins with {:#010x}; expected {:#010x}", offset,
                      sentinel, kSentinel);
  const auto type = Read<uint32_t>(file_, offset + 4);
  const auto size = Read<uint64_t>(file_, offset + 8), start = Read<uint64_t>(file_, offset + 16);
  const auto* row = std::find_if(std::begin(kBlobTypes), std::end(kBlobTypes),
                                 [&](const TypeRow& r) { return r.number == type; });
  if (row == std::end(kBlobTypes))
    return ModelError("the entry at {} has unknown data type {}", offset, type);
  if (!InRange(start, size, file_.size()))
    return ModelError("the entry at {} has {} bytes at {}, but the file has {}", offset, size,
                      start, file_.size());
  // Only types under 8 bits use the number of unused bits; for others, writers before version 9
  // left it undefined.
  const auto bits = static_cast<uint64_t>(row->bits);
  const uint64_t unused = bits < 8 ? Read<uint64_t>(file_, offset + 24) : 0;
  if (unused >= 8 || unused > size * 8 || (size * 8 - unused) % bits != 0)
    return ModelError(
        "the entry at {} has {} bytes, {} bits of them unused: not a whole number of {}", offset,
        size, unused, row->name);
  return BlobEntry{.type = row->name,
                   .bits = row->bits,
                   .data = file_.Slice(start, size),
                   .elements = (size * 8 - unused) / bits};
}

bool BlobStorageWriter::Holds(std::string_view type) {
  return RowNamed(type) != nullptr;
}

uint64_t BlobStorageWriter::Add(std::string_view type, Blob data, uint64_t unused_bits) {
  Align();
  const uint64_t offset = end_;
  parts_.push_back(Header(kSentinel, RowNamed(type)->number, static_cast<uint64_t>(data.size()),
                          offset + kHeaderBytes, unused_bits));
  end_ += kHeaderBytes + data.size();
  parts_.push_back(std::move(data));
  ++count_;
  return offset;
}

void BlobStorageWriter::Align() {
  const uint64_t missing = (kHeaderBytes - end_ % kHeaderBytes) % kHeaderBytes;
  if (missing == 0) return;
  parts_.push_back(Header().Slice(0, missing));
  end_ += missing;
}

std::vector<Blob> BlobStorageWriter::Finish() {
  parts_.insert(parts_.begin(), Header(count_, kVersion));
  return std::move(parts_);
}

}  // namespace nn::coreml

// Flatbuffers that stay what they were when they were verified. A mapped file changes when another
// process writes to it, and an offset that is read a second time may then lead anywhere. So the
// structure is read from a private copy, and only data, of which any bytes are good, stay views of
// the file.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/blob.h"
#include "base/status.h"

namespace nn {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t size = 0;
};

class StableFlatbuffer {
 public:
  StableFlatbuffer() = default;

  // `payloads` are data, of which only the size is ever read from the structure; they need not be
  // right: where they cover anything else, that is taken for zeros. kLimit if there is no memory
  // for the rest. A file that is in private memory already is not copied.
  static Result<StableFlatbuffer> Make(const Blob& file, std::vector<ByteRange> payloads);

  // All of it, payloads as they are in the file.
  const Blob& file() const { return file_; }
  // As many bytes, with zeros in the pages that have nothing but a large payload.
  const Blob& structure() const { return structure_; }

  // Payloads of fewer bytes are copied: not worth a mapping of their own, of which a process has
  // some 65,000.
  static constexpr uint64_t kLargePayload = uint64_t{128} << 10;

  // The bytes of a range of structure(): a large one is the file's, where pages may be missing.
  Blob View(const void* begin, size_t size) const {
    const Blob& from = size < kLargePayload ? structure_ : file_;
    return from.Slice(static_cast<size_t>(static_cast<const std::byte*>(begin) - structure_.data()),
                      size);
  }
  Blob View(const flatbuffers::Vector<uint8_t>& bytes) const {
    return View(bytes.data(), bytes.size());
  }

 private:
  Blob file_;
  Blob structure_;
};

// Looks for payloads in a flatbuffer that is not verified yet and may change. Reads each number
// once and nothing outside the bytes. Positions are from the flatbuffer's begin.
class FlatbufferPeek {
 public:
  explicit FlatbufferPeek(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::optional<uint64_t> Root() const { return Target(0); }
  // The tables in a field that is a vector of them; none if there is no such thing.
  std::vector<uint64_t> Tables(std::optional<uint64_t> table, flatbuffers::voffset_t field) const;
  // The bytes in a field of the type [ubyte].
  std::optional<ByteRange> Bytes(std::optional<uint64_t> table, flatbuffers::voffset_t field) const;
  // The range that two numbers tell, from the flatbuffer's begin.
  std::optional<ByteRange> Outside(uint64_t table, flatbuffers::voffset_t offset,
                                   flatbuffers::voffset_t size) const;

 private:
  template <typename T>
  std::optional<T> Read(uint64_t at) const;
  std::optional<uint64_t> Target(uint64_t at) const;
  std::optional<uint64_t> Field(uint64_t table, flatbuffers::voffset_t field) const;

  std::span<const std::byte> bytes_;
};

}  // namespace nn

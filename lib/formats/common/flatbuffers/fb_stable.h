// Flatbuffers that cannot change after verification. A mapped file changes when another process
// writes to it, and an offset read a second time may then point anywhere. Therefore the structure
// is read from a private copy, and only data, in which any bytes are valid, remain views of the
// file.
//
// Design: docs/design/043-stable-flatbuffers.md.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"

namespace nn {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t size = 0;
};

class StableFlatbuffer {
 public:
  StableFlatbuffer() = default;

  // `payloads` are data ranges, of which only the size is read from the structure. They need not be
  // correct: structure inside them is read as zeros. kLimit if there is no memory for the copy. A
  // file in private memory is not copied.
  static Result<StableFlatbuffer> Make(const Blob& file, std::vector<ByteRange> payloads);

  // A piece of a file that is written from memory.
  struct Part {
    Blob bytes;
    bool is_payload = false;  // no structure
  };
  // The same for parts that are one file together. Large payloads remain views.
  static Result<StableFlatbuffer> Join(std::vector<Part> parts);

  // The whole file, with its payloads.
  const std::vector<Blob>& parts() const { return parts_; }
  uint64_t size() const { return structure_.size(); }
  // A range of the file; a copy if it is in several parts.
  Blob Slice(uint64_t begin, uint64_t size) const;
  std::vector<Blob> Pieces(uint64_t begin, uint64_t size) const;
  // The same size, with zeros in pages that contain only a large payload.
  const Blob& structure() const { return structure_; }

  // Smaller payloads are copied, because a process is limited to about 65,000 mappings.
  static constexpr uint64_t kLargePayload = uint64_t{128} << 10;

  // The bytes of a range of structure(); large ranges are views of the file, because their pages
  // may be zeroed.
  Blob View(const void* begin, size_t size) const {
    const auto at = static_cast<size_t>(static_cast<const std::byte*>(begin) - structure_.data());
    return size < kLargePayload ? structure_.Slice(at, size) : Slice(at, size);
  }
  Blob View(const flatbuffers::Vector<uint8_t>& bytes) const {
    return View(bytes.data(), bytes.size());
  }

 private:
  std::vector<Blob> parts_;
  Blob structure_;
};

// The parts one after the other. Pages of zeros, as StableFlatbuffer::structure() has them, take no
// memory. kLimit if there is no memory for the others.
Result<Blob> JoinSparse(std::span<const Blob> parts);

// Finds payloads in a flatbuffer that is not verified yet and may change. Reads each number once
// and nothing outside the bytes. Positions count from the start of the flatbuffer.
class FlatbufferPeek {
 public:
  explicit FlatbufferPeek(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::optional<uint64_t> Root() const { return Target(0); }
  // The tables in a vector field; empty if there is none.
  std::vector<uint64_t> Tables(std::optional<uint64_t> table, flatbuffers::voffset_t field) const;
  // A field of the type uint.
  std::optional<uint32_t> Number(uint64_t table, flatbuffers::voffset_t field) const;
  // The bytes in a field of the type [ubyte].
  std::optional<ByteRange> Bytes(std::optional<uint64_t> table, flatbuffers::voffset_t field) const;
  // The range given by two numbers, from the start of the flatbuffer.
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

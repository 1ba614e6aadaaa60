// The bytes of operandValues or of a pool, in pieces: constants remain views of the file from which
// they were read until they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file/blob.h"

namespace nn::nnapi {

class Memory {
 public:
  Memory() = default;
  Memory(Blob bytes);  // NOLINT(google-explicit-constructor): one piece
  // The pieces one after the other.
  explicit Memory(const std::vector<Blob>& pieces);

  uint64_t size() const { return pieces_.empty() ? 0 : pieces_.back().end; }
  bool empty() const { return pieces_.empty(); }
  // A view if the bytes are in one piece, else a copy. Requires offset + length <= size().
  Blob Slice(uint64_t offset, uint64_t length) const;
  Blob Joined() const { return Slice(0, size()); }
  std::vector<Blob> pieces() const;

 private:
  struct Piece {
    Blob bytes;  // not empty
    uint64_t end = 0;
  };
  std::vector<Piece> pieces_;
};

// Packs constants, each at a multiple of kAlignment.
class MemoryPacker {
 public:
  static constexpr uint64_t kAlignment = 16;

  // Returns the offset of the bytes; nullopt, and appends nothing, if they would end beyond the 32
  // bits of a DataLocation.
  std::optional<uint32_t> Append(const Blob& bytes);
  uint64_t size() const { return size_; }
  Memory Finish();

 private:
  void EndPiece();

  std::vector<Blob> pieces_;
  std::string small_;  // a piece of small constants that is not complete yet
  uint64_t size_ = 0;
};

}  // namespace nn::nnapi

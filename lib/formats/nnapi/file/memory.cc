#include "formats/nnapi/file/memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked_math.h"

namespace nn::nnapi {
namespace {

// Smaller constants are copied.
constexpr size_t kMinPieceBytes = size_t{16} << 10;

}  // namespace

Memory::Memory(Blob bytes) : Memory(std::vector<Blob>{std::move(bytes)}) {}

Memory::Memory(const std::vector<Blob>& pieces) {
  for (const Blob& piece : pieces)
    if (!piece.empty()) pieces_.push_back({piece, size() + piece.size()});
}

Blob Memory::Slice(uint64_t offset, uint64_t length) const {
  if (length == 0) return {};
  auto piece = std::ranges::upper_bound(pieces_, offset, {}, &Piece::end);
  const auto begin_of = [](const Piece& p) { return p.end - p.bytes.size(); };
  if (offset + length <= piece->end) return piece->bytes.Slice(offset - begin_of(*piece), length);
  Buffer joined(length);
  std::byte* to = joined.data();
  for (const uint64_t end = offset + length; offset < end; ++piece) {
    const uint64_t count = std::min(end, piece->end) - offset;
    std::memcpy(to, piece->bytes.data() + (offset - begin_of(*piece)), count);
    to += count;
    offset += count;
  }
  return Blob(std::move(joined));
}

std::vector<Blob> Memory::pieces() const {
  std::vector<Blob> out;
  out.reserve(pieces_.size());
  for (const Piece& piece : pieces_) out.push_back(piece.bytes);
  return out;
}

std::optional<uint32_t> MemoryPacker::Append(const Blob& bytes) {
  const uint64_t at = RoundUp(size_, kAlignment);
  if (at + bytes.size() > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  small_.resize(small_.size() + (at - size_), '\0');
  if (bytes.size() < kMinPieceBytes) {
    small_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    EndPiece();
    pieces_.push_back(bytes);
  }
  size_ = at + bytes.size();
  return static_cast<uint32_t>(at);
}

void MemoryPacker::EndPiece() {
  if (!small_.empty()) pieces_.push_back(Blob::CopyOf(std::span<const char>(small_)));
  small_.clear();
}

Memory MemoryPacker::Finish() {
  EndPiece();
  return Memory(pieces_);
}

}  // namespace nn::nnapi

#include "formats/common/flatbuffers/fb_outside.h"

#include <memory>
#include <utility>

#include "base/checked_math.h"

namespace nn {

uint64_t ReferencePosition(const flatbuffers::DetachedBuffer& file, const void* table,
                           flatbuffers::voffset_t field) {
  const uint8_t* at = static_cast<const flatbuffers::Table*>(table)->GetAddressOf(field);
  return static_cast<uint64_t>(at - file.data());
}

namespace {

// A vector is its length and its elements; references count from their own place.
uint64_t StartOfElements(uint64_t end, size_t alignment) {
  return RoundUp(end + sizeof(flatbuffers::uoffset_t), alignment);
}

uint64_t SizeOfElements(const OutsideVector& vector) {
  uint64_t size = 0;
  for (const Blob& piece : vector.pieces) size += piece.size();
  return size;
}

}  // namespace

uint64_t EndOfOutside(uint64_t size, std::span<const OutsideVector> vectors, size_t alignment) {
  for (const OutsideVector& vector : vectors)
    size = StartOfElements(size, alignment) + SizeOfElements(vector);
  return size;
}

std::vector<Blob> PlaceOutside(flatbuffers::DetachedBuffer file,
                               std::span<const OutsideVector> vectors, size_t alignment) {
  auto owner = std::make_shared<flatbuffers::DetachedBuffer>(std::move(file));
  std::vector<Blob> parts = {
      Blob({reinterpret_cast<const std::byte*>(owner->data()), owner->size()}, owner)};
  uint64_t end = owner->size();
  for (const OutsideVector& vector : vectors) {
    const uint64_t data = StartOfElements(end, alignment);
    const uint64_t length = data - sizeof(flatbuffers::uoffset_t);
    flatbuffers::WriteScalar(owner->data() + vector.reference,
                             static_cast<flatbuffers::uoffset_t>(length - vector.reference));
    const uint64_t size = SizeOfElements(vector);
    Buffer gap(data - end);
    gap.Clear();
    flatbuffers::WriteScalar(gap.data() + (length - end),
                             static_cast<flatbuffers::uoffset_t>(size));
    parts.emplace_back(std::move(gap));
    parts.insert(parts.end(), vector.pieces.begin(), vector.pieces.end());
    end = data + size;
  }
  return parts;
}

}  // namespace nn

// Vectors of bytes outside of a flatbuffer's builder: large data is written after the tables,
// directly from its source, instead of being copied.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/file/blob.h"

namespace nn {

// Smaller vectors belong in the builder.
inline constexpr size_t kMinOutsideBytes = size_t{64} << 10;

struct OutsideVector {
  // The position in the flatbuffer of the table's reference to the vector; before PlaceOutside(),
  // it refers to an empty vector.
  uint64_t reference = 0;
  std::vector<Blob> pieces;  // the elements
};

// The position of the field's reference in the finished flatbuffer `file`. Requires that the table
// has the field.
uint64_t ReferencePosition(const flatbuffers::DetachedBuffer& file, const void* table,
                           flatbuffers::voffset_t field);

// The end of the vectors after a flatbuffer of `size` bytes.
uint64_t EndOfOutside(uint64_t size, std::span<const OutsideVector> vectors, size_t alignment);

// The parts of the file: the flatbuffer, whose references are set, and the vectors, each with its
// elements at a multiple of `alignment`. Requires that the file remains below 2 GiB.
std::vector<Blob> PlaceOutside(flatbuffers::DetachedBuffer file,
                               std::span<const OutsideVector> vectors, size_t alignment);

}  // namespace nn

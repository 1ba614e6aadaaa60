// The large data of an edited model: after its tables, as views of the source.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/common/flatbuffers/fb_stable.h"

namespace nn::tflite {

// Of data in the flatbuffer.
inline constexpr size_t kInsideAlignment = 16;
// Data after the flatbuffer keep their alignment up to this, the size of a page.
inline constexpr uint64_t kMaxAlignment = 4096;

class EditedData {
 public:
  // The data of the Buffer at `position`, counted from the end of the flatbuffer, which has an
  // empty vector.
  void AddInside(flatbuffers::uoffset_t position, Blob bytes) {
    inside_.emplace_back(position, std::move(bytes));
  }
  // A range of the source that `field` of a table states by its offset.
  void AddOutside(flatbuffers::uoffset_t position, flatbuffers::voffset_t field, ByteRange range) {
    outside_.push_back({position, field, range});
  }

  // The parts of the file: tables, data in the flatbuffer, data after it, and the archive of
  // associated files.
  Result<std::vector<StableFlatbuffer::Part>> Place(const StableFlatbuffer& source,
                                                    flatbuffers::DetachedBuffer file,
                                                    bool keeps_archive) const;

 private:
  struct Outside {
    flatbuffers::uoffset_t position;
    flatbuffers::voffset_t field;
    ByteRange range;
  };

  std::vector<std::pair<flatbuffers::uoffset_t, Blob>> inside_;
  std::vector<Outside> outside_;
};

}  // namespace nn::tflite

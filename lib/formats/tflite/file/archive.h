// The ZIP archive of associated files (labels, vocabularies) at the end of a TensorFlow Lite file.
// Only its position is of interest: APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"

namespace nn::tflite {

class Archive {
 public:
  // From the start of the file.
  uint64_t begin() const { return begin_; }

  // The fields of 32 bits, by position, with their values if the archive moves by `distance`.
  // Offsets count from the start of the file or of the archive; the latter stay. kUnsupported if
  // the archive would end beyond 4 GiB. Requires that its beginning stays in the file.
  Result<std::vector<std::pair<uint64_t, uint32_t>>> Moved(int64_t distance) const;

 private:
  friend Result<std::optional<Archive>> FindArchive(std::span<const std::byte> file);

  uint64_t begin_ = 0;
  std::vector<std::pair<uint64_t, uint32_t>> offsets_;  // that count from the start of the file
};

// nullopt if the file does not end with an archive. kUnsupported for ZIP64.
Result<std::optional<Archive>> FindArchive(std::span<const std::byte> file);

// A copy of the archive at the end of the file, as it is where it begins at `begin`; nullopt if
// there is none. The errors of FindArchive and Archive::Moved.
Result<std::optional<Blob>> ArchiveAt(std::span<const std::byte> file, uint64_t begin);

}  // namespace nn::tflite

// NumPy's .npz format: a ZIP archive with one .npy file per array.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "tensorio/named_tensor.h"

namespace nn {

struct NpzLimits {
  uint64_t max_bytes = uint64_t{4} << 30;  // total size of all unpacked arrays
  uint64_t max_entries = uint64_t{16} << 20;
};

// Reads the arrays in archive order, named after their entries without ".npy". Entries may be
// stored or deflated; memory use depends on the data actually unpacked, not on the sizes that the
// archive declares. kParse for damaged archives, overlapping entries, entries that are not .npy
// files, and duplicate names; kLimit if a limit is exceeded.
Result<std::vector<NamedTensor>> ReadNpz(const Blob& file, const NpzLimits& limits = {});

// Writes `path` ("-": standard output) atomically. Entries are stored uncompressed, in the given
// order, dated 1980-01-01, so equal tensors give equal bytes. Names that are not UTF-8 are escaped.
// kUsage for empty and duplicate names. Errors use `shown` as the file's name, or the path if it is
// empty.
Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors,
                std::string shown = {});

}  // namespace nn

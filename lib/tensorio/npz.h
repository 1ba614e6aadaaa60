// NumPy's .npz files: ZIP archives of .npy files, one an array.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "tensorio/named_tensor.h"

namespace nn {

struct NpzLimits {
  uint64_t max_bytes = uint64_t{4} << 30;  // of all arrays, unpacked
  uint64_t max_entries = uint64_t{16} << 20;
};

// The arrays in the archive's order, named after their entries without ".npy". Entries may be
// stored or deflated; memory grows with what is unpacked, not with what the archive claims. kParse
// for damaged archives, entries that overlap or are no .npy files, and names that occur twice;
// kLimit beyond limits.
Result<std::vector<NamedTensor>> ReadNpz(const Blob& file, const NpzLimits& limits = {});

// Writes `path` ("-": standard output) so that it is complete or not there. Entries are stored, in
// the order given, dated 1980-01-01: the same tensors give the same bytes. Names that are not UTF-8
// are escaped. kUsage for empty names and names that occur twice.
Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace nn

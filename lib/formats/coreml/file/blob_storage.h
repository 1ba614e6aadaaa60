// The weight file of an ML Program: weights/weight.bin, "blob storage" version 2.
//
// A header of 64 bytes (u32 number of entries, u32 version, zeros), then entries, each of 64 bytes
// of metadata (u32 sentinel, u32 data type, u64 bytes of data, u64 offset of the data in the file,
// u64 unused bits at its end, zeros) and the data. Headers and data begin at multiples of 64;
// numbers are little-endian. A program names an entry by the offset of its metadata.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"

namespace nn::coreml {

struct BlobEntry {
  std::string_view type;  // as mil.DataType has it: "FLOAT16"
  int bits = 0;           // per element
  Blob data;
  uint64_t elements = 0;
};

class BlobStorage {
 public:
  // Checks the header; kModel if it is invalid.
  static Result<BlobStorage> Open(Blob file);

  // The number of entries in the header.
  uint32_t count() const { return count_; }
  uint64_t bytes() const { return file_.size(); }

  // The entry with metadata at `offset`; kModel unless metadata and data are in the file and
  // consistent. Reads only the metadata.
  Result<BlobEntry> At(uint64_t offset) const;

 private:
  BlobStorage(Blob file, uint32_t count) : file_(std::move(file)), count_(count) {}

  Blob file_;
  uint32_t count_;
};

// Writes such a file.
class BlobStorageWriter {
 public:
  // Whether the file can hold elements of the type: "FLOAT16".
  static bool Holds(std::string_view type);

  // Adds an entry and returns the offset of its metadata. Requires Holds(type). `unused_bits`: at
  // the end of the data.
  uint64_t Add(std::string_view type, Blob data, uint64_t unused_bits = 0);
  bool empty() const { return count_ == 0; }
  // The file, in parts; the data are not copied.
  std::vector<Blob> Finish();

 private:
  // Appends zeros up to the next multiple of 64.
  void Align();

  std::vector<Blob> parts_;  // after the header
  uint64_t end_ = 64;
  uint32_t count_ = 0;
};

}  // namespace nn::coreml

// Writes dumps: JSON text with tensor data in one of several forms.
//
// Text is a JSON string, or {"base64": "..."} if it is not UTF-8. Bytes are a Base64 string. A list
// of numbers is a JSON array, or, from kDumpArrayBytes on, {"base64": "..."} of its little-endian
// elements. Inline, lists are arrays of any length, and bytes of known type are {"f32": [...]}.
// Data in another file are {"stored": NAME, "type": "f32", "shape": [...]}. Omitted data are
// {"omitted": SIZE, ...}. Numbers are formatted by JsonWriter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_writer.h"
#include "formats/format.h"
#include "ir/types/dtype.h"
#include "tensorio/named_tensor.h"

namespace nn {

inline constexpr size_t kDumpArrayBytes = 1024;
inline constexpr const char* kDumpOmittedKey = "omitted";
inline constexpr const char* kDumpStoredKey = "stored";

// The type, name and shape of data, where known.
struct DataInfo {
  DType type = DType::kUnknown;
  std::string name = {};            // of the tensor; "": unknown
  std::vector<int64_t> shape = {};  // if there is a name; may not match the bytes
};

class DumpWriter : public JsonWriter {
 public:
  DumpWriter(Sink sink, DumpOptions options)
      : JsonWriter(std::move(sink)), options_(std::move(options)) {}

  // Text that may not be UTF-8.
  void Text(std::string_view text);
  // The contents of a bytes field. With kFile, the bytes are kept until the writer ends, as in
  // LongList.
  void Data(const Blob& blob, const DataInfo& info);
  // The elements of a list of numbers of at least kDumpArrayBytes; the type is known.
  void LongList(const Blob& blob, const DataInfo& info);

  // With kFile, the name of the file and the data that the text refers to.
  const std::string& file() const { return options_.file; }
  std::span<const NamedTensor> stored() const { return stored_; }

 private:
  void Base64Object(std::span<const std::byte> bytes);
  void Stored(const Blob& blob, const DataInfo& info);
  void Numbers(std::span<const std::byte> bytes, DType type);
  void Omitted(std::span<const std::byte> bytes, DType type);
  void Statistics(std::span<const std::byte> bytes, DType type);
  bool OmitsData(size_t size) const;

  DumpOptions options_;
  std::vector<NamedTensor> stored_;
  std::set<std::string> stored_names_;
};

// Calls fn with a value of the C++ type for types of plain 1, 2, 4 or 8-byte numbers; false for all
// others.
template <typename Fn>
bool WithPlainNumber(DType type, const Fn& fn) {
  switch (type) {
    case DType::kI8:
      return fn(int8_t{}), true;
    case DType::kI16:
      return fn(int16_t{}), true;
    case DType::kI32:
      return fn(int32_t{}), true;
    case DType::kI64:
      return fn(int64_t{}), true;
    case DType::kU8:
      return fn(uint8_t{}), true;
    case DType::kU16:
      return fn(uint16_t{}), true;
    case DType::kU32:
      return fn(uint32_t{}), true;
    case DType::kU64:
      return fn(uint64_t{}), true;
    case DType::kF32:
      return fn(float{}), true;
    case DType::kF64:
      return fn(double{}), true;
    default:
      return false;
  }
}

}  // namespace nn

// Writing dumps: JSON text in which the data of tensors can be shown in several ways.
//
// Text is a JSON string, or {"base64": "..."} where it is not UTF-8. Bytes are a string of Base64.
// A list of numbers is a JSON array, or, from kDumpArrayBytes on, {"base64": "..."} of its
// little-endian elements. Inline, lists are arrays of any length, and bytes whose type is known are
// {"f32": [...]}. Data that are left out are {"omitted": SIZE, ...}. Numbers are as JsonWriter has
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/json_writer.h"
#include "formats/format.h"
#include "ir/dtype.h"

namespace nn {

inline constexpr size_t kDumpArrayBytes = 1024;
inline constexpr const char* kDumpOmittedKey = "omitted";

class DumpWriter : public JsonWriter {
 public:
  DumpWriter(Sink sink, DumpWeights weights) : JsonWriter(std::move(sink)), weights_(weights) {}

  // Text that may be no UTF-8.
  void Text(std::string_view text);
  // The contents of a bytes field; its elements' type, or kUnknown.
  void Data(std::span<const std::byte> bytes, DType type);
  // The elements of a list of numbers of at least kDumpArrayBytes.
  void LongList(std::span<const std::byte> bytes, DType type);

 private:
  void Base64Object(std::span<const std::byte> bytes);
  void Numbers(std::span<const std::byte> bytes, DType type);
  void Omitted(std::span<const std::byte> bytes, DType type);
  void Statistics(std::span<const std::byte> bytes, DType type);
  bool LeavesOut(size_t size) const;

  DumpWeights weights_;
};

// Calls fn with a value of the C++ type of a type whose elements are plain numbers of 1, 2, 4 or 8
// bytes; false for all others.
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

// The options of a custom operator that are a flexbuffer with a map.
#pragma once

#include <flatbuffers/flexbuffers.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/tflite/import/import.h"

namespace nn::tflite {

class CustomMap {
 public:
  // kModel if the options are no such map.
  static Result<CustomMap> Read(const ImportContext& ctx);

  // Valid as long as this object.
  flexbuffers::Map map() const { return flexbuffers::GetRoot(data(), size_).AsMap(); }
  // An integer from `least` to `most`; kModel if it is missing or out of range.
  Result<int64_t> Int(const char* name, int64_t least, int64_t most) const;

 private:
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(aligned_.data()); }

  std::vector<uint64_t> aligned_;  // as the reader of flexbuffers requires
  size_t size_ = 0;
};

}  // namespace nn::tflite

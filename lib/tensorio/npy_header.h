// The header of .npy files: a Python dictionary literal with the keys descr, fortran_order and
// shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/types/dtype.h"

namespace nn {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyType {
  DType dtype = DType::kUnknown;
  char kind = 0;         // NumPy's: b i u f c S U V
  size_t item_size = 0;  // bytes of one element
  bool big_endian = false;
};

struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t size = 0;  // bytes before the data
};

// Reads the header at the start of a file. kParse if it is malformed, kUnsupported for unsupported
// versions and types.
Result<NpyHeader> ReadNpyHeader(std::string_view file);

}  // namespace nn

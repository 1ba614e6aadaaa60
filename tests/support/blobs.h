// Written files, which are in parts.
#pragma once

#include <string>
#include <vector>

#include "base/file/blob.h"
#include "formats/model/writer.h"

namespace nn::test {

// The bytes of all parts.
inline std::string Joined(const std::vector<Blob>& parts) {
  std::string bytes;
  for (const Blob& b : parts) bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  return bytes;
}
// Those of a model in one file.
inline std::string Joined(const FileImage& image) {
  return Joined(image.parts);
}

}  // namespace nn::test

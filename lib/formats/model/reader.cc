#include "formats/model/reader.h"

namespace nn {

bool ModelReader::IsModelFolder(const std::string& /*path*/) const {
  return false;
}

Result<std::unique_ptr<NativeModel>> ModelReader::ReadFolder(const std::string& /*path*/,
                                                             const ReadLimits& /*limits*/) const {
  return UnsupportedError("models of the format are files, not folders");
}

}  // namespace nn

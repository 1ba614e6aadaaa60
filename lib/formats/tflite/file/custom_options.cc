#include "formats/tflite/file/custom_options.h"

#include <cstring>

namespace nn::tflite {

Result<CustomMap> CustomMap::Read(const ImportContext& ctx) {
  NN_ASSIGN(const Blob bytes, CustomOptions(ctx.model(), ctx.op()));
  CustomMap out;
  out.size_ = bytes.size();
  out.aligned_.resize((bytes.size() + 7) / 8);
  if (bytes.size() > 0) std::memcpy(out.aligned_.data(), bytes.data(), bytes.size());
  std::vector<uint8_t> tracker;
  if (!flexbuffers::VerifyBuffer(out.data(), out.size_, &tracker) ||
      !flexbuffers::GetRoot(out.data(), out.size_).IsMap())
    return ModelError("the options are not a flexbuffer with a map");
  return out;
}

Result<int64_t> CustomMap::Int(const char* name, int64_t least, int64_t most) const {
  const flexbuffers::Reference r = map()[name];
  if (!r.IsNumeric() && !r.IsBool())
    return ModelError("the option {} is missing or not a number", name);
  const int64_t v = r.AsInt64();
  if (v < least || v > most)
    return ModelError("the option {} is {}; must be {} to {}", name, v, least, most);
  return v;
}

}  // namespace nn::tflite

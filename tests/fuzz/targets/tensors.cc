// libFuzzer: arbitrary bytes as a file of tensors (.npz, .npy, .safetensors).
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/file/blob.h"
#include "tensorio/npy.h"
#include "tensorio/npz.h"
#include "tensorio/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const nn::Blob file = nn::Blob::Copy(std::span(reinterpret_cast<const std::byte*>(data), size));
  nn::NpzLimits limits;
  limits.max_bytes = uint64_t{64} << 20;
  if (!nn::ReadNpz(file, limits) && !nn::ReadNpy(file)) (void)nn::ReadSafetensors(file);
  return 0;
}

#include "tensorio/tensor_archive.h"

#include "tensorio/npy.h"
#include "tensorio/safetensors.h"

namespace nn {
namespace {

constexpr std::string_view kSafetensors = ".safetensors";

}  // namespace

bool IsTensorArchivePath(std::string_view path) {
  return path.ends_with(".npz") || path.ends_with(kSafetensors);
}

Result<std::vector<NamedTensor>> ReadTensorArchive(const Blob& file, const NpzLimits& limits) {
  // The header of a safetensors file follows the eight bytes of its size.
  constexpr size_t kHeader = sizeof(uint64_t);
  const bool zip = file.size() >= 2 && std::memcmp(file.data(), "PK", 2) == 0;
  if (!zip && file.size() > kHeader && file.data()[kHeader] == std::byte{'{'})
    return ReadSafetensors(file);
  return ReadNpz(file, limits);
}

Status WriteTensorArchive(const std::string& path, std::span<const NamedTensor> tensors,
                          std::string shown) {
  return path.ends_with(kSafetensors) ? WriteSafetensors(path, tensors, std::move(shown))
                                      : WriteNpz(path, tensors, std::move(shown));
}

}  // namespace nn

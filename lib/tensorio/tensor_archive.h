// Tensor archives of both formats: .npz and .safetensors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "tensorio/named_tensor.h"
#include "tensorio/npz.h"

namespace nn {

// Whether the extension is .npz or .safetensors.
bool IsTensorArchivePath(std::string_view path);

// Reads an archive; the format is detected from the contents. Errors are those of ReadNpz and
// ReadSafetensors.
Result<std::vector<NamedTensor>> ReadTensorArchive(const Blob& file, const NpzLimits& limits = {});

// Writes .safetensors or, for any other extension, .npz. Errors are those of WriteNpz and
// WriteSafetensors.
Status WriteTensorArchive(const std::string& path, std::span<const NamedTensor> tensors,
                          std::string shown = {});

}  // namespace nn

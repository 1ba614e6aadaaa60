// Files of several tensors, of either kind: .npz and .safetensors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "tensorio/named_tensor.h"
#include "tensorio/npz.h"

namespace nn {

// By the extension.
bool IsTensorArchivePath(std::string_view path);

// Told by the bytes. Errors are those of ReadNpz and ReadSafetensors.
Result<std::vector<NamedTensor>> ReadTensorArchive(const Blob& file, const NpzLimits& limits = {});

// Told by the extension: .safetensors, or .npz for all others. Errors are those of WriteNpz and
// WriteSafetensors.
Status WriteTensorArchive(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace nn

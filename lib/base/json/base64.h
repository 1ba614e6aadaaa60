// Base64 (RFC 4648, section 4).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file/blob.h"

namespace nn {

std::string Base64(std::span<const std::byte> bytes);

// Decodes Base64 text into a buffer with the alignment of tensor data. nullopt unless the text is
// exactly what Base64() produces: padded, without line breaks.
std::optional<Blob> FromBase64(std::string_view text);

}  // namespace nn

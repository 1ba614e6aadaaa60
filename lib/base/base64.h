// Base64 (RFC 4648, section 4).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/blob.h"

namespace nn {

std::string Base64(std::span<const std::byte> bytes);

// The bytes of Base64 text, in a buffer with the alignment of tensor data. nullopt unless it is
// exactly what Base64() writes: padded, without line breaks.
std::optional<Blob> FromBase64(std::string_view text);

}  // namespace nn

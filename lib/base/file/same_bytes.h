// Compares files that are written in parts.
#pragma once

#include <span>

#include "base/file/blob.h"

namespace nn {

// Whether the parts have the same bytes in all, however they are divided.
bool HaveSameBytes(std::span<const Blob> a, std::span<const Blob> b);

}  // namespace nn

// The shape of what slides a window over the axes of an image.
#pragma once

#include <optional>

#include "formats/onnx/infer.h"

namespace nn::onnx {

// The shape of a convolution of input `x`, [N, C, spatial axes], with the filter that input `w` is:
// [M, C / group, kernel]. Window attributes are those of Conv; kModel if they do not fit the rank.
// Nullopt if one of the shapes is not known.
Result<std::optional<Dims>> WindowDims(TypeContext& ctx, size_t x, size_t w);

// kModel if padding is negative, which no operator but Pad allows, or if ConvTranspose has both
// pads and auto_pad.
Status CheckPads(const ImportContext& node);

}  // namespace nn::onnx

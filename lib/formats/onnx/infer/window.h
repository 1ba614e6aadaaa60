// Shape inference of sliding windows.
#pragma once

#include <optional>

#include "formats/onnx/infer/infer.h"

namespace nn::onnx {

// The shape of a convolution of input `x`, [N, C, spatial axes], with input `w` as filter, [M, C /
// group, kernel]. Window attributes are those of Conv; kModel if they do not fit the rank. Nullopt
// if one of the shapes is unknown.
Result<std::optional<Dims>> WindowDims(TypeContext& ctx, size_t x, size_t w);

// kModel if padding is negative, which only Pad allows, or if ConvTranspose has both pads and
// auto_pad.
Status CheckPads(const ImportContext& node);

}  // namespace nn::onnx

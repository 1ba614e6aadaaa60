// Pictures as contents of inputs.
#pragma once

#include "base/file/blob.h"
#include "base/status.h"
#include "convert/inputs/port_arrays.h"
#include "ir/tensor.h"

namespace nn {

// Whether the file is a picture by its first bytes (base/image).
bool IsImageFile(const Blob& file);

// The picture as one array for the input, which has 3 axes, or 4 with a batch of 1.
//
// The channels are the axis before or after the two others that has 3 elements, or 1. The
// picture is resized to the size of the input, or to --image-size: bilinear, between centers of
// pixels, with a filter as wide as the step where it shrinks, and rounded to whole numbers, as
// picture libraries do. "crop" keeps its proportions: the middle of what covers the size.
//
// An element is (pixel * scale - mean[c]) / std[c]. The pixel is 0 to 255; gray is
// 0.299 r + 0.587 g + 0.114 b, rounded. The scale is 1/255, or 1 for inputs that the model declares
// as images, unless it is set. It is a real number: quantized inputs get the nearest integer that
// stands for it. Integers get the pixel itself if no number is set, i8 minus 128.
//
// kUsage if the input cannot be fed from an image, or a choice is missing.
Result<Tensor> ReadImage(const Blob& file, const PortType& input, const ImageOptions& options);

}  // namespace nn

// Resizes of more axes than the spatial ones.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// The graph's resize has batch and channels, so that one of all axes has two more of size 1.
// Removes them from around resizes of four and more axes, which have no more than the axes of their
// operand then: ONNX Runtime interpolates tensors of up to five axes only. For the writer, as other
// parts of the library require batch and channels.
Status ResizeOwnAxes(Graph& graph);

}  // namespace nn::onnx

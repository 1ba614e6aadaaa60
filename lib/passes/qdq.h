// Two forms of a quantised model: operators on quantised types, as TensorFlow Lite has them, and
// operators on reals between dequantize and quantize ("QDQ"), as ONNX has them. Scales and zero
// points stand on the types of the quantised values in both, so that changing the form loses none.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Whether an input or output of the node is quantised; never true of dequantize, nor of quantize
// from reals, which stand at the borders.
bool OnQuantisedTypes(const Node& node);

// Turns every operator on quantised types into dequantize -> the operator on reals -> quantize. A
// bias that has no scale of its own gets that of its convolution or product, input times filter.
// Operators whose meaning is that of the stored integers (cast) stay.
Status UnfuseQdq(Graph& graph);

// The inverse: dequantize -> operator -> quantize becomes the operator on quantised types, with
// TensorFlow Lite's arithmetic, where that has a kernel for it: the inputs that are real numbers
// all come from dequantize, each result goes to one quantize only (relu and clip between them are
// taken along), scales and zero points are those that the kernel takes. What does not fit stays as
// it is.
Status FuseQdq(Graph& graph);

// Evaluates dequantize on constants, which FoldConstants leaves alone because files keep quantised
// weights.
Status DequantizeConstants(Graph& graph);

}  // namespace nn

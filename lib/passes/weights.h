// Rewrites that move work from the run into constant weights. They change the order or the number
// of roundings, so results may differ in their last bits: for conversion, never for execution.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Multiplies a batch_norm into the filter and bias of the convolution that it alone follows. False
// if there is none, or anything but the convolution's input is not constant.
Result<bool> FoldBatchNorm(Graph& graph, Node& node);

// Writes a batch_norm of constant statistics as mul and add.
Result<bool> DecomposeBatchNorm(Graph& graph, Node& node);

// Whether a matmul by constant weights [outputs, inputs] takes all but the first axis of a
// transposed tensor, flattened: matmul(reshape(transpose(x)), w).
bool TakesFlattenedTranspose(const Node& matmul);
// Permutes the weights instead: matmul(reshape(x), w'). False if TakesFlattenedTranspose is.
Result<bool> FoldFlattenedTranspose(Graph& graph, Node& matmul);

// Whether a transpose, between the reshape that cuts up one axis and the reshape that joins it
// again, only permutes the elements of this axis ("channel shuffle").
bool IsShuffle(const Node& transpose);
// Writes a shuffle as a gather along the axis, which follows any rearrangement of the others. False
// if IsShuffle is.
Result<bool> ShuffleAsGather(Graph& graph, Node& transpose);

}  // namespace nn

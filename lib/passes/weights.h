// Rewrites that move work from the run into constant weights, for conversion. Unless one says that
// it keeps every bit, it changes the order or the number of roundings.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Multiplies every batch_norm of constant statistics that alone follows a convolution with constant
// filter and bias into them. Returns how many.
Result<int> FoldBatchNorms(Graph& graph);

// Writes a batch_norm of constant statistics as mul and add. Keeps every bit.
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

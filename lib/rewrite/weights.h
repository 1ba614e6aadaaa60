// Rewrites for conversion that precompute work in constant weights. They change the order or number
// of roundings unless documented as bit-exact.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Folds every batch_norm with constant statistics into the convolution before it, if the batch_norm
// is its only user and its filter and bias are constant. Returns the number folded.
Result<int> FoldBatchNorms(Graph& graph);
// How many it would fold.
int CountFoldableNorms(const Graph& graph);

// Decomposes a batch_norm into mul and add. Bit-exact with constant statistics; others are computed
// in the graph, where the shift of a channel is rounded twice.
Result<bool> DecomposeBatchNorm(Graph& graph, Node& node);

// Limit of expansions: elements of the filter of a convolution whose groups or dilations are filled
// with zeros.
constexpr int64_t kMaxFilledFilter = int64_t{1} << 26;

// Fills the constant filter of a convolution, transposed or not, with zeros: a filter of several
// groups becomes one of a single group, or the positions between the taps of a dilated filter
// become taps. Bit-exact for finite inputs; an input that is infinite or NaN also reaches
// the outputs that the zeros connect it to. False if there is nothing to fill, or the filter would
// have more than kMaxFilledFilter elements.
Result<bool> FillGroups(Graph& graph, Node& conv);
Result<bool> FillDilations(Graph& graph, Node& conv);

// Whether the left operand of a matmul by constant weights [outputs, inputs] is a transposed tensor
// with all axes but the first flattened: matmul(reshape(transpose(x)), w).
bool TakesFlattenedTranspose(const Node& matmul);
// Permutes the weights instead: matmul(reshape(x), w'). False if TakesFlattenedTranspose() is
// false.
Result<bool> FoldFlattenedTranspose(Graph& graph, Node& matmul);

// Whether a transpose between a reshape that splits one axis and a reshape that merges it again
// only permutes the elements of that axis ("channel shuffle").
bool IsShuffle(const Node& transpose);
// Lowers a shuffle to a gather along the axis, which can follow any permutation of the other axes.
// Bit-exact. False if IsShuffle() is false.
Result<bool> ShuffleAsGather(Graph& graph, Node& transpose);

}  // namespace nn

// Rewrites that legalize a graph for Core ML. Each is the `apply` of a rewrite/target.h Rewrite.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::coreml {

// Windows over one spatial axis -> the same over two, the first of size 1; batch normalization of a
// matrix likewise.
Result<bool> AddSpatialAxes(Graph& graph, Node& node);
// Batch normalization over three spatial axes -> over one.
Result<bool> MergeSpatialAxes(Graph& graph, Node& node);
// A product with a constant matrix -> with its transpose, the layout of inner products.
Result<bool> TransposeWeights(Graph& graph, Node& node);
// A product with a vector -> with a matrix of one row or column.
Result<bool> ProductOfMatrices(Graph& graph, Node& node);
// shape_of some axes -> a slice of the whole shape.
Result<bool> SliceShape(Graph& graph, Node& node);
// The same for values that networks lack, too.
Result<bool> SliceAnyShape(Graph& graph, Node& node);
// A slice with computed bounds, whose constant ones float32 does not represent -> with the bounds
// of the axes.
Result<bool> BoundsWithinAxes(Graph& graph, Node& node);
// Sequences along an axis before the batch axis -> after it, by permutation.
Result<bool> BatchBeforeTime(Graph& graph, Node& node);
// Indices of one_hot that may count from the end -> that do not.
Result<bool> CountFromBegin(Graph& graph, Node& node);
// A conversion of real numbers to i32, which drops fractions -> of whole numbers. Values of i64
// would saturate in the 32 bits of an output.
Result<bool> DropFractions(Graph& graph, Node& node);
// quantize of float32, rounding halves to even, whose users, after operators that move elements,
// convert the integers to float32 -> rounding within bounds.
Result<bool> QuantizeInFloat(Graph& graph, Node& node);
// scatter_nd of a single update, a scalar -> of a list with one.
Result<bool> ScatterList(Graph& graph, Node& node);
// gather of one constant index -> a slice, and its axis dropped.
Result<bool> GatherToSlice(Graph& graph, Node& node);

// Batch normalization without epsilon, or by computed statistics, which Core ML lacks -> a product
// and a sum.
Result<bool> ScaleAndShift(Graph& graph, Node& node);
// A layer normalization that returns its mean or deviation -> one that does not, and reductions.
Result<bool> SplitStatistics(Graph& graph, Node& node);

Result<bool> DecomposeFmod(Graph& graph, Node& node);
// mod, fmod of integers -> by a divisor that is not 0.
Result<bool> NonZeroDivisor(Graph& graph, Node& node);

// Of a loop: counters that begin with a constant and grow by another are computed from the number
// of the iteration, and so is what is known about their range. The number is less than the trip
// count or kMaxExact.
Status BoundNumbers(const Node& loop);

}  // namespace nn::coreml

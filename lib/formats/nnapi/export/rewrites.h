// Rewrites that legalize a graph for NNAPI 1.0. See rewrite/target.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "ops/nn/conv.h"
#include "rewrite/target.h"

namespace nn::nnapi {

// Whether a node computes plain float32 and its values can be operands.
bool IsReal(const Node& node);

// rewrites.cc: TargetForms::lacks_groups and filter_layout.
bool LacksGroups(const Node& conv);
std::optional<FilterLayout> FilterOrder(const Node& conv);

// ---- rewrites_move.cc: moving elements by EMBEDDING_LOOKUP with constant indices ----------------

// A tensor of `dims`, element i of which is element places[i] - 1 of x, or 0 where that is
// negative; absent if it needs too many lookups. Bit-exact.
Term Moved(const Graph& graph, Value* x, const std::vector<int64_t>& places,
           const std::vector<int64_t>& dims);
// The operators that MoveByLookups() may replace.
std::span<const std::string_view> MoveOperators();
// Whether the result of the operator consists of elements of input 0 and of constants.
bool MovesElements(const Node& node);
// The inputs whose elements those of the result are; none if the operator computes others.
std::vector<size_t> MovedInputs(const Node& node);
// Any operator whose result, for fixed shapes, consists of certain elements of its input and of
// constants: slice, transpose, gather by constants, pad, ... Operators of that kind before it are
// part of the lookup.
Result<bool> MoveByLookups(Graph& graph, Node& node);
// A selection by a constant. Bit-exact.
Result<bool> SelectByLookups(Graph& graph, Node& node);
// A scatter into constant places that replaces elements, or combines them with a few updates.
// Bit-exact.
Result<bool> ScatterByLookups(Graph& graph, Node& node);
// A reshape that NNAPI lacks (to a rank above 4) is merged into the reshapes after it.
Result<bool> ReshapeInUses(Graph& graph, Node& node);
// An elementwise operator of float32, or a concatenation, on fewer axes.
Result<bool> JoinAxes(Graph& graph, Node& node);
Result<bool> JoinConcatAxes(Graph& graph, Node& node);

// ---- rewrites_window.cc -------------------------------------------------------------------------

// A dilated convolution as one on the positions modulo the dilation. Bit-exact.
Result<bool> DilatedByPhases(Graph& graph, Node& node);
// A mean that counts padding as one over a padded tensor. Bit-exact.
Result<bool> PadBeforeMean(Graph& graph, Node& node);
// A transposed convolution as one over a tensor with zeros between the elements.
Result<bool> TransposedByZeros(Graph& graph, Node& node);
// A resize as the weighted sum of its taps along each axis.
Result<bool> ResizeByTaps(Graph& graph, Node& node);

// ---- rewrites_sample.cc -------------------------------------------------------------------------

// grid_sample of finite numbers at finite positions as sums of all elements along each axis,
// weighted by their distances from the position. Rounds differently; positions that are NaN give
// NaN. False if there are too many elements.
Result<bool> SampleByWeights(Graph& graph, Node& node);
// Why it cannot replace a grid_sample of float32; nullopt if it can, and for others.
std::optional<std::string> WhyNotSampled(const Node& node);

// ---- rewrites_reduce.cc -------------------------------------------------------------------------

// Sums and means, as convolutions with ones that add in the order of reduce_sum. Bit-exact.
Result<bool> SumByConvolutions(Graph& graph, Node& node);
// The L2 norm, as a pool.
Result<bool> NormByPool(Graph& graph, Node& node);
// Normalizations to mean 0 and variance 1, by L2_NORMALIZATION.
Result<bool> LayerNormByL2(Graph& graph, Node& node);
Result<bool> InstanceNormByL2(Graph& graph, Node& node);
// Maximum over axes and of two tensors, as pools. Bit-exact.
Result<bool> ReduceMaxByPool(Graph& graph, Node& node);
Result<bool> MaximumByPool(Graph& graph, Node& node);
// A running sum, as a convolution with ones. Bit-exact, but for the sign of zeros.
Result<bool> RunningSum(Graph& graph, Node& node);
// A product of batches of matrices, one by one.
Result<bool> MatmulByBatches(Graph& graph, Node& node);

}  // namespace nn::nnapi

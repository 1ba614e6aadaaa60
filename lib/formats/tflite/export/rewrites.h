// Rewrites that legalize a graph for TensorFlow Lite. See rewrite/target.h.
#pragma once

#include <optional>

#include "base/status.h"
#include "ir/graph.h"
#include "ops/nn/conv.h"
#include "rewrite/expand.h"

namespace nn::tflite {

// Limit of TensorFlow Lite: axes of a written PAD, whose axes without padding are joined first.
constexpr int kMaxPaddedAxes = 5;

// rewrites_window.cc: convolutions and pools.
bool LacksGroups(const Node& conv);                         // TargetForms::lacks_groups
std::optional<FilterLayout> FilterOrder(const Node& conv);  // TargetForms::filter_layout
Result<bool> ZeroBias(Graph& graph, Node& node);            // CONV_2D needs a bias
Result<bool> ConvPadding(Graph& graph, Node& node);         // SAME, VALID, or VALID after a pad
Result<bool> MaxPoolPadding(Graph& graph, Node& node);
Result<bool> AveragePoolPadding(Graph& graph, Node& node);
Result<bool> TransposedConvPadding(Graph& graph, Node& node);

// rewrites_integers.cc: integers for which the kernels are missing.
// Narrow integers in wider ones (OpDef::wraps_integers).
Result<bool> ComputeInWiderIntegers(Graph& graph, Node& node);
Result<bool> PowAsProducts(Graph& graph, Node& node);       // integers to integer powers
Result<bool> WholeExponent(Graph& graph, Node& node);       // integers to powers in float32
Result<bool> ShiftLeftAsProduct(Graph& graph, Node& node);  // with a power of two
Result<bool> ArgOf16Bits(Graph& graph, Node& node);         // in wider numbers of the same order

// rewrites.cc: the rest.
Result<bool> ClipAsBounds(Graph& graph, Node& node);
Result<bool> BroadcastOperands(Graph& graph, Node& node);
Result<bool> ClippedCast(Graph& graph, Node& node);
Result<bool> TransposedWeights(Graph& graph, Node& node);
Result<bool> BlocksBeforeChannels(Graph& graph, Node& node);
Result<bool> JoinUnpaddedAxes(Graph& graph, Node& node);
Result<bool> CropAsSlice(Graph& graph, Node& node);
// rnn, lstm (rewrites_recurrent.cc): the final state as a part of y, and lengths as a mask of y.
Result<bool> FinalStateAsSlice(Graph& graph, Node& node);
Result<bool> LengthsAsMask(Graph& graph, Node& node);

// indices.cc: computed indices that may be negative, as those that count from the start of axes.
Status CountIndicesFromStart(Graph& graph);

// ops/non_max_suppression.cc: OneListEach() (formats/common/suppression.h) of corners.
Result<bool> CornersOfOneList(Graph& graph, Node& node);

// Whether GATHER moves elements of this type.
bool CanGather(DType dtype);

}  // namespace nn::tflite

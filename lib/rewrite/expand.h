// Decompositions of operators into simpler ones, for targets that lack them: each function is the
// `apply` of a row of rewrite/functions.h. False if it does not apply. Results have the same bits
// unless a function says that it rounds differently.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/term.h"
#include "ops/support/insert_before.h"

namespace nn {

// Builds the nodes that replace a node. They are inserted before it and have its source.
class Expansion : public InsertBefore {
 public:
  using InsertBefore::InsertBefore;

  Value* Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  // A scalar of a type of numbers or bool.
  Result<Value*> Number(DType dtype, double v);

  // Replaces the node, or only its output i, which is not the first. The value gets the output's
  // name unless it has one.
  bool Replace(Value* y);
  Result<bool> Replace(const Term& y) {
    NN_ASSIGN(Value* const v, Build(y));
    return Replace(v);
  }
  void ReplaceOutput(size_t i, Value* v);
};

// Its nodes also have the arithmetic and result quantization of the node.
class ExpansionLike final : public Expansion {
 public:
  using Expansion::Expansion;

 private:
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override;
};

// Whether the first input is float32 and not quantized.
bool IsPlainF32(const Node& node);

// Whether all elements of a float32 tensor are finite, so that their products with zeros are zeros.
bool IsFinite(const Tensor& tensor);

// An operator with one spatial axis (OpDef::takes_unit_axes) -> the same with a second one, of size
// 1, before it.
Result<bool> OneAxisAsTwo(Graph& graph, Node& node);
// tree_ensemble of float32 with constant splits and weights -> all trees descend a level at a time,
// by gathers from tables of the nodes. Rounds differently. The elements of a row are selected by
// gather with a batch axis, or by gather_elements.
Result<bool> ExpandTrees(Graph& graph, Node& node);
Result<bool> ExpandTreesAlongAxis(Graph& graph, Node& node);
// conv_transpose of float32 -> a convolution of the input with zeros between its elements. Rounds
// differently.
Result<bool> ExpandConvTranspose(Graph& graph, Node& node);
// conv or conv_transpose of float32 with dilations and a computed filter of constant shape -> with
// zeros between the taps. An infinity also reaches the outputs that the zeros connect it to.
Result<bool> ExpandDilatedFilter(Graph& graph, Node& node);
// conv of float32 over three spatial axes, with a computed filter, all of constant shape -> a sum
// of convolutions of planes. Rounds differently.
Result<bool> ExpandSolidConv(Graph& graph, Node& node);
// softmax and its relatives -> along the last axis, between transposes.
Result<bool> AlongLastAxis(Graph& graph, Node& node);
// hardmax -> one_hot of arg_max.
Result<bool> ExpandHardmax(Graph& graph, Node& node);
// arg_max or arg_min of the last index -> of the first one in the reversed input.
Result<bool> ExpandLastIndex(Graph& graph, Node& node);
// trilu -> a selection by a constant mask, or by one that depends on the diagonal.
Result<bool> ExpandTrilu(Graph& graph, Node& node);
// gather_elements -> a gather from all elements in one axis. An index out of range is not an error
// any more.
Result<bool> ExpandGatherElements(Graph& graph, Node& node);
// scatter_nd -> a gather of the elements and the updates, with constant or sorted indices; or sums
// by a scatter_nd that adds to zeros, or products, minima and maxima of all updates of an element.
// An index out of range is not an error any more. Unless the indices are constant, a sum of
// negative zeros is +0, products round differently, and an update that is NaN makes a minimum or
// maximum NaN.
Result<bool> ExpandScatterNd(Graph& graph, Node& node);
// scatter_elements -> scatter_nd into all elements in one axis.
Result<bool> ExpandScatterElements(Graph& graph, Node& node);
// resize of known sizes -> a gather for each tap along each axis, and their weighted sum; nearest
// elements need no sum. Sums round differently. One that resizes nothing -> its input.
Result<bool> ExpandResize(Graph& graph, Node& node);
// resize by scales, sizes or regions that are operands -> the same with positions and weights that
// are computed. Sums round differently. A filter that is stretched has no known number of taps.
Result<bool> ExpandComputedResize(Graph& graph, Node& node);
// squeeze of the axes that expand_dims has added -> the input of that.
Result<bool> SkipAddedAxes(Graph& graph, Node& node);
// reshape to a computed shape in which zeros copy sizes -> to one without.
Result<bool> ExpandCopiedSizes(Graph& graph, Node& node);
// expand to a computed shape -> tile.
Result<bool> ExpandAsTile(Graph& graph, Node& node);
// slice by computed bounds of some axes -> of all axes in order.
Result<bool> ExpandComputedBounds(Graph& graph, Node& node);
// slice by computed axes or steps -> a gather along each axis.
Result<bool> ExpandComputedSteps(Graph& graph, Node& node);
// grid_sample of float32 -> a gather for each tap, and their weighted sum. Rounds differently.
Result<bool> ExpandGridSample(Graph& graph, Node& node);
// roi_align of float32 with a given number of samples, of images of constant shape -> a gather for
// each of the four taps of all samples, their weighted sums, and a pool of the samples in each bin.
// An image number out of range is not an error any more.
Result<bool> ExpandRoiAlign(Graph& graph, Node& node);
// top_k of the smallest elements, along another axis than the last, with a list of one number as k,
// or without indices -> of the largest, along the last axis, with both outputs.
Result<bool> ExpandTopK(Graph& graph, Node& node);
// gather_nd of batches of constant shape -> with the indices of the batches among the others.
Result<bool> ExpandGatherBatches(Graph& graph, Node& node);
// compress -> a gather at the positions that are not zero.
Result<bool> ExpandCompress(Graph& graph, Node& node);
// unique of float32 or integers of constant shape -> groups of equal elements after a top_k of all,
// and what the outputs say about them; slices along an axis are compared in pairs first.
Result<bool> ExpandUnique(Graph& graph, Node& node);
// split into one part -> its input.
Result<bool> ExpandSplitOfOne(Graph& graph, Node& node);
// eye_like of constant shape -> a constant.
Result<bool> ExpandEyeLike(Graph& graph, Node& node);
// one_hot -> a selection by a comparison of the indices with a range.
Result<bool> ExpandOneHot(Graph& graph, Node& node);
// pad with elements of x -> a gather along each axis.
Result<bool> ExpandPad(Graph& graph, Node& node);
// pad by computed numbers, or with a computed value -> the same at computed positions.
Result<bool> ExpandComputedPad(Graph& graph, Node& node);

// loop with stacks, trip count constant and no condition -> with carried values of their size, in
// which each iteration replaces one element.
Result<bool> PlaceInStacks(Graph& graph, Node& node);
// loop with stacks -> with carried values that are empty first and grow by one element in each
// iteration, whose shape must be known.
Result<bool> GrowStacks(Graph& graph, Node& node);

// matmul_integer, conv_integer -> products of float32 and, unless all users convert the result to
// float32, their sum in i32. All sums are exact: where float32 does not hold them, one or both
// operands are split into multiples of 16 and the rest. False if the depth is not known, or so
// large that not even the parts are exact.
Result<bool> ExpandIntegerProduct(Graph& graph, Node& node);
// dynamic_quantize -> its definition.
Result<bool> ExpandDynamicQuantize(Graph& graph, Node& node);

// pow of float32 by integers -> by float32. Exponents above 2^24 are rounded.
Result<bool> ExpandIntegerExponent(Graph& graph, Node& node);
// shift_left, shift_right of u8 and u16 -> products and quotients of i32 by powers of two, which
// are gathered from a table.
Result<bool> ExpandShift(Graph& graph, Node& node);

// max_pool or average_pool over three spatial axes, with the channels last -> over two, then over
// one. Means round differently.
Result<bool> ExpandSolidPool(Graph& graph, Node& node);
// max_pool or average_pool of known windows with dilations, and means without padding -> a gather
// of the taps of all windows, and a pool without.
Result<bool> ExpandDilatedPool(Graph& graph, Node& node);
// max_pool with indices, over known windows -> one without, and arg_max of the gathered taps.
Result<bool> ExpandMaxPoolIndices(Graph& graph, Node& node);
// max_unpool of float32 and constant shape -> scatter_nd.
Result<bool> ExpandMaxUnpool(Graph& graph, Node& node);
// lp_pool that sums, or of p other than 1 and 2 -> average_pool of powers. Rounds differently.
Result<bool> ExpandLpPool(Graph& graph, Node& node);
// lrn -> sums of slices. Rounds differently.
Result<bool> ExpandLrn(Graph& graph, Node& node);

// det of float32 matrices of constant size, up to 32 columns -> elimination with partial pivoting.
Result<bool> ExpandDet(Graph& graph, Node& node);
// inverse of such matrices -> Gauss-Jordan elimination.
Result<bool> ExpandInverse(Graph& graph, Node& node);
// dft, stft of float32 of constant length -> products with the matrix of the transform; frames of
// stft by a convolution, or gathered if the window is computed. Rounds differently, and sums
// that overflow or have infinities may be infinite or NaN where the definition's are not.
Result<bool> ExpandDft(Graph& graph, Node& node);
Result<bool> ExpandStft(Graph& graph, Node& node);

// pad of float32 -> slices of the input beside it, or a slice before the padding if elements are
// removed.
Result<bool> PadAsSlices(Graph& graph, Node& node);
// reduce_log_sum_exp -> its definition. Rounds differently.
Result<bool> ExpandLogSumExp(Graph& graph, Node& node);
// instance_norm, layer_norm -> differences from the mean, divided by the deviation. Rounds
// differently.
Result<bool> ExpandNorm(Graph& graph, Node& node);

// random_uniform, random_normal -> float32 numbers in [0, 1) or of the standard normal
// distribution, scaled.
Result<bool> ExpandRandom(Graph& graph, Node& node);
// bernoulli -> a comparison of uniform numbers with the probabilities.
Result<bool> ExpandBernoulli(Graph& graph, Node& node);
// multinomial with logits of another type -> of float32.
Result<bool> ExpandFloatLogits(Graph& graph, Node& node);

}  // namespace nn

#include "rewrite/functions.h"

#include "ir/op_def.h"
#include "ops/nn/resize/resize.h"
#include "ops/recurrent/unroll.h"
#include "rewrite/expand.h"
#include "rewrite/expand/affine.h"
#include "rewrite/weights.h"

namespace nn {
namespace {

constexpr std::string_view kProduct =
    "the number of products in a sum is not known, or too large for exact sums in float32";
constexpr std::string_view kMatrices =
    "the matrices must be of f32 and have a constant size from 1 to 32";
constexpr std::string_view kTransform =
    "x must be f32 and have elements, its axis, the length and the shape along the axis constant, "
    "and the matrix of the transform must have at most 2^24 elements";
constexpr std::string_view kFrames =
    "the signal must be f32 and have elements and a constant length, the step and the size of the "
    "frames must be constant, and the matrix of the transform must have at most 2^24 elements";
constexpr std::string_view kRegions =
    "the operands must be of f32, sampling_ratio positive, since 0 lets the regions determine the "
    "number of samples, and the images of constant shape; set input shapes with --input-shape";

template <const std::string_view& reason>
std::optional<std::string_view> Needs(const Node& /*node*/) {
  return reason;
}

std::optional<std::string_view> WhyNotResized(const Node& node) {
  if (node.inputs().size() == 1) return std::nullopt;
  return "its scales, sizes and regions must be constant";
}

}  // namespace

std::span<const FunctionRow> FunctionRows() {
  using enum RuleError;
  static constexpr FunctionRow kFunctionRows[] = {
      // ---- Before the layout, whose transposes would hide how the sums are used
      {"matmul_integer", "products of floats", ExpandIntegerProduct, kExact, true, Needs<kProduct>,
       true},
      {"conv_integer", "products of floats", ExpandIntegerProduct, kExact, true, Needs<kProduct>,
       true},
      {"max_pool", "indices of taps", ExpandMaxPoolIndices, kExact, true},
      {"max_unpool", "scatter_nd", ExpandMaxUnpool, kExact, true},
      {"transpose", "shuffle as a gather", ShuffleAsGather, kExact, true},
      {"conv", FunctionName::kSecondSpatialAxis, OneAxisAsTwo, kExact, true},
      {"conv_transpose", FunctionName::kSecondSpatialAxis, OneAxisAsTwo, kExact, true},
      {"max_pool", FunctionName::kSecondSpatialAxis, OneAxisAsTwo, kExact, true},
      {"average_pool", FunctionName::kSecondSpatialAxis, OneAxisAsTwo, kExact, true},
      {"lp_pool", FunctionName::kSecondSpatialAxis, OneAxisAsTwo, kExact, true},

      // ---- Loops and recurrent layers
      {"loop", "stacks of known length", PlaceInStacks},
      {"loop", FunctionName::kStacksThatGrow, GrowStacks},
      {"rnn", FunctionName::kSteps, UnrollRecurrent, kRounds},
      {"gru", FunctionName::kSteps, UnrollRecurrent, kRounds},
      {"lstm", FunctionName::kSteps, UnrollRecurrent, kRounds},

      // ---- Windows and norms
      {"batch_norm", "product and sum", DecomposeBatchNorm, kRounds},
      {"conv", "planes", ExpandSolidConv, kRounds},
      {"conv", "zeros between taps", ExpandDilatedFilter},
      {"conv_transpose", "convolution", ExpandConvTranspose, kRounds},
      {"conv_transpose", "zeros between taps", ExpandDilatedFilter},
      {"max_pool", "axes in turn", ExpandSolidPool},
      {"average_pool", "axes in turn", ExpandSolidPool, kRounds},
      {"max_pool", "gathered taps", ExpandDilatedPool},
      {"average_pool", "gathered taps", ExpandDilatedPool},
      {"lp_pool", "powers", ExpandLpPool, kRounds},
      {"lrn", "sum of slices", ExpandLrn, kRounds},
      {"instance_norm", "moments", ExpandNorm, kRounds},
      {"layer_norm", "moments", ExpandNorm, kRounds},

      // ---- Images
      {"resize", "gathers", ExpandResize, kRounds, false, WhyNotResized},
      {"resize", FunctionName::kComputedGathers, ExpandComputedResize, kRounds, false, nullptr,
       true},
      {"grid_sample", "gathers", ExpandGridSample, kRounds},
      {"affine_grid", FunctionName::kProduct, ExpandAffineGrid},
      {"roi_align", "gathers", ExpandRoiAlign, kRounds, false, Needs<kRegions>},

      // ---- Selections and reductions
      {"softmax", "last axis", AlongLastAxis},
      {"log_softmax", "last axis", AlongLastAxis},
      {"arg_max", "first index", ExpandLastIndex},
      {"arg_min", "first index", ExpandLastIndex},
      {"hardmax", "one_hot", ExpandHardmax},
      {"top_k", "largest of the last axis", ExpandTopK},
      {"unique", "sorted elements", ExpandUnique},
      {"compress", "gather", ExpandCompress},
      {"trilu", "mask", ExpandTrilu},
      {"one_hot", "comparison", ExpandOneHot},
      {"tree_ensemble", FunctionName::kGathersOfBatches, ExpandTrees, kRounds},
      {"tree_ensemble", "gathers along an axis", ExpandTreesAlongAxis, kRounds},
      {"reduce_log_sum_exp", "definition", ExpandLogSumExp, kRounds},

      // ---- Places of elements
      {"gather_elements", "gather", ExpandGatherElements},
      {"gather_nd", "index vectors with batches", ExpandGatherBatches},
      {"scatter_elements", "scatter_nd", ExpandScatterElements},
      {"scatter_nd", "gather", ExpandScatterNd, kRounds},
      {"pad", FunctionName::kSlicesOfInput, PadAsSlices},
      {"pad", "gather", ExpandPad},
      {"pad", FunctionName::kComputedGathers, ExpandComputedPad},
      {"split", "one part", ExpandSplitOfOne},
      {"squeeze", "input of expand_dims", SkipAddedAxes, kExact, false, nullptr, true},
      {"reshape", "copied sizes", ExpandCopiedSizes},
      {"expand", "tile", ExpandAsTile},
      {"slice", "bounds of all axes", ExpandComputedBounds},
      {"slice", FunctionName::kComputedGathers, ExpandComputedSteps},
      {"eye_like", "constant", ExpandEyeLike},

      // ---- Mathematics
      {"pow", "float exponent", ExpandIntegerExponent, kRounds, false, nullptr, true},
      {"shift_left", "power of two", ExpandShift, kExact, false, nullptr, true},
      {"shift_right", "power of two", ExpandShift, kExact, false, nullptr, true},
      {"det", FunctionName::kElimination, ExpandDet, kExact, false, Needs<kMatrices>},
      {"inverse", FunctionName::kElimination, ExpandInverse, kExact, false, Needs<kMatrices>},
      {"dft", "matrix product", ExpandDft, kRounds, false, Needs<kTransform>},
      {"stft", "matrix product", ExpandStft, kRounds, false, Needs<kFrames>},
      {"dynamic_quantize", "definition", ExpandDynamicQuantize},

      // ---- Random numbers
      {"random_uniform", "unit interval", ExpandRandom},
      {"random_normal", "standard distribution", ExpandRandom},
      {"bernoulli", "comparison", ExpandBernoulli, kExact, false, nullptr, true},
      {"multinomial", "float logits", ExpandFloatLogits, kExact, false, nullptr, true},
  };
  return kFunctionRows;
}

std::optional<std::string_view> WhyNotExpanded(const Node& node) {
  for (const FunctionRow& row : FunctionRows())
    if (row.why_not != nullptr && node.Is(row.op)) return row.why_not(node);
  return std::nullopt;
}

}  // namespace nn

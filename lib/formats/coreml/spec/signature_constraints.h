// Constraints on layers beyond the rows of signature.h, each with a label. A rule of the validator
// is the finding of one constraint, a refusal of legalization names one, and so do their tests.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coreml_neural_network.pb.h"
#include "formats/coreml/spec/signature.h"
#include "formats/coreml/spec/signature_weight_list.h"

namespace nn::coreml {

// A layer with what is known about it.
struct LayerView {
  const pb::NeuralNetworkLayer* layer = nullptr;
  const Signature* signature = nullptr;  // nullptr: the layer is unknown
  int index = -1;                        // in its network; -1: not in a network
  int version = 0;                       // of the specification; 0: unknown
  bool exact_ranks = false;              // blobs have their declared ranks; else rank 5
  // Ranks declared by this or an earlier layer or by the model; -1 if nothing declares one.
  std::vector<int> input_ranks;
  std::vector<int> output_ranks;
  std::vector<Weights> weights;

  // Whether the layer itself declares the ranks of its inputs or outputs.
  bool ListsInputs() const { return layer->inputtensor_size() > 0; }
  bool ListsOutputs() const { return layer->outputtensor_size() > 0; }
  // The rank that the layer itself declares; -1 if there is none.
  int InputRank(int i) const {
    return i < layer->inputtensor_size() ? static_cast<int>(layer->inputtensor(i).rank()) : -1;
  }
  int OutputRank(int i) const {
    return i < layer->outputtensor_size() ? static_cast<int>(layer->outputtensor(i).rank()) : -1;
  }
};

// "layer 3 (convolution \"name\")"; "convolution" outside of a network.
std::string Title(const LayerView& at);

// Receives what is wrong with a layer.
class Misfits {
 public:
  // `field`: the path from the layer; "" for the layer itself.
  using Sink = std::function<void(std::string_view field, std::string text)>;
  explicit Misfits(Sink sink) : sink_(std::move(sink)) {}

  // Pass names from the file through Quote().
  template <typename... Args>
  void Add(std::string_view field, fmt::format_string<Args...> format, Args&&... args) {
    sink_(field, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  Sink sink_;
};

enum class Label : uint8_t {
  // Layers and their signatures (signature_counts.cc).
  kLayerKindPresent,
  kKindInVersion,
  kInputCount,
  kOutputCount,
  kNothingTaken,
  kTensorsListed,
  kTensorsSized,
  kTensorsRanked,
  kRanksFitLayer,
  kRanksAlike,
  // Ranks by the published text (signature_ranks.cc).
  kOutputRanksFollow,
  kTriangleRanks,
  kListsOfRank1,
  kInputsOfOneRank,
  kBatchBeforeSequence,
  kTileCounts,
  kRecurrentParameters,
  // Axes, and ranks that parameters determine (signature_axes.cc).
  kAxesInRange,
  kOtherAxesInRange,
  kAxesPresent,
  kAxesUnique,
  kAxesWithin,
  kSqueezedRanks,
  kArgSortAxis,
  kNamedAxes,
  kGivenRanks,
  kMatrixRanks,
  kScatterRanks,
  kStackedRanks,
  kAxisPerFlag,
  kPreservedRanks,
  kTransposePermutation,
  // Shapes, lists, numbers (signature_parameters.cc).
  kLayerShapesPresent,
  kShapeLengths,
  kShapesPositive,
  kInferredSizes,
  kPermutePermutation,
  kSliceBounds,
  kSliceNotEmpty,
  kSliceStrides,
  kSliceListsPresent,
  kSliceListsFit,
  kIntervalsOrdered,
  kProbabilitiesInRange,
  kCopiesMove,
  kNumbersInRange,
  kSplitCounts,
  kOldSplitCounts,
  kPadAmounts,
  kPadAmountsFit,
  kMatrixBiases,
  kActivationKinds,
  kRecurrentActivations,
  kLstmActivationCounts,
  kGruActivationCounts,
  kTwoDirections,
  // Kernels, strides, padding, resampling (signature_windows.cc).
  kPairsPositive,
  kTargetSizes,
  kTargetSizesPositive,
  kPaddingSet,
  kWindows3d,
  kCustomPadding,
  kCustomPaddingOfConvolutions,
  kOutputShapes,
  kOutputShapes2d,
  kGroupsDivide,
  kDynamicWeights,
  kDynamicWeightsAlone,
  kBorderCounts,
  kUpsampling,
  // Stored weights (signature_weights.cc).
  kWeightsInOneForm,
  kWeightsPresent,
  kWeightCountsFit,
  kWeightBytesWhole,
  kQuantizationValid,
  kOtherQuantizationValid,
  kInt8Dynamic,
  kInt8Products,
  kWeightsNotInt8,
  kProductWeightsNotInt8,
  kSamePrecision,
  kSamePrecisionElsewhere,
  kWeightsNotQuantized,
  kNormalizationInFloats,
  kSoftplusInOneForm,
  kProductsHaveWeights,
  kProductsHaveBiases,
};
inline constexpr size_t kLabels = static_cast<size_t>(Label::kProductsHaveBiases) + 1;

std::string_view NameOf(Label label);  // "same-precision"

struct Constraint {
  Label label;
  void (*check)(const LayerView& at, Misfits& misfits);
};

// All constraints, in the order of their labels.
std::span<const Constraint> Constraints();
inline const Constraint& ConstraintOf(Label label) {
  return Constraints()[static_cast<size_t>(label)];
}

std::span<const Constraint> CountConstraints();
std::span<const Constraint> RankConstraints();
std::span<const Constraint> AxisConstraints();
std::span<const Constraint> ParameterConstraints();
std::span<const Constraint> WindowConstraints();
std::span<const Constraint> WeightConstraints();

}  // namespace nn::coreml

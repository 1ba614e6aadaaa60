// Prepares the operators of a model as the interpreter does before a run, and records what the
// interpreter would reject. Each kind of problem is a rule.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "validators/rule.h"

namespace nn::tflite {

class RuleContext;

enum class Check : uint8_t {
  // The signature.
  kInputCount,
  kOutputCount,
  kOptionsType,
  kOptionsMissing,
  kInputAbsent,
  kInputTypes,
  kTypeAgreement,
  kRanks,
  kElementCounts,
  kNoKernel,
  kVersion,
  kKernelTypes,
  kDeclaredTypes,
  kDeclaredShapes,
  kOutputTypes,
  // Convolutions, pooling and matrix products.
  kStrides,
  kDilations,
  kChannels,
  kGroups,
  kSpatial,
  kBias,
  kFilterType,
  kTransposedShape,
  kWeights,
  kWeightsFormat,
  kMatrixShapes,
  // Shapes.
  kBroadcast,
  kSameShapes,
  kConcatenation,
  kReshape,
  kPads,
  kSplit,
  kPack,
  kBlocks,
  kBlockSize,
  kTranspose,
  kSqueeze,
  kAxes,
  kTile,
  kTargetShape,
  kResize,
  kSlice,
  kStridedSlice,
  kUpdateSlice,
  kGather,
  kScatter,
  kOneHot,
  kTopK,
  kSegments,
  kLookup,
  kRange,
  kSelect,
  kBoxes,
  kFourier,
  kBitcast,
  kAtRun,  // rejected only by the kernel, at run time
  // Quantization.
  kQuantized,
  kChannelScales,
  kFilterZeroPoint,
  kInt16ZeroPoint,
  kSameQuantization,
  kFixedQuantization,
  kSpecifiedQuantization,
  kBiasScale,
  kConversion,
  kActivation,
  // Options.
  kOptionValues,
  // Recurrent operators.
  kCellSizes,
  kCellInputs,
  kCellState,
  // Control flow and resources.
  kCalledGraph,
  kCalledPorts,
  kCallRecursion,
  kTables,
  kStableHlo,
  kCount
};

struct Problem {
  Location where;
  std::string message;
};

// The problems found, by check. For each check, the first Findings::kMax + 1 are kept.
class Problems {
 public:
  void Add(Check check, Location where, std::string message) {
    auto& list = lists_[static_cast<size_t>(check)];
    if (list.size() <= Findings::kMax) list.push_back({std::move(where), std::move(message)});
  }
  const std::vector<Problem>& of(Check check) const { return lists_[static_cast<size_t>(check)]; }

 private:
  std::array<std::vector<Problem>, static_cast<size_t>(Check::kCount)> lists_;
};

Problems Prepare(const RuleContext& context);

}  // namespace nn::tflite

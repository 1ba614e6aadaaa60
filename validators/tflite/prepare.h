// Prepares the operators of a model as the interpreter does before a run, and records what it would
// refuse. Each kind of refusal is a rule.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "validators/rule.h"

namespace nn::tflite {

class Subject;

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
  // Windows and matrix products.
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
  kAtRun,  // what only the kernel refuses
  // Quantisation.
  kQuantised,
  kChannelScales,
  kFilterZeroPoint,
  kInt16ZeroPoint,
  kSameQuantisation,
  kFixedQuantisation,
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

// What was refused, by check. Of each check the first Findings::kMost + 1 are kept.
class Problems {
 public:
  void Add(Check check, Location where, std::string message) {
    auto& list = lists_[static_cast<size_t>(check)];
    if (list.size() <= Findings::kMost) list.push_back({std::move(where), std::move(message)});
  }
  const std::vector<Problem>& of(Check check) const { return lists_[static_cast<size_t>(check)]; }

 private:
  std::array<std::vector<Problem>, static_cast<size_t>(Check::kCount)> lists_;
};

Problems Prepare(const Subject& subject);

}  // namespace nn::tflite

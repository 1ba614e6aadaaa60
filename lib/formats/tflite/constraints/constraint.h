// The constraints of TensorFlow Lite on operators: what the interpreter rejects when it prepares a
// model for a run, or when it runs it.
//
// Each constraint is a label (Check). Rules report the violations in a file; legalization writes
// each node on trial (export/operator_fit.h) and refuses a node whose operators violate one.
//
// Design: docs/design/034-trial-writes.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "formats/tflite/file/native.h"

namespace nn::tflite {

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

struct OperatorAt {
  const fb::Operator* op = nullptr;
  const fb::SubGraph* subgraph = nullptr;
  const fb::OperatorCode* code = nullptr;  // nullptr if the index is out of range
  int64_t graph = 0;
  int64_t index = 0;
};

// The operators of all subgraphs.
std::vector<OperatorAt> OperatorsOf(const fb::Model& model);

// An operator that breaks a constraint.
struct Violation {
  Check check;
  const OperatorAt& at;
  std::string text;  // to follow the operator's name: "axis 3 is out of range for x of rank 2"
};

// A model as constraints see it.
struct ModelView {
  const fb::Model& root;
  std::function<bool(const fb::Tensor&)> is_constant;
  // The contents of a constant tensor, if they are available.
  std::function<std::optional<Blob>(const fb::Tensor&)> contents;
  // Whether the model is one node on trial: messages about its tensors use the names of operands.
  bool trial = false;
};

// Prepares operators, in their order, as the interpreter does before a run.
void FindViolations(const ModelView& model, std::span<const OperatorAt> operators,
                    const std::function<void(Violation)>& report);

}  // namespace nn::tflite

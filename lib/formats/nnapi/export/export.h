// Export to NNAPI 1.0. One-to-one operators (OpDef::formats) need no code here; every other
// operator has a row in ops/<family>.cc; rewrites.cc legalizes graphs for them.
//
// Activations are fused into operations that support them. Constants are packed into operandValues,
// those beyond 4 GiB into pools.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "formats/common/fused_activation.h"
#include "formats/format.h"
#include "formats/nnapi/file/native.h"
#include "ir/graph.h"
#include "ops/support/window.h"
#include "rewrite/target.h"

namespace nn::nnapi {

// Limit of NNAPI: axes of a tensor.
inline constexpr int kMaxRank = 4;

class ExportContext {
 public:
  // A trial writes one node whose shapes may be unknown, to compare its operations with the
  // constraints of the format; it copies no data. The node may have another layout than NNAPI.
  enum class Mode : uint8_t { kModel, kTrial };

  explicit ExportContext(Model& model, Mode mode = Mode::kModel) : model_(model), mode_(mode) {}

  // The operand of a value, created on first use. On trial, with permuted axes.
  Result<uint32_t> OperandOf(const Value* value);
  Result<uint32_t> OperandOf(const Value* value, const AxisMap& axes);
  // Adds an operand with a lifetime for a value without one.
  Result<uint32_t> AddOperand(const Value* value, LifeTime lifetime, std::string name,
                              const AxisMap* axes = nullptr);

  // Constant scalars; equal ones are one operand.
  Result<uint32_t> Int(const Dim& value);  // only trials know numbers that are not constant
  Result<uint32_t> Float(float value);
  // A vector of i32.
  Result<uint32_t> Ints(const Dims& values);
  // A constant that is not a value of the graph.
  Result<uint32_t> AddConstant(const Tensor& tensor, const Quant* quant = nullptr);
  // A vector of zeros.
  Result<uint32_t> AddZeros(DType dtype, const Dim& count, const Quant* quant = nullptr);

  FusedActivations& activations() { return activations_; }
  // The argument for the fused activation.
  Result<uint32_t> Activation(const Node& node);
  // Adds the operation for a node; its output is that of the node, or of its fused activation.
  Status AddOperation(const Node& node, OperationType type, std::vector<uint32_t> inputs);
  // Adds an operation on operands that are not values of the graph, such as these two: a tensor of
  // float32 between two operations, and an optional argument of this rank that is left out.
  void AddStep(OperationType type, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs);
  uint32_t AddTemporary(const std::vector<int64_t>& dims);
  uint32_t Omitted(size_t rank);
  // Adds an operation that copies an operand to another.
  Status AddCopy(uint32_t from, uint32_t to);

  // Completes the model.
  void Finish();

 private:
  Status Store(const Blob& bytes, Operand& operand);
  // An operand of a trial whose value is not known.
  uint32_t AddUnknown(OperandType type, std::vector<uint32_t> dimensions);

  Model& model_;
  Mode mode_;
  std::vector<MemoryPacker> memories_;  // operandValues and, when it is full, pools
  std::unordered_map<const Value*, uint32_t> operands_;
  FusedActivations activations_;
  std::map<int64_t, uint32_t> ints_;
  std::map<uint32_t, uint32_t> floats_;  // by their bits
  std::map<size_t, uint32_t> omitted_;   // by rank
};

// The activation code of a relu or clip; nullopt for other nodes.
std::optional<FusedActivation> ActivationOf(const Node& node);

// Appends padding and strides, the common arguments of convolutions and pools, in the order of
// ReadWindow. Padding without an implicit form becomes explicit.
Status AppendWindow(ExportContext& ctx, const Result<std::vector<Window>>& windows, Padding padding,
                    std::vector<uint32_t>& inputs);
// Why NNAPI does not support a window; for convolutions and pools.
std::optional<std::string> WhyNotWindow(const Node& node, const std::vector<int64_t>& dilations);

// From the layout of a node to NNAPI's, for input 0 and the output.
AxisMap ChannelsLastMap(const Node& node);
// ExportRow::why_not_layout of operators with a layout.
std::optional<std::string> WhyNotLayout(const Node& node);

// Why the integer arithmetic of a node differs from NNAPI's.
std::optional<std::string> WhyNotArithmetic(const Node& node);
// The operand of a product's bias: input 2, or zeros.
Result<uint32_t> BiasOf(ExportContext& ctx, const Node& node, const Dim& channels);

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;
  // Why no operation computes what a node does; null: there always is one. constraint.h determines
  // whether NNAPI allows the operation with its types, shapes and scales.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  // Why the layout of a node is not NNAPI's. Rewrites can change it, so it is checked last, and
  // reported only if there is no other reason.
  std::optional<std::string> (*why_not_layout)(const Node&) = nullptr;
  // Whether the operation supports a fused activation.
  bool fuses = false;
};

// Why the values of a node cannot be operands, whatever its operator is.
std::optional<std::string> WhyNotOperands(const Node& node);

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// Rewrites toward legal nodes, in the order of application (rewrites.cc). Late ones are
// Target::late_rewrites.
std::span<const Rewrite> Rewrites();
std::span<const Rewrite> LateRewrites();

const Target& NnapiTarget();

}  // namespace nn::nnapi

// Export to NNAPI 1.0. One-to-one operators (OpDef::formats) need no code here; every other
// operator has a row in ops/<family>.cc; rewrites.cc legalizes graphs for them.
//
// Activations are fused into operations that support them. Constants are packed into operandValues.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/nnapi/native.h"
#include "ir/graph.h"
#include "ops/support/window.h"
#include "passes/legalize.h"

namespace nn::nnapi {

inline constexpr int kMaxRank = 4;

class ExportContext {
 public:
  explicit ExportContext(Model& model) : model_(model) {}

  // The operand of a value, created on first use.
  Result<uint32_t> OperandOf(const Value* value);
  // Adds an operand with a lifetime for a value without one.
  Result<uint32_t> AddOperand(const Value* value, LifeTime lifetime, std::string name);

  // Constant scalars; equal ones are one operand.
  Result<uint32_t> Int(int64_t value);
  Result<uint32_t> Float(float value);
  // A constant that is not a value of the graph.
  Result<uint32_t> AddConstant(const Tensor& tensor, const Quant* quant = nullptr);

  // The activation node fused into `node`; null: none.
  const Node* Fused(const Node& node) const;
  void Fuse(const Node* node, const Node* activation) { fused_[node] = activation; }
  // The argument for the fused activation.
  Result<uint32_t> Activation(const Node& node);
  // Adds the operation for a node; its output is that of the node, or of its fused activation.
  Status AddOperation(const Node& node, OperationType type, std::vector<uint32_t> inputs);
  // Adds an operation that copies an operand to another.
  Status AddCopy(uint32_t from, uint32_t to);

  // Completes the model.
  void Finish();

 private:
  Result<DataLocation> Store(const Blob& bytes);

  Model& model_;
  std::string values_;
  std::unordered_map<const Value*, uint32_t> operands_;
  std::unordered_map<const Node*, const Node*> fused_;
  std::map<int64_t, uint32_t> ints_;
  std::map<uint32_t, uint32_t> floats_;  // by their bits
};

// The activation code of a relu or clip; nullopt for other nodes.
std::optional<FusedActivation> ActivationOf(const Node& node);

// Appends padding and strides, the common arguments of convolutions and pools, in the order of
// ReadWindow. Padding without an implicit form becomes explicit.
Status AppendWindow(ExportContext& ctx, const std::vector<Window>& windows, Padding padding,
                    std::vector<uint32_t>& inputs);
// Why NNAPI does not support a window; for convolutions and pools.
std::optional<std::string> WhyNotWindow(const Node& node, const std::vector<int64_t>& dilations);
// The layout can be changed, so it is asked last: it is the reason only if nothing else is.
std::optional<std::string> WhyNotLayout(Layout layout);

// Why NNAPI does not support the types of a convolution or matrix product.
std::optional<std::string> WhyNotProduct(const Node& node);
// The operand of a product's bias: input 2, or zeros.
Result<uint32_t> BiasOf(ExportContext& ctx, const Node& node, int64_t channels);

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  // Whether the operation supports a fused activation.
  bool fuses = false;
  // The input that may be i32: indices, or the bias of a quantized product.
  std::optional<size_t> integers = std::nullopt;
};

// Why the values of a node cannot be operands, whatever its operator is.
std::optional<std::string> WhyNotOperands(const Node& node);

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// Rewrites toward legal nodes, in the order of application (rewrites.cc).
std::span<const Rewrite> Rewrites();

const Target& NnapiTarget();

// Writes the form given by the extension of options.path: .nnapi.json, else the flatbuffer.
// kUnsupported if a shape is unknown.
Result<FileImage> Write(const Graph& graph, const ExportOptions& options);

}  // namespace nn::nnapi

// From the graph to NNAPI 1.0. Operators that are one-to-one (OpDef::formats) need nothing here;
// every other operator has a row in export_<family>.cc, and what brings a graph into reach of them
// stands in rewrites.cc.
//
// An activation behind an operation that can take one is fused into it. Constants are packed into
// operandValues.
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
#include "ops/window.h"
#include "passes/legalise.h"

namespace nn::nnapi {

inline constexpr int kMaxRank = 4;

class ExportContext {
 public:
  explicit ExportContext(Model& model) : model_(model) {}

  // The operand of a value, made when it is first asked for.
  Result<uint32_t> OperandOf(const Value* value);
  // An operand for a value that has none yet, of a lifetime.
  Result<uint32_t> AddOperand(const Value* value, LifeTime lifetime, std::string name);

  // Constant scalars; equal ones are one operand.
  Result<uint32_t> Int(int64_t value);
  Result<uint32_t> Float(float value);
  // A constant that no value of the graph stands for.
  Result<uint32_t> AddConstant(const Tensor& tensor, const Quant* quant = nullptr);

  // The activation node that is written as part of `node`; null: none.
  const Node* Fused(const Node& node) const;
  void Fuse(const Node* node, const Node* activation) { fused_[node] = activation; }
  // The argument for the fused activation.
  Result<uint32_t> Activation(const Node& node);
  // Adds the operation that the node becomes; its output is the node's, or the fused activation's.
  Status AddOperation(const Node& node, OperationType type, std::vector<uint32_t> inputs);
  // Adds an operation that gives another operand the same elements.
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

// The code of a relu or clip that NNAPI has; nullopt for all other nodes.
std::optional<FusedActivation> ActivationOf(const Node& node);

// Padding, strides: the arguments that convolutions and pools share, as ReadWindow reads them.
// Paddings that have no implicit form are resolved.
Status AppendWindow(ExportContext& ctx, const std::vector<Window>& windows, Padding padding,
                    std::vector<uint32_t>& inputs);
// Why a window has no NNAPI form; shared by convolutions and pools.
std::optional<std::string> WhyNotWindow(const Node& node, Layout layout,
                                        const std::vector<int64_t>& dilations);

// Why operands of these types cannot be multiplied and added up into `out`.
std::optional<std::string> WhyNotProduct(const Node& node);
// The operand of a product's bias: input 2, or zeros.
Result<uint32_t> BiasOf(ExportContext& ctx, const Node& node, int64_t channels);

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  // Whether the operation takes a fused activation.
  bool fuses = false;
};

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// One function a family.
void AddConvExports(std::vector<ExportRow>& rows);
void AddElementwiseExports(std::vector<ExportRow>& rows);
void AddLookupExports(std::vector<ExportRow>& rows);
void AddMatmulExports(std::vector<ExportRow>& rows);
void AddNormExports(std::vector<ExportRow>& rows);
void AddPoolExports(std::vector<ExportRow>& rows);
void AddShapeExports(std::vector<ExportRow>& rows);

// Steps toward what can be written, in the order in which they are tried (rewrites.cc).
std::span<const Rewrite> Rewrites();

const Target& NnapiTarget();

// Writes the form that the extension of options.path tells: .nnapi.json, else the flatbuffer.
// kUnsupported if a shape is not known.
Result<FileImage> Write(const Graph& graph, const ExportOptions& options);

}  // namespace nn::nnapi

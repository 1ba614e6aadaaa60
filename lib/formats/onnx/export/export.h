// Export to ONNX. One-to-one operators (OpDef::formats) need no code here; every other operator has
// a row in ops/<family>.cc.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "formats/common/named_export.h"
#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "ir/graph.h"

namespace nn::onnx {

// The default operator set, used unless the graph needs a newer one, and the range of those that
// can be written.
inline constexpr int64_t kDefaultOpset = 17;
inline constexpr int64_t kOldestOpset = 7;
inline constexpr int64_t kNewestOpset = 26;

struct BlockedTensor;

// On trial (schema_fit.h), constants have no contents, dimensions are not computed from other
// values, and nodes are written without their subgraphs.
class ExportContext final : public NamedExport {
 public:
  // A value and its axis, by symbol.
  using Symbols = std::map<std::string, std::pair<const Value*, int>, std::less<>>;

  // `opset` and `ml_opset` are those of ai.onnx and ai.onnx.ml.
  ExportContext(pb::GraphProto* graph, PayloadTable& payloads, int64_t opset, int64_t ml_opset,
                Mode mode = Mode::kFile)
      : NamedExport(mode, /*utf8=*/false),
        graph_(graph),
        payloads_(payloads),
        opset_(opset),
        ml_opset_(ml_opset),
        main_(graph) {}

  int64_t opset() const { return opset_; }
  int64_t ml_opset() const { return ml_opset_; }
  // In a trial, the element type of the value with this name: set, or unknown.
  void SetType(const std::string& name, DType dtype) {
    if (trial()) types_[name] = dtype;
  }
  DType TypeOf(const std::string& name) const {
    const auto it = types_.find(name);
    return it == types_.end() ? DType::kUnknown : it->second;
  }

  // "" for null. Constants become initializers.
  std::string NameOf(const Value* value) override;
  // The name of the value with an element type, after a Cast if its type differs.
  std::string NameAs(const Value* value, DType dtype);

  // One argument in braces, whose parts are evaluated in this order. The order of arguments would
  // be the compiler's, and so would be the names that they choose.
  struct Operands {
    std::vector<std::string> outputs, inputs;
  };
  // Adds an ONNX node; trailing absent inputs are dropped. Its name derives from `source`.
  pb::NodeProto* AddNode(const Node& source, std::string_view op_type, Operands operands);
  // A node with the inputs and outputs of the graph node.
  pb::NodeProto* AddNode(const Node& source, std::string_view op_type);
  // The same for an operator of com.microsoft, which the model then imports.
  pb::NodeProto* AddContrib(const Node& source, std::string_view op_type, Operands operands);
  bool has_contrib() const { return has_contrib_; }
  // A helper node; the main node gets the graph node's name.
  pb::NodeProto* AddHelper(std::string_view op_type, Operands operands);
  // A Cast between two names.
  void AddCast(std::string from, std::string to, DType dtype);
  // A node with one result; returns the result's new name.
  std::string AddValue(std::string_view op_type, std::vector<std::string> inputs,
                       std::string_view hint);
  // An initializer.
  std::string AddTensor(const Tensor& tensor, std::string_view hint);
  // An initializer of the whole model if it is large, the same for all tensors with these bytes.
  std::string SharedTensor(const Tensor& tensor, std::string_view hint);
  // An initializer that is an i64 vector.
  std::string AddInts(const std::vector<int64_t>& values, std::string_view hint) {
    return AddTensor(Tensor::Ints(values), hint);
  }
  // An attribute.
  void SetTensor(pb::NodeProto* node, std::string_view name, const Tensor& tensor);
  // An i64 vector of the dimensions: an initializer if all are constant, else computed from the
  // shapes of written values (export_dims.cc). kUnsupported if a symbol is not the size of any
  // value, or the operator set lacks an operation.
  Result<std::string> AddDims(const Dims& dims, std::string_view hint);
  // Makes the value a source for the symbols in its type.
  void Define(const Value* value);

  // An input or output of the graph that is being written.
  void AddInput(const std::string& name, const Type& type);
  void AddInput(const std::string& name, const Value* value);
  void AddOutput(const std::string& name, const Type& type);
  // Writes the outputs and nodes of `graph`. An output whose value already has another name (an
  // input, a constant, a second output) is written as a copy.
  Status WriteContents(const Graph& graph, std::span<const Port> outputs);

  // While it exists, the context writes a subgraph, in which the names of values around it are
  // visible.
  class Subgraph {
   public:
    Subgraph(ExportContext& ctx, pb::GraphProto* graph);
    ~Subgraph();
    Subgraph(const Subgraph&) = delete;
    Subgraph& operator=(const Subgraph&) = delete;

   private:
    ExportContext& ctx_;
    pb::GraphProto* const graph_;
    Symbols symbols_;
    std::map<std::string, std::string> dims_;
  };

 private:
  Result<std::string> AddDim(const Dim& dim);
  Result<std::string> AddDimTree(const Dim::Tree& tree);
  void AddInitializer(const Tensor& tensor, const std::string& name);
  // What the source file has in blocks is dequantized.
  std::string NameOfConstant(const Value& value);
  std::string AddBlocks(const BlockedTensor& blocks, std::string_view hint);
  static constexpr uint64_t kMinShared = 256;  // bytes
  pb::GraphProto* graph_;                      // which is being written
  PayloadTable& payloads_;
  int64_t opset_;
  int64_t ml_opset_;
  std::unordered_map<std::string, DType> types_;
  Symbols symbols_;
  std::map<std::string, std::string> dims_;  // vectors of one element, by Dim::ToString
  pb::GraphProto* const main_;
  bool has_contrib_ = false;
  // Initializers of the model, by the address of their data. Regions have copies of large constants
  // around them.
  struct SharedInitializer {
    Tensor tensor;
    std::string name;
    bool of_region;
  };
  std::unordered_map<const void*, std::vector<SharedInitializer>> shared_;
};

// An attribute's axis of the value: not negative, because negative axes need operator set 11,
// unless the rank is unknown.
int64_t FrontAxis(int64_t axis, const Value* value);

void SetInt(pb::NodeProto* node, std::string_view name, int64_t value);
void SetFloat(pb::NodeProto* node, std::string_view name, float value);
void SetString(pb::NodeProto* node, std::string_view name, std::string_view value);
void SetInts(pb::NodeProto* node, std::string_view name, const std::vector<int64_t>& values);
void SetStrings(pb::NodeProto* node, std::string_view name, const std::vector<std::string>& values);
void SetFloats(pb::NodeProto* node, std::string_view name, const std::vector<float>& values);

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  // The lowest operator set that can express a node; null: all can.
  int64_t (*min_opset)(const Node&) = nullptr;
  // The lowest version of ai.onnx.ml that can express a node; null: the node does not use it.
  int64_t (*ml_opset)(const Node&) = nullptr;
};

// An ExportRow::min_opset that is equal for all nodes.
template <int64_t opset>
int64_t Since(const Node&) {
  return opset;
}

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// The version of ai.onnx.ml that a node needs; 0 if none.
int64_t MlOpsetOf(const Node& node);

// Why the types of a node cannot be written, where quantized ones have no meaning.
std::optional<std::string> WhyNotReal(const Node& node);

// Writes a node with its row, or one-to-one.
Status WriteNode(ExportContext& ctx, const Node& node);

const Target& OnnxTarget();

}  // namespace nn::onnx

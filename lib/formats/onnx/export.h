// From the graph to ONNX. Operators that are one-to-one (OpDef::formats) need nothing here; every
// other operator has a row in export_<family>.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/name_table.h"
#include "base/status.h"
#include "formats/format.h"
#include "formats/onnx/native.h"
#include "ir/graph.h"

namespace nn::onnx {

// The operator set that is written when none is asked for and the graph needs no newer one, and the
// newest that can be.
inline constexpr int64_t kDefaultOpset = 17;
inline constexpr int64_t kNewestOpset = 23;

class ExportContext {
 public:
  ExportContext(pb::GraphProto* graph, PayloadTable& payloads, int64_t opset)
      : graph_(graph), payloads_(payloads), opset_(opset) {}

  int64_t opset() const { return opset_; }

  // The name of a value in the file; "" for null. Constants become initializers when first named.
  std::string NameOf(const Value* value);
  // The name of the value with another element type: behind a Cast unless it has that type.
  std::string NameAs(const Value* value, DType dtype);
  // Fixes a value's name before any other is chosen; false if the value has one already.
  bool Claim(const Value* value, const std::string& name);
  // Keeps a name from being chosen for a value.
  void Reserve(const std::string& name) { used_.Claim(name); }
  // A name that is not in use.
  std::string NewName(std::string_view hint);

  // Adds an ONNX node; trailing absent inputs are dropped. It takes its name from `source`.
  pb::NodeProto* AddNode(const Node& source, std::string_view op_type,
                         std::vector<std::string> inputs, std::vector<std::string> outputs);
  // The node with the inputs and outputs of ours.
  pb::NodeProto* AddNode(const Node& source, std::string_view op_type);
  // A node beside the one that bears our node's name.
  pb::NodeProto* AddHelper(std::string_view op_type, std::vector<std::string> inputs,
                           std::vector<std::string> outputs);
  // A Cast between two names.
  void AddCast(std::string from, std::string to, DType dtype);
  // A node with one result, whose new name is returned.
  std::string AddValue(std::string_view op_type, std::vector<std::string> inputs,
                       std::string_view hint);
  // An initializer.
  std::string AddTensor(const Tensor& tensor, std::string_view hint);
  // An i64 vector that holds the dimensions: an initializer if all are numbers, else computed from
  // the shapes of values that have been written (export_dims.cc). kUnsupported if a symbol is the
  // size of none, or the operator set lacks an operation.
  Result<std::string> AddDims(const Dims& dims, std::string_view hint);
  // Lets the symbols in the value's type be read off the value from here on.
  void Define(const Value* value);

 private:
  Result<std::string> AddDim(const Dim& dim);
  Result<std::string> AddDimTree(const Dim::Tree& tree);

  pb::GraphProto* graph_;
  PayloadTable& payloads_;
  int64_t opset_;
  std::unordered_map<const Value*, std::string> names_;
  NameTable used_;
  std::map<std::string, std::pair<const Value*, int>, std::less<>>
      symbols_;                              // a value and its axis
  std::map<std::string, std::string> dims_;  // vectors of one element, by Dim::ToString
};

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
};

// An ExportRow::min_opset that is the same for all nodes.
template <int64_t opset>
int64_t Since(const Node&) {
  return opset;
}

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// One function a family.
void AddConvExports(std::vector<ExportRow>& rows);
void AddElementwiseExports(std::vector<ExportRow>& rows);
void AddMatmulExports(std::vector<ExportRow>& rows);
void AddNormExports(std::vector<ExportRow>& rows);
void AddOrderExports(std::vector<ExportRow>& rows);
void AddPoolExports(std::vector<ExportRow>& rows);
void AddReduceExports(std::vector<ExportRow>& rows);
void AddRecurrentExports(std::vector<ExportRow>& rows);
void AddShapeExports(std::vector<ExportRow>& rows);
void AddSoftmaxExports(std::vector<ExportRow>& rows);
void AddSliceExports(std::vector<ExportRow>& rows);
void AddGatherExports(std::vector<ExportRow>& rows);
void AddResizeExports(std::vector<ExportRow>& rows);

const Target& OnnxTarget();
Result<FileImage> Write(const Graph& graph, const ExportOptions& options);

}  // namespace nn::onnx

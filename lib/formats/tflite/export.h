// From the graph to TensorFlow Lite. Operators that are one-to-one (OpDef::formats) need nothing
// here; every other operator has a row in export_<family>.cc.
//
// An activation that alone uses a result is fused into the operator before it. Operators and the
// file get the lowest versions that can express them.
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
#include "formats/tflite/native.h"
#include "formats/tflite/versions.h"
#include "ir/graph.h"

namespace nn::tflite {

using TensorIndex = int32_t;
inline constexpr TensorIndex kNoTensor = -1;

class ExportContext {
 public:
  explicit ExportContext(const Graph& graph);

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  // The tensor of a value; kNoTensor for null. Constants get their buffer when first asked for.
  TensorIndex TensorOf(const Value* value);
  // The tensor of a value with another element type: behind a CAST unless it has that type.
  TensorIndex TensorAs(const Value* value, DType dtype);
  // A CAST between two tensors.
  void AddCast(TensorIndex from, TensorIndex to);
  // The tensor of the node's result i: that of the activation behind it, if one is fused.
  TensorIndex ResultOf(const Node& node, size_t i = 0);
  std::vector<TensorIndex> InputsOf(const Node& node);
  // Input 2 of a convolution or matrix product. A constant of integers without a scale, which count
  // products, gets that of BiasQuant.
  TensorIndex BiasOf(const Node& node);
  std::vector<TensorIndex> ResultsOf(const Node& node);
  // Gives a value a tensor of this name before any other name is chosen.
  void Claim(const Value* value, const std::string& name);
  bool HasTensor(const Value* value) const { return tensors_.contains(value); }
  // Keeps a name from being chosen for a value.
  void Reserve(const std::string& name) { used_.Claim(name); }

  // A tensor whose name begins like `name`, and one of exactly this name.
  TensorIndex AddTensor(const Type& type, const std::string& name);
  TensorIndex AddNamed(const Type& type, const std::string& name);
  TensorIndex AddConstant(const Tensor& tensor, std::string_view hint,
                          const std::shared_ptr<const Quant>& quant = nullptr);
  // A vector of i32; kLimit for numbers beyond them.
  Result<TensorIndex> AddInts(const std::vector<int64_t>& numbers, std::string_view hint);
  Result<TensorIndex> AddInt(int64_t number, std::string_view hint);  // a scalar
  // A vector of i32 that holds the dimensions: a constant if all are numbers, else computed from
  // the shapes of values that have been written (export_dims.cc). kUnsupported if a symbol is the
  // size of none.
  Result<TensorIndex> AddDims(const Dims& dims, std::string_view hint);
  // Lets the symbols in the value's type be read off the value from here on.
  void Define(const Value* value);

  // The activation that is fused into a node, and whether a node is one that is.
  fb::ActivationFunctionType ActivationOf(const Node& node) const;
  bool IsFused(const Node& node) const { return fused_.contains(&node); }

  template <typename Options>
  void AddOperator(fb::BuiltinOperator op, const std::vector<TensorIndex>& inputs,
                   const std::vector<TensorIndex>& outputs, flatbuffers::Offset<Options> options,
                   const VersionTraits& traits = {}) {
    AddOperatorOf(op, inputs, outputs, fb::BuiltinOptionsTraits<Options>::enum_value,
                  options.Union(), traits);
  }
  // Without options.
  void AddOperator(fb::BuiltinOperator op, std::vector<TensorIndex> inputs,
                   std::vector<TensorIndex> outputs) {
    AddOperatorOf(op, std::move(inputs), std::move(outputs), fb::BuiltinOptions::NONE, 0, {});
  }
  void AddOperatorOf(fb::BuiltinOperator op, std::vector<TensorIndex> inputs,
                     std::vector<TensorIndex> outputs, fb::BuiltinOptions kind,
                     flatbuffers::Offset<void> options, const VersionTraits& traits);

  // kUnsupported if an operator from `first` on has an operand that its signature does not allow.
  Status CheckOperators(size_t first) const;
  size_t operator_count() const { return operators_.size(); }

  // The complete flatbuffer. Buffers of data are in it, or if `appended` behind it, `base` being
  // its own size rounded up to kDataAlignment.
  flatbuffers::DetachedBuffer Finish(const Graph& graph, const ExportOptions& options,
                                     const std::vector<TensorIndex>& outputs, bool appended,
                                     uint64_t base);
  const std::vector<Blob>& buffers() const { return buffers_; }

  static constexpr uint64_t kDataAlignment = 64;

 private:
  struct TensorRow {
    Type type;
    std::string name;
    uint32_t buffer = 0;
  };
  struct OperatorRow {
    uint32_t code;
    std::vector<TensorIndex> inputs, outputs;
    fb::BuiltinOptions kind;
    flatbuffers::Offset<void> options;
  };

  Status CheckOperands(const OperatorRow& row) const;
  std::string NewName(std::string_view hint);
  uint32_t AddBuffer(Blob bytes);
  void FindActivations(const Graph& graph);
  Result<TensorIndex> AddDim(const Dim& dim);
  Result<TensorIndex> AddDimTree(const Dim::Tree& tree);
  TensorIndex AddScalarI32(std::string_view hint);

  flatbuffers::Offset<fb::Tensor> WriteTensor(const TensorRow& row);
  flatbuffers::Offset<fb::Buffer> WriteBuffer(const Blob& bytes, uint64_t offset);
  flatbuffers::Offset<fb::SignatureDef> WriteSignature(const Graph& graph,
                                                       const std::vector<TensorIndex>& outputs);

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<TensorRow> rows_;
  std::vector<OperatorRow> operators_;
  std::vector<std::pair<fb::BuiltinOperator, int32_t>> codes_;  // and version
  std::vector<Blob> buffers_;                                   // the first one is empty
  std::unordered_map<const Value*, TensorIndex> tensors_;
  NameTable used_;
  std::map<std::vector<int64_t>, TensorIndex> ints_;
  std::unordered_map<const Node*, const Node*> activations_;  // by the node before
  std::unordered_set<const Node*> fused_;
  std::map<std::string, std::pair<const Value*, int>, std::less<>>
      symbols_;                              // a value and its axis
  std::map<std::string, TensorIndex> dims_;  // scalars, by Dim::ToString
};

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  // Whether the operator takes a fused activation.
  bool (*fuses)(const Node&) = nullptr;
};

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// One function a family.
void AddConvExports(std::vector<ExportRow>& rows);
void AddElementwiseExports(std::vector<ExportRow>& rows);
void AddGatherExports(std::vector<ExportRow>& rows);
void AddMatmulExports(std::vector<ExportRow>& rows);
void AddNormExports(std::vector<ExportRow>& rows);
void AddOrderExports(std::vector<ExportRow>& rows);
void AddPoolExports(std::vector<ExportRow>& rows);
void AddReduceExports(std::vector<ExportRow>& rows);
void AddResizeExports(std::vector<ExportRow>& rows);
void AddShapeExports(std::vector<ExportRow>& rows);
void AddSliceExports(std::vector<ExportRow>& rows);

const Target& TfliteTarget();
Result<FileImage> Write(const Graph& graph, const ExportOptions& options);

// Write, with data of more than `max_inline_bytes` stored behind the flatbuffer, whose offsets
// reach no further than 2 GiB.
Result<FileImage> WriteWith(const Graph& graph, const ExportOptions& options,
                            uint64_t max_inline_bytes);

// ---- For rows -----------------------------------------------------------------------------------

// Reasons why a node's types cannot be written: anything but float32 and quantised integers.
std::optional<std::string> WhyNotReal(const Node& node);
// The same for a node of x, weights and perhaps a bias, whose scale the weights give where it is
// constant.
std::optional<std::string> WhyNotWeighted(const Node& node);

// Scales of the products of the elements of two quantised values, along axis 0 if the filter has
// several; null unless both are quantised.
std::shared_ptr<const Quant> BiasQuant(const Type& x, const Type& filter);

inline bool Always(const Node&) {
  return true;
}

// A two-dimensional convolution each of whose groups has one input channel.
bool IsDepthwise(const Node& node);

// A product with a matrix of weights as FULLY_CONNECTED has it: [outputs, inputs].
bool IsFullyConnected(const Node& node);

// How a transposed convolution's pads are named; nullopt if they have no name.
std::optional<fb::Padding> TransposePadding(const Node& node);

}  // namespace nn::tflite

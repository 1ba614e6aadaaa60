// Export to TensorFlow Lite. One-to-one operators (OpDef::formats) need no code here; every other
// operator has a row in ops/<family>.cc.
//
// An activation that is the only use of a result is fused into the operator before it. Operators
// and the file get the lowest possible versions.
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
#include "formats/common/fused_activation.h"
#include "formats/common/named_export.h"
#include "formats/format.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/import/example_sizes.h"
#include "formats/tflite/spec/versions.h"
#include "ir/graph.h"

namespace nn::tflite {

// A state that the written model keeps.
struct ExportedState {
  FramedVariable variable;
  Port input;           // its value before a run
  const Value* output;  // and after it
  std::optional<Tensor> initial;
};

// What of a graph becomes what of a model.
struct ExportPlan {
  const Graph& graph;
  const ExportOptions& options;
  std::vector<Port> inputs, outputs;  // without those of `states`
  std::vector<ExportedState> states;
  std::shared_ptr<const NativeModel> frame;  // for the ports (tflite/frame.h); may be null
};

using TensorIndex = int32_t;
inline constexpr TensorIndex kNoTensor = -1;

class ExportContext final : public FileNames {
 public:
  // `frame` is that of the plan, or null.
  explicit ExportContext(const Graph& graph, const NativeModel* frame);
  // For a trial, which writes a single node to see how it is encoded (operator_fit.h).
  ExportContext() : FileNames(Mode::kTrial, /*utf8=*/false) { buffers_.emplace_back(); }

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  // The tensor of a value; kNoTensor for null. Constants get their buffer on first use.
  TensorIndex TensorOf(const Value* value);
  // The tensor of a value with an element type, after a CAST if its type differs.
  TensorIndex TensorAs(const Value* value, DType dtype);
  // A CAST between two tensors.
  void AddCast(TensorIndex from, TensorIndex to);
  // The tensor of the node's result i, or of its fused activation.
  TensorIndex ResultOf(const Node& node, size_t i = 0);
  std::vector<TensorIndex> InputsOf(const Node& node);
  // Input i of a node, or what a hybrid kernel has in its place (formats/tflite/export/hybrid.h).
  static const Value* OperandOf(const Node& node, size_t i);
  // Input 2 of a convolution or matrix product. An integer constant without a scale gets that of
  // ProductQuant.
  TensorIndex BiasOf(const Node& node);
  // The option that names the type of the bias of a node with 16-bit inputs: a kernel reads 64 bits
  // a number without it.
  static fb::TensorType BiasTypeOf(const Node& node);
  std::vector<TensorIndex> ResultsOf(const Node& node);
  // Adds a tensor with a reserved name for a value, before other names are chosen.
  void Claim(const Value* value, const std::string& name);
  // Makes a tensor of the subgraph that of a value.
  void SetTensor(const Value* value, TensorIndex tensor) { tensors_[value] = tensor; }
  bool HasTensor(const Value* value) const { return tensors_.contains(value); }

  // Adds a tensor whose unique name begins with `name`, and one with exactly this name.
  TensorIndex AddTensor(const Type& type, std::string_view name);
  TensorIndex AddNamed(const Type& type, const std::string& name);
  // A state of an operator, of constant shape.
  TensorIndex AddVariable(const Type& type, std::string_view name);
  // The result of VAR_HANDLE.
  TensorIndex AddHandle(std::string_view name);
  TensorIndex AddConstant(const Tensor& tensor, std::string_view hint,
                          const std::shared_ptr<const Quant>& quant = nullptr);
  // A vector of i32; kLimit for values out of range.
  Result<TensorIndex> AddInts(const std::vector<int64_t>& numbers, std::string_view hint);
  Result<TensorIndex> AddInt(int64_t number, std::string_view hint);  // a scalar
  // A vector of i32 of the dimensions: a constant if all are constant, else computed from the
  // shapes of written values (export_dims.cc). kUnsupported if a symbol is not the size of any
  // value.
  Result<TensorIndex> AddDims(const Dims& dims, std::string_view hint);
  // Makes the value a source for the symbols in its type.
  void Define(const Value* value);

  // The activation fused into a node, and whether a node is a fused activation or a part of hybrid
  // kernels.
  fb::ActivationFunctionType ActivationOf(const Node& node) const;
  bool IsFused(const Node& node) const {
    return activations_.Has(node) || hybrid_parts_.contains(&node);
  }

  // One argument in braces, whose parts are evaluated in this order. The order of arguments would
  // be the compiler's, and so would be the indices of tensors that they add.
  struct Operands {
    std::vector<TensorIndex> outputs, inputs;
  };
  template <typename Options>  // NOLINTNEXTLINE(performance-unnecessary-value-param): is moved
  void AddOperator(fb::BuiltinOperator op, Operands operands, flatbuffers::Offset<Options> options,
                   const VersionTraits& traits = {}) {
    AddOperatorOf(op, std::move(operands), fb::BuiltinOptionsTraits<Options>::enum_value,
                  options.Union(), traits);
  }
  // Without options.
  void AddOperator(fb::BuiltinOperator op, Operands operands) {
    AddOperatorOf(op, std::move(operands), fb::BuiltinOptions::NONE, 0, {});
  }
  void AddOperatorOf(fb::BuiltinOperator op, Operands operands, fb::BuiltinOptions kind,
                     flatbuffers::Offset<void> options, const VersionTraits& traits);

  // Sets the intermediate tensors of the operator that was added last.
  void SetIntermediates(std::vector<TensorIndex> tensors) {
    part_.operators.back().intermediates = std::move(tensors);
  }

  // The model of a trial, without the contents of constants; valid as long as the context.
  const fb::Model& FinishTrial();

  // Adds tensors with the names of the ports, before other names are chosen, and returns those of
  // the outputs: kNoTensor if the value already has a tensor of another name (an input, a constant,
  // a second output).
  std::vector<TensorIndex> ClaimPorts(const Graph& graph, std::span<const Port> inputs,
                                      std::span<const Port> outputs);
  // Adds the operators of the nodes, and copies for outputs without a tensor.
  Status WriteContents(const Graph& graph, std::span<const Port> outputs,
                       std::vector<TensorIndex>& tensors);

  // Tensors and operators are added to a new subgraph between these two, in which no other tensors
  // are visible. EndSubgraph() returns its index.
  void BeginSubgraph(std::string_view name);
  int32_t EndSubgraph(std::vector<TensorIndex> inputs, std::vector<TensorIndex> outputs);

  // The complete flatbuffer, except that PlaceOutside() adds the data of large buffers; if
  // `appended`, the data of all buffers come after it, starting at `base`, its size rounded up to
  // kDataAlignment.
  flatbuffers::DetachedBuffer Finish(const ExportPlan& plan,
                                     const std::vector<TensorIndex>& outputs, bool appended,
                                     uint64_t base);
  // The parts of the file: the flatbuffer, and the data of large buffers, which it then refers to.
  std::vector<Blob> PlaceOutside(flatbuffers::DetachedBuffer file) const;
  const std::vector<Blob>& buffers() const { return buffers_; }

  static constexpr uint64_t kDataAlignment = 64;

 private:
  struct TensorRow {
    Type type;
    std::string name;
    uint32_t buffer = 0;
    bool variable = false;
    bool handle = false;  // of a resource
    const fb::SparsityParameters* sparsity = nullptr;
  };
  struct OperatorRow {
    uint32_t code;
    std::vector<TensorIndex> inputs, outputs;
    fb::BuiltinOptions kind;
    flatbuffers::Offset<void> options;
    std::vector<TensorIndex> intermediates = {};
  };
  // A subgraph. Tensors are known in it alone.
  struct Part {
    std::string name;
    std::vector<TensorRow> tensors;
    std::vector<OperatorRow> operators;
    std::vector<TensorIndex> inputs, outputs;
    std::map<std::vector<int64_t>, TensorIndex> ints;
    std::map<std::string, std::pair<const Value*, int>, std::less<>> symbols;  // value and axis
    std::map<std::string, TensorIndex> dims;  // scalars, by Dim::ToString
  };

  uint32_t AddBuffer(Blob bytes);
  // The tensor of a constant in a sparse form that the source has; kNoTensor if none fits.
  TensorIndex AddSparse(const Value& value);
  void FindFused(const Graph& graph);
  Result<TensorIndex> AddDim(const Dim& dim);
  Result<TensorIndex> AddDimTree(const Dim::Tree& tree);
  TensorIndex AddScalarI32(std::string_view hint);

  flatbuffers::Offset<fb::SubGraph> WritePart(const Part& part);
  std::vector<flatbuffers::Offset<fb::OperatorCode>> WriteCodes();
  flatbuffers::Offset<fb::Tensor> WriteTensor(const TensorRow& row);
  flatbuffers::Offset<fb::Buffer> WriteBuffer(const Blob& bytes, uint64_t offset);
  flatbuffers::Offset<fb::SignatureDef> WriteSignature(const ExportPlan& plan,
                                                       const std::vector<TensorIndex>& outputs);

  flatbuffers::FlatBufferBuilder builder_;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> no_data_;  // of buffers that are placed outside
  std::vector<FramedSparse> sparse_;                           // of the source
  Part part_;                                                  // which is being written
  std::vector<Part> around_;                                   // those around it, outermost first
  std::vector<Part> parts_;                                    // subgraphs 1, 2, ...
  std::vector<std::pair<fb::BuiltinOperator, int32_t>> codes_;  // and version
  std::vector<Blob> buffers_;                                   // the first one is empty
  std::unordered_map<const Value*, TensorIndex> tensors_;
  FusedActivations activations_;
  std::unordered_set<const Node*> hybrid_parts_;
  struct SharedBuffer {
    uint32_t index;
    bool of_region;
  };
  std::map<std::pair<const void*, size_t>, SharedBuffer> shared_;  // by address and size
  ExampleSizes examples_;
};

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;  // null: its one-to-one encoding
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  // Whether the operator supports a fused activation.
  bool (*fuses)(const Node&) = nullptr;
  // Whether it supports the types that TensorFlow Lite stores but does not compute with: floats
  // other than f32, unsigned integers.
  bool any_type = false;
};

// Why an operator does not accept elements of a type as operand `input`.
std::optional<std::string> WhyNotElements(fb::BuiltinOperator op, size_t input, const Type& type);
// The same for the first operand of a node.
template <fb::BuiltinOperator op>
std::optional<std::string> WhyNotFirst(const Node& node) {
  return WhyNotElements(op, 0, node.input(0)->type());
}

// Whether the one-to-one operator of a node lists the element type for its first operand.
bool NamesType(const Node& node, DType dtype);

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// Writes a node with its row, or one-to-one.
Status WriteNode(ExportContext& ctx, const Node& node);

const Target& TfliteTarget();

// Writes a model. Data above `max_inline_bytes` are stored after the flatbuffer, because its
// offsets are limited to 2 GiB.
Result<FileImage> WriteWith(const ExportPlan& plan, uint64_t max_inline_bytes);

// ---- For rows -----------------------------------------------------------------------------------

// Why the bias of a node of x, weights and an optional bias has no scale: the weights determine
// that of a constant alone.
std::optional<std::string> WhyNotBias(const Node& node);
// Why a node whose first input has no known rank cannot be written.
std::optional<std::string> WhyNotUnranked(const Node& node);
// Why the axes of a node, its attribute or input 1, cannot be written.
std::optional<std::string> WhyNotAxes(const Node& node);

// Why weights of their type cannot be multiplied with a quantized x: u8 goes with u8, and i8 and
// i16 with the types given for them.
std::optional<std::string> WhyNotWeights(const Node& node, std::initializer_list<DType> with_i8,
                                         std::initializer_list<DType> with_i16);

inline bool Always(const Node&) {
  return true;
}

// A two-dimensional convolution with one input channel per group.
bool IsDepthwise(const Node& node);

// A product with a weight matrix in the layout of FULLY_CONNECTED: [outputs, inputs].
bool IsFullyConnected(const Node& node);

// The largest value of the 8-bit float type that a cast saturates to, if values can be larger.
std::optional<float> SaturatingBound(const Node& node);

// Why the operators that express a scatter do not take its element types; nullopt if they do.
std::optional<std::string> WhyNotScatterTypes(const Node& node);

// The named padding of a transposed convolution; nullopt if there is none.
std::optional<fb::Padding> TransposePadding(const Node& node);

}  // namespace nn::tflite

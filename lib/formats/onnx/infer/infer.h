// Type inference of ONNX operators without graph operators. One function per operator, in
// infer_<family>.cc, listed with the operator set version from which it applies. Other operators
// use the graph's inference (import.h).
//
// Design: docs/design/036-onnx-type-inference.md.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/value_type.h"
#include "formats/onnx/import/import.h"
#include "formats/onnx/infer/facts.h"

namespace nn::onnx {

// A node, the known types of its inputs, and the types of its outputs. Missing information leaves
// outputs unknown and is not an error; kModel is for contradictions only.
class TypeContext {
 public:
  // Infers what is known of the outputs of a subgraph, an attribute of the node, from what is known
  // of its inputs; nullopt if the node has no such attribute. A trial reports no defects, and is
  // nullopt if trials have taken too much time.
  enum class Pass : uint8_t { kTrial, kFinal };
  using SubGraph = std::function<std::optional<std::vector<KnownFacts>>(
      std::string_view attribute, const std::vector<KnownFacts>& inputs, Pass pass)>;

  TypeContext(ImportContext& node, std::vector<ValueType> inputs, const SubGraph& sub_graph,
              int64_t& symbols)
      : node_(node),
        inputs_(std::move(inputs)),
        outputs_(node.output_count()),
        constants_(node.output_count()),
        sub_graph_(sub_graph),
        symbols_(symbols) {}

  // Attributes, and known contents of inputs.
  const ImportContext& node() const { return node_; }

  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  // Whether input i is present.
  bool has(size_t i) const {
    return i < inputs_.size() && !node_.node().input(static_cast<int>(i)).empty();
  }
  // Unknown if it is absent.
  const ValueType& in(size_t i) const;
  DType dtype(size_t i) const { return in(i).is_tensor() ? in(i).tensor.dtype : DType::kUnknown; }
  // Null unless the input is a tensor of known rank.
  const Dims* dims(size_t i) const;
  // The contents of an integer input, if known.
  std::optional<std::vector<int64_t>> Ints(size_t i) const;
  std::optional<int64_t> Int(size_t i) const;  // of one element

  // The element type in an attribute, or `fallback` if it is absent.
  DType TypeAttr(std::string_view name, DType fallback) const;

  // kModel if the input's rank is known and out of range.
  Status CheckRank(size_t i, int at_least, int at_most) const;
  Status CheckRank(size_t i, int rank) const { return CheckRank(i, rank, rank); }
  // The common dimension: the one that is a number, or the first. kModel if both are numbers and
  // differ.
  Result<Dim> Same(const Dim& a, const Dim& b, std::string_view what) const;

  // An unknown dimension.
  Dim Unknown() { return Dim::Symbol(fmt::format("?{}", ++symbols_)); }
  Dims Unknown(size_t rank);

  // The type in an attribute.
  ValueType Read(const pb::TypeProto& type) {
    return ReadValueType(type, fmt::format("?{}", ++symbols_));
  }

  // Sets an output; ignored if the node has no output i.
  void Set(size_t i, ValueType type);
  void Set(size_t i, DType dtype, std::optional<Dims> dims = std::nullopt) {
    Set(i, ValueType::Tensor(dtype, std::move(dims)));
  }
  // Sets the known contents of an output.
  void SetConstant(size_t i, nn::Tensor tensor);
  // Output i has the type of input j.
  void Like(size_t i, size_t j) { Set(i, in(j)); }

  std::optional<std::vector<KnownFacts>> InferFacts(std::string_view attribute,
                                                    const std::vector<KnownFacts>& inputs,
                                                    Pass pass = Pass::kFinal) const {
    return sub_graph_(attribute, inputs, pass);
  }
  std::optional<std::vector<ValueType>> InferSubGraph(std::string_view attribute,
                                                      const std::vector<ValueType>& inputs) const;

  const std::vector<ValueType>& outputs() const { return outputs_; }
  const std::vector<std::optional<nn::Tensor>>& constants() const { return constants_; }

 private:
  ImportContext& node_;
  std::vector<ValueType> inputs_;
  std::vector<ValueType> outputs_;
  std::vector<std::optional<nn::Tensor>> constants_;
  const SubGraph& sub_graph_;
  int64_t& symbols_;
};

// Types of stored tensors; negative dimensions make the rank unknown.
Type TypeOf(const pb::TensorProto& tensor);
Type TypeOf(const pb::SparseTensorProto& tensor);
// Whether the contents are inside the model and few enough to read.
bool IsSmall(const pb::TensorProto& tensor);

using InferFn = Status (*)(TypeContext&);
using InferTable = VersionTable<InferFn>;

const InferTable& Inferences();

// The result has the type of the first input.
Status InferLikeFirst(TypeContext& ctx);

// One function per family.
void AddControlInferences(InferTable& table);
void AddSequenceInferences(InferTable& table);
void AddConstantInferences(InferTable& table);
void AddIntegerInferences(InferTable& table);
void AddImageInferences(InferTable& table);
void AddLossInferences(InferTable& table);
void AddMathInferences(InferTable& table);
void AddRecurrentInferences(InferTable& table);
void AddAttentionInferences(InferTable& table);
void AddElementwiseInferences(InferTable& table);
void AddMlInferences(InferTable& table);
void AddTrainingInferences(InferTable& table);

// The types of the values of one graph, in the order of their definition.
struct GraphTypes {
  const pb::GraphProto* graph = nullptr;
  std::vector<ValueEntry> values;
};

struct ModelTypes {
  std::vector<TypeDefect> defects;
  std::vector<GraphTypes> graphs;  // the main graph first; bodies of functions are not included
};

// Infers types through the whole model, including subgraphs and function calls. `inputs` are types
// of inputs that replace the declared ones.
using InputTypes = std::map<std::string, Type, std::less<>>;
ModelTypes InferModelTypes(const Model& model, const InputTypes& inputs = {});
// The same without the types that the model declares for other values than inputs: what follows
// from the types of the inputs and from constants alone.
ModelTypes InferUndeclaredTypes(const Model& model);

// Adds the types of all values to the graphs of a model, as value_info.
void AddValueInfo(Model& model);

}  // namespace nn::onnx

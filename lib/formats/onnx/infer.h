// Types of the results of ONNX operators that the graph has no operators for. One function an
// operator, in infer_<family>.cc, listed with the operator set version from which it applies. All
// other operators have their types from the graph's own inference (import.h).
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/onnx/import.h"
#include "formats/onnx/value_type.h"

namespace nn::onnx {

// One node, the types of its inputs as far as they are known, and those of its outputs. An
// inference that lacks something leaves outputs unknown and succeeds; kModel is for contradictions
// alone.
class TypeContext {
 public:
  // Infers the types of the outputs of a sub-graph, an attribute of the node, from those of its
  // inputs; nullopt if the node has no such attribute.
  using SubGraph = std::function<std::optional<std::vector<ValueType>>(
      std::string_view attribute, const std::vector<ValueType>& inputs)>;

  TypeContext(ImportContext& node, std::vector<ValueType> inputs, const SubGraph& sub_graph,
              int64_t& symbols)
      : node_(node),
        inputs_(std::move(inputs)),
        outputs_(node.output_count()),
        constants_(node.output_count()),
        sub_graph_(sub_graph),
        symbols_(symbols) {}

  // Attributes, and what is known of the contents of inputs.
  const ImportContext& node() const { return node_; }

  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  // Whether input i is there, its type known or not.
  bool has(size_t i) const {
    return i < inputs_.size() && !node_.node().input(static_cast<int>(i)).empty();
  }
  // Unknown if it is absent.
  const ValueType& in(size_t i) const;
  DType dtype(size_t i) const { return in(i).is_tensor() ? in(i).tensor.dtype : DType::kUnknown; }
  // Null unless the input is a tensor of known rank.
  const Dims* dims(size_t i) const;
  // The contents of an integer input of known numbers.
  std::optional<std::vector<int64_t>> Ints(size_t i) const;
  std::optional<int64_t> Int(size_t i) const;  // of one element

  // The type that an attribute names, or `fallback` if it is absent.
  DType TypeAttr(std::string_view name, DType fallback) const;

  // kModel if the input's rank is known and not between the two.
  Status CheckRank(size_t i, int at_least, int at_most) const;
  Status CheckRank(size_t i, int rank) const { return CheckRank(i, rank, rank); }
  // kModel if both dimensions are numbers and differ; the one that is a number, or the first.
  Result<Dim> Same(const Dim& a, const Dim& b, std::string_view what) const;

  // A dimension that nothing is known of.
  Dim Unknown() { return Dim::Symbol(fmt::format("?{}", ++symbols_)); }
  Dims Unknown(size_t rank);

  // A type that an attribute has.
  ValueType Read(const pb::TypeProto& type) {
    return ReadValueType(type, fmt::format("?{}", ++symbols_));
  }

  // Sets an output; ignored if the node has no output i.
  void Set(size_t i, ValueType type);
  void Set(size_t i, DType dtype, std::optional<Dims> dims = std::nullopt) {
    Set(i, ValueType::Tensor(dtype, std::move(dims)));
  }
  // The output holds these contents.
  void SetConstant(size_t i, nn::Tensor tensor);
  // Output i is like input j.
  void Like(size_t i, size_t j) { Set(i, in(j)); }

  std::optional<std::vector<ValueType>> InferSubGraph(std::string_view attribute,
                                                      const std::vector<ValueType>& inputs) const {
    return sub_graph_(attribute, inputs);
  }

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

// Types of tensors as they are stored; dimensions below 0 make the rank unknown.
Type TypeOf(const pb::TensorProto& tensor);
Type TypeOf(const pb::SparseTensorProto& tensor);
// Whether the contents stand in the model itself and are few enough to be looked at.
bool IsSmall(const pb::TensorProto& tensor);

using InferFn = Status (*)(TypeContext&);
using InferTable = VersionTable<InferFn>;

const InferTable& Inferences();

// The result is like the first input.
Status InferLikeFirst(TypeContext& ctx);

// One function a family.
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
void AddTextInferences(InferTable& table);
void AddMlInferences(InferTable& table);
void AddTrainingInferences(InferTable& table);

// What inference finds wrong (Format::check_types).
std::vector<TypeDefect> CheckTypes(const NativeModel& model);

}  // namespace nn::onnx

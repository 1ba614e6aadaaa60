#include "formats/onnx/infer/infer.h"

#include <algorithm>

#include "formats/onnx/file/tensor.h"

namespace nn::onnx {
namespace {

// Limit on elements of tensors whose contents are read.
constexpr int64_t kMaxContents = 4096;

Type StoredType(int data_type, const google::protobuf::RepeatedField<int64_t>& dims) {
  Type type;
  type.dtype = DTypeOf(data_type);
  if (std::ranges::all_of(dims, [](int64_t d) { return d >= 0; }))
    type.dims = ToDims({dims.begin(), dims.end()});
  return type;
}

}  // namespace

Status InferLikeFirst(TypeContext& ctx) {
  ctx.Like(0, 0);
  return {};
}

Type TypeOf(const pb::TensorProto& tensor) {
  return StoredType(tensor.data_type(), tensor.dims());
}

Type TypeOf(const pb::SparseTensorProto& tensor) {
  return StoredType(tensor.values().data_type(), tensor.dims());
}

bool IsSmall(const pb::TensorProto& tensor) {
  int64_t elements = 1;
  for (const int64_t d : tensor.dims())
    if (d < 0 || (d > 0 && (elements *= std::min(d, kMaxContents + 1)) > kMaxContents))
      return false;
  return tensor.data_location() != pb::TensorProto::EXTERNAL;
}

const ValueType& TypeContext::in(size_t i) const {
  static const ValueType unknown;
  return i < inputs_.size() ? inputs_[i] : unknown;
}

const Dims* TypeContext::dims(size_t i) const {
  const ValueType& type = in(i);
  return type.is_tensor() && type.tensor.dims ? &*type.tensor.dims : nullptr;
}

std::optional<std::vector<int64_t>> TypeContext::Ints(size_t i) const {
  const auto elements = node_.Elements(i);
  return elements ? ConstDims(*elements) : std::nullopt;
}

std::optional<int64_t> TypeContext::Int(size_t i) const {
  const auto values = Ints(i);
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

DType TypeContext::TypeAttr(std::string_view name, DType fallback) const {
  return node_.HasAttr(name) ? DTypeOf(static_cast<int>(node_.Int(name, 0))) : fallback;
}

Status TypeContext::CheckRank(size_t i, int at_least, int at_most) const {
  const Dims* d = dims(i);
  if (d == nullptr) return {};
  const int rank = static_cast<int>(d->size());
  if (rank < at_least || rank > at_most)
    return ModelError("input {} is {}; its rank must be {}", i, in(i).ToString(),
                      at_least == at_most ? fmt::format("{}", at_least)
                                          : fmt::format("{} to {}", at_least, at_most));
  return {};
}

Result<Dim> TypeContext::Same(const Dim& a, const Dim& b, std::string_view what) const {
  if (a.is_const() && b.is_const() && a != b)
    return ModelError("{}: {} and {} differ", what, a.ToString(), b.ToString());
  return a.is_const() ? a : b;
}

Dims TypeContext::Unknown(size_t rank) {
  Dims dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(Unknown());
  return dims;
}

void TypeContext::Set(size_t i, ValueType type) {
  if (i < outputs_.size()) outputs_[i] = std::move(type);
}

void TypeContext::SetConstant(size_t i, nn::Tensor tensor) {
  if (i >= outputs_.size()) return;
  outputs_[i] = ValueType::Tensor(tensor.dtype(), ToDims(tensor.dims()));
  constants_[i] = std::move(tensor);
}

std::optional<std::vector<ValueType>> TypeContext::InferSubGraph(
    std::string_view attribute, const std::vector<ValueType>& inputs) const {
  std::vector<KnownFacts> given;
  given.reserve(inputs.size());
  for (const ValueType& type : inputs) given.push_back({type});
  const auto made = InferFacts(attribute, given);
  return made ? std::optional(TypesOf(*made)) : std::nullopt;
}

const InferTable& Inferences() {
  static const InferTable table = [] {
    InferTable t;
    AddControlInferences(t);
    AddSequenceInferences(t);
    AddConstantInferences(t);
    AddIntegerInferences(t);
    AddImageInferences(t);
    AddLossInferences(t);
    AddMathInferences(t);
    AddRecurrentInferences(t);
    AddAttentionInferences(t);
    AddElementwiseInferences(t);
    AddMlInferences(t);
    AddTrainingInferences(t);
    return t;
  }();
  return table;
}

}  // namespace nn::onnx

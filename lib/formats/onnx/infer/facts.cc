#include "formats/onnx/infer/facts.h"

#include <unordered_set>

#include "formats/onnx/infer/infer_schema.h"

namespace nn::onnx {

KnownFacts FactsOf(Value* v) {
  KnownFacts known{ValueType::Tensor(v->type())};
  if (v->is_constant())
    known.constant = Shared<Tensor>(v->constant());
  else if (v->elements() != nullptr)
    known.elements = Shared<Dims>(*v->elements());
  known.computed = v->def() != nullptr;
  return known;
}

Shared<Tensor> ShapedAs(const Tensor& constant, const ValueType& type) {
  std::vector<int64_t> dims;
  if (type.is_tensor() && type.tensor.dims) {
    for (const Dim& d : *type.tensor.dims)
      if (!(d == 1)) return {};
    dims.assign(type.tensor.dims->size(), 1);
  }
  auto shaped = constant.Reshaped(std::move(dims));
  return shaped ? Shared<Tensor>(*std::move(shaped)) : Shared<Tensor>();
}

std::vector<ValueType> TypesOf(const std::vector<KnownFacts>& values) {
  std::vector<ValueType> types;
  types.reserve(values.size());
  for (const KnownFacts& v : values) types.push_back(v.type);
  return types;
}

std::set<std::string_view> AcceptTypes(const Schema& schema, std::vector<KnownFacts>& inputs) {
  std::set<std::string_view> replaced;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto type = AcceptedType(schema, static_cast<int>(i), inputs[i].type)) {
      inputs[i] = {*type};
      replaced.insert(ParameterAt(schema.inputs, static_cast<int>(i))->type);
    }
  return replaced;
}

bool TakesInputs(const pb::GraphProto& g, size_t given) {
  const auto count = static_cast<size_t>(g.input_size());
  if (given >= count) return given == count;
  std::unordered_set<std::string_view> defaults;
  for (const pb::TensorProto& t : g.initializer()) defaults.insert(t.name());
  for (size_t i = given; i < count; ++i)
    if (!defaults.contains(g.input(static_cast<int>(i)).name())) return false;
  return true;
}

}  // namespace nn::onnx

#include "formats/onnx/infer/infer_schema.h"

#include <algorithm>

#include "base/checked_math.h"

namespace nn::onnx {

std::optional<ValueType> AcceptedType(const Schema& schema, int input, const ValueType& type) {
  const SchemaParameter* p = ParameterAt(schema.inputs, input);
  if (p == nullptr || !type.is_tensor() || type.tensor.dtype == DType::kUnknown)
    return std::nullopt;
  const auto types = schema.types.find(p->type);
  if (types == schema.types.end() || types->second.contains(DTypeName(type.tensor.dtype)))
    return std::nullopt;
  const DType accepted = types->second.contains(DTypeName(DType::kF32))
                             ? DType::kF32
                             : ParseDType(*types->second.begin()).value_or(DType::kUnknown);
  ValueType out = type;
  out.tensor.dtype = accepted;
  return out;
}

ValueType TypeBySchema(const Schema* schema, int output, const std::vector<ValueType>& inputs) {
  const SchemaParameter* result =
      schema == nullptr ? nullptr : ParameterAt(schema->outputs, output);
  if (result == nullptr || result->own_type) return {};
  const auto types = schema->types.find(result->type);
  if (types == schema->types.end()) return {};
  if (types->second.size() == 1)
    if (const auto only = ParseDType(*types->second.begin())) return ValueType::Tensor(*only);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const SchemaParameter* p = ParameterAt(schema->inputs, static_cast<int>(i));
    if (p != nullptr && p->type == result->type && inputs[i].is_tensor() &&
        types->second.contains(DTypeName(inputs[i].tensor.dtype)))
      return ValueType::Tensor(inputs[i].tensor.dtype);
  }
  return {};
}

Status CheckSizes(const ImportContext& node) {
  const std::string_view op = node.node().op_type();
  if ((op != "Add" && op != "Sub" && op != "Mul") || node.input_count() != 2) return {};
  if (node.Constant(0) != nullptr && node.Constant(1) != nullptr) return {};
  const auto a = node.Elements(0);
  const auto b = node.Elements(1);
  if (!a || !b || a->empty() || b->empty()) return {};
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return {};
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const Dim& x = (*a)[a->size() == 1 ? 0 : i];
    const Dim& y = (*b)[b->size() == 1 ? 0 : i];
    if (!x.is_const() || !y.is_const()) continue;
    const auto result = op == "Add"   ? CheckedAdd(x.value(), y.value())
                        : op == "Sub" ? CheckedSub(x.value(), y.value())
                                      : CheckedMul(x.value(), y.value());
    if (!result) return ModelError("the result of {} and {} overflows", x.value(), y.value());
  }
  return {};
}

}  // namespace nn::onnx

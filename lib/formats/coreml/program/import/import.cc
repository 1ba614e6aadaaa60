#include "formats/coreml/program/import/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/text/text.h"
#include "formats/common/control_flow.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/program/import/values.h"
#include "formats/coreml/program/spec/defaults.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

std::vector<Value*> ValuesIn(const Arguments& arguments) {
  std::vector<Value*> values;
  for (const auto& [name, list] : arguments)
    for (const Named* named : list)
      if (named->value != nullptr) values.push_back(named->value);
  return values;
}

}  // namespace

ImportContext::ImportContext(const mil::Operation& operation, const Definition* definition,
                             int64_t index, Graph& graph, Arguments arguments, KnownValues& known)
    : OperatorImport({.kind = operation.type(), .index = index, .name = coreml::NameOf(operation)},
                     graph, ValuesIn(arguments), static_cast<size_t>(operation.outputs_size())),
      mil_(operation),
      definition_(definition),
      arguments_(std::move(arguments)),
      known_(known) {}

const Named* ImportContext::Find(std::string_view name) const {
  for (const auto& [key, list] : arguments_)
    if (key == name && !list.empty()) return list.front();
  return nullptr;
}

Value* ValueOf(Graph& graph, Named& named) {
  if (named.value == nullptr && named.constant)
    named.value = graph.AddConstant(*named.constant, named.name);
  return named.value;
}

Result<Value*> ImportContext::TensorOf(Named& named) {
  if (Value* const value = ValueOf(graph(), named)) return value;
  if (!named.state.empty()) return ModelError("{} is a state, not a value", Quote(named.state));
  return UnsupportedError("{} is not a tensor", Quote(named.name));
}

Result<Value*> ImportContext::Optional(std::string_view name) {
  for (const auto& [key, list] : arguments_)
    if (key == name && !list.empty()) return TensorOf(*list.front());
  return nullptr;
}

Result<Value*> ImportContext::In(std::string_view name) {
  NN_ASSIGN(Value* const v, Optional(name));
  if (v == nullptr) return ModelError("input {} is missing", name);
  return v;
}

Result<Value*> ImportContext::Ranked(std::string_view name) {
  NN_ASSIGN(Value* const v, In(name));
  if (!v->type().ranked()) return UnsupportedError("the rank of input {} is unknown", name);
  return v;
}

Result<std::vector<Value*>> ImportContext::List(std::string_view name) {
  std::vector<Value*> values;
  for (const auto& [key, list] : arguments_) {
    if (key != name) continue;
    for (Named* const named : list) {
      NN_ASSIGN(values.emplace_back(), TensorOf(*named));
    }
  }
  return values;
}

Result<std::optional<Tensor>> ImportContext::Contents(std::string_view name) const {
  const Named* const named = Find(name);
  if (named == nullptr) return std::nullopt;
  if (named->constant) return named->constant;
  if (named->value == nullptr) return UnsupportedError("input {} is not a tensor", name);
  if (const Tensor* const known = known_.Of(named->value)) return *known;
  return UnsupportedError("input {} {}", name, WhyUnknown(named->value));
}

Result<std::string_view> ImportContext::DefaultOf(std::string_view name) const {
  const spec::Operand* const operand = definition_->Input(name);
  if (operand == nullptr)
    return InternalError("{} of {} has no input {}", definition_->op, definition_->Clause(), name);
  if (operand->presence == spec::Operand::Presence::kRequired)
    return ModelError("input {} is missing", name);
  return operand->default_text;
}

Result<std::vector<int64_t>> ImportContext::Ints(std::string_view name, int count) const {
  NN_ASSIGN(const std::optional<Tensor> given, Contents(name));
  if (given) return given->ToInts();
  NN_ASSIGN(const std::string_view text, DefaultOf(name));
  const auto numbers = DefaultNumbers(text, count);
  if (!numbers) return InternalError("{} is not a list of numbers", text);
  return std::vector<int64_t>(numbers->begin(), numbers->end());
}

Result<std::vector<bool>> ImportContext::Bools(std::string_view name, int count) const {
  NN_ASSIGN(const auto numbers, Ints(name, count));
  std::vector<bool> out;
  for (const int64_t n : numbers) out.push_back(n != 0);
  return out;
}

Result<int64_t> ImportContext::Int(std::string_view name) const {
  NN_ASSIGN(const auto list, Ints(name));
  if (list.size() != 1) return ModelError("input {} has {} elements, not 1", name, list.size());
  return list[0];
}

Result<float> ImportContext::Float(std::string_view name) const {
  NN_ASSIGN(const std::optional<Tensor> given, Contents(name));
  if (given) {
    if (given->elements() != 1)
      return ModelError("input {} has {} elements, not 1", name, given->elements());
    return static_cast<float>(given->GetDouble(0));
  }
  NN_ASSIGN(const std::string_view text, DefaultOf(name));
  const auto value = DefaultNumber(text);
  if (!value) return InternalError("{} is not a number", text);
  return static_cast<float>(*value);
}

Result<bool> ImportContext::Bool(std::string_view name) const {
  NN_ASSIGN(const int64_t value, Int(name));
  return value != 0;
}

Result<std::string> ImportContext::String(std::string_view name) const {
  NN_ASSIGN(const std::optional<Tensor> given, Contents(name));
  if (!given) {
    NN_ASSIGN(const std::string_view text, DefaultOf(name));
    return std::string(text);
  }
  if (given->dtype() != DType::kString || given->elements() != 1)
    return ModelError("input {} is not a string", name);
  return given->strings()[0];
}

Result<std::string> ImportContext::AnyCase(std::string_view name) const {
  NN_ASSIGN(std::string text, String(name));
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Result<DType> ImportContext::NamedType(std::string_view name) const {
  NN_ASSIGN(const std::string text, AnyCase(name));
  return DTypeNamed(text);
}

Result<std::vector<int64_t>> ImportContext::Axes(std::string_view name, int rank) const {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (!Has(name)) {
    NN_ASSIGN(const std::string_view text, DefaultOf(name));
    if (text == "all_axes" || text.empty()) return axes;
  }
  NN_ASSIGN(axes, Ints(name, rank));
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      return ModelError("input {}: axis {} is out of range for rank {}", name, axis, rank);
    if (axis < 0) axis += rank;
  }
  return axes;
}

Result<int64_t> ImportContext::Axis(std::string_view name, int rank) const {
  NN_ASSIGN(const int64_t axis, Int(name));
  if (axis < -rank || axis >= rank)
    return ModelError("input {}: axis {} is out of range for rank {}", name, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

DType ImportContext::DeclaredType(size_t i) const {
  if (static_cast<int>(i) >= mil_.outputs_size()) return DType::kUnknown;
  const mil::ValueType& type = mil_.outputs(static_cast<int>(i)).type();
  return type.has_tensortype() ? DTypeOf(type.tensortype().datatype()) : DType::kUnknown;
}

Status ImportContext::EmitCast(const Term& y, size_t i) {
  NN_ASSIGN(Value* const v, Build(y));
  const DType to = DeclaredType(i);
  return EmitTerm(to == DType::kUnknown || to == v->dtype() ? Term(v) : Cast(v, to), i);
}

// The operands of a one-to-one operation are the first of its inputs.
Status ImportContext::TakeInputsOf(const OpDef& op) {
  std::vector<Value*> values;
  for (const spec::Operand& operand : definition_->inputs) {
    if (values.size() == op.inputs.size()) break;
    NN_ASSIGN(values.emplace_back(), In(operand.name));
  }
  SetInputs(std::move(values));
  return {};
}

Result<std::optional<AttrValue>> ImportContext::ReadAttr(std::string_view name,
                                                         const AttrValue& initial) const {
  const auto as_value = [](auto result) -> Result<std::optional<AttrValue>> {
    if (!result) return tl::unexpected(result.error());
    return AttrValue(*result);
  };
  if (std::holds_alternative<float>(initial)) return as_value(Float(name));
  if (std::holds_alternative<bool>(initial)) return as_value(Bool(name));
  if (std::holds_alternative<int64_t>(initial)) return as_value(Int(name));
  if (std::holds_alternative<std::vector<int64_t>>(initial)) return as_value(Ints(name));
  return OperatorImport::ReadAttr(name, initial);
}

}  // namespace nn::coreml::program

#include "formats/coreml/program/export/operation.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/half.h"
#include "formats/coreml/program/export/export.h"
#include "formats/coreml/program/import/values.h"
#include "formats/coreml/program/spec/defaults.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::coreml::program {
namespace {

// Of operations that compute constants.
constexpr std::string_view kConstantPrefix = "constexpr_";

mil::DataType TypeOfSymbol(const Symbol* symbol) {
  return symbol == nullptr ? mil::UNUSED_TYPE : symbol->type.tensortype().datatype();
}

// The input that keeps a divisor from 0, whatever it is rounded to.
constexpr std::string_view kEpsilon = "epsilon";

bool IsHalf(double number) {
  const auto rounded = static_cast<double>(HalfToFloat(FloatToHalf(static_cast<float>(number))));
  return rounded == static_cast<double>(static_cast<float>(number));
}

}  // namespace

OperationWriter::OperationWriter(ExportContext& ctx, std::string_view type)
    : ctx_(ctx), definition_(program::Find(type, ctx.opset())) {
  mil_.set_type(std::string(type));
  if (definition_ == nullptr)
    Keep(Error(ErrorCode::kUnsupported,
               fmt::format("ML Programs of {} have no {}", NameOf(ctx.opset()), type)));
}

void OperationWriter::Keep(const Error& error) {
  if (!error_) error_ = error;
}

bool OperationWriter::Takes(std::string_view input) const {
  return definition_ != nullptr && definition_->Input(input) != nullptr;
}

bool OperationWriter::Accept(std::string_view input) {
  if (error_ || Takes(input)) return !error_;
  Keep(Error(ErrorCode::kUnsupported,
             fmt::format("{} of {} has no input {}", mil_.type(), NameOf(ctx_.opset()), input)));
  return false;
}

mil::Argument::Binding* OperationWriter::AddBinding(std::string_view input) {
  for (mil::Operation::Input& given : *mil_.mutable_inputs())
    if (given.key() == input) return given.mutable_value()->add_arguments();
  mil::Operation::Input& added = *mil_.add_inputs();
  added.set_key(std::string(input));
  return added.mutable_value()->add_arguments();
}

OperationWriter& OperationWriter::Bind(std::string_view input, const std::string& name) {
  if (Accept(input)) AddBinding(input)->set_name(name);
  return *this;
}

OperationWriter& OperationWriter::In(std::string_view input, const Value* value) {
  if (value == nullptr || error_) return *this;
  auto name = ctx_.NameFor(value);
  if (!name) {
    Keep(name.error());
    return *this;
  }
  return Bind(input, *name);
}

OperationWriter& OperationWriter::In(std::string_view input, const std::string& name) {
  return Bind(input, name);
}

OperationWriter& OperationWriter::List(std::string_view input,
                                       std::span<const Value* const> values) {
  for (const Value* const v : values) In(input, v);
  return *this;
}

OperationWriter& OperationWriter::Const(std::string_view input, const Tensor& tensor) {
  if (!Accept(input)) return *this;
  const mil::DataType type = DataTypeOf(tensor.dtype());
  Status status = type == mil::UNUSED_TYPE ? UnsupportedError("ML Programs have no {} constants",
                                                              DTypeName(tensor.dtype()))
                                           : AddConstant(input, tensor, type);
  if (!status) Keep(status.error());
  return *this;
}

OperationWriter& OperationWriter::Packed(std::string_view input, const Tensor& bytes,
                                         mil::DataType type, const std::vector<int64_t>& dims) {
  if (Accept(input)) *AddBinding(input)->mutable_value() = ctx_.ValueOf(bytes, type, dims);
  return *this;
}

// Operations that compute constants contain their operands.
Status OperationWriter::AddConstant(std::string_view input, const Tensor& tensor,
                                    mil::DataType type) {
  if (definition_->Find(Label::kStoredAsAttributes) != nullptr) {
    mil::NamedValue& attribute = *mil_.add_attributes();
    attribute.set_key(std::string(input));
    *attribute.mutable_value() = ctx_.ValueOf(tensor, type, tensor.dims());
    return {};
  }
  if (mil_.type().starts_with(kConstantPrefix)) {
    *AddBinding(input)->mutable_value() = ctx_.ValueOf(tensor, type, tensor.dims());
    return {};
  }
  NN_ASSIGN(const std::string name,
            ctx_.AddConstant(tensor, type, fmt::format("{}_{}", mil_.type(), input)));
  AddBinding(input)->set_name(name);
  return {};
}

Result<mil::DataType> OperationWriter::TypeOfInput(std::string_view input, double number) const {
  const spec::Operand* const operand = definition_->Input(input);
  if (operand == nullptr)
    return UnsupportedError("{} of {} has no input {}", mil_.type(), NameOf(ctx_.opset()), input);
  for (const mil::Operation::Input& given : mil_.inputs()) {
    const spec::Operand* const other = definition_->Input(given.key());
    const auto position = static_cast<int>(other - definition_->inputs.data());
    const bool is_same =
        operand->same_as == position ||
        (operand->variable != spec::Operand::kNone && operand->variable == other->variable);
    if (is_same && given.value().arguments_size() > 0)
      return TypeOfSymbol(ctx_.Find(given.value().arguments(0).name()));
  }
  // Floats of another variable are those of the first input, too, if they hold the number.
  const mil::DataType first =
      mil_.inputs_size() == 0 || mil_.inputs(0).value().arguments_size() == 0
          ? mil::UNUSED_TYPE
          : TypeOfSymbol(ctx_.Find(mil_.inputs(0).value().arguments(0).name()));
  if (first == mil::FLOAT16 && definition_->Takes(*operand, first) && IsHalf(number)) return first;
  for (const mil::DataType type :
       {mil::FLOAT32, mil::INT32, mil::BOOL, mil::STRING, mil::UINT8, mil::FLOAT16, mil::UINT32})
    if (definition_->Takes(*operand, type)) return type;
  return InternalError("input {} of {} has no type for numbers", input, mil_.type());
}

OperationWriter& OperationWriter::BindNumber(std::string_view input, double number) {
  if (!Accept(input)) return *this;
  const auto add = [&]() -> Status {
    NN_ASSIGN(const mil::DataType type, TypeOfInput(input, number));
    if (type == mil::FLOAT16 && input != kEpsilon && !IsHalf(number))
      return UnsupportedError("{} of {} is {}, which float16 does not hold", input, mil_.type(),
                              number);
    // Values of narrower types are refused by the definition.
    if (type == mil::INT32 && !(number >= std::numeric_limits<int32_t>::min() &&
                                number <= std::numeric_limits<int32_t>::max()))
      return UnsupportedError("{} of {} is {}, which int32 does not hold", input, mil_.type(),
                              number);
    NN_ASSIGN(TensorBuilder scalar, TensorBuilder::Create(DTypeOf(type), {}));
    scalar.SetDouble(0, number);
    return AddConstant(input, scalar.Finish(), type);
  };
  const Status status = add();
  if (!status) Keep(status.error());
  return *this;
}

OperationWriter& OperationWriter::Number(std::string_view input, double number) {
  return BindNumber(input, number);
}
OperationWriter& OperationWriter::Int(std::string_view input, int64_t number) {
  if (number != static_cast<int32_t>(number))
    Keep(Error(ErrorCode::kUnsupported,
               fmt::format("{} is {}, but ML Programs have integers of 32 bits", input, number)));
  return Const(input, Tensor::Scalar(static_cast<int32_t>(number)));
}
OperationWriter& OperationWriter::Ints(std::string_view input,
                                       const std::vector<int64_t>& numbers) {
  return Const(input, Tensor::Ints(numbers));
}
OperationWriter& OperationWriter::Bool(std::string_view input, bool flag) {
  return Const(input, Tensor::Scalar(flag));
}
OperationWriter& OperationWriter::Bools(std::string_view input, const std::vector<bool>& flags) {
  auto list = TensorBuilder::Create(DType::kBool, {std::ssize(flags)});
  if (!list) {
    Keep(list.error());
    return *this;
  }
  for (size_t i = 0; i < flags.size(); ++i) list->SetInt(static_cast<int64_t>(i), flags[i] ? 1 : 0);
  return Const(input, list->Finish());
}
OperationWriter& OperationWriter::Text(std::string_view input, std::string_view text) {
  return Const(input, Tensor({}, {std::string(text)}));
}

// Other writers state the defaults of all inputs.
Status OperationWriter::FillDefaults() {
  for (const spec::Operand& operand : definition_->inputs) {
    const auto is_given = [&](const mil::Operation::Input& i) { return i.key() == operand.name; };
    if (operand.presence == spec::Operand::Presence::kRequired || operand.default_text.empty() ||
        std::ranges::any_of(mil_.inputs(), is_given))
      continue;
    const std::string_view text = operand.default_text;
    if (!operand.choices.empty() || definition_->Takes(operand, mil::STRING)) {
      if (!definition_->Takes(operand, mil::STRING)) continue;
      Text(operand.name, text);
      continue;
    }
    if (const auto number = DefaultNumber(text)) BindNumber(operand.name, *number);
  }
  return error_ ? tl::unexpected(*error_) : Status();
}

Status OperationWriter::To(std::span<const std::string> names, std::span<const Type> types,
                           const Node& source) {
  if (error_) return tl::unexpected(*error_);
  NN_RETURN_IF_ERROR(FillDefaults());
  for (size_t i = 0; i < names.size(); ++i) {
    mil::NamedValueType& output = *mil_.add_outputs();
    output.set_name(names[i]);
    *output.mutable_type() = ValueTypeOf(types[i]);
    ctx_.Declare(names[i], output.type());
  }
  const bool is_named = !source.name().empty() && !ctx_.trial();
  const std::string name = is_named        ? std::string(source.name())
                           : names.empty() ? ctx_.NewIdentifier(mil_.type())
                                           : names[0];
  SetAttribute(mil_, "name", TextValue(name));
  *ctx_.block().add_operations() = std::move(mil_);
  return {};
}

Status OperationWriter::To(const Node& node, size_t count) {
  std::vector<std::string> names;
  std::vector<Type> types;
  for (const Value* const y : node.outputs().first(std::min(count, node.outputs().size()))) {
    names.push_back(ctx_.NameOf(y));
    types.push_back(y->type());
  }
  NN_RETURN_IF_ERROR(To(names, types, node));
  for (const Value* const y : node.outputs().first(names.size())) ctx_.Define(y);
  return {};
}

Result<std::string> OperationWriter::Helper(const Type& type, const Node& source) {
  std::string name = ctx_.NewIdentifier(mil_.type());
  NN_RETURN_IF_ERROR(To(std::span(&name, 1), std::span(&type, 1), source));
  return name;
}

}  // namespace nn::coreml::program

#include "validators/nnapi/subject.h"

#include <cstring>

#include "base/text.h"

namespace nn::nnapi {

const Operand* OperationAt::Input(size_t i) const {
  if (i >= operation->inputs.size()) return nullptr;
  const Operand* o = subject->FindOperand(operation->inputs[i]);
  return o != nullptr && o->lifetime == LifeTime::kNoValue ? nullptr : o;
}

const Operand* OperationAt::Output(size_t i) const {
  return i < operation->outputs.size() ? subject->FindOperand(operation->outputs[i]) : nullptr;
}

namespace {

const Dims* DimsOf(const Operand* o, const Argument& a) {
  return o != nullptr && IsTensor(o->type) && !o->dimensions.empty() &&
                 a.TakesRank(o->dimensions.size())
             ? &o->dimensions
             : nullptr;
}

}  // namespace

const Dims* OperationAt::InputDims(size_t i) const {
  if (signature == nullptr || i >= input_count()) return nullptr;
  return DimsOf(Input(i), signature->InputAt(i, input_count()));
}

const Dims* OperationAt::OutputDims(size_t i) const {
  if (signature == nullptr || i >= signature->outputs.size()) return nullptr;
  return DimsOf(Output(i), signature->outputs[i]);
}

std::optional<bool> OperationAt::Given(size_t input) const {
  if (input >= input_count()) return std::nullopt;
  const Operand* o = subject->FindOperand(operation->inputs[input]);
  if (o == nullptr || o->lifetime == LifeTime::kModelInput || !NameOf(o->lifetime))
    return std::nullopt;
  return o->lifetime != LifeTime::kNoValue;
}

std::optional<int32_t> OperationAt::Int(size_t input) const {
  const Operand* o = Input(input);
  if (o == nullptr || o->type != OperandType::kInt32) return std::nullopt;
  const auto bytes = subject->ConstantBytes(*o);
  int32_t value = 0;
  if (!bytes || bytes->size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::optional<float> OperationAt::Float(size_t input) const {
  const Operand* o = Input(input);
  if (o == nullptr || o->type != OperandType::kFloat32) return std::nullopt;
  const auto bytes = subject->ConstantBytes(*o);
  float value = 0;
  if (!bytes || bytes->size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::vector<int32_t> OperationAt::Ints(size_t input) const {
  const Operand* o = Input(input);
  if (o == nullptr || o->type != OperandType::kTensorInt32) return {};
  const auto bytes = subject->ConstantBytes(*o);
  uint64_t size = sizeof(int32_t);
  for (const uint32_t d : o->dimensions)
    if (__builtin_mul_overflow(size, d, &size)) return {};
  if (!bytes || bytes->empty() || bytes->size() != size) return {};
  std::vector<int32_t> values(bytes->size() / sizeof(int32_t));
  std::memcpy(values.data(), bytes->data(), values.size() * sizeof(int32_t));
  return values;
}

std::string OperationAt::Title() const {
  return fmt::format("operation {} ({})", index, TextOf(operation->type));
}

std::string OperationAt::InputTitle(size_t i) const {
  return fmt::format("input {} of {}", i, Title());
}

std::string OperationAt::OutputTitle(size_t i) const {
  return fmt::format("output {} of {}", i, Title());
}

Location OperationAt::Where(std::string_view field) const {
  return At(fmt::format("operations[{}]{}{}", index, field.empty() ? "" : ".", field), index);
}

Subject::Subject(const Model& model) : model_(model) {
  for (const Operation& op : model.operations)
    operations_.push_back({&op, static_cast<int>(operations_.size()), this,
                           FindSignature(op.type, op.inputs.size())});
}

const Operand* Subject::FindOperand(uint32_t index) const {
  return index < model_.operands.size() ? &model_.operands[index] : nullptr;
}

std::optional<Blob> Subject::ConstantBytes(const Operand& operand) const {
  return IsConstant(operand) ? BytesOf(model_, operand) : std::nullopt;
}

bool IsConstant(const Operand& operand) {
  return operand.lifetime == LifeTime::kConstantCopy ||
         operand.lifetime == LifeTime::kConstantReference;
}

bool IsComputed(const Operand& operand) {
  return operand.lifetime == LifeTime::kTemporaryVariable ||
         operand.lifetime == LifeTime::kModelOutput;
}

bool IsQuantized(const Operand& operand) {
  return operand.type == OperandType::kTensorQuant8Asymm;
}

bool HasQuantization(const Operand& operand) {
  return IsQuantized(operand) && operand.scale > 0 && operand.zero_point >= 0 &&
         operand.zero_point <= 255;
}

std::string OperandPath(size_t index, std::string_view field) {
  return fmt::format("operands[{}]{}{}", index, field.empty() ? "" : ".", field);
}

std::string DimsText(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    out += (i == 0 ? "" : ", ") + (dims[i] == 0 ? std::string("?") : std::to_string(dims[i]));
  return out + "]";
}

bool Agree(uint32_t a, uint32_t b) {
  return a == 0 || b == 0 || a == b;
}

bool Agree(const Dims& a, const Dims& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!Agree(a[i], b[i])) return false;
  return true;
}

}  // namespace nn::nnapi

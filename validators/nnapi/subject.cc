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

const Dims* DimsOf(const Operand* o) {
  return o != nullptr && IsTensor(o->type) && !o->dimensions.empty() ? &o->dimensions : nullptr;
}

}  // namespace

const Dims* OperationAt::InputDims(size_t i) const {
  return DimsOf(Input(i));
}

const Dims* OperationAt::OutputDims(size_t i) const {
  return DimsOf(Output(i));
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
  if (!bytes || bytes->empty()) return {};
  std::vector<int32_t> values(bytes->size() / sizeof(int32_t));
  std::memcpy(values.data(), bytes->data(), values.size() * sizeof(int32_t));
  return values;
}

std::string OperationAt::Title() const {
  return fmt::format("operation {} ({})", index, TextOf(operation->type));
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

bool IsQuantised(const Operand& operand) {
  return operand.type == OperandType::kTensorQuant8Asymm;
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

#include "formats/nnapi/file/operation.h"

#include <algorithm>
#include <cstring>

namespace nn::nnapi {

const Operand* OperationAt::Input(size_t i) const {
  if (i >= operation->inputs.size()) return nullptr;
  const Operand* o = view->FindOperand(operation->inputs[i]);
  return o != nullptr && o->lifetime == LifeTime::kNoValue ? nullptr : o;
}

const Operand* OperationAt::Output(size_t i) const {
  return i < operation->outputs.size() ? view->FindOperand(operation->outputs[i]) : nullptr;
}

namespace {

const Shape* DimsOf(const Operand* o, const Argument& a) {
  return o != nullptr && IsTensor(o->type) && !o->dimensions.empty() &&
                 a.ranks.Has(static_cast<int64_t>(o->dimensions.size()))
             ? &o->dimensions
             : nullptr;
}

}  // namespace

const Shape* OperationAt::InputDims(size_t i) const {
  if (signature == nullptr || i >= input_count()) return nullptr;
  return DimsOf(Input(i), signature->InputAt(i, input_count()));
}

const Shape* OperationAt::OutputDims(size_t i) const {
  if (signature == nullptr || i >= signature->outputs.size()) return nullptr;
  return DimsOf(Output(i), signature->outputs[i]);
}

std::optional<bool> OperationAt::Given(size_t input) const {
  if (input >= input_count()) return std::nullopt;
  const Operand* o = view->FindOperand(operation->inputs[input]);
  if (o == nullptr || o->lifetime == LifeTime::kModelInput || !NameOf(o->lifetime))
    return std::nullopt;
  // A size that only a run knows may be zero.
  if (o->lifetime == LifeTime::kTemporaryVariable &&
      (o->dimensions.empty() || std::ranges::find(o->dimensions, 0U) != o->dimensions.end()))
    return std::nullopt;
  return o->lifetime != LifeTime::kNoValue;
}

std::optional<int32_t> OperationAt::Int(size_t input) const {
  const Operand* o = Input(input);
  if (o == nullptr || o->type != OperandType::kInt32) return std::nullopt;
  const auto bytes = view->ConstantBytes(*o);
  int32_t value = 0;
  if (!bytes || bytes->size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::optional<float> OperationAt::Float(size_t input) const {
  const Operand* o = Input(input);
  if (o == nullptr || o->type != OperandType::kFloat32) return std::nullopt;
  const auto bytes = view->ConstantBytes(*o);
  float value = 0;
  if (!bytes || bytes->size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::vector<int32_t> OperationAt::Ints(size_t input) const {
  const Operand* o = Input(input);
  if (o == nullptr || o->type != OperandType::kTensorInt32) return {};
  const auto bytes = view->ConstantBytes(*o);
  uint64_t size = sizeof(int32_t);
  for (const uint32_t d : o->dimensions)
    if (__builtin_mul_overflow(size, d, &size)) return {};
  if (!bytes || bytes->empty() || bytes->size() != size) return {};
  std::vector<int32_t> values(bytes->size() / sizeof(int32_t));
  std::memcpy(values.data(), bytes->data(), values.size() * sizeof(int32_t));
  return values;
}

std::optional<std::pair<int32_t, int32_t>> OperationAt::Extent(size_t input) const {
  return view->InfoOf(*this, input).extent;
}

size_t OperationAt::Descent(size_t input) const {
  return view->InfoOf(*this, input).descent;
}

std::string OperationAt::Title() const {
  if (index < 0) return TextOf(operation->type);
  return fmt::format("operation {} ({})", index, TextOf(operation->type));
}

std::string OperationAt::InputTitle(size_t i) const {
  return fmt::format("input {} of {}", i, Title());
}

std::string OperationAt::OutputTitle(size_t i) const {
  return fmt::format("output {} of {}", i, Title());
}

Site OperationAt::Where(std::string_view field) const {
  return {fmt::format("operations[{}]{}{}", index, field.empty() ? "" : ".", field), index};
}

ModelView::ModelView(const Model& model, bool trial) : model_(model), trial_(trial) {
  for (const Operation& op : model.operations)
    operations_.push_back({&op, trial ? -1 : static_cast<int>(operations_.size()), this,
                           FindSignature(op.type, op.inputs.size())});
}

std::string ModelView::OperandTitle(size_t index) const {
  for (size_t k = 0; trial_ && k < operations_.size(); ++k) {
    const OperationAt& op = operations_[k];
    for (size_t i = 0; i < op.operation->inputs.size(); ++i)
      if (op.operation->inputs[i] == index) return op.InputTitle(i);
    for (size_t i = 0; i < op.operation->outputs.size(); ++i)
      if (op.operation->outputs[i] == index) return op.OutputTitle(i);
  }
  return fmt::format("operand {}", index);
}

const ModelView::IntsInfo& ModelView::InfoOf(const OperationAt& op, size_t input) const {
  const auto [it, is_new] = ints_.try_emplace(op.operation->inputs[input]);
  if (!is_new) return it->second;
  const std::vector<int32_t> values = op.Ints(input);
  if (values.empty()) return it->second;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  it->second.extent = std::pair(*low, *high);
  const auto end = std::is_sorted_until(values.begin(), values.end());
  if (end != values.end()) it->second.descent = static_cast<size_t>(end - values.begin());
  return it->second;
}

const Operand* ModelView::FindOperand(uint32_t index) const {
  return index < model_.operands.size() ? &model_.operands[index] : nullptr;
}

std::optional<Blob> ModelView::ConstantBytes(const Operand& operand) const {
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

bool IsOem(const Operand& operand) {
  return operand.type == OperandType::kOem || operand.type == OperandType::kTensorOemByte;
}

std::optional<uint32_t> BytesNeeded(const Operand& o) {
  uint64_t bytes = ElementSize(o.type);
  if (IsScalar(o.type) && bytes != 0) return static_cast<uint32_t>(bytes);
  if (bytes == 0 || o.dimensions.empty()) return std::nullopt;
  for (const uint32_t d : o.dimensions)
    if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(bytes);
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

std::string DimsText(const Shape& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    out += (i == 0 ? "" : ", ") + (dims[i] == 0 ? std::string("?") : std::to_string(dims[i]));
  return out + "]";
}

bool Agree(uint32_t a, uint32_t b) {
  return a == 0 || b == 0 || a == b;
}

bool Agree(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!Agree(a[i], b[i])) return false;
  return true;
}

}  // namespace nn::nnapi

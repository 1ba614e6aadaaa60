#include "formats/tflite/constraints/operation.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/text/text.h"

namespace nn::tflite::constraints {
namespace {

template <typename T>
std::vector<int64_t> IntsOf(const Blob& bytes) {
  std::vector<int64_t> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = std::clamp(static_cast<int64_t>(value), -kMaxSize, kMaxSize);
  }
  return out;
}

}  // namespace

int64_t Value::dim(int64_t i) const {
  if (!dims) return -1;
  if (i < 0) i += rank();
  return i >= 0 && i < rank() ? (*dims)[static_cast<size_t>(i)] : -1;
}

int64_t Value::elements() const {
  if (!dims) return -1;
  int64_t n = 1;
  for (const int64_t d : *dims) {
    if (d < 0) return -1;
    const auto product = CheckedMul(n, d);
    if (!product) return -1;
    n = *product;
  }
  return n;
}

std::string Value::Text() const {
  return role.empty() ? fmt::format("tensor {} {}", index, Quote(tflite::Text(tensor->name())))
                      : role;
}

std::string ShapeText(const std::optional<Dims>& dims) {
  if (!dims) return "of unknown rank";
  std::string text = "[";
  for (size_t i = 0; i < dims->size(); ++i) {
    if (i == 16) return text + ", ...]";
    text += i == 0 ? "" : ", ";
    text += (*dims)[i] < 0 ? "?" : std::to_string((*dims)[i]);
  }
  return text + "]";
}

const fb::QuantizationParameters* AffineOf(const fb::Tensor& tensor) {
  const auto* q = tensor.quantization();
  if (q == nullptr || SizeOf(q->scale()) == 0) return nullptr;
  const auto details = q->details_type();
  return details == fb::QuantizationDetails::BlockwiseQuantization ||
                 details == fb::QuantizationDetails::MultiAxisQuantization
             ? nullptr
             : q;
}

float ScaleOf(const Value& value) {
  const auto* q = AffineOf(*value.tensor);
  return q != nullptr && SizeOf(q->scale()) == 1 ? q->scale()->Get(0) : 0.0F;
}

int64_t ZeroPointOf(const Value& value) {
  const auto* q = AffineOf(*value.tensor);
  if (q == nullptr || SizeOf(q->scale()) != 1 || SizeOf(q->zero_point()) != 1) return 0;
  return ListOf<int64_t>(q->zero_point())[0];
}

bool IsQuantizedType(fb::TensorType type) {
  return type == fb::TensorType::UINT8 || type == fb::TensorType::INT8 ||
         type == fb::TensorType::INT16;
}

Operation::Operation(const ModelView& model, const OperatorAt& at, std::vector<Value>& values,
                     const std::function<void(Violation)>& report)
    : model_(model), at_(at), op_(OperatorOf(*at.code)), values_(values), report_(report) {}

Value* Operation::ValueAt(const flatbuffers::Vector<int32_t>* list, int i) const {
  if (i < 0 || i >= SizeOf(list)) return nullptr;
  const int32_t index = list->Get(static_cast<flatbuffers::uoffset_t>(i));
  if (index < 0 || static_cast<size_t>(index) >= values_.size()) return nullptr;
  Value& value = values_[static_cast<size_t>(index)];
  return value.tensor == nullptr ? nullptr : &value;
}

bool Operation::AllPresent(int count) const {
  for (int i = 0; i < count; ++i)
    if (in(i) == nullptr) return false;
  return true;
}

std::optional<std::vector<int64_t>> Operation::Ints(int input) const {
  const Value* v = in(input);
  if (v == nullptr || !v->constant || v->elements() < 0 || v->elements() > kMaxInts) return {};
  const auto bytes = model_.contents(*v->tensor);
  if (!bytes) return {};
  std::vector<int64_t> ints;
  switch (v->type) {
    case fb::TensorType::INT8:
      ints = IntsOf<int8_t>(*bytes);
      break;
    case fb::TensorType::INT16:
      ints = IntsOf<int16_t>(*bytes);
      break;
    case fb::TensorType::INT32:
      ints = IntsOf<int32_t>(*bytes);
      break;
    case fb::TensorType::INT64:
      ints = IntsOf<int64_t>(*bytes);
      break;
    default:
      return {};
  }
  if (static_cast<int64_t>(ints.size()) != v->elements()) return {};
  return ints;
}

void Operation::Give(int output, std::optional<Dims> dims) {
  if (Value* v = out(output)) v->dims = std::move(dims);
}

void KeepShape(Operation& o) {
  if (const Value* x = o.in(0)) o.Give(0, x->dims);
}

}  // namespace nn::tflite::constraints

#include <fmt/core.h>

#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/file/operation.h"
#include "formats/nnapi/roles.h"
#include "ir/types/type.h"

namespace nn::nnapi {
namespace {

constexpr size_t kShownElements = 16;

template <typename T, typename Fn>
std::string ListText(const Blob& bytes, Fn text) {
  std::string out;
  const size_t count = bytes.size() / sizeof(T);
  for (size_t i = 0; i < count && i < kShownElements; ++i) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    out += (i == 0 ? "" : ", ") + text(v);
  }
  if (count > kShownElements) out += fmt::format(", ... {} in all", count);
  return out;
}

// The elements of a constant.
std::string ValueText(const Blob& bytes, OperandType type) {
  const auto integer = [](auto v) { return std::to_string(v); };
  switch (type) {
    case OperandType::kFloat32:
    case OperandType::kTensorFloat32:
      return ListText<float>(bytes, FloatText);
    case OperandType::kUint32:
      return ListText<uint32_t>(bytes, integer);
    case OperandType::kInt32:
    case OperandType::kTensorInt32:
      return ListText<int32_t>(bytes, integer);
    default:
      return ListText<uint8_t>(bytes, integer);
  }
}

class Summarizer {
 public:
  explicit Summarizer(const Model& model) : model_(model) {}

  ModelSummary Run() {
    out_.format = "NNAPI";
    out_.version = "HAL 1.0";
    if (model_.version != 0) out_.version += fmt::format(", form {}", model_.version);
    out_.name = model_.name;
    for (const uint32_t i : model_.input_indexes) out_.inputs.push_back(TensorOf(i));
    for (const uint32_t i : model_.output_indexes) out_.outputs.push_back(TensorOf(i));
    for (const Operation& o : model_.operations) AddOperation(o);
    for (const Operand& o : model_.operands) Count(o);
    return std::move(out_);
  }

 private:
  // NNAPI operands have no names; their index is used.
  std::string NameOfOperand(uint32_t index) const {
    if (index < model_.operands.size() && !model_.operands[index].name.empty())
      return model_.operands[index].name;
    return fmt::format("operand {}", index);
  }

  TensorSummary TensorOf(uint32_t index) const {
    TensorSummary t;
    t.name = NameOfOperand(index);
    if (index >= model_.operands.size()) return t;
    const Operand& o = model_.operands[index];
    t.type = TextOf(o.type);
    t.shape.emplace();
    for (const uint32_t d : o.dimensions) t.shape->push_back(d == 0 ? "?" : std::to_string(d));
    if (o.scale != 0)
      t.quantization = fmt::format("scale {}, zero point {}", FloatText(o.scale), o.zero_point);
    return t;
  }

  // Scalars, such as paddings and strides, correspond to attributes of other formats.
  void AddOperation(const Operation& in) {
    OperatorSummary s;
    s.op = TextOf(in.type);
    for (size_t i = 0; i < in.inputs.size(); ++i) {
      const uint32_t index = in.inputs[i];
      const Operand* o = index < model_.operands.size() ? &model_.operands[index] : nullptr;
      if (o != nullptr && o->lifetime == LifeTime::kNoValue) {
        s.inputs.emplace_back();
        continue;
      }
      const auto bytes = o == nullptr ? std::nullopt : BytesOf(model_, *o);
      if (bytes && IsScalar(o->type))
        s.attributes.emplace_back(fmt::format("input {}", i), ValueText(*bytes, o->type));
      else
        s.inputs.push_back(NameOfOperand(index));
    }
    for (const uint32_t index : in.outputs) s.outputs.push_back(NameOfOperand(index));
    out_.operators.push_back(std::move(s));
  }

  // Tensors only: scalars are attributes.
  void Count(const Operand& o) {
    if (!IsConstant(o) || !IsTensor(o.type)) return;
    const std::vector<int64_t> dims(o.dimensions.begin(), o.dimensions.end());
    out_.parameter_count += static_cast<uint64_t>(CheckedElements(dims).value_or(0));
    out_.parameter_bytes += o.location.length;
  }

  const Model& model_;
  ModelSummary out_;
};

}  // namespace

Result<ModelSummary> NnapiDescriber::Summarize(const NativeModel& native) const {
  return Summarizer(ModelOf(native)).Run();
}

}  // namespace nn::nnapi

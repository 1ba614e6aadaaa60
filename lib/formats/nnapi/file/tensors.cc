#include <fmt/core.h>

#include "base/checked_math.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/file/operation.h"
#include "formats/nnapi/roles.h"
#include "ir/tensor.h"

namespace nn::nnapi {
namespace {

std::optional<DType> ElementTypeOf(OperandType type) {
  switch (type) {
    case OperandType::kTensorFloat32:
      return DType::kF32;
    case OperandType::kTensorInt32:
      return DType::kI32;
    case OperandType::kTensorQuant8Asymm:
      return DType::kU8;
    default:
      return std::nullopt;
  }
}

Result<Tensor> ReadOperand(const Model& model, const Operand& o) {
  const auto dtype = ElementTypeOf(o.type);
  if (!dtype) return UnsupportedError("constants of type {} are unsupported", TextOf(o.type));
  const auto bytes = BytesOf(model, o);
  if (!bytes)
    return ModelError("{} bytes at {} are outside the pool", o.location.length, o.location.offset);
  return Tensor::Make(*dtype, {o.dimensions.begin(), o.dimensions.end()}, *bytes);
}

std::string LocationOf(const Operand& o) {
  if (o.lifetime == LifeTime::kConstantCopy)
    return fmt::format("operand values at {}", o.location.offset);
  return fmt::format("pool {} at {}", o.location.pool_index, o.location.offset);
}

}  // namespace

Result<std::vector<TensorEntry>> NnapiDescriber::TensorsOf(const NativeModel& native) const {
  const auto& model = ModelOf(native);
  std::vector<std::vector<size_t>> users(model.operands.size());
  for (size_t i = 0; i < model.operations.size(); ++i)
    for (const uint32_t operand : model.operations[i].inputs)
      if (operand < users.size() && (users[operand].empty() || users[operand].back() != i))
        users[operand].push_back(i);
  std::vector<TensorEntry> out;
  for (size_t i = 0; i < model.operands.size(); ++i) {
    const Operand& o = model.operands[i];
    const bool constant =
        o.lifetime == LifeTime::kConstantCopy || o.lifetime == LifeTime::kConstantReference;
    if (!constant || !IsTensor(o.type)) continue;
    TensorEntry e;
    e.name = o.name.empty() ? fmt::format("operand {}", i) : o.name;
    e.type = TextOf(o.type);
    e.shape.assign(o.dimensions.begin(), o.dimensions.end());
    e.bytes = o.location.length;
    e.location = LocationOf(o);
    e.users = std::move(users[i]);
    e.read = [&model, &o] { return ReadOperand(model, o); };
    if (HasQuantization(o))
      e.quantization = [&o]() -> Result<StoredQuantization> {
        StoredQuantization q;
        q.scales = {o.scale};
        if (o.zero_point != 0) q.zero_points = {o.zero_point};
        return q;
      };
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace nn::nnapi

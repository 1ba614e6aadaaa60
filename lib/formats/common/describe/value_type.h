// The type of a value in a model: a tensor, or a kind without a graph type.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/type.h"

namespace nn {

struct ValueType {
  enum class Kind : uint8_t { kUnknown, kTensor, kSparse, kSequence, kOptional, kMap, kOpaque };

  Kind kind = Kind::kUnknown;
  Type tensor;  // of kTensor and kSparse; for kMap, the dtype of the keys
  std::shared_ptr<const ValueType> element;  // of kSequence, kOptional and kMap; null: unknown

  static ValueType Tensor(Type type);
  static ValueType Tensor(DType dtype, std::optional<Dims> dims = std::nullopt);
  static ValueType Sequence(ValueType element);
  static ValueType Optional(ValueType element);

  bool is_known() const { return kind != Kind::kUnknown; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  // The element type, or an unknown type if there is none.
  const ValueType& inner() const;
  // "f32[1, batch]", "seq(f32[*])".
  std::string ToString() const;
};

// The name of an element type in ONNX ("FLOAT", "INT64"), which lists of values use for all
// formats; "UNDEFINED" if it is unknown.
std::string_view ElementName(DType type);

// A value that a model names: an input, a constant tensor, or a result of an operator.
struct ValueEntry {
  enum class Role : uint8_t { kInput, kConstant, kResult };
  static std::string_view NameOf(Role role);

  std::string name;
  std::string scope;  // as in OperatorSummary
  Role role = Role::kResult;
  ValueType type;  // generated symbols ("?7") stand for unknown sizes
};

}  // namespace nn

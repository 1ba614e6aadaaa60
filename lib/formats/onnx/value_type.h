// The type of a value in an ONNX model: a tensor, or a kind without a graph type.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "formats/onnx/native.h"
#include "ir/type.h"

namespace nn::onnx {

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

// Dimensions without a value get symbols: dim_param, or `prefix` and the number of the axis.
ValueType ReadValueType(const pb::TypeProto& type, const std::string& prefix);

// How two types of one value differ; unknown parts match anything.
enum class Agreement : uint8_t { kAgree, kKind, kElementType, kShape };
Agreement Compare(const ValueType& a, const ValueType& b);

// Merges two matching types, using the known part of either; `preferred` wins between symbols.
ValueType Refine(const ValueType& preferred, const ValueType& other);

// The most specific type of two values: differing dimensions come from `unknown`, and with
// differing ranks the rank is unknown. kModel if kinds or element types differ.
Result<ValueType> Union(const ValueType& a, const ValueType& b,
                        const std::function<Dim()>& unknown);

// The type without shapes, at all depths.
ValueType WithoutShape(const ValueType& type);

}  // namespace nn::onnx

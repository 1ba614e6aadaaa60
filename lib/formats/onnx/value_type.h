// What a value of an ONNX model is: a tensor, or one of the kinds that the graph has no type for.
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
  Type tensor;  // of kTensor and kSparse; of kMap the dtype of its keys
  std::shared_ptr<const ValueType> element;  // of kSequence, kOptional and kMap; null: not known

  static ValueType Tensor(Type type);
  static ValueType Tensor(DType dtype, std::optional<Dims> dims = std::nullopt);
  static ValueType Sequence(ValueType element);
  static ValueType Optional(ValueType element);

  bool is_known() const { return kind != Kind::kUnknown; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  // Of the element; an unknown type where there is none.
  const ValueType& inner() const;
  // "f32[1, batch]", "seq(f32[*])".
  std::string ToString() const;
};

// Dimensions without a value get symbols: dim_param, or `prefix` and the number of the axis.
ValueType ReadValueType(const pb::TypeProto& type, const std::string& prefix);

// How two descriptions of one value differ; what either leaves open agrees with anything.
enum class Agreement : uint8_t { kAgree, kKind, kElementType, kShape };
Agreement Compare(const ValueType& a, const ValueType& b);

// The more exact of two types that agree, part by part; `preferred` wins between symbols.
ValueType Refine(const ValueType& preferred, const ValueType& other);

// What holds for both of two values: where their dimensions differ, `unknown` makes the dimension,
// where their ranks do, the rank is not known. kModel if kinds or element types differ.
Result<ValueType> Union(const ValueType& a, const ValueType& b,
                        const std::function<Dim()>& unknown);

// The type without its shapes, at any depth.
ValueType WithoutShape(const ValueType& type);

}  // namespace nn::onnx

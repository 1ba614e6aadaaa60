// Reads and compares the types of values.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "formats/common/describe/value_type.h"
#include "formats/onnx/file/native.h"
#include "ir/types/type.h"

namespace nn::onnx {

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

// Whether ONNX can state the type.
bool IsComplete(const ValueType& type);
// States a complete type; generated symbols stay out.
void WriteValueType(const ValueType& type, pb::TypeProto* out);
// Whether a declared type has a shape, and no other one than the inferred type.
bool States(const pb::TypeProto& declared, const ValueType& inferred);
// Declares a complete type in place of the declared one.
void ReplaceType(const ValueType& type, pb::ValueInfoProto& info);

}  // namespace nn::onnx

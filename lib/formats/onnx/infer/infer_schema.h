// What the signatures of operators say about types.
#pragma once

#include <optional>
#include <vector>

#include "formats/onnx/file/value_type.h"
#include "formats/onnx/import/import.h"
#include "formats/onnx/spec/schema.h"

namespace nn::onnx {

// The type of an input with an element type that the operator accepts; nullopt if it accepts the
// present one, or nothing is known.
std::optional<ValueType> AcceptedType(const Schema& schema, int input, const ValueType& type);

// The type of an output without its shape, if the signature determines it; else unknown. `schema`
// may be null.
ValueType TypeBySchema(const Schema* schema, int output, const std::vector<ValueType>& inputs);

// kModel if a sum, difference or product of sizes, which depend on a shape, overflows.
Status CheckSizes(const ImportContext& node);

}  // namespace nn::onnx

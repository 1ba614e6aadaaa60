// Normalizations of the last axes: LayerNormalization, RMSNormalization, and their likes of ONNX
// Runtime.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/onnx/import/import.h"
#include "ir/attrs.h"
#include "ir/graph.h"

namespace nn::onnx {

// The value in float32 if it has 16-bit floats.
Term InFloat(Value* v);

// Adds layer_norm or rms_norm of x, its scale and, if there is one, its bias. If x and scale differ
// in type, it is computed in the wider one, and the result, output 0, has that of the scale.
Result<std::vector<Value*>> AddTrailingNorm(ImportContext& ctx, std::string_view op,
                                            std::vector<Value*> inputs, Attrs attrs,
                                            size_t output_count = 1);

// 1 / sqrt(mean of squares + epsilon) over the axes starting at `axis`.
Result<Term> InverseRootMeanSquare(const ImportContext& ctx, Value* x, int64_t axis, float epsilon);

}  // namespace nn::onnx

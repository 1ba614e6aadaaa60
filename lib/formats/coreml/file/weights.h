// Core ML's WeightParams to and from tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "formats/coreml/file/fields.h"
#include "ir/tensor.h"

namespace nn::coreml {

// The number of weights; for quantized ones, derived from their bytes.
uint64_t WeightCount(const Fields& weights);
// Their size in the file in bytes.
uint64_t WeightBytes(const Fields& weights);
// "float32", "float16", "4-bit, linear", "8-bit, lookup table", ...; "" if there are none.
std::string WeightForm(const Fields& weights);

// The weights as f32 of the given shape: 32-bit ones are a view of the file, others are decoded.
// With per-channel scales, the channels are the first axis. kModel if count, bits or tables do not
// match;
Result<Tensor> ReadWeights(const Fields& weights, std::vector<int64_t> dims);

// Stores an f32 tensor as 32-bit floats.
void WriteWeights(Writer weights, const Tensor& tensor);

// The bits of all numbers of an f32 or f16 tensor, ascending; nullopt if there are more than 256.
// If there are, the first few hundred numbers mostly show it, and no others are read.
std::optional<std::vector<uint32_t>> DistinctValues(const Tensor& tensor);

// The same for the weights of a layer, which are often large, in the smallest form that has the
// same bits: as indices of 1 to 8 bits into a lookup table, if there are few distinct values, such
// as dequantized 8-bit integers with one scale; as integers of 4 or 8 bits with a scale for each
// row of the first axis, if all scales have at most 16 significant bits, so that Core ML's sum of a
// product and a bias does not round (QuantizeWeights() in passes/quantize/quantize.h); or as 32-bit
// floats. In a trial, which needs only their number, always as 32-bit floats: looking for another
// form reads all of them.
void WriteLayerWeights(Writer weights, const Tensor& tensor, bool is_trial);

}  // namespace nn::coreml

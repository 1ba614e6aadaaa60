// Core ML's WeightParams to and from tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "formats/coreml/fields.h"
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

// The same for the weights of a layer, which are often large: if they have at most 256 distinct
// values, such as dequantized 8-bit integers with one scale, they are stored as 8-bit indices into
// a lookup table of these values, provided that this is smaller. ReadWeights() gives the same bits
// in either form. Linear quantization is not used: its sum of a product and a bias rounds twice, so
// that it does not represent dequantized weights exactly.
void WriteLayerWeights(Writer weights, const Tensor& tensor);

}  // namespace nn::coreml

// Tensors with reproducible contents, for test weights and inputs of runs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/tensor.h"

namespace nn {

// Creates a tensor. Element i is derived from r = SeededStream(seed, stream) (base/random.h):
//   floating point   r.Unit(i) * scale, in [-scale, scale), rounded to the type
//   i8 u8 i16 u16    the top bits of r.Bits(i): the whole range
//   other integers   r.Bits(i) >> 11 modulo 10: 0 to 9, small enough for most indices
//   bool             the top bit
//   string           "s" and a digit
//   complex          two floats, positions 2i and 2i + 1
Result<Tensor> SeededTensor(DType dtype, std::vector<int64_t> dims, uint64_t seed,
                            uint64_t stream = 0, float scale = 1.0f);

}  // namespace nn

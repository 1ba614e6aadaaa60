// Weights that are stored as small integers and used as float32.
// Design: docs/design/050-block-weights.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/file/blob.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

// Where a source file has weights in blocks. Writers keep the integers of such weights.
enum class BlockSource : uint8_t {
  kNone,     // they are computed from something else
  kTensor,   // an operator dequantizes a tensor
  kProduct,  // an operator multiplies by them
};

// A matrix of numbers (q - zero) * scale, rounded to float32 twice and then to `type`, where q are
// integers of 2, 4 or 8 bits. A tensor of such numbers is a deferred blob: whoever reads its bytes
// computes them, and matrix products read the integers instead (exec/steps/conv/block_panels.h).
class BlockWeights : public DeferredBytes {
 public:
  DType type = DType::kF32;  // or kF16, kBF16
  BlockSource source = BlockSource::kNone;
  int64_t block = 0;     // the nominal size of a block, which may exceed the axis; 0: unknown
  int64_t accuracy = 0;  // MatMulNBits: accuracy_level
  Blob integers;         // unsigned, from the lowest bits of each byte on
  int bits = 4;
  int flip = 0;  // q is the stored integer xor this
  int64_t rows = 0, columns = 0;
  int64_t row_step = 0, column_step = 1;  // integers from one row, or column, to the next
  std::vector<float> scales;
  std::vector<float> zeros;  // one for each scale, or for all
  // The scale of an element is the one at row_block[row] + column_block[column].
  std::vector<uint32_t> row_block, column_block;

  float zero(size_t scale) const { return zeros[zeros.size() == 1 ? 0 : scale]; }
  int Integer(int64_t row, int64_t column) const {
    const int64_t bit = (row * row_step + column * column_step) * bits;
    const auto byte = std::to_integer<int>(integers.data()[bit / 8]);
    return ((byte >> (bit % 8)) & ((1 << bits) - 1)) ^ flip;
  }
  // `offset` and the size are multiples of the size of a number.
  void Compute(size_t offset, std::span<std::byte> to) const override;
};

// The same numbers with rows as columns.
BlockWeights Transposed(const BlockWeights& weights);

// Smaller tensors are computed at once, unless a source file has them in blocks, and are multiplied
// as numbers.
inline constexpr size_t kDeferredWeightsBytes = size_t{1} << 16;

// The weights as a tensor of their type, with as many elements. They are complete: every block has
// a scale.
Result<Tensor> TensorOf(BlockWeights weights, std::vector<int64_t> dims);

// The mapping of integers to real numbers by blocks: along each axis, `block` elements have the
// same scale. The scales are dense, [ceil(dim / block)] of each axis.
struct BlockMapping {
  std::vector<int64_t> block;
  std::vector<float> scales;
  std::vector<int64_t> zeros;  // as many, or one
};

// The integers of at most 8 bits, scaled; nullopt if there are none, or if a zero point is so large
// that differences would be rounded.
std::optional<BlockWeights> WeightsOf(const Tensor& integers, BlockMapping mapping);
// The same for the mapping of a type; nullopt also if there are too few to defer.
std::optional<BlockWeights> WeightsOf(const Tensor& integers, const Quant& quant);

// What a source file has in blocks, if the tensor is the whole of it; else null.
const BlockWeights* StoredBlocks(const Tensor& tensor);

}  // namespace nn

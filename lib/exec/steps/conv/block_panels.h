// Constant right operands of matrix products that stay small integers.
#pragma once

#include <cstddef>
#include <optional>

#include "exec/kernels/matrix_f32.h"
#include "ops/quant/block_weights.h"

namespace nn {

// A matrix of weights: element (k, n) is element offset + k * k_stride + n * n_stride of them.
struct BlockMatrix {
  const BlockWeights* weights = nullptr;
  size_t offset = 0, k_stride = 0, n_stride = 0;
  size_t k = 0, n = 0;
};

// The matrix in panels; nullopt if they would take more than half of the memory of float32: then a
// column has too many scales.
std::optional<BlockPanels> PackBlocks(const BlockMatrix& m);

}  // namespace nn

// The forms that ONNX has for weights in blocks (ops/quant/block_weights.h): DequantizeLinear with
// `block_size`, and MatMulNBits of com.microsoft.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "formats/common/blocked_tensor.h"
#include "formats/onnx/export/export.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::onnx {

// The first operator set whose DequantizeLinear has `block_size`, and the first with integers of 2
// bits.
inline constexpr int64_t kBlocksOpset = 21, kTwoBitsOpset = 25;

// The operands and attributes of DequantizeLinear.
struct BlockedTensor : nn::BlockedTensor {
  int64_t least_opset() const {
    return DTypeBits(integers.dtype()) == 2 ? kTwoBitsOpset : kBlocksOpset;
  }
};
// Nullopt if the source file does not have the tensor in blocks along one axis.
std::optional<BlockedTensor> BlockedTensorOf(const Tensor& tensor);

// Whether MatMulNBits has the product: a matmul of float32 by weights that the source file has in
// blocks along the axis of the sum.
bool HasPackedForm(const Node& node);
// Whether the product, which has that form, is written in it: the source file has it so, or the
// operator set has no other one.
bool PrefersPackedForm(const Node& node, int64_t opset);
Status WritePackedProduct(ExportContext& ctx, const Node& node);

// The lowest operator set in which the tensors of the graph and its regions stay in blocks; 0 if
// there are none that an operator set decides about.
int64_t OpsetOfBlocks(const Graph& graph);

}  // namespace nn::onnx

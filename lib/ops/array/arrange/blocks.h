// Moving blocks of elements between the spatial axes and the channels or the batch. x has the axes
// of its layout: batch, channels, and any number of spatial axes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/types/dim.h"
#include "ops/support/window.h"

namespace nn {

// How the position in a block and the channel of the wider tensor form the channel number. C is the
// number of channels of the wider tensor, B the number of positions in a block, counted in
// row-major order.
enum class DepthOrder : uint8_t {
  kDcr,  // position * C + channel: ONNX DCR, TensorFlow, Core ML depth to space
  kCrd,  // channel * B + position: ONNX CRD, PyTorch and Core ML pixel shuffle
};
template <>
struct EnumNames<DepthOrder> {
  static constexpr std::string_view kNames[] = {"dcr", "crd"};
};

// depth_to_space: multiplies every spatial axis by `block` and divides the channels accordingly.
// space_to_depth: the inverse.
struct DepthToSpaceAttrs {
  int64_t block = 2;
  DepthOrder mode = DepthOrder::kDcr;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

// The depth_to_space or space_to_depth that takes shape `x` to shape `y` by the same moves as a
// transpose of x, reshaped to `split`, between two reshapes; nullopt if there is none, or if
// symbolic sizes do not show it.
struct DepthMove {
  std::string_view op;
  DepthToSpaceAttrs attrs;
};
std::optional<DepthMove> DepthMoveOf(const Dims& x, const Dims& split,
                                     const std::vector<int64_t>& perm, const Dims& y);

// space_to_batch_nd: pads each spatial axis with zeros (`pads`: begins, then ends; empty: 0) and
// cuts it into blocks of `blocks[k]` elements. Element p of all blocks, p counted in row-major
// order, becomes images p * N to p * N + N - 1 of the batch. batch_to_space_nd: the inverse; it
// crops `pads` elements from the result.
struct SpaceToBatchAttrs {
  std::vector<int64_t> blocks;
  std::vector<int64_t> pads;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

}  // namespace nn

// Hybrid kernels: products of float32 inputs by integer weights. A kernel stores its input in 8
// bits, with a scale for each row, and multiplies integers. In the graph, such an operator is a
// product of dynamic_fake_quantize (ops/quant/fake_quantize.h) and dequantize, which the writer
// joins again.
//
// Source: tflite/kernels/{fully_connected,batch_matmul,conv,depthwise_conv,transpose_conv}.cc,
// EvalHybrid*. XNNPACK, which LiteRT uses by default, rounds all inputs asymmetrically.
//
// Design: docs/design/029-hybrid-operators.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/graph.h"
#include "ops/nn/conv.h"
#include "ops/quant/fake_quantize.h"

namespace nn::tflite {

// The rounding of a matrix whose rows are along `axis`.
DynamicFakeQuantizeAttrs RowsAlong(int64_t axis, bool asymmetric);
// The rounding of images, each of which is a row.
DynamicFakeQuantizeAttrs RowsOfImages(int rank, bool symmetric);
// Whether the kernel of a convolution in the layout of TensorFlow Lite rounds symmetrically: only
// that of one group and filters of one scale does.
bool IsSymmetricConv(const ConvAttrs& attrs, const Quant& filter);

// A product that a hybrid kernel computes.
struct Hybrid {
  const Value* x = nullptr;        // before it is rounded
  const Value* weights = nullptr;  // integers
  bool asymmetric = false;
};

// nullopt if no kernel computes the node from these types, scales and rows.
std::optional<Hybrid> HybridOf(const Node& product);

// Whether a hybrid kernel computes an extended_lstm: its input has the rounding of its states, and
// each gate has integers of one scale.
bool IsHybridLayer(const Node& layer);
// Operand i of an extended_lstm, or what a hybrid kernel has in its place.
const Value* LayerOperand(const Node& layer, size_t i);

// Whether the node rounds inputs or dequantizes weights, and all its users are hybrid kernels.
bool IsPartOfHybrids(const Node& node);

}  // namespace nn::tflite

// What TensorFlow Lite's 8-bit quantization specification says about operators, beyond
// OpDef::quant_rule: results of i8 with fixed scales (OpDef::fixed_quants), and the axes of weights
// with a scale for each channel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/types/type.h"

namespace nn {

// The quantization as i8 of the result of an operator, if the specification fixes it; null
// otherwise.
std::shared_ptr<const Quant> FixedResultQuant(const OpDef& op);

// The channels of an operator with QuantRule::kProduct whose weights are operand 1.
struct ProductAxes {
  int weights_output;  // the axis of output channels
  int weights_input;
  int input, result;        // the axes of the channels of operand 0 and of the result
  int64_t groups = 1;       // of channels
  bool per_channel = true;  // whether output channels may have their own scales
};
// nullopt if the node is no such operator, or a rank is unknown.
std::optional<ProductAxes> ProductAxesOf(const Node& node);

}  // namespace nn

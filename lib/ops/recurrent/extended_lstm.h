// extended_lstm: a long short-term memory with a projection of its state, normalized gates or
// coupled gates, as in TensorFlow Lite's LSTM kernels. One direction, all sequences of one length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/quant/fake_quantize.h"

namespace nn {

enum class CellActivation : uint8_t { kRelu, kRelu6, kTanh };
template <>
struct EnumNames<CellActivation> {
  static constexpr std::string_view kNames[] = {"relu", "relu6", "tanh"};
};

// Sizes: T steps, B sequences, I inputs, H cells, P outputs (H without a projection), G gates: i,
// f, n, o in this order, or f, n, o if they are coupled.
//
//   x [T, B, I], or [B, T, I] with batch_first; w [G H, I], r [G H, P], bias [G H],
//   initial_h [B, P], initial_c [B, H] (0 if absent), peepholes [(G - 1) H] (of the gates but n),
//   norm [G H], projection [P, H], projection_bias [P]
//   y like x with P elements, y_h [B, P], y_c [B, H]: the states after the last step
//
// One step, with h and c from the previous one:
//   s = w x + r h + p c of each gate, n without peephole, o with c' in place of c; plus the bias
//   with norm: s = layer_norm(s) over the cells of the gate, with epsilon 1e-8, norm as the scale
//   and the bias added only here
//   i = sigmoid(s), or 1 - f if coupled; f = sigmoid(s); n = activation(s)
//   c' = f c + i n, clipped to [-cell_clip, cell_clip]; o = sigmoid(s); h' = o activation(c')
//   with projection: h' = projection h' + projection_bias, clipped to +-projection_clip
// With state_rounding, r and projection multiply what dynamic_fake_quantize makes of their operand.
//
// Quantized: extended_lstm_quant.h.
struct ExtendedLstmAttrs {
  bool batch_first = false;
  bool coupled = false;
  CellActivation activation = CellActivation::kTanh;
  float cell_clip = std::numeric_limits<float>::infinity();
  float projection_clip = std::numeric_limits<float>::infinity();
  // Of quantized nodes: the type of o activation(c'), i8, and with norm the scales of s by gate.
  float hidden_scale = 0;
  int64_t hidden_zero_point = 0;
  std::vector<float> gate_scales;
  StateRounding state_rounding = StateRounding::kNone;

  size_t gates() const { return coupled ? 3 : 4; }
  static std::span<const AttrField> Fields();
};

// Positions of the operands.
struct ExtendedLstmInputs {
  enum Index : size_t {
    kX,
    kW,
    kR,
    kBias,
    kInitialH,
    kInitialC,
    kPeepholes,
    kNorm,
    kProjection,
    kProjectionBias
  };
};

// The sizes of a node whose shapes are known.
struct ExtendedLstmSizes {
  explicit ExtendedLstmSizes(const EvalContext& ctx);
  int64_t steps, batch, inputs, cells, outputs;
  bool batch_first;

  // The first element of step t of sequence b, in a tensor with n elements in each step.
  int64_t At(int64_t t, int64_t b, int64_t n) const {
    return (batch_first ? b * steps + t : t * batch + b) * n;
  }
};

// Replaces a node of float32, of which WhyNotSteps() (unroll.h) knows no reason, by elementary
// operators.
Result<bool> ExpandExtendedLstm(Graph& graph, Node& node);

}  // namespace nn

// Recurrent layers over sequences: rnn, gru, lstm.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "numeric/functions.h"

namespace nn {

enum class RecurrentDirection : uint8_t { kForward, kReverse, kBidirectional };
template <>
struct EnumNames<RecurrentDirection> {
  static constexpr std::string_view kNames[] = {"forward", "reverse", "bidirectional"};
};

enum class RecurrentActivation : uint8_t {
  kAffine,       // alpha x + beta, one rounding
  kElu,          // alpha
  kHardSigmoid,  // alpha, beta
  kLeakyRelu,    // alpha
  kRelu,
  kScaledTanh,  // alpha tanh(beta x)
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,  // alpha
};
template <>
struct EnumNames<RecurrentActivation> {
  static constexpr std::string_view kNames[] = {
      "affine",   "elu",      "hard_sigmoid", "leaky_relu",      "relu", "scaled_tanh", "sigmoid",
      "softplus", "softsign", "tanh",         "thresholded_relu"};
};

// Sizes: T steps, B sequences, D directions (2 if bidirectional), I inputs and H units, G gates
// (rnn 1; gru z, r, h; lstm i, o, f, c).
//
//   x [T, B, I], w [D, G H, I], r [D, G H, H], bias [D, 2 G H] (of w, then of r), lengths [B] (i32;
//   all are T if absent), initial_h [D, B, H] (0 if absent), for lstm also initial_c like it and
//   peepholes [D, 3 H] (i, o, f)
//   y [T, D, B, H], y_h [D, B, H] (after the last step of each sequence), for lstm also y_c
//
// With batch_first x is [B, T, I], the states [B, D, H] and y [B, T, D, H]. A reverse direction
// processes each sequence from its last step to its first; y keeps the order of x. Steps beyond the
// end of a sequence are 0 in y.
//
// One step, with h and c from the previous step and wx = w x + bias of w, rh = r h + bias of r:
//   rnn   h' = f(wx + rh)
//   gru   z = f(wx + rh), r = f(wx + rh)
//         n = g(wx + r_h (r h) + bias of r), or g(fma(r, rh, wx)) with linear_before_reset
//         h' = fma(z, h, (1 - z) n)
//   lstm  i = f(wx + rh + p_i c), f = f(wx + rh + p_f c), or 1 - i with input_forget
//         n = g(wx + rh), c' = fma(f, c, i n), o = f(wx + rh + p_o c'), h' = o h(c')
// Products are dot products of the arithmetic contract, those with peepholes are fused
// multiply-adds; the argument of an activation is clipped to [-clip, clip] first. 16-bit floats are
// widened and rounded once, at the end.
struct RecurrentAttrs {
  RecurrentDirection direction = RecurrentDirection::kForward;
  bool batch_first = false;
  // Names of RecurrentActivation with their constants, one per function (rnn f; gru f, g; lstm f,
  // g, h) and direction; all empty: tanh, sigmoid tanh, sigmoid tanh tanh.
  std::vector<std::string> activations;
  std::vector<float> alpha;
  std::vector<float> beta;
  float clip = std::numeric_limits<float>::infinity();

  int64_t directions() const { return direction == RecurrentDirection::kBidirectional ? 2 : 1; }
  static std::span<const AttrField> Fields();
};

struct GruAttrs : RecurrentAttrs {
  bool linear_before_reset = false;
  static std::span<const AttrField> Fields();
};

struct LstmAttrs : RecurrentAttrs {
  bool input_forget = false;
  // c' is clipped to [-cell_clip, cell_clip] before o and h' are computed.
  float cell_clip = std::numeric_limits<float>::infinity();
  static std::span<const AttrField> Fields();
};

// Positions of the operands.
struct RecurrentInputs {
  enum Index : size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };
};

// An activation function with its constants.
class RecurrentFunction {
 public:
  RecurrentFunction(RecurrentActivation activation, float alpha, float beta, float clip)
      : activation_(activation), params_{alpha, beta}, clip_(clip) {}
  float operator()(float x) const;
  bool operator==(const RecurrentFunction&) const = default;

  RecurrentActivation activation() const { return activation_; }
  const FunctionParams& params() const { return params_; }

 private:
  RecurrentActivation activation_;
  FunctionParams params_;
  float clip_;
};

// The functions of one direction of an rnn, gru or lstm node. kModel if the lengths of the lists do
// not match or an activation is unknown.
Result<std::vector<RecurrentFunction>> RecurrentFunctionsOf(const Node& node, int64_t direction);

// The function of one direction of an rnn node, or the one of the cell of an lstm node: nullopt if
// that has two, or other gates than sigmoid.
std::optional<RecurrentFunction> CellFunctionOf(const Node& node, int64_t direction);

// Whether the biases of the recurrent products of a node, the second halves of a constant, are all
// zero, or there are none.
bool HasZeroRecurrentBias(const Node& node);

// Whether a cell state of an lstm node may exceed its cell_clip. False if the steps, the initial
// state and the activations bound it.
bool CellClipMatters(const Node& node);

// Drops a cell_clip that only thousands of steps can reach, for formats without it: a Rewrite
// (rewrite/target.h). An initial cell state beyond the limit is no longer clipped.
Result<bool> DropWideCellClip(Graph& graph, Node& node);

// The attributes common to the three operators.
const RecurrentAttrs& RecurrentAttrsOf(const Node& node);

}  // namespace nn

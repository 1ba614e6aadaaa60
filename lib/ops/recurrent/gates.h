// The gates of rnn, gru and lstm nodes, and their parts of constant operands, for formats that have
// an operand for each gate. Gates are numbered in the order of the graph
// (ops/recurrent/recurrent.h).
#pragma once

#include <array>
#include <cstdint>

#include "ir/graph.h"
#include "ir/tensor.h"
#include "ops/recurrent/recurrent.h"

namespace nn {

// All attributes of an lstm, and of a gru; null for other operators.
const LstmAttrs* LstmAttrsOf(const Node& node);
const GruAttrs* GruAttrsOf(const Node& node);
// 4 of an lstm, 3 of a gru, 1 of an rnn.
int64_t RecurrentGates(const Node& node);

// The gates of an lstm, and those with peepholes, in the order of TensorFlow Lite and NNAPI: i, f,
// c, o and i, f, o.
inline constexpr std::array<int64_t, 4> kLstmGates = {0, 2, 3, 1};
inline constexpr std::array<int64_t, 3> kLstmPeepholes = {0, 2, 1};

// Whether all weights, biases and peepholes are constants. The functions below require it.
bool HasConstantWeights(const Node& node);

// The rows of a gate of w or r, [H, n].
Tensor GateWeights(const Node& node, RecurrentInputs::Index operand, int64_t direction,
                   int64_t gate);

// The bias of w of a gate, [H].
Tensor GateBias(const Node& node, int64_t direction, int64_t gate);

// Of a node of float32: the sum of the biases of w and of r, for formats with one bias; that of w
// if HasZeroRecurrentBias(), and zeros without.
Tensor SummedGateBias(const Node& node, int64_t direction, int64_t gate);

// The peepholes of a gate (i, o, f), [H].
Tensor GatePeephole(const Node& node, int64_t direction, int64_t gate);

}  // namespace nn

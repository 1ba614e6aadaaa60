// Parts of the constant operands of rnn, gru and lstm nodes, for formats that have an operand for
// each gate. Gates are numbered in the order of the graph (ops/recurrent/recurrent.h).
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "ir/tensor.h"
#include "ops/recurrent/recurrent.h"

namespace nn {

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

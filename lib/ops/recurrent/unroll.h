// Recurrent layers as one group of elementary operators per step, for formats without such layers.
// Design: docs/design/022-recurrent-unrolling.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Limit of expansions: steps times directions of a recurrent layer that is written step by step
// without --unroll.
inline constexpr int64_t kMaxUnrolledSteps = 256;

// The number of steps of a recurrent node: rnn, gru, lstm or extended_lstm, whose x is ranked.
Dim StepsOfLayer(const Node& node);

// Why the steps of a recurrent node cannot be written one by one, and what helps, whatever
// its element types; nullopt if they can. `most` steps are permitted, in each direction.
std::optional<std::string> WhyNotSteps(const Node& node, int64_t most = 0);
// Why UnrollRecurrent() cannot replace a recurrent node, and what helps; nullopt if it can.
std::optional<std::string> WhyNotUnrolled(const Node& node, int64_t most = 0);

// Replaces a recurrent node by steps; false if it cannot. Fused multiply-adds become two
// operators, which round twice.
Result<bool> UnrollRecurrent(Graph& graph, Node& node);
Result<bool> UnrollRecurrent(Graph& graph, Node& node, int64_t most);

}  // namespace nn

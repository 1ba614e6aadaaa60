// The order of axes of recurrent layers.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// rnn, gru, lstm with the batch first -> with the time first, between transposes: the `apply` of a
// Rewrite (rewrite/target.h).
Result<bool> PutTimeFirst(Graph& graph, Node& node);

}  // namespace nn

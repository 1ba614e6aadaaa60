// Unrolled recurrent layers, fused into rnn, gru and lstm: the inverse of ops/recurrent/unroll.h.
// Design: docs/design/024-recurrent-idioms.md.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "passes/idioms/idioms.h"

namespace nn {

// A part of FuseIdioms(): adds to the counts, by operator.
Status FuseRecurrentLayers(Graph& graph, const IdiomOptions& options,
                           std::map<std::string_view, uint64_t>& counts);

}  // namespace nn

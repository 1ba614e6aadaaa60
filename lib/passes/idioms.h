// Idioms: what exporters spell out for want of an operator, as the operator. Results round
// differently.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

struct IdiomOptions {
  // Whether an idiom is looked for around a node of an operator that identifies it. Null: always.
  std::function<bool(const Node&)> is_wanted;
  // Whether the operator may replace the idiom. Null: always.
  std::function<bool(const Node&)> takes;
};

// What RewriteCounts (passes/legalize.h) calls them.
inline constexpr std::string_view kIdiomRewrite = "fused idiom";

// Replaces the idioms of float32 values and returns how many, by operator.
Result<std::map<std::string_view, uint64_t>> FuseIdioms(Graph& graph, const IdiomOptions& options);

}  // namespace nn

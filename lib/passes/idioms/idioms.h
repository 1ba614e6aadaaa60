// Idioms: functions that exporters decompose for lack of an operator, fused into the operator.
// Results round differently, except those of operators that only move elements.
// Design: docs/design/023-idioms.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ops/support/window.h"

namespace nn {

struct IdiomOptions {
  // Whether to search for an idiom around a node of the operator that identifies it; of an unrolled
  // recurrent layer, any node may be wanted. Null: always.
  std::function<bool(const Node&)> is_wanted;
  // Whether the operator may replace the idiom. Null: always.
  std::function<bool(const Node&)> takes;
  // Only idioms that move elements, which keep all bits.
  bool moves_only = false;
};

// Their name in RewriteCounts (rewrite/legalize.h).
inline constexpr std::string_view kIdiomRewrite = "fused idiom";

// Replaces the idioms and returns how many, by operator.
Result<std::map<std::string_view, uint64_t>> FuseIdioms(Graph& graph, const IdiomOptions& options);

// Groups of channels that a reshape has made visible.
struct ChannelGroups {
  int64_t count = 1;
  Layout layout = Layout::kNcx;  // of the ungrouped value
};
// The groups of channels of x that a reduction of `grouped`, a reshaped x, over the given axes,
// ascending, sums up; y is the type of the result after a reshape back. nullopt if the rows of the
// reduction are not those of group_norm (ops/nn/norm.h).
std::optional<ChannelGroups> GroupsOf(const Type& x, const Type& grouped,
                                      const std::vector<int64_t>& axes, const Type& y);
// The same for an instance_norm of the reshaped x, whose rows are then, element by element, those
// of group_norm.
std::optional<ChannelGroups> GroupsOf(const Node& instance_norm, const Type& x, const Type& y);

}  // namespace nn

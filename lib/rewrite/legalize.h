// Legalizes a graph for a consumer: a file format or the executor (rewrite/target.h).
// Design: docs/design/007-legalization.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/axis_map.h"
#include "nnsuite/unsupported_node.h"

namespace nn {

// The rewrites that were applied, by operator and name of the rewrite, each with the number of
// times.
using RewriteCounts = std::map<std::pair<std::string_view, std::string_view>, uint64_t>;

struct Target;  // rewrite/target.h

// For each input and output, by position, the map from its original axes to those of the legalized
// graph, a permutation or the new axis of a scalar, and what is added to its original integers, if
// it is quantized.
struct InterfaceAxes {
  std::vector<AxisMap> inputs;
  std::vector<AxisMap> outputs;
  std::vector<int64_t> input_offsets;
  std::vector<int64_t> output_offsets;

  bool unchanged() const;
};

using nnsuite::UnsupportedNode;

// The name of the general decomposition of an operator (OpDef::decompose).
inline constexpr std::string_view kDecomposition = "decomposition";

// Which idioms (passes/idioms/idioms.h) become operators.
enum class IdiomScope : uint8_t {
  kLacked,  // those around an operator that the target lacks
  kAll,
};

// Fuses idioms into operators that the target takes and `is_allowed` accepts; null accepts all.
// Adds them to `counts` unless it is null.
Status FuseIdiomsFor(const Target& target, Graph& graph, IdiomScope scope, RewriteCounts* counts,
                     const std::function<bool(const Node&)>& is_allowed = nullptr);

// Whether the target has all nodes as they are, also those of regions.
bool IsLegal(const Graph& graph, const Target& target);

// Applies rewrites until no illegal node can be improved, cleans up transposes, and returns the
// nodes that remain illegal, each with its reason. Does the same in regions, if the target has
// them. The graph is valid in any case. Inputs and outputs keep their axes and integers unless the
// target changes them and `interface` is not null; it receives the changes. Adds the applied
// rewrites to `rewrites` unless it is null.
Result<std::vector<UnsupportedNode>> Legalize(Graph& graph, const Target& target,
                                              InterfaceAxes* interface = nullptr,
                                              RewriteCounts* rewrites = nullptr);

// Legalizes an imported graph and appends the illegal nodes to `unsupported`, which holds those of
// the import; nodes that were not imported are not added again.
Status FitTo(const Target& target, Graph& graph, InterfaceAxes& axes,
             std::vector<UnsupportedNode>& unsupported, RewriteCounts* rewrites = nullptr);

// A kUnsupported error: "3 operators cannot be expressed in tflite: ...".
Error UnsupportedNodesError(std::string_view target, std::span<const UnsupportedNode> unsupported);

}  // namespace nn

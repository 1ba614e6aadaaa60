// Legalizes a graph for a consumer: a file format or the executor.
// Design: docs/design/007-legalization.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "nnsuite/unsupported_node.h"

namespace nn {

// A rewrite toward legality for one kind of node. Returns whether it changed the graph, in which
// case the node may be erased. Every rewrite must make progress; no two rewrites may undo each
// other.
struct Rewrite {
  std::string_view op;  // operator that it applies to; empty: any
  std::string_view name;
  Result<bool> (*apply)(Graph&, Node&);  // null: a place of shared ones (rewrite/apply_rule.h)
};

// The rewrites that were applied, by operator and name of the rewrite, each with the number of
// times.
using RewriteCounts = std::map<std::pair<std::string_view, std::string_view>, uint64_t>;

// The capabilities of a consumer.
struct Target {
  std::string_view name;  // "tflite", for messages
  // Returns why the node is illegal, or nullopt if it is legal. The reason names the attribute,
  // type or shape, not the node.
  std::optional<std::string> (*why_illegal)(const Node&) = nullptr;
  // Whether the operator of an idiom (passes/idioms/idioms.h) may replace its parts. Null: if it is
  // legal, or would be in the other layout.
  bool (*takes_idiom)(const Node&) = nullptr;
  // Whether it has branches and loops that a run decides about (OpDef::decided_by_runs). Their
  // regions are legalized like graphs whose inputs and outputs keep their axes and types.
  bool takes_regions = false;
  // Whether why_illegal accepts nodes that have values of unknown rank; if not, such nodes are
  // illegal. Rewrites never see such nodes.
  bool takes_unranked = false;
  // Tried in order on illegal nodes. Those for any operator are not tried on nodes with regions.
  std::span<const Rewrite> rewrites = {};
  // Tried after those, once the order of axes is final: rewrites to nodes that transposes cannot
  // pass.
  std::span<const Rewrite> late_rewrites = {};
  // Whether a shared function (rewrite/functions.h) may replace a node. Null: yes.
  bool (*takes_function)(const Node&, std::string_view name) = nullptr;
  // For targets without a transpose operator: inputs and outputs may get a different axis order
  // instead (see InterfaceAxes).
  bool moves_interface = false;
  // For targets without tensors of rank 0: vectors of one element take their place, inputs and
  // outputs included (see InterfaceAxes).
  bool lacks_scalars = false;
  // Runs first: converts quantization to the target's form (passes/qdq/qdq.h).
  Status (*prepare)(Graph&) = nullptr;
  // Changes element types that the target lacks, also those of inputs and outputs, which the
  // verification converts, and adds what it changed to the counts unless they are null. Runs once
  // constants are folded and idioms are fused, and again after the rewrites.
  Status (*change_types)(Graph&, RewriteCounts*) = nullptr;
  // Whether the writer stores float32 constants in 16 bits where no number changes by that, if all
  // constants of an operator allow it.
  bool narrows_constants = false;
  // For targets that have quantized u8, but not i8: quantized i8 becomes u8 (MakeUnsigned() in
  // passes/qdq/qdq.h), also that of inputs and outputs (see InterfaceAxes).
  bool shifts_interface = false;
};

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

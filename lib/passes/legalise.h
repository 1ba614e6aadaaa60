// Makes a graph fit what a consumer can take: a file format or the executor.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/axis_map.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/conv.h"
#include "ops/shape.h"
#include "ops/window.h"

namespace nn {

// A step toward legality for one kind of node. True if it changed the graph; the node may be gone
// then. It must make progress: no two rules may undo one another.
struct Rewrite {
  std::string_view op;  // operator it applies to; empty: any
  std::string_view name;
  Result<bool> (*apply)(Graph&, Node&);
};

// What a consumer can take.
struct Target {
  std::string_view name;  // "tflite", for messages
  // Why a node cannot be expressed as it is; nullopt if it can. The reason names the attribute,
  // type or shape, not the node.
  std::optional<std::string> (*why_illegal)(const Node&) = nullptr;
  // Whether it is asked about nodes whose values have no known rank; else those are illegal. No
  // rewrite sees such a node.
  bool takes_unranked = false;
  // Tried in order on illegal nodes.
  std::span<const Rewrite> rewrites;
  // For targets that have no transposition: inputs and outputs may get another order of axes
  // instead (see InterfaceAxes).
  bool moves_interface = false;
  // Done before anything else: brings quantisation into the target's form (passes/qdq.h).
  Status (*prepare)(Graph&) = nullptr;
};

// How the inputs and outputs of a legalised graph stand to those it had before, by position: the
// axes of the old port, rearranged, are those of the new one.
struct InterfaceAxes {
  std::vector<AxisMap> inputs;
  std::vector<AxisMap> outputs;

  bool unchanged() const;
};

// A node that a target cannot take.
struct Obstacle {
  std::string node;    // Node::Describe()
  std::string op;      // our operator name
  std::string source;  // operator name in the file it came from
  std::string reason;
};

// Rewrites until nothing illegal can be improved, cleans up axes, and returns what stays illegal:
// every such node with its reason. The graph stays valid either way. Inputs and outputs keep their
// axes unless the target moves them and `interface` is there to say which.
Result<std::vector<Obstacle>> Legalise(Graph& graph, const Target& target,
                                       InterfaceAxes* interface = nullptr);

// "3 operators cannot be expressed in tflite: ..." as an error of kind kUnsupported.
Error ObstaclesError(std::string_view target, std::span<const Obstacle> obstacles);

// ---- Building blocks for rewrites
// ----------------------------------------------------------------

// Changes the node as OpDef::change_axes says for `map` on its first output, with rearrangements
// around it so that its neighbours see no difference. False if the operator does not follow.
Result<bool> RearrangeAround(Graph& graph, Node& node, const AxisMap& map);

// Gives a spatial operator the layout, by RearrangeAround.
template <Layout layout>
Result<bool> SetLayout(Graph& graph, Node& node) {
  const auto attr = node.attrs().Get("layout");
  if (!attr || std::get<EnumValue>(*attr).name == EnumName(layout)) return false;
  const int rank = node.output()->type().rank();
  if (rank <= 2) {  // no spatial axes: both layouts are the same
    NN_ASSIGN(Attrs attrs, node.attrs().With("layout", EnumValue{EnumName(layout)}));
    node.set_attrs(std::move(attrs));
    return true;
  }
  return RearrangeAround(
      graph, node,
      layout == Layout::kNxc ? AxisMap::ChannelsLast(rank) : AxisMap::ChannelsFirst(rank));
}

// Gives the filter of a convolution or transposed convolution the layout, by a rearrangement of the
// filter.
Result<bool> SetFilterLayout(Graph& graph, Node& node, FilterLayout layout);

}  // namespace nn

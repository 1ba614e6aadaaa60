// The graphs in the attributes of nodes.
#pragma once

#include <type_traits>

#include "onnx.pb.h"

namespace nn::onnx {

// Calls fn for each graph in the attributes of a NodeProto, without those below them. The graphs of
// a constant node are constant.
template <typename Node, typename Fn>
void EachGraphOf(Node& node, const Fn& fn) {
  if constexpr (std::is_const_v<Node>) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) fn(attribute.g());
      for (const auto& graph : attribute.graphs()) fn(graph);
    }
  } else {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) fn(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) fn(graph);
    }
  }
}

}  // namespace nn::onnx

// Activations that the operator before them applies to its result, in formats that encode them as
// an option of that operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"

namespace nn {

// The clamps that such options name: to [0, infinity], [0, 6] and [-1, 1].
enum class ClampOption : uint8_t { kRelu, kRelu6, kRelu1 };

// That which a node computes; nullopt for other nodes.
std::optional<ClampOption> ClampOptionOf(const Node& node);

// The fused activations of a file that is being written. The nodes must outlive this object.
class FusedActivations {
 public:
  // Fuses the activation after a node whose operator has the option: the only use of the node's
  // only result, with the same quantization.
  void Add(const Graph& graph, const Node& node);

  // The activation that is fused into a node; null if there is none.
  const Node* Of(const Node& node) const;
  // Whether the node is fused into the one before it.
  bool Has(const Node& node) const { return fused_.contains(&node); }
  // Result i of a node, or of its fused activation.
  const Value* ResultOf(const Node& node, size_t i = 0) const;

 private:
  std::unordered_map<const Node*, const Node*> after_;
  std::unordered_set<const Node*> fused_;
};

}  // namespace nn

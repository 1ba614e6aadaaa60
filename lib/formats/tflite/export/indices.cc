// Indices of TensorFlow Lite, which do not count from the end of an axis.
#include <optional>
#include <vector>

#include "formats/tflite/export/rewrites.h"
#include "formats/tflite/spec/signature.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/scatter.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"

namespace nn::tflite {
namespace {

// The axes of input 0 that the indices address.
struct Addressed {
  int64_t first = 0;
  int64_t count = 1;
};

// nullopt for other operators than GATHER, GATHER_ND and SCATTER_ND, and unknown axes.
std::optional<Addressed> AddressedBy(const Node& node) {
  if (!node.Is<GatherAttrs>() && !node.Is<GatherNdAttrs>() && !node.Is<ScatterNdAttrs>())
    return std::nullopt;
  const Type &x = node.input(0)->type(), &indices = node.input(1)->type();
  if (!x.ranked() || !indices.ranked()) return std::nullopt;
  if (node.Is<GatherAttrs>()) {
    const auto axis = NormalizeAxis(node.attrs<GatherAttrs>().axis, x.rank());
    return axis ? std::optional(Addressed{*axis, 1}) : std::nullopt;
  }
  const Dim entries = indices.rank() == 0 ? Dim::Invalid() : indices.dim(indices.rank() - 1);
  if (!entries.is_const() || entries == 0) return std::nullopt;
  if (node.Is<GatherNdAttrs>())
    return Addressed{node.attrs<GatherNdAttrs>().batch_dims, entries.value()};
  // Scatters that do not add are gathers of indices that count from the start.
  const bool adds = node.attrs<ScatterNdAttrs>().reduction == Reduction::kAdd;
  return adds ? std::optional(Addressed{0, entries.value()}) : std::nullopt;
}

}  // namespace

Status CountIndicesFromStart(Graph& graph) {
  std::vector<Node*> nodes;
  // The indices of an operator of the format are not negative.
  for (Node& node : graph.nodes())
    if (AddressedBy(node) && !node.input(1)->is_constant() && !OperatorNamed(node.source_op()))
      nodes.push_back(&node);
  for (Node* const node : nodes) {
    Value* const indices = node->input(1);
    if (indices->dtype() != DType::kI32 && indices->dtype() != DType::kI64) continue;
    const auto [first, count] = *AddressedBy(*node);
    const Term from_start = NonNegative(indices, node->input(0), first, count);
    NN_ASSIGN(Value* const counted, Expansion(graph, *node).Build(from_start));
    graph.SetInput(node, 1, counted);
  }
  return {};
}

}  // namespace nn::tflite

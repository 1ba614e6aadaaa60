#include "convert/quantize/quantized_form.h"

#include <algorithm>

#include "ops/math/elementwise/elementwise.h"
#include "passes/core/passes.h"

namespace nn {

Result<bool> RunQdqAsIntegers(Graph& graph, Status (*fuse)(Graph&)) {
  const auto count = [&] {
    return std::count_if(graph.nodes().begin(), graph.nodes().end(), OnQuantizedTypes);
  };
  const auto before = count();
  NN_RETURN_IF_ERROR(RunPass("fuse qdq", graph, fuse));
  return count() != before;
}

bool IsQuantization(const Node& node) {
  return node.Is<QuantizeAttrs>() || node.Is<DequantizeAttrs>() || OnQuantizedTypes(node);
}

Result<bool> ComputeAlike(Graph& source, const Graph& converted) {
  if (std::ranges::none_of(converted.nodes(), IsQuantization)) return false;
  const bool has_integers = std::ranges::any_of(converted.nodes(), [](const Node& node) {
    return node.arithmetic() != Arithmetic::kDefault && OnQuantizedTypes(node);
  });
  return RunQdqAsIntegers(source, has_integers ? FuseQuantized : FuseQdq);
}

}  // namespace nn

// Arithmetic in terms of other types.
#include "ir/op_def.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
// Exponents above 2^24 are rounded to even ones, as if they had been written as float32.
Result<bool> ExpandIntegerExponent(Graph& graph, Node& node) {
  const DType exponent = node.input(1)->dtype();
  if (!IsPlainF32(node) || !IsInteger(exponent) || DTypeBits(exponent) < 8 ||
      exponent == DType::kU64)
    return false;
  NN_ASSIGN(Value* const whole, Expansion(graph, node).Build(Cast(node.input(1), DType::kF32)));
  graph.SetInput(&node, 1, whole);
  return true;
}

}  // namespace nn

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

Result<bool> ExpandShift(Graph& graph, Node& node) {
  const DType dtype = node.output()->dtype();
  if (dtype != DType::kU8 && dtype != DType::kU16) return false;
  const int bits = static_cast<int>(DTypeBits(dtype));
  const bool is_left = node.Is("shift_left");
  // A shift to the left by all bits is a product with 0; one to the right stops at the last bit.
  std::vector<int32_t> powers;
  for (int i = 0; i < bits; ++i) powers.push_back(int32_t{1} << i);
  if (is_left) powers.push_back(0);
  const Term x = Cast(node.input(0), DType::kI32);
  const Term by = Minimum(Cast(node.input(1), DType::kI32), std::ssize(powers) - 1);
  const Term power = Gather(Tensor::Of({std::ssize(powers)}, powers), by, 0);
  const Term y =
      is_left ? Apply("mod", {x * power, int64_t{1} << bits}) : Apply("floor_div", {x, power});
  return Expansion(graph, node).Replace(Cast(y, dtype));
}

}  // namespace nn

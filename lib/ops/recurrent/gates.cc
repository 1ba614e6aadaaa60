#include "ops/recurrent/gates.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace nn {
namespace {

int64_t UnitsOf(const Node& node) {
  return node.input(RecurrentInputs::kR)->type().dim(2).value();
}

// The elements of a constant from block `block` of `dims` on.
Tensor BlockOf(const Value& v, int64_t block, std::vector<int64_t> dims) {
  int64_t elements = 1;
  for (const int64_t d : dims) elements *= d;
  const auto bytes = static_cast<size_t>(ByteSize(v.dtype(), elements));
  return {v.dtype(), std::move(dims),
          v.constant().blob().Slice(static_cast<size_t>(block) * bytes, bytes)};
}

// The bias of a gate of w (half 0) or of r (half 1).
Tensor BiasHalf(const Node& node, int64_t direction, int64_t half, int64_t gate) {
  return BlockOf(*node.input(RecurrentInputs::kBias),
                 (2 * direction + half) * RecurrentGates(node) + gate, {UnitsOf(node)});
}

}  // namespace

const LstmAttrs* LstmAttrsOf(const Node& node) {
  return node.attrs().Is<LstmAttrs>() ? &node.attrs<LstmAttrs>() : nullptr;
}

const GruAttrs* GruAttrsOf(const Node& node) {
  return node.attrs().Is<GruAttrs>() ? &node.attrs<GruAttrs>() : nullptr;
}

int64_t RecurrentGates(const Node& node) {
  return LstmAttrsOf(node) != nullptr ? 4 : GruAttrsOf(node) != nullptr ? 3 : 1;
}

bool HasConstantWeights(const Node& node) {
  using enum RecurrentInputs::Index;
  return std::ranges::all_of(std::array{kW, kR, kBias, kPeepholes}, [&](size_t i) {
    return node.input(i) == nullptr || node.input(i)->is_constant();
  });
}

Tensor GateWeights(const Node& node, RecurrentInputs::Index operand, int64_t direction,
                   int64_t gate) {
  const Value& v = *node.input(operand);
  return BlockOf(v, direction * RecurrentGates(node) + gate,
                 {UnitsOf(node), v.constant().dims()[2]});
}

Tensor GateBias(const Node& node, int64_t direction, int64_t gate) {
  return BiasHalf(node, direction, 0, gate);
}

Tensor SummedGateBias(const Node& node, int64_t direction, int64_t gate) {
  std::vector<float> sum(static_cast<size_t>(UnitsOf(node)), 0.0f);
  if (node.input(RecurrentInputs::kBias) != nullptr) {
    Tensor of_w = BiasHalf(node, direction, 0, gate).Aligned();
    if (HasZeroRecurrentBias(node)) return of_w;
    const Tensor of_r = BiasHalf(node, direction, 1, gate).Aligned();
    for (size_t u = 0; u < sum.size(); ++u) sum[u] = of_w.As<float>()[u] + of_r.As<float>()[u];
  }
  return Tensor::Of<float>({UnitsOf(node)}, sum);
}

Tensor GatePeephole(const Node& node, int64_t direction, int64_t gate) {
  return BlockOf(*node.input(RecurrentInputs::kPeepholes), direction * 3 + gate, {UnitsOf(node)});
}

}  // namespace nn

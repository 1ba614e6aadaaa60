// Expansions that reduce along axes.
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "ops/support/window.h"
#include "rewrite/expand.h"

namespace nn {

Result<bool> ExpandLogSumExp(Graph& graph, Node& node) {
  const auto a = node.attrs<ReduceAttrs>();
  if (!IsPlainF32(node) || node.input(1) != nullptr) return false;
  ReduceAttrs along = a;
  along.keep_dims = true;
  // An infinite maximum would make differences NaN.
  constexpr float kMax = std::numeric_limits<float>::max();
  const Term x = node.input(0);
  const Term max = Clip(Apply("reduce_max", {x}, along), -kMax, kMax);
  const Term y = Apply("log", {Apply("reduce_sum", {Apply("exp", {x - max})}, along)}) + max;
  return Expansion(graph, node).Replace(a.keep_dims ? y : Reshape(y, *node.output()->type().dims));
}

// (x - mean) / sqrt(mean of squares + epsilon) * scale + bias.
Result<bool> ExpandNorm(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  for (const Value* v : node.inputs())
    if (v != nullptr && v->dtype() != DType::kF32) return false;
  const int rank = node.input(0)->type().rank();
  const bool layer = node.Is<LayerNormAttrs>();
  int64_t first = 0, end = rank;
  float epsilon = 0;
  Dims parameter;  // the shape of scale and bias of instance_norm
  if (layer) {
    const auto& a = node.attrs<LayerNormAttrs>();
    NN_ASSIGN(first, NormalizeAxis(a.axis, rank));
    epsilon = a.epsilon;
  } else {
    const auto& a = node.attrs<InstanceNormAttrs>();
    first = FirstSpatialAxis(a.layout);
    if (a.layout == Layout::kNxc) end = rank - 1;
    epsilon = a.epsilon;
    parameter = {node.input(1)->type().dim(0)};
    if (a.layout == Layout::kNcx) parameter.resize(static_cast<size_t>(rank - 1), Dim(1));
  }
  if (first >= end) return false;
  ReduceAttrs along{std::vector<int64_t>(static_cast<size_t>(end - first)), true};
  std::iota(along.axes.begin(), along.axes.end(), first);
  Expansion e(graph, node);
  NN_ASSIGN(Value* const mean, e.Add("reduce_mean", {node.input(0)}, along));
  const Term centered = node.input(0) - Term(mean);
  const Term variance = Apply("reduce_mean", {centered * centered}, along);
  const Term deviation = Apply("sqrt", {variance + epsilon});
  const auto shaped = [&](Value* v) {
    return parameter.size() > 1 ? Reshape(v, parameter) : Term(v);
  };
  Term y = centered / deviation;
  if (node.input(1) != nullptr) y = y * shaped(node.input(1));
  if (node.input(2) != nullptr) y = y + shaped(node.input(2));
  NN_ASSIGN(Value* const result, e.Build(y));
  if (node.outputs().size() > 1 && graph.HasUses(node.output(1))) e.ReplaceOutput(1, mean);
  if (node.outputs().size() > 2 && graph.HasUses(node.output(2))) {
    NN_ASSIGN(Value* const inverse, e.Build(1 / deviation));
    e.ReplaceOutput(2, inverse);
  }
  return e.Replace(result);
}

// x / (alpha / size * sum of squares + bias)^beta, with the channels of the window as slices.
Result<bool> ExpandLrn(Graph& graph, Node& node) {
  const auto a = node.attrs<LrnAttrs>();
  const Type& x = node.input(0)->type();
  // Limit of expansions: channels that LRN sums.
  constexpr int64_t kMaxSlices = 64;
  if (!IsPlainF32(node) || a.size < 1 || a.size > kMaxSlices) return false;
  const int axis = ChannelAxis(a.layout, x.rank());
  if (!x.dim(axis).is_const()) return false;
  const int64_t channels = x.dim(axis).value();
  Term squares = Term(node.input(0)) * node.input(0);
  PadAttrs pad;
  const auto rank = static_cast<size_t>(x.rank());
  pad.pads.assign(2 * rank, 0);
  pad.pads[static_cast<size_t>(axis)] = (a.size - 1) / 2;
  pad.pads[rank + static_cast<size_t>(axis)] = a.size - 1 - (a.size - 1) / 2;
  if (a.size > 1) squares = Apply("pad", {squares}, std::move(pad));
  Term sum = Slice(squares, axis, 0, channels);
  for (int64_t i = 1; i < a.size; ++i) sum = sum + Slice(squares, axis, i, i + channels);
  const Term base = sum * (a.alpha / static_cast<float>(a.size)) + a.bias;
  return Expansion(graph, node).Replace(node.input(0) / Apply("pow", {base, a.beta}));
}

}  // namespace nn

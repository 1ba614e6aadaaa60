// Expansions that reduce along axes.
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"
#include "ops/support/window.h"
#include "rewrite/expand.h"

namespace nn {

Result<bool> ExpandLogSumExp(Graph& graph, Node& node) {
  const auto a = node.attrs<ReduceAttrs>();
  if (!IsPlainF32(node) || node.input(1) != nullptr) return false;
  ReduceAttrs along = a;
  along.keep_dims = true;
  Expansion e(graph, node);
  NN_ASSIGN(Value * max, e.Add("reduce_max", {node.input(0)}, along));
  // An infinite maximum would make differences NaN.
  constexpr float kMax = std::numeric_limits<float>::max();
  NN_ASSIGN(max, e.Add("clip", {max}, ClipAttrs{-kMax, kMax}));
  NN_ASSIGN(Value * y, e.Add("sub", {node.input(0), max}));
  NN_ASSIGN(y, e.Add("exp", {y}));
  NN_ASSIGN(y, e.Add("reduce_sum", {y}, along));
  NN_ASSIGN(y, e.Add("log", {y}));
  NN_ASSIGN(y, e.Add("add", {y, max}));
  if (!a.keep_dims) {
    NN_ASSIGN(y, e.Add("reshape", {y}, ReshapeAttrs{*node.output()->type().dims, false}));
  }
  return e.Replace(y);
}

// (x - mean) / sqrt(mean of squares + epsilon) * scale + bias.
Result<bool> ExpandNorm(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  for (const Value* v : node.inputs())
    if (v != nullptr && v->dtype() != DType::kF32) return false;
  const int rank = node.input(0)->type().rank();
  const bool layer = node.Is("layer_norm");
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
  NN_ASSIGN(Value* const centered, e.Add("sub", {node.input(0), mean}));
  NN_ASSIGN(Value * deviation, e.Add("mul", {centered, centered}));
  NN_ASSIGN(deviation, e.Add("reduce_mean", {deviation}, along));
  NN_ASSIGN(Value* const above_zero, e.Number(DType::kF32, epsilon));
  NN_ASSIGN(deviation, e.Add("add", {deviation, above_zero}));
  NN_ASSIGN(deviation, e.Add("sqrt", {deviation}));
  NN_ASSIGN(Value * y, e.Add("div", {centered, deviation}));
  for (size_t i = 1; i <= 2; ++i) {
    Value* v = node.input(i);
    if (v == nullptr) continue;
    if (parameter.size() > 1) {
      NN_ASSIGN(v, e.Add("reshape", {v}, ReshapeAttrs{parameter, false}));
    }
    NN_ASSIGN(y, e.Add(i == 1 ? "mul" : "add", {y, v}));
  }
  if (node.outputs().size() > 1 && graph.HasUses(node.output(1))) e.ReplaceOutput(1, mean);
  if (node.outputs().size() > 2 && graph.HasUses(node.output(2))) {
    NN_ASSIGN(Value* const one, e.Number(DType::kF32, 1));
    NN_ASSIGN(Value* const inverse, e.Add("div", {one, deviation}));
    e.ReplaceOutput(2, inverse);
  }
  return e.Replace(y);
}

// x / (alpha / size * sum of squares + bias)^beta, with the channels of the window as slices.
Result<bool> ExpandLrn(Graph& graph, Node& node) {
  const auto a = node.attrs<LrnAttrs>();
  const Type& x = node.input(0)->type();
  constexpr int64_t kMaxSlices = 64;
  if (!IsPlainF32(node) || a.size < 1 || a.size > kMaxSlices) return false;
  const int axis = ChannelAxis(a.layout, x.rank());
  if (!x.dim(axis).is_const()) return false;
  const int64_t channels = x.dim(axis).value();
  Expansion e(graph, node);
  const auto with = [&](std::string_view op, Value* v, double number) -> Result<Value*> {
    NN_ASSIGN(Value* const n, e.Number(DType::kF32, number));
    return e.Add(op, {v, n});
  };
  NN_ASSIGN(Value * squares, e.Add("mul", {node.input(0), node.input(0)}));
  PadAttrs pad;
  const auto rank = static_cast<size_t>(x.rank());
  pad.pads.assign(2 * rank, 0);
  pad.pads[static_cast<size_t>(axis)] = (a.size - 1) / 2;
  pad.pads[rank + static_cast<size_t>(axis)] = a.size - 1 - (a.size - 1) / 2;
  if (a.size > 1) {
    NN_ASSIGN(squares, e.Add("pad", {squares}, std::move(pad)));
  }
  Value* sum = nullptr;
  for (int64_t i = 0; i < a.size; ++i) {
    NN_ASSIGN(Value* const part,
              e.Add("slice", {squares}, SliceAttrs{{axis}, {i}, {i + channels}, {1}}));
    if (sum == nullptr) {
      sum = part;
      continue;
    }
    NN_ASSIGN(sum, e.Add("add", {sum, part}));
  }
  NN_ASSIGN(sum, with("mul", sum, a.alpha / static_cast<float>(a.size)));
  NN_ASSIGN(sum, with("add", sum, a.bias));
  NN_ASSIGN(sum, with("pow", sum, a.beta));
  NN_ASSIGN(Value* const y, e.Add("div", {node.input(0), sum}));
  return e.Replace(y);
}

}  // namespace nn

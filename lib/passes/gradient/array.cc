// Derivatives of operators that move elements, and of reductions and softmaxes.
#include <algorithm>
#include <numeric>

#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/support/types.h"
#include "passes/gradient/rules.h"

namespace nn {
namespace {

Value* NeedsRank(Adjoints& g, const Node& node) {
  return g.Fail(
      UnsupportedError("Gradient through {} needs an operand of known rank", node.Describe())
          .value());
}

Value* ReshapeGradient(Adjoints& g, const Node& node, Value* dy) {
  return g.Reshaped(dy, node.input(0));
}

Value* TransposeGradient(Adjoints& g, const Node& node, Value* dy) {
  const auto& perm = node.attrs<TransposeAttrs>().perm;
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return g.Op("transpose", {dy}, TransposeAttrs{inverse});
}

Value* ExpandGradient(Adjoints& g, const Node& node, Value* dy) {
  return g.SummedLike(dy, node.input(0));
}

// For an operator with the same derivative as itself.
Value* SameOperator(Adjoints& g, const Node& node, Value* dy) {
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  inputs[0] = dy;
  return g.Op(node.op_name(), std::move(inputs), node.attrs());
}

// For an operator whose result has elements of its first input only, each any number of times: the
// operator applied to the positions of the elements tells where the derivatives are added.
Value* PositionsGradient(Adjoints& g, const Node& node, Value* dy) {
  Value* const x = node.input(0);
  Value* const flat = g.Flat(x);
  Value* const size = g.Op("size_of", {x}, SizeOfAttrs{});
  Value* const positions_of_x = g.Op("range", {g.Number(size, 0), size, g.Number(size, 1)});
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  inputs[0] = g.Reshaped(positions_of_x, x);
  Value* const positions = g.Op(node.op_name(), std::move(inputs), node.attrs());
  Value* const indices = g.Op("reshape", {positions}, ReshapeAttrs{{Dim(-1), Dim(1)}, false});
  Value* const sums =
      g.Op("scatter_nd", {g.Zeros(flat), indices, g.Flat(dy)}, ScatterNdAttrs{Reduction::kAdd});
  return g.Reshaped(sums, x);
}

void PadGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  const auto& a = node.attrs<PadAttrs>();
  if (a.mode != PadMode::kConstant) {
    if (Value* const dx = PositionsGradient(g, node, dy[0])) g.Pass(node.input(0), dx);
    return;
  }
  if (node.input(2) != nullptr || g.Wants(node.input(1))) {
    g.Fail(UnsupportedError("Gradient through {} with a computed {} is unsupported",
                            node.Describe(), node.input(2) != nullptr ? "padding" : "value")
               .value());
    return;
  }
  PadAttrs opposite;
  for (const int64_t n : a.pads) opposite.pads.push_back(-n);
  g.Pass(node.input(0), g.Op("pad", {dy[0]}, opposite));
}

void ConcatGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  if (!node.output()->type().ranked()) {
    NeedsRank(g, node);
    return;
  }
  const int rank = node.output()->type().rank();
  const auto axis = NormalizeAxis(node.attrs<ConcatAttrs>().axis, rank);
  if (!axis) {
    g.Fail(axis.error());
    return;
  }
  SplitAttrs split;
  split.axis = *axis;
  for (const Value* v : node.inputs()) {
    if (!v->type().ranked() || !v->type().dim(*axis).is_const()) break;
    split.sizes.push_back(v->type().dim(*axis).value());
  }
  std::vector<Value*> inputs = {dy[0]};
  if (split.sizes.size() < node.inputs().size()) {
    split.sizes.clear();
    std::vector<Value*> sizes;
    for (Value* v : node.inputs())
      sizes.push_back(g.Op("shape_of", {v}, ShapeOfAttrs{.start = *axis, .end = *axis + 1}));
    inputs.push_back(g.Op("concat", sizes, ConcatAttrs{0}));
  }
  const auto parts = g.Outputs("split", inputs, split, node.inputs().size());
  for (size_t i = 0; i < parts.size(); ++i) g.Pass(node.input(i), parts[i]);
}

void SplitGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  std::vector<Value*> parts(dy.begin(), dy.end());
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i] == nullptr) parts[i] = g.Zeros(node.output(i));
  g.Pass(node.input(0),
         g.Op("concat", std::move(parts), ConcatAttrs{node.attrs<SplitAttrs>().axis}));
}

// A result of a reduction with the axes of its operand, those that are reduced of size 1; null if
// they are not known.
Value* WithReducedAxes(Adjoints& g, const Node& node, Value* v) {
  const auto& a = node.attrs<ReduceAttrs>();
  if (a.keep_dims || !g.status()) return v;
  Value* const x = node.input(0);
  if (!x->type().ranked()) return NeedsRank(g, node);
  std::vector<int64_t> axes = a.axes;
  if (axes.empty() && node.input(1) != nullptr) {
    const auto known = KnownElements(node.input(1));
    if (!known || std::ranges::any_of(*known, [](const Dim& d) { return !d.is_const(); }))
      return g.Fail(
          UnsupportedError("Gradient through {} with computed axes is unsupported", node.Describe())
              .value());
    for (const Dim& d : *known) axes.push_back(d.value());
  }
  const int rank = x->type().rank();
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (axes.empty()) return v;
  for (int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::ranges::sort(axes);
  return g.Op("expand_dims", {v}, AxesAttrs{axes});
}

Value* ReduceSumGradient(Adjoints& g, const Node& node, Value* dy) {
  return g.Expanded(WithReducedAxes(g, node, dy), node.input(0));
}

Value* ReduceMeanGradient(Adjoints& g, const Node& node, Value* dy) {
  Value *const x = node.input(0), *const y = node.output();
  const auto from = x->type().const_dims(), to = y->type().const_dims();
  const auto count = [](const std::vector<int64_t>& dims) {
    return std::accumulate(dims.begin(), dims.end(), 1.0, std::multiplies<>());
  };
  Value* number = nullptr;
  if (from && to) {
    number = g.Number(x, count(*to) == 0 ? 1 : count(*from) / count(*to));
  } else {
    Value* const all = g.Cast(g.Op("size_of", {x}, SizeOfAttrs{}), x->dtype());
    number = g.Div(all, g.Cast(g.Op("size_of", {y}, SizeOfAttrs{}), x->dtype()));
  }
  return ReduceSumGradient(g, node, g.Div(dy, number));
}

Value* ReduceExtremeGradient(Adjoints& g, const Node& node, Value* dy) {
  Value* const x = node.input(0);
  Value* const y = WithReducedAxes(g, node, node.output());
  Value* const is_extreme = g.Cast(g.Op("equal", {x, y}), x->dtype());
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  inputs[0] = is_extreme;
  Value* const count = g.Op("reduce_sum", std::move(inputs), node.attrs());
  return g.Mul(is_extreme, WithReducedAxes(g, node, g.Div(dy, count)));
}

Value* ReduceSquareGradient(Adjoints& g, const Node& node, Value* dy) {
  return g.Mul(g.Times(node.input(0), 2), WithReducedAxes(g, node, dy));
}

Value* ReduceL1Gradient(Adjoints& g, const Node& node, Value* dy) {
  return g.Mul(g.Op("sign", {node.input(0)}), WithReducedAxes(g, node, dy));
}

// Zero where all elements are.
Value* ReduceL2Gradient(Adjoints& g, const Node& node, Value* dy) {
  Value* const y = node.output();
  Value* const is_zero = g.Op("equal", {y, g.Number(y, 0)});
  Value* const divisor = g.Select(is_zero, g.Number(y, 1), y);
  return g.Mul(node.input(0), WithReducedAxes(g, node, g.Div(dy, divisor)));
}

Value* ReduceLogSumGradient(Adjoints& g, const Node& node, Value* dy) {
  return ReduceSumGradient(g, node, g.Div(dy, g.Op("exp", {node.output()})));
}

Value* ReduceLogSumExpGradient(Adjoints& g, const Node& node, Value* dy) {
  Value* const y = WithReducedAxes(g, node, node.output());
  return g.Mul(g.Op("exp", {g.Sub(node.input(0), y)}), WithReducedAxes(g, node, dy));
}

Value* CumSumGradient(Adjoints& g, const Node& node, Value* dy) {
  ScanAttrs a = node.attrs<ScanAttrs>();
  a.reverse = !a.reverse;
  return g.Op("cum_sum",
              node.input(1) == nullptr ? std::vector{dy} : std::vector{dy, node.input(1)}, a);
}

Value* SoftmaxGradient(Adjoints& g, const Node& node, Value* dy) {
  const auto& a = node.attrs<SoftmaxAttrs>();
  if (!node.output()->type().ranked()) return NeedsRank(g, node);
  const auto axis = NormalizeAxis(a.axis, node.output()->type().rank());
  if (!axis) return g.Fail(axis.error());
  Value* const weighted = g.Mul(dy, node.output());
  Value* const sum = g.Op("reduce_sum", {weighted}, ReduceAttrs{{*axis}, true});
  Value* const dx = g.Sub(weighted, g.Mul(node.output(), sum));
  return a.beta == 1 ? dx : g.Times(dx, static_cast<double>(a.beta));
}

Value* LogSoftmaxGradient(Adjoints& g, const Node& node, Value* dy) {
  if (!node.output()->type().ranked()) return NeedsRank(g, node);
  const auto axis = NormalizeAxis(node.attrs<AlongAxisAttrs>().axis, node.output()->type().rank());
  if (!axis) return g.Fail(axis.error());
  Value* const sum = g.Op("reduce_sum", {dy}, ReduceAttrs{{*axis}, true});
  return g.Sub(dy, g.Mul(g.Op("exp", {node.output()}), sum));
}

const GradientRow kArrayGradients[] = {
    {.op = "reshape", .unary = ReshapeGradient},
    {.op = "expand_dims", .unary = ReshapeGradient},
    {.op = "squeeze", .unary = ReshapeGradient},
    {.op = "transpose", .unary = TransposeGradient},
    {.op = "expand", .unary = ExpandGradient},
    {.op = "trilu", .unary = SameOperator},
    {.op = "reverse", .unary = SameOperator},
    {.op = "reverse_sequence", .unary = SameOperator},
    {.op = "slice", .unary = PositionsGradient},
    {.op = "tile", .unary = PositionsGradient},
    {.op = "gather", .unary = PositionsGradient},
    {.op = "gather_elements", .unary = PositionsGradient},
    {.op = "gather_nd", .unary = PositionsGradient},
    {.op = "compress", .unary = PositionsGradient},
    {.op = "depth_to_space", .unary = PositionsGradient},
    {.op = "space_to_depth", .unary = PositionsGradient},
    {.op = "pad", .rule = PadGradients},
    {.op = "concat", .rule = ConcatGradients},
    {.op = "split", .rule = SplitGradients},
    {.op = "reduce_sum", .unary = ReduceSumGradient},
    {.op = "reduce_mean", .unary = ReduceMeanGradient},
    {.op = "reduce_max", .unary = ReduceExtremeGradient},
    {.op = "reduce_min", .unary = ReduceExtremeGradient},
    {.op = "reduce_sum_square", .unary = ReduceSquareGradient},
    {.op = "reduce_l1", .unary = ReduceL1Gradient},
    {.op = "reduce_l2", .unary = ReduceL2Gradient},
    {.op = "reduce_log_sum", .unary = ReduceLogSumGradient},
    {.op = "reduce_log_sum_exp", .unary = ReduceLogSumExpGradient},
    {.op = "cum_sum", .unary = CumSumGradient},
    {.op = "softmax", .unary = SoftmaxGradient},
    {.op = "log_softmax", .unary = LogSoftmaxGradient},
};

}  // namespace

std::span<const GradientRow> ArrayGradients() {
  return kArrayGradients;
}

}  // namespace nn

// Pools over windows that a target lacks.
#include <algorithm>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/gather.h"
#include "ops/array/pad.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise.h"
#include "ops/nn/pool.h"
#include "passes/expand_index.h"

namespace nn {
namespace {

// The attributes that describe the windows along some of the spatial axes.
PoolAttrs Along(const PoolAttrs& a, size_t first, size_t count) {
  const size_t axes = a.kernel.size();
  const auto part = [&](const std::vector<int64_t>& list, size_t from) {
    if (list.empty()) return std::vector<int64_t>();
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from + first);
    return std::vector<int64_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  PoolAttrs out = a;
  out.kernel = part(a.kernel, 0);
  out.strides = part(a.strides, 0);
  out.dilations = part(a.dilations, 0);
  out.pads = part(a.pads, 0);
  const std::vector<int64_t> ends = part(a.pads, axes);
  out.pads.insert(out.pads.end(), ends.begin(), ends.end());
  return out;
}

Result<Value*> Reshaped(Expansion& e, Value* x, Dims dims) {
  return e.Add("reshape", {x}, ReshapeAttrs{std::move(dims), false});
}

// x [N, D, H, W, C]: over H and W of images [N D, H, W, C], then over D of [N, D, H W, C].
template <typename A>
Result<bool> InTurn(Graph& graph, Node& node) {
  const A& a = node.attrs<A>();
  const Dims& x = *node.input(0)->type().dims;
  if (a.kernel.size() != 3 || a.layout != Layout::kNxc || node.outputs().size() != 1) return false;
  if (node.input(0)->type().quantized()) return false;
  Expansion e(graph, node);
  A plane = a, depth = a;
  static_cast<PoolAttrs&>(plane) = Along(a, 1, 2);
  static_cast<PoolAttrs&>(depth) = Along(a, 0, 1);
  NN_ASSIGN(Value * v, Reshaped(e, node.input(0), {x[0] * x[1], x[2], x[3], x[4]}));
  NN_ASSIGN(v, e.Add(node.op_name(), {v}, plane));
  const Dim height = v->type().dim(1), width = v->type().dim(2);
  NN_ASSIGN(v, Reshaped(e, v, {x[0], x[1], height * width, x[4]}));
  // A window of one element along the joined axis.
  static_cast<PoolAttrs&>(depth).kernel.push_back(1);
  for (auto* const list : {&depth.strides, &depth.dilations})
    if (!list->empty()) list->push_back(1);
  if (!depth.pads.empty()) depth.pads = {depth.pads[0], 0, depth.pads[1], 0};
  NN_ASSIGN(v, e.Add(node.op_name(), {v}, depth));
  NN_ASSIGN(v, Reshaped(e, v, {x[0], v->type().dim(1), height, width, x[4]}));
  return e.Replace(v);
}

// The taps of all windows along the dilated axes, one after the other, under windows side by side.
template <typename A>
Result<bool> GatherTaps(Graph& graph, Node& node) {
  A a = node.attrs<A>();
  if (a.padding != Padding::kValid || node.outputs().size() != 1) return false;
  NN_ASSIGN(const auto windows, PoolWindows(a, *node.input(0)->type().dims));
  Expansion e(graph, node);
  Value* x = node.input(0);
  bool dilated = false;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    if (w.dilation == 1) continue;
    if (!w.output.is_const() || !ElementsWithin({w.output.value(), w.kernel}, kMostElements))
      return false;
    std::vector<int32_t> taps;
    for (int64_t at = 0; at < w.output.value(); ++at)
      for (int64_t k = 0; k < w.kernel; ++k)
        taps.push_back(static_cast<int32_t>(at * w.stride + k * w.dilation));
    const int64_t axis = FirstSpatialAxis(a.layout) + static_cast<int64_t>(i);
    NN_ASSIGN(x, e.Add("gather", {x, e.Constant(Tensor::Of({std::ssize(taps)}, taps))},
                       GatherAttrs{axis, 0}));
    if (a.strides.empty()) a.strides.assign(windows.size(), 1);
    a.strides[i] = w.kernel;
    a.dilations[i] = 1;
    dilated = true;
  }
  if (!dilated) return false;
  NN_ASSIGN(Value* const y, e.Add(node.op_name(), {x}, std::move(a)));
  return e.Replace(y);
}

}  // namespace

Result<bool> ExpandSolidPool(Graph& graph, Node& node) {
  return node.Is("max_pool") ? InTurn<MaxPoolAttrs>(graph, node)
                             : InTurn<AveragePoolAttrs>(graph, node);
}

Result<bool> ExpandDilatedPool(Graph& graph, Node& node) {
  if (node.input(0)->type().quantized()) return false;
  return node.Is("max_pool") ? GatherTaps<MaxPoolAttrs>(graph, node)
                             : GatherTaps<AveragePoolAttrs>(graph, node);
}

// The sum is the mean times the number of kernel positions, where taps in padding are zeros.
Result<bool> ExpandLpPool(Graph& graph, Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (!IsPlainF32(node) || !(a.p > 0)) return false;
  if (a.average && (a.p == 1 || a.p == 2)) return false;  // OpDef::decompose
  AveragePoolAttrs pool;
  static_cast<PoolAttrs&>(pool) = a;
  double positions = 1;
  PadAttrs pad;
  if (!a.average) {
    NN_ASSIGN(const auto windows, PoolWindows(a, *node.input(0)->type().dims));
    const auto rank = static_cast<size_t>(node.input(0)->type().rank());
    const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
    pad.pads.assign(2 * rank, 0);
    for (size_t i = 0; i < windows.size(); ++i) {
      const Window& w = windows[i];
      positions *= static_cast<double>(w.kernel);
      if (w.pad_begin == 0 && w.pad_end == 0 && !a.ceil_mode) continue;
      if (!w.input.is_const() || !w.output.is_const() || !w.pad_begin.is_const() || w.output == 0)
        return false;
      const int64_t reach = (w.output.value() - 1) * w.stride + w.extent();
      pad.pads[first + i] = w.pad_begin.value();
      pad.pads[rank + first + i] =
          std::max<int64_t>(0, reach - w.input.value() - w.pad_begin.value());
    }
    pool.padding = Padding::kValid;
    pool.pads.clear();
    pool.ceil_mode = false;
  }
  Expansion e(graph, node);
  const auto with = [&](std::string_view op, Value* x, double number) -> Result<Value*> {
    NN_ASSIGN(Value* const n, e.Number(DType::kF32, number));
    return e.Add(op, {x, n});
  };
  Value* y = node.input(0);
  if (a.p == 2) {
    NN_ASSIGN(y, e.Add("mul", {y, y}));
  } else {
    NN_ASSIGN(y, e.Add("abs", {y}));
    if (a.p != 1) {
      NN_ASSIGN(y, with("pow", y, a.p));
    }
  }
  if (std::any_of(pad.pads.begin(), pad.pads.end(), [](int64_t n) { return n != 0; })) {
    NN_ASSIGN(y, e.Add("pad", {y}, std::move(pad)));
  }
  NN_ASSIGN(y, e.Add("average_pool", {y}, std::move(pool)));
  if (positions != 1) {
    NN_ASSIGN(y, with("mul", y, positions));
  }
  if (a.p == 2) {
    NN_ASSIGN(y, e.Add("sqrt", {y}));
  } else if (a.p != 1) {
    NN_ASSIGN(y, with("pow", y, 1.0 / static_cast<double>(a.p)));
  }
  return e.Replace(y);
}

}  // namespace nn

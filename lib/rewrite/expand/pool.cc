// Pools over windows that a target lacks.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/shape.h"
#include "ops/nn/pool.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand/index.h"

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

// x [N, D, H, W, C]: over H and W of images [N D, H, W, C], then over D of [N, D, H W, C].
template <typename A>
Result<bool> InTurn(Graph& graph, Node& node) {
  const A& a = node.attrs<A>();
  const Dims& x = *node.input(0)->type().dims;
  if (a.kernel.size() != 3 || a.layout != Layout::kNxc || node.outputs().size() != 1) return false;
  if (node.input(0)->type().quantized() || !Product(x).is_valid()) return false;
  Expansion e(graph, node);
  A plane = a, depth = a;
  static_cast<PoolAttrs&>(plane) = Along(a, 1, 2);
  static_cast<PoolAttrs&>(depth) = Along(a, 0, 1);
  NN_ASSIGN(
      Value* const planes,
      e.Add(node.op_name(), {Reshape(node.input(0), {x[0] * x[1], x[2], x[3], x[4]})}, plane));
  const Dim height = planes->type().dim(1), width = planes->type().dim(2);
  // A window of one element along the joined axis.
  static_cast<PoolAttrs&>(depth).kernel.push_back(1);
  for (auto* const list : {&depth.strides, &depth.dilations})
    if (!list->empty()) list->push_back(1);
  if (!depth.pads.empty()) depth.pads = {depth.pads[0], 0, depth.pads[1], 0};
  NN_ASSIGN(Value* const y,
            e.Add(node.op_name(), {Reshape(planes, {x[0], x[1], height * width, x[4]})}, depth));
  return e.Replace(Reshape(y, {x[0], y->type().dim(1), height, width, x[4]}));
}

// The position along an axis of tap k of window i. One in padding is that of the nearest tap
// inside; nullopt if there is none.
std::optional<int64_t> TapInside(const Window& w, int64_t i, int64_t k) {
  const int64_t start = i * w.stride - w.pad_begin.value();
  const int64_t first = start < 0 ? CeilDiv(-start, w.dilation) : 0;
  const int64_t last = std::min(w.kernel - 1, FloorDiv(w.input.value() - 1 - start, w.dilation));
  if (first > last) return std::nullopt;
  return start + std::clamp(k, first, last) * w.dilation;
}

bool IsKnown(const Window& w) {
  return w.input.is_const() && w.pad_begin.is_const() && w.output.is_const();
}

// Whether a tap of a window of known sizes is in padding.
bool IsPadded(const Window& w) {
  return w.pad_begin.value() > 0 ||
         (w.output.value() - 1) * w.stride - w.pad_begin.value() + w.extent() > w.input.value();
}

// The taps of all windows along the dilated axes, one after the other, under windows side by side.
// In maxima, the nearest tap inside replaces one in padding.
template <typename A>
Result<bool> GatherTaps(Graph& graph, Node& node, bool takes_padding) {
  A a = node.attrs<A>();
  if (node.outputs().size() != 1) return false;
  NN_ASSIGN(const auto windows, PoolWindows(a, *node.input(0)->type().dims));
  bool dilated = false;
  std::vector<bool> gathered;
  for (const Window& w : windows) {
    dilated = dilated || w.dilation != 1;
    // Padding of unknown size is not among the taps.
    const bool padded = a.padding != Padding::kValid && (!IsKnown(w) || IsPadded(w));
    gathered.push_back(w.dilation != 1 || padded);
    if (!gathered.back()) continue;
    if (!w.output.is_const() || !ElementsWithin({w.output.value(), w.kernel}, kMaxElements))
      return false;
    if (!padded) continue;
    if (!takes_padding || !IsKnown(w)) return false;
    for (int64_t i = 0; i < w.output.value(); ++i)
      if (!TapInside(w, i, 0)) return false;
  }
  if (!dilated) return false;
  Term x = node.input(0);
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    if (!gathered[i]) continue;
    std::vector<int32_t> taps;
    const bool inside = a.padding == Padding::kValid || !IsPadded(w);
    for (int64_t at = 0; at < w.output.value(); ++at)
      for (int64_t k = 0; k < w.kernel; ++k)
        taps.push_back(
            static_cast<int32_t>(inside ? at * w.stride + k * w.dilation : *TapInside(w, at, k)));
    const int64_t axis = FirstSpatialAxis(a.layout) + static_cast<int64_t>(i);
    x = Gather(x, Tensor::Of({std::ssize(taps)}, taps), axis);
    if (a.strides.empty()) a.strides.assign(windows.size(), 1);
    a.strides[i] = w.kernel;
    if (!a.dilations.empty()) a.dilations[i] = 1;
  }
  a.padding = Padding::kValid;
  a.pads.clear();
  a.ceil_mode = false;
  return Expansion(graph, node).Replace(Apply(node.op_name(), {x}, std::move(a)));
}

}  // namespace

Result<bool> ExpandSolidPool(Graph& graph, Node& node) {
  return node.Is<MaxPoolAttrs>() ? InTurn<MaxPoolAttrs>(graph, node)
                                 : InTurn<AveragePoolAttrs>(graph, node);
}

Result<bool> ExpandDilatedPool(Graph& graph, Node& node) {
  if (node.input(0)->type().quantized()) return false;
  return node.Is<MaxPoolAttrs>() ? GatherTaps<MaxPoolAttrs>(graph, node, true)
                                 : GatherTaps<AveragePoolAttrs>(graph, node, false);
}

namespace {

// The taps of all windows in the last axis, in order of position, of x with the channels first.
Term TapsOf(Value* x, const std::vector<Window>& windows) {
  Term y = x;
  Dims split = {x->type().dim(0), x->type().dim(1)}, joined = split;
  std::vector<int64_t> perm = {0, 1};
  int64_t taps = 1;
  for (size_t s = 0; s < windows.size(); ++s) {
    const Window& w = windows[s];
    std::vector<int32_t> at;
    for (int64_t i = 0; i < w.output.value(); ++i)
      for (int64_t k = 0; k < w.kernel; ++k)
        at.push_back(static_cast<int32_t>(TapInside(w, i, k).value_or(0)));
    y = Gather(y, Tensor::Of({std::ssize(at)}, at), static_cast<int64_t>(s) + 2);
    split.push_back(w.output);
    split.emplace_back(w.kernel);
    joined.push_back(w.output);
    perm.push_back(static_cast<int64_t>(2 * s) + 2);
    taps *= w.kernel;
  }
  for (size_t s = 0; s < windows.size(); ++s) perm.push_back(static_cast<int64_t>(2 * s) + 3);
  joined.emplace_back(taps);
  return Reshape(Transpose(Reshape(y, std::move(split)), std::move(perm)), std::move(joined));
}

// The index in a channel of each tap of each window; empty if a window has no taps.
std::vector<int32_t> PlacesOf(const std::vector<Window>& windows, bool column_major) {
  std::vector<int64_t> sizes, dims;  // of the channel; of the windows, then of the kernel
  for (const Window& w : windows) sizes.push_back(w.input.value());
  for (const Window& w : windows) dims.push_back(w.output.value());
  for (const Window& w : windows) dims.push_back(w.kernel);
  std::vector<int64_t> strides = Strides(sizes);
  if (column_major) {
    int64_t stride = 1;
    for (size_t s = 0; s < sizes.size(); stride *= sizes[s++]) strides[s] = stride;
  }
  const std::vector<int64_t> steps = Strides(dims);
  std::vector<int32_t> places;
  const int64_t count = steps.empty() ? 0 : steps[0] * dims[0];
  for (int64_t n = 0; n < count; ++n) {
    int64_t place = 0;
    for (size_t s = 0; s < windows.size(); ++s) {
      const size_t k = s + windows.size();
      const auto at = TapInside(windows[s], n / steps[s] % dims[s], n / steps[k] % dims[k]);
      if (!at) return {};
      place += *at * strides[s];
    }
    places.push_back(static_cast<int32_t>(place));
  }
  return places;
}

}  // namespace

// The indices count in a channels-first tensor, so they are found in one.
Result<bool> ExpandMaxPoolIndices(Graph& graph, Node& node) {
  MaxPoolAttrs a = node.attrs<MaxPoolAttrs>();
  if (node.outputs().size() < 2 || node.input(0)->type().quantized()) return false;
  Value* x = node.input(0);
  const int rank = x->type().rank();
  const auto dims = x->type().const_dims();
  NN_ASSIGN(const auto windows, PoolWindows(a, *x->type().dims));
  const auto y = node.output()->type().const_dims();
  if (!dims || !y || x->dtype() != DType::kF32 || 2 * windows.size() + 2 > 8 ||
      !ElementsWithin(*dims, std::numeric_limits<int32_t>::max()))
    return false;
  int64_t taps = 1;
  for (const Window& w : windows) taps *= w.kernel;
  std::vector<int64_t> all = *y;
  all.push_back(taps);
  if (!ElementsWithin(all, kMaxElements)) return false;
  const std::vector<int32_t> places = PlacesOf(windows, a.storage_order == 1);
  if (places.empty()) return false;

  Expansion e(graph, node);
  NN_ASSIGN(Value* const max, e.Add("max_pool", {x}, a));
  if (a.layout == Layout::kNxc) {
    NN_ASSIGN(x, Rearrange(graph, x, AxisMap::ChannelsFirst(rank)));
  }
  NN_ASSIGN(Value* const found,
            e.Add("arg_max", {TapsOf(x, windows)},
                  ArgAttrs{.axis = rank, .keep_dims = false, .output_type = DType::kI32}));
  // The place in the table of the window's first tap, and of the channel's first element.
  std::vector<int64_t> windows_dims(static_cast<size_t>(rank), 1), channel_dims = windows_dims;
  for (size_t s = 0; s < windows.size(); ++s) windows_dims[s + 2] = windows[s].output.value();
  channel_dims[0] = found->type().dim(0).value();
  channel_dims[1] = found->type().dim(1).value();
  int64_t elements = 1;
  for (const Window& w : windows) elements *= w.input.value();
  const auto multiples = [](const std::vector<int64_t>& shape, int64_t step) -> Result<Term> {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kI32, shape));
    for (int64_t i = 0; i < b.elements(); ++i) b.SetInt(i, i * step);
    return Term(b.Finish());
  };
  NN_ASSIGN(const Term first, multiples(windows_dims, taps));
  NN_ASSIGN(const Term channel, multiples(channel_dims, elements));
  const Term place = Gather(Tensor::Of({std::ssize(places)}, places), found + first, 0);
  NN_ASSIGN(Value * at, e.Build(Cast(place + channel, DType::kI64)));
  if (a.layout == Layout::kNxc) {
    NN_ASSIGN(at, Rearrange(graph, at, AxisMap::ChannelsLast(rank)));
  }
  e.ReplaceOutput(1, at);
  return e.Replace(max);
}

// Written to a tensor of the natural size, which the output extends.
Result<bool> ExpandMaxUnpool(Graph& graph, Node& node) {
  const auto& a = node.attrs<MaxUnpoolAttrs>();
  Value *x = node.input(0), *indices = node.input(1);
  const int rank = x->type().rank();
  const bool last = a.layout == Layout::kNxc;
  if (!x->type().const_dims() || !node.output()->type().const_dims() || !IsPlainF32(node))
    return false;
  const AxisMap first = AxisMap::ChannelsFirst(rank);
  const auto shape = [&](const Value* v) {
    return *(last ? RearrangeType(v->type(), first) : v->type()).const_dims();
  };
  const std::vector<int64_t> from = shape(x), to = shape(node.output());
  const size_t axes = a.kernel.size();
  std::vector<int64_t> natural = from;
  PadAttrs fit;
  fit.pads.assign(2 * natural.size(), 0);
  for (size_t s = 0; s < axes; ++s) {
    const int64_t stride = a.strides.empty() ? 1 : a.strides[s];
    const int64_t pads = a.pads.empty() ? 0 : a.pads[s] + a.pads[axes + s];
    natural[s + 2] = (from[s + 2] - 1) * stride - pads + a.kernel[s];
    if (natural[s + 2] < 1) return false;
    fit.pads[natural.size() + s + 2] = to[s + 2] - natural[s + 2];
  }
  const auto elements = ElementsWithin(natural, kMaxElements);
  const auto count = ElementsWithin(from, kMaxElements);
  if (!elements || !count) return false;
  if (last) {
    NN_ASSIGN(x, Rearrange(graph, x, first));
    NN_ASSIGN(indices, Rearrange(graph, indices, first));
  }
  Expansion e(graph, node);
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(x->dtype(), {*elements}));
  for (int64_t i = 0; i < *elements; ++i) zeros.SetInt(i, 0);
  const Term places = Reshape(indices, {Dim(*count), Dim(1)});
  const Term written =
      Apply("scatter_nd", {zeros.Finish(), places, Reshape(x, {Dim(*count)})}, ScatterNdAttrs{});
  const Term whole = Reshape(written, ToDims(natural));
  NN_ASSIGN(Value * y, e.Build(natural == to ? whole : Apply("pad", {whole}, std::move(fit))));
  if (last) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsLast(rank)));
  }
  return e.Replace(y);
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
  const auto power = [](const Term& x, double exponent) {
    return exponent == 1 ? x : Apply("pow", {x, exponent});
  };
  Term y = node.input(0);
  y = a.p == 2 ? y * y : power(Apply("abs", {y}), a.p);
  if (std::any_of(pad.pads.begin(), pad.pads.end(), [](int64_t n) { return n != 0; }))
    y = Apply("pad", {y}, std::move(pad));
  y = Apply("average_pool", {y}, std::move(pool));
  if (positions != 1) y = y * positions;
  y = a.p == 2 ? Apply("sqrt", {y}) : power(y, 1.0 / static_cast<double>(a.p));
  return Expansion(graph, node).Replace(y);
}

}  // namespace nn

// Expansions of convolutions.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// stride - 1 zeros after each element of an axis. Needs no more than 4 axes.
Result<Value*> Spread(Expansion& e, Value* x, int axis, int64_t stride) {
  const Dims dims = *x->type().dims;
  const auto at = dims.begin() + axis;
  NN_ASSIGN(Value * y, e.Add("reshape", {x},
                             ReshapeAttrs{{Product(Dims(dims.begin(), at)), *at, Dim(1),
                                           Product(Dims(at + 1, dims.end()))}}));
  NN_ASSIGN(y, e.Add("pad", {y}, PadAttrs{{0, 0, 0, 0, 0, 0, stride - 1, 0}}));
  Dims wider = dims;
  wider[static_cast<size_t>(axis)] = *at * Dim(stride);
  return e.Add("reshape", {y}, ReshapeAttrs{std::move(wider)});
}

// The filter [I, O / groups, X...] of a transposed convolution as that of a convolution, [O, I /
// groups, X...], with its taps reversed.
Result<Value*> ReversedFilter(Expansion& e, Value* filter, int64_t groups) {
  const std::vector<int64_t> dims = *filter->type().const_dims();
  const auto spatial = static_cast<int64_t>(dims.size()) - 2;
  std::vector<int64_t> split = {groups, dims[0] / groups, dims[1]};
  std::vector<int64_t> merged = {groups * dims[1], dims[0] / groups};
  ReverseAttrs taps;
  std::vector<int64_t> perm =
      groups == 1 ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 2, 1};
  for (int64_t i = 0; i < spatial; ++i) {
    split.push_back(dims[static_cast<size_t>(2 + i)]);
    merged.push_back(dims[static_cast<size_t>(2 + i)]);
    taps.axes.push_back(2 + i);
    perm.push_back(static_cast<int64_t>(perm.size()));
  }
  NN_ASSIGN(Value * y, e.Add("reverse", {filter}, taps));
  if (groups != 1) {
    NN_ASSIGN(y, e.Add("reshape", {y}, ReshapeAttrs{ToDims(split)}));
  }
  NN_ASSIGN(y, e.Add("transpose", {y}, TransposeAttrs{perm}));
  if (groups == 1) return y;
  return e.Add("reshape", {y}, ReshapeAttrs{ToDims(merged)});
}

template <typename A>
Result<bool> SpreadTaps(Graph& graph, Node& node) {
  A a = node.attrs<A>();
  Value* filter = node.input(1);
  const auto dims = filter->type().const_dims();
  const auto is_one = [](int64_t d) { return d == 1; };
  if (filter->is_constant() || filter->dtype() != DType::kF32 || !dims ||
      std::ranges::all_of(a.dilations, is_one))
    return false;
  const int first = AxesOf(a.filter_layout, static_cast<int>(dims->size())).spatial;
  Expansion e(graph, node);
  SliceAttrs taps;
  for (size_t i = 0; i < a.dilations.size(); ++i) {
    const int axis = first + static_cast<int>(i);
    const int64_t size = (*dims)[static_cast<size_t>(axis)];
    const auto spread = CheckedMul(size, a.dilations[i]);
    if (size == 0 || !spread) return false;
    if (a.dilations[i] == 1 || size == 1) continue;
    NN_ASSIGN(filter, Spread(e, filter, axis, a.dilations[i]));
    taps.axes.push_back(axis);
    taps.starts.push_back(0);
    taps.ends.push_back(*spread - a.dilations[i] + 1);
    taps.steps.push_back(1);
  }
  if (!taps.axes.empty()) {
    NN_ASSIGN(filter, e.Add("slice", {filter}, std::move(taps)));
  }
  a.dilations.clear();
  graph.SetInput(&node, 1, filter);
  node.set_attrs(std::move(a));
  return true;
}

}  // namespace

Result<bool> ExpandDilatedFilter(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  return node.Is("conv") ? SpreadTaps<ConvAttrs>(graph, node)
                         : SpreadTaps<ConvTransposeAttrs>(graph, node);
}

Result<bool> ExpandConvTranspose(Graph& graph, Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  Value* x = node.input(0);
  Value* const weights = node.input(1);
  if (!IsPlainF32(node) || weights->dtype() != DType::kF32 || a.layout != Layout::kNcx ||
      a.filter_layout != FilterLayout::kIox || !weights->type().const_dims())
    return false;
  // The zeros between elements would make other weights NaN.
  if (weights->is_constant() && !IsFinite(weights->constant())) return false;
  NN_ASSIGN(const auto resolved, ConvTransposeWindows(a, *x->type().dims, *weights->type().dims));
  const auto windows = ConstWindows(resolved);
  if (!windows) return false;
  ConvAttrs conv;
  conv.groups = a.groups;
  conv.pads.resize(2 * windows->size());
  SliceAttrs crop;
  Expansion e(graph, node);
  for (size_t i = 0; i < windows->size(); ++i) {
    const ConstWindow& w = (*windows)[i];
    const auto axis = static_cast<int64_t>(i) + 2;
    int64_t size = w.input;
    if (size == 0) return false;
    if (w.stride > 1 && size > 1) {
      const auto spread = CheckedMul(size, w.stride);
      if (!spread) return false;
      NN_ASSIGN(x, Spread(e, x, static_cast<int>(axis), w.stride));
      size = *spread;
    }
    // Zeros that the windows do not reach are cut off.
    const int64_t extent = (w.kernel - 1) * w.dilation;
    const int64_t begin = extent - w.pad_begin;
    const int64_t end = w.output + extent - size - begin;
    conv.pads[i] = std::max<int64_t>(begin, 0);
    conv.pads[windows->size() + i] = std::max<int64_t>(end, 0);
    conv.dilations.push_back(w.dilation);
    if (begin >= 0 && end >= 0) continue;
    const int64_t first = std::max<int64_t>(-begin, 0), last = size - std::max<int64_t>(-end, 0);
    if (first >= last) return false;  // nothing of x is left
    crop.axes.push_back(axis);
    crop.starts.push_back(first);
    crop.ends.push_back(last);
    crop.steps.push_back(1);
  }
  if (!crop.axes.empty()) {
    NN_ASSIGN(x, e.Add("slice", {x}, std::move(crop)));
  }
  NN_ASSIGN(Value* const filter, ReversedFilter(e, weights, a.groups));
  std::vector<Value*> operands = {x, filter};
  if (node.input(2) != nullptr) operands.push_back(node.input(2));
  NN_ASSIGN(Value* const y, e.Add("conv", std::move(operands), std::move(conv)));
  return e.Replace(y);
}

Result<bool> ExpandSolidConv(Graph& graph, Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  Value *x = node.input(0), *const filter = node.input(1);
  constexpr int64_t kMaxPlanes = 64;
  if (!IsPlainF32(node) || x->type().rank() != 5 || a.layout != Layout::kNcx ||
      a.filter_layout != FilterLayout::kOix || filter->is_constant())
    return false;
  const auto dims = x->type().const_dims(), taps = filter->type().const_dims();
  if (!dims || !taps || (*taps)[2] > kMaxPlanes) return false;
  NN_ASSIGN(const auto resolved, ConvWindows(a, *x->type().dims, *filter->type().dims));
  NN_ASSIGN(const std::vector<ConstWindow> w, ConstWindows(resolved));
  const int64_t images = (*dims)[0], channels = (*dims)[1], planes = w[0].output;
  if (images * channels * planes == 0 || w[0].kernel == 0) return false;
  Expansion e(graph, node);
  const auto shaped = [&](Value* v, const std::vector<int64_t>& to) {
    return e.Add("reshape", {v}, ReshapeAttrs{ToDims(to), false});
  };
  if (w[0].pad_begin != 0 || w[0].pad_end != 0) {
    NN_ASSIGN(x, shaped(x, {1, images * channels, w[0].input, w[1].input * w[2].input}));
    NN_ASSIGN(x, e.Add("pad", {x}, PadAttrs{{0, 0, w[0].pad_begin, 0, 0, 0, w[0].pad_end, 0}}));
    NN_ASSIGN(x, shaped(x, {images, channels, w[0].input + w[0].pad_begin + w[0].pad_end,
                            w[1].input, w[2].input}));
  }
  ConvAttrs plane = a;
  plane.padding = Padding::kExplicit;
  plane.pads = {w[1].pad_begin, w[2].pad_begin, w[1].pad_end, w[2].pad_end};
  plane.strides = {w[1].stride, w[2].stride};
  plane.dilations = {w[1].dilation, w[2].dilation};
  Value* sum = nullptr;
  for (int64_t k = 0; k < w[0].kernel; ++k) {
    const int64_t first = k * w[0].dilation;
    NN_ASSIGN(
        Value * part,
        e.Add("slice", {x},
              SliceAttrs{{2}, {first}, {first + (planes - 1) * w[0].stride + 1}, {w[0].stride}}));
    NN_ASSIGN(part, e.Add("transpose", {part}, TransposeAttrs{{0, 2, 1, 3, 4}}));
    NN_ASSIGN(part, shaped(part, {images * planes, channels, w[1].input, w[2].input}));
    NN_ASSIGN(Value * of_plane, e.Add("slice", {filter}, SliceAttrs{{2}, {k}, {k + 1}, {1}}));
    NN_ASSIGN(of_plane, e.Add("squeeze", {of_plane}, AxesAttrs{{2}}));
    NN_ASSIGN(part, e.Add("conv", {part, of_plane}, plane));
    if (sum == nullptr) {
      sum = part;
    } else {
      NN_ASSIGN(sum, e.Add("add", {sum, part}));
    }
  }
  if (node.input(2) != nullptr) {
    NN_ASSIGN(Value* const bias, shaped(node.input(2), {(*taps)[0], 1, 1}));
    NN_ASSIGN(sum, e.Add("add", {sum, bias}));
  }
  NN_ASSIGN(sum, shaped(sum, {images, planes, (*taps)[0], w[1].output, w[2].output}));
  NN_ASSIGN(sum, e.Add("transpose", {sum}, TransposeAttrs{{0, 2, 1, 3, 4}}));
  return e.Replace(sum);
}

}  // namespace nn

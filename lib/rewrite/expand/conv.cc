// Expansions of convolutions.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// stride - 1 zeros after each element of an axis of x, of shape `dims`. Needs no more than 4 axes.
Term Spread(const Term& x, const Dims& dims, int axis, int64_t stride) {
  const auto at = dims.begin() + axis;
  const Term rows =
      Reshape(x, {Product(Dims(dims.begin(), at)), *at, Dim(1), Product(Dims(at + 1, dims.end()))});
  Dims wider = dims;
  wider[static_cast<size_t>(axis)] = *at * Dim(stride);
  return Reshape(Apply("pad", {rows}, PadAttrs{{0, 0, 0, 0, 0, 0, stride - 1, 0}}),
                 std::move(wider));
}

// The filter [I, O / groups, X...] of a transposed convolution as that of a convolution, [O, I /
// groups, X...], with its taps reversed.
Term ReversedFilter(Value* filter, int64_t groups) {
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
  const Term y = Apply("reverse", {filter}, taps);
  if (groups == 1) return Transpose(y, perm);
  return Reshape(Transpose(Reshape(y, ToDims(split)), perm), ToDims(merged));
}

template <typename A>
Result<bool> SpreadTaps(Graph& graph, Node& node) {
  A a = node.attrs<A>();
  const Value* const given = node.input(1);
  auto dims = given->type().const_dims();
  const auto is_one = [](int64_t d) { return d == 1; };
  if (given->is_constant() || given->dtype() != DType::kF32 || !dims ||
      std::ranges::all_of(a.dilations, is_one))
    return false;
  const int first = AxesOf(a.filter_layout, static_cast<int>(dims->size())).spatial;
  Term filter = node.input(1);
  SliceAttrs taps;
  for (size_t i = 0; i < a.dilations.size(); ++i) {
    const int axis = first + static_cast<int>(i);
    const int64_t size = (*dims)[static_cast<size_t>(axis)];
    const auto spread = CheckedMul(size, a.dilations[i]);
    if (size == 0 || !spread) return false;
    if (a.dilations[i] == 1 || size == 1) continue;
    filter = Spread(filter, ToDims(*dims), axis, a.dilations[i]);
    (*dims)[static_cast<size_t>(axis)] = *spread;
    taps.axes.push_back(axis);
    taps.starts.push_back(0);
    taps.ends.push_back(*spread - a.dilations[i] + 1);
    taps.steps.push_back(1);
  }
  if (!taps.axes.empty()) filter = Apply("slice", {filter}, std::move(taps));
  a.dilations.clear();
  NN_ASSIGN(Value* const spread, Expansion(graph, node).Build(filter));
  graph.SetInput(&node, 1, spread);
  node.set_attrs(std::move(a));
  return true;
}

}  // namespace

Result<bool> ExpandDilatedFilter(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  return node.Is<ConvAttrs>() ? SpreadTaps<ConvAttrs>(graph, node)
                              : SpreadTaps<ConvTransposeAttrs>(graph, node);
}

Result<bool> ExpandConvTranspose(Graph& graph, Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  Term x = node.input(0);
  Dims dims = *node.input(0)->type().dims;
  Value* const weights = node.input(1);
  if (!IsPlainF32(node) || weights->dtype() != DType::kF32 || a.layout != Layout::kNcx ||
      a.filter_layout != FilterLayout::kIox || !weights->type().const_dims())
    return false;
  // The zeros between elements would make other weights NaN.
  if (weights->is_constant() && !IsFinite(weights->constant())) return false;
  NN_ASSIGN(const auto resolved, ConvTransposeWindows(a, dims, *weights->type().dims));
  const auto windows = ConstWindows(resolved);
  if (!windows) return false;
  ConvAttrs conv;
  conv.groups = a.groups;
  conv.pads.resize(2 * windows->size());
  SliceAttrs crop;
  for (size_t i = 0; i < windows->size(); ++i) {
    const ConstWindow& w = (*windows)[i];
    const auto axis = static_cast<int64_t>(i) + 2;
    int64_t size = w.input;
    if (size == 0) return false;
    if (w.stride > 1 && size > 1) {
      const auto spread = CheckedMul(size, w.stride);
      if (!spread) return false;
      x = Spread(x, dims, static_cast<int>(axis), w.stride);
      size = *spread;
      dims[static_cast<size_t>(axis)] = Dim(size);
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
  if (!crop.axes.empty()) x = Apply("slice", {x}, std::move(crop));
  std::vector<Term> operands = {x, ReversedFilter(weights, a.groups)};
  if (node.input(2) != nullptr) operands.push_back(node.input(2));
  return Expansion(graph, node).Replace(Apply("conv", std::move(operands), std::move(conv)));
}

Result<bool> ExpandSolidConv(Graph& graph, Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const Type& image = node.input(0)->type();
  Value* const filter = node.input(1);
  // Limit of expansions: planes of a computed filter of a convolution with three spatial axes.
  constexpr int64_t kMaxPlanes = 64;
  if (!IsPlainF32(node) || image.rank() != 5 || a.layout != Layout::kNcx ||
      a.filter_layout != FilterLayout::kOix || filter->is_constant())
    return false;
  const auto dims = image.const_dims(), taps = filter->type().const_dims();
  if (!dims || !taps || (*taps)[2] > kMaxPlanes) return false;
  NN_ASSIGN(const auto resolved, ConvWindows(a, *image.dims, *filter->type().dims));
  NN_ASSIGN(const std::vector<ConstWindow> w, ConstWindows(resolved));
  const int64_t images = (*dims)[0], channels = (*dims)[1], planes = w[0].output;
  if (images * channels * planes == 0 || w[0].kernel == 0) return false;
  const auto shaped = [](const Term& v, const std::vector<int64_t>& to) {
    return Reshape(v, ToDims(to));
  };
  Term x = node.input(0);
  if (w[0].pad_begin != 0 || w[0].pad_end != 0) {
    x = shaped(x, {1, images * channels, w[0].input, w[1].input * w[2].input});
    x = Apply("pad", {x}, PadAttrs{{0, 0, w[0].pad_begin, 0, 0, 0, w[0].pad_end, 0}});
    x = shaped(
        x, {images, channels, w[0].input + w[0].pad_begin + w[0].pad_end, w[1].input, w[2].input});
  }
  ConvAttrs plane = a;
  plane.padding = Padding::kExplicit;
  plane.pads = {w[1].pad_begin, w[2].pad_begin, w[1].pad_end, w[2].pad_end};
  plane.strides = {w[1].stride, w[2].stride};
  plane.dilations = {w[1].dilation, w[2].dilation};
  Term sum;
  for (int64_t k = 0; k < w[0].kernel; ++k) {
    const int64_t first = k * w[0].dilation;
    Term part =
        Apply("slice", {x},
              SliceAttrs{{2}, {first}, {first + (planes - 1) * w[0].stride + 1}, {w[0].stride}});
    part = shaped(Transpose(part, {0, 2, 1, 3, 4}),
                  {images * planes, channels, w[1].input, w[2].input});
    part = Apply("conv", {part, Squeeze(Slice(filter, 2, k, k + 1), {2})}, plane);
    sum = sum.is_absent() ? part : sum + part;
  }
  if (node.input(2) != nullptr) sum = sum + shaped(node.input(2), {(*taps)[0], 1, 1});
  sum = shaped(sum, {images, planes, (*taps)[0], w[1].output, w[2].output});
  return Expansion(graph, node).Replace(Transpose(sum, {0, 2, 1, 3, 4}));
}

}  // namespace nn

// Convolutions and resizes that NNAPI lacks.
#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "ir/op_def.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/nn/pool.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/index.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"
#include "rewrite/weights.h"

namespace nn::nnapi {
namespace {

// Limit of NNAPI: elements along an axis of a transposed convolution or a resize.
constexpr int64_t kLongestAxis = int64_t{1} << 20;
// Limit of NNAPI: elements of the input of a transposed convolution with zeros between them.
constexpr int64_t kMaxSpread = int64_t{1} << 24;

bool IsPlainImage(const Node& node, Layout layout) {
  const auto is_fixed = [](const Type& t) {
    const auto dims = t.const_dims();
    return t.dtype == DType::kF32 && !t.quantized() && dims && dims->size() == 4 &&
           std::ranges::find(*dims, 0) == dims->end();
  };
  return layout == Layout::kNxc && is_fixed(node.input(0)->type()) &&
         is_fixed(node.output()->type());
}

}  // namespace

Result<bool> DilatedByPhases(Graph& graph, Node& node) {
  ConvAttrs a = node.attrs<ConvAttrs>();
  if (!IsPlainImage(node, a.layout) || !node.input(1)->type().const_dims() ||
      std::ranges::all_of(a.dilations, [](int64_t d) { return d == 1; }))
    return false;
  NN_ASSIGN(const auto symbolic,
            ConvWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims));
  NN_ASSIGN(const auto windows, ConstWindows(symbolic));
  SpaceToBatchAttrs split{.blocks = {}, .pads = std::vector<int64_t>(4), .layout = a.layout};
  SpaceToBatchAttrs join = split;
  SliceAttrs steps{.axes = {1, 2}, .starts = {0, 0}, .ends = {}, .steps = {}};
  for (size_t i = 0; i < 2; ++i) {
    const ConstWindow& w = windows[i];
    const int64_t needed = (w.output - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
    const int64_t padded =
        RoundUp(std::max(needed, w.input + w.pad_begin), static_cast<int64_t>(w.dilation));
    for (SpaceToBatchAttrs* s : {&split, &join}) s->blocks.push_back(w.dilation);
    split.pads[i] = w.pad_begin;
    split.pads[2 + i] = padded - w.input - w.pad_begin;
    const int64_t outputs = (w.output - 1) * w.stride + 1;
    join.pads[2 + i] = padded - (w.kernel - 1) * w.dilation - outputs;
    steps.ends.push_back(outputs);
    steps.steps.push_back(w.stride);
  }
  const bool has_strides = std::ranges::any_of(steps.steps, [](int64_t s) { return s != 1; });
  a.padding = Padding::kValid;
  a.pads.clear();
  a.dilations.clear();
  a.strides.clear();
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = Apply("space_to_batch_nd", {operands[0]}, std::move(split));
  const Term phases = Apply("conv", std::move(operands), std::move(a));
  const Term y = Apply("batch_to_space_nd", {phases}, std::move(join));
  return Expansion(graph, node).Replace(has_strides ? Apply("slice", {y}, std::move(steps)) : y);
}

// A pad with the zeros that the mean counts, before a pool without padding.
Result<bool> PadBeforeMean(Graph& graph, Node& node) {
  AveragePoolAttrs a = node.attrs<AveragePoolAttrs>();
  const Value* const x = node.input(0);
  if (!a.count_include_pad || !IsPlainImage(node, a.layout)) return false;
  NN_ASSIGN(const auto windows, PoolWindows(a, *x->type().dims));
  const size_t rank = x->type().dims->size();
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  PadAttrs pads;
  pads.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < windows.size(); ++i) {
    pads.pads[first + i] = windows[i].pad_begin.value();
    pads.pads[rank + first + i] = windows[i].pad_end.value();
  }
  if (std::ranges::all_of(pads.pads, [](int64_t n) { return n == 0; })) return false;
  // With ceil_mode, what is after the padding is not counted: it stays outside.
  a.count_include_pad = false;
  a.padding = Padding::kExplicit;
  a.pads.clear();
  Expansion e(graph, node);
  const Term padded = Apply("pad", {node.input(0)}, std::move(pads));
  NN_ASSIGN(Value* const y, e.Add("average_pool", {padded}, std::move(a)));
  // ceil_mode drops windows that begin in the padding.
  if (*y->type().dims == *node.output()->type().dims) return e.Replace(y);
  SliceAttrs kept{.axes = {1, 2}, .starts = {0, 0}, .ends = {}, .steps = {1, 1}};
  for (const Window& w : windows) kept.ends.push_back(w.output.value());
  return e.Replace(Apply("slice", {y}, std::move(kept)));
}

namespace {

// The filter of the convolution that computes a transposed one: flipped, and with zeros between
// groups unless each has one channel. nullopt if it would be too large.
Result<std::optional<Tensor>> FlippedFilter(const Tensor& filter, const ConvTransposeAttrs& a,
                                            const ConvGeometry& g) {
  const FilterAxes from = AxesOf(a.filter_layout, 4);
  const bool depthwise = g.in_channels == 1 && g.groups > 1;
  const int64_t outputs = g.groups * g.out_channels;
  const int64_t inputs = depthwise ? 1 : g.groups * g.in_channels;
  const auto& dims = filter.dims();
  const auto first = static_cast<size_t>(from.spatial);
  const int64_t height = dims[first], width = dims[first + 1];
  const auto size = CheckedMul(outputs * inputs, height * width);
  if (!size || *size > kMaxFilledFilter) return std::optional<Tensor>();
  // The zeros between elements would make other weights NaN.
  if (!IsFinite(filter)) return std::optional<Tensor>();
  const Tensor aligned = filter.Aligned();
  // OXI, or IXO of a depthwise convolution.
  std::vector<int64_t> shape = {outputs, height, width, inputs};
  if (depthwise) shape = {1, height, width, outputs};
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, shape));
  std::ranges::fill(b.As<float>(), 0.0f);
  const auto strides = Strides(dims);
  const auto at = [&](int64_t in, int64_t out, int64_t y, int64_t x) {
    return aligned.As<float>()[static_cast<size_t>(in * strides[static_cast<size_t>(from.input)] +
                                                   out * strides[static_cast<size_t>(from.output)] +
                                                   y * strides[first] + x * strides[first + 1])];
  };
  for (int64_t in = 0; in < g.groups * g.in_channels; ++in)
    for (int64_t out = 0; out < g.out_channels; ++out)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
          const int64_t o = in / g.in_channels * g.out_channels + out;
          const int64_t place = ((height - 1 - y) * width + (width - 1 - x));
          const int64_t index =
              depthwise ? place * outputs + o : (o * height * width + place) * inputs + in;
          b.As<float>()[static_cast<size_t>(index)] = at(in, out, y, x);
        }
  return std::optional<Tensor>(b.Finish());
}

}  // namespace

Result<bool> TransposedByZeros(Graph& graph, Node& node) {
  const ConvTransposeAttrs a = node.attrs<ConvTransposeAttrs>();
  const Value* const filter = node.input(1);
  const auto filter_dims = filter->type().const_dims();
  if (!IsPlainImage(node, a.layout) || !filter_dims || filter->dtype() != DType::kF32) return false;
  const auto x = *node.input(0)->type().const_dims();
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, x, *filter_dims));
  Expansion e(graph, node);
  Term flipped;
  if (filter->is_constant()) {
    NN_ASSIGN(auto tensor, FlippedFilter(filter->constant(), a, g));
    if (!tensor) return false;
    flipped = *std::move(tensor);
  } else {
    if (a.groups != 1) return false;
    const int64_t first = AxesOf(a.filter_layout, 4).spatial;
    NN_ASSIGN(Value* const reversed,
              e.Add("reverse", {node.input(1)}, ReverseAttrs{{first, first + 1}}));
    NN_ASSIGN(flipped,
              Rearrange(graph, reversed, FilterMap(a.filter_layout, FilterLayout::kOxi, 4)));
  }
  // Element j of an axis is element (j + shift) / stride of x, if that is whole and exists.
  std::vector<std::vector<int64_t>> sources;
  std::vector<int64_t> dims = {x[0]};
  for (const ConstWindow& w : g.windows) {
    const int64_t reach = (w.kernel - 1) * w.dilation;
    if (reach > kLongestAxis || w.output > kLongestAxis) return false;
    dims.push_back(w.output + reach);
    auto& from = sources.emplace_back();
    for (int64_t j = 0; j < dims.back(); ++j) {
      const int64_t t = j + w.pad_begin - reach;
      from.push_back(t >= 0 && t % w.stride == 0 && t / w.stride < w.input ? t / w.stride : -1);
    }
  }
  dims.push_back(x[3]);
  const auto size = CheckedMul(dims[0] * dims[1], dims[2] * dims[3]);
  if (!size || *size > kMaxSpread) return false;
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(*size));
  for (int64_t n = 0; n < dims[0]; ++n)
    for (const int64_t row : sources[0])
      for (const int64_t column : sources[1])
        for (int64_t c = 0; c < dims[3]; ++c)
          places.push_back(
              row < 0 || column < 0 ? 0 : ((n * x[1] + row) * x[2] + column) * x[3] + c + 1);
  const Term spread = Moved(graph, node.input(0), places, dims);
  if (spread.is_absent()) return false;
  const bool depthwise = g.in_channels == 1 && g.groups > 1;
  ConvAttrs conv{.layout = Layout::kNxc,
                 .filter_layout = depthwise ? FilterLayout::kIxo : FilterLayout::kOxi,
                 .strides = {},
                 .dilations = a.dilations,
                 .pads = {},
                 .padding = Padding::kValid,
                 .groups = depthwise ? g.groups : 1};
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = spread;
  operands[1] = flipped;
  return e.Replace(Apply("conv", std::move(operands), std::move(conv)));
}

namespace {

// One spatial axis of a resize: x of a rank, interpolated along it. Absent without taps.
Term Interpolated(const Term& x, int rank, int axis, const ResizeAxis& taps) {
  const int64_t size = taps.size();
  std::vector<int64_t> broadcast(static_cast<size_t>(rank - axis), 1);
  broadcast[0] = size;
  Term sum;
  for (int64_t t = 0; t < taps.taps; ++t) {
    std::vector<int32_t> index;
    std::vector<float> weight;
    for (int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<size_t>(i * taps.taps + t);
      index.push_back(static_cast<int32_t>(taps.index[at]));
      weight.push_back(taps.weight[at]);
    }
    Term v = Gather(x, Tensor::Of({size}, index), axis);
    if (!std::ranges::all_of(weight, [](float w) { return w == 1; }))
      v = v * Tensor::Of(broadcast, weight);
    sum = sum.is_absent() ? v : sum + v;
  }
  return sum;
}

}  // namespace

Result<bool> ResizeByTaps(Graph& graph, Node& node) {
  const auto a = node.attrs<ResizeAttrs>();
  const auto x = node.input(0)->type().const_dims();
  const auto y = node.output()->type().const_dims();
  const bool has_inputs =
      std::ranges::any_of(node.inputs().subspan(1), [](const Value* v) { return v != nullptr; });
  if (!IsPlainF32(node) || !x || !y || has_inputs || a.mode == ResizeMode::kNearest ||
      a.coordinates == Coordinates::kCrop || std::ranges::find(*x, 0) != x->end() ||
      std::ranges::find(*y, 0) != y->end())
    return false;
  ResizeNumbers numbers{.scales = a.scales, .sizes = {}, .roi = a.roi};
  if (!a.sizes.empty()) {
    const auto sizes = ConstDims(a.sizes);
    if (!sizes) return false;
    numbers.sizes = *sizes;
  }
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  const size_t axes = x->size() - 2;
  const std::span<const int64_t> input(x->data() + first, axes);
  const std::span<const int64_t> output(y->data() + first, axes);
  if (std::ranges::any_of(output, [](int64_t n) { return n > kLongestAxis; })) return false;
  NN_ASSIGN(const auto taps, ResizeAxes(a, node.arithmetic(), numbers, input, output));
  Term v = node.input(0);
  for (size_t k = axes; k-- > 0;) {
    if (taps[k].IsIdentity(input[k])) continue;
    v = Interpolated(v, static_cast<int>(x->size()), static_cast<int>(first + k), taps[k]);
    if (v.is_absent()) return false;
  }
  return Expansion(graph, node).Replace(v);
}

}  // namespace nn::nnapi

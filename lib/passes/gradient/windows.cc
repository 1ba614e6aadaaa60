// Derivatives of pools and normalizations.
#include <numeric>

#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/nn/conv_transpose.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"
#include "passes/gradient/rules.h"

namespace nn {
namespace {

void FailWhere(Adjoints& g, const Node& node, std::string_view condition) {
  g.Fail(UnsupportedError("Gradient through {} {} is unsupported", node.Describe(), condition)
             .value());
}

// The largest elements are found again, with their indices.
void MaxPoolGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  MaxPoolAttrs a = node.attrs<MaxPoolAttrs>();
  if (a.layout != Layout::kNcx) return FailWhere(g, node, "with the channels last");
  a.storage_order = 0;
  Value* const x = node.input(0);
  Value* const indices = g.Outputs("max_pool", {x}, a, 2)[1];
  if (!g.status()) return;
  // Windows without elements have the index -1.
  Value* const is_empty = g.Less(indices, 0);
  Value* const places = g.Op("reshape", {indices}, ReshapeAttrs{{Dim(-1), Dim(1)}, false});
  Value* const sums =
      g.Op("scatter_nd", {g.Zeros(g.Flat(x)), places, g.Flat(g.Unless(is_empty, dy[0]))},
           ScatterNdAttrs{Reduction::kAdd});
  g.Pass(x, g.Reshaped(sums, x));
}

// The number of elements that each window averages.
Result<Tensor> WindowCounts(const AveragePoolAttrs& a, const std::vector<ConstWindow>& windows,
                            DType dtype) {
  std::vector<int64_t> dims;
  std::vector<double> counts = {1};
  for (size_t i = 0; i < windows.size(); ++i) {
    const ConstWindow& w = windows[i];
    const bool has_pads = a.padding == Padding::kExplicit && !a.pads.empty();
    const int64_t pad_end = has_pads ? a.pads[windows.size() + i] : w.pad_end;
    const int64_t first = a.count_include_pad ? -w.pad_begin : 0;
    const int64_t end = w.input + (a.count_include_pad ? pad_end : 0);
    std::vector<double> next;
    for (const double outer : counts)
      for (int64_t p = 0; p < w.output; ++p) {
        double count = 0;
        for (int64_t k = 0; k < w.kernel; ++k) {
          const int64_t at = p * w.stride - w.pad_begin + k * w.dilation;
          if (at >= first && at < end) ++count;
        }
        next.push_back(outer * count);
      }
    counts = std::move(next);
    dims.push_back(w.output);
  }
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, std::move(dims)));
  for (size_t i = 0; i < counts.size(); ++i)
    b.SetDouble(static_cast<int64_t>(i), counts[i] == 0 ? 1 : counts[i]);
  return b.Finish();
}

// Each mean passes its derivative to its elements: a transposed convolution of each channel.
void AveragePoolGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  Value* const x = node.input(0);
  const auto dims = x->type().const_dims();
  if (a.layout != Layout::kNcx) return FailWhere(g, node, "with the channels last");
  if (!dims) return FailWhere(g, node, "of dynamic shape");
  const auto symbolic = PoolWindows(a, *x->type().dims);
  const auto windows = symbolic ? ConstWindows(*symbolic) : tl::unexpected(symbolic.error());
  auto counts = windows ? WindowCounts(a, *windows, x->dtype()) : tl::unexpected(windows.error());
  if (!counts) {
    g.Fail(counts.error());
    return;
  }
  const int64_t channels = (*dims)[1];
  ConvTransposeAttrs spread;
  spread.groups = channels;
  Dims filter = ToDims({channels, 1});
  for (const ConstWindow& w : *windows) {
    filter.push_back(Dim(w.kernel));
    spread.strides.push_back(w.stride);
    spread.dilations.push_back(w.dilation);
    spread.pads.push_back(w.pad_begin);
    spread.output_shape.push_back(Dim(w.input));
  }
  spread.pads.resize(2 * windows->size(), 0);
  Value* const ones = g.Op("expand", {g.Number(x, 1)}, ExpandAttrs{filter});
  Value* const parts = g.Div(dy[0], g.Constant(*std::move(counts)));
  g.Pass(x, g.Op("conv_transpose", {parts, ones}, spread));
}

// Rows over `axes` divided by their deviation, or their root mean square if not `centered`.
struct RowNorm {
  std::vector<int64_t> axes;
  float epsilon;
  bool centered;
};

// The derivatives for x, and for scale and bias, which `as_operand` gives the axes of x.
template <typename Fn>
void RowNormGradients(Adjoints& g, const Node& node, Value* dy, const RowNorm& norm,
                      Fn as_operand) {
  Value *const x = node.input(0), *const scale = node.input(1), *const bias = node.input(2);
  const auto mean = [&](Value* v) {
    return g.Op("reduce_mean", {v}, ReduceAttrs{norm.axes, true});
  };
  const auto pass = [&](Value* v, Value* part) {
    if (g.Wants(v)) g.Pass(v, g.Reshaped(g.SummedLike(part, as_operand(v)), v));
  };
  Value* const d = norm.centered ? g.Sub(x, mean(x)) : x;
  Value* const variance = g.Plus(mean(g.Square(d)), static_cast<double>(norm.epsilon));
  Value* const factor = g.Op("reciprocal", {g.Op("sqrt", {variance})});
  Value* const normal = g.Mul(d, factor);
  pass(scale, g.Mul(dy, normal));
  pass(bias, dy);
  if (!g.Wants(x)) return;
  if (scale != nullptr) dy = g.Mul(dy, as_operand(scale));
  Value* dx = g.Sub(dy, g.Mul(normal, mean(g.Mul(dy, normal))));
  if (norm.centered) dx = g.Sub(dx, mean(dy));
  g.Pass(x, g.Mul(dx, factor));
}

void TrailingNormGradients(Adjoints& g, const Node& node, std::span<Value* const> dy, int64_t axis,
                           RowNorm norm) {
  for (size_t i = 1; i < dy.size(); ++i)
    if (dy[i] != nullptr) return FailWhere(g, node, "with its statistics");
  const Type& x = node.input(0)->type();
  if (!x.ranked()) return FailWhere(g, node, "of dynamic rank");
  const auto first = NormalizeAxis(axis, x.rank());
  if (!first) {
    g.Fail(first.error());
    return;
  }
  for (int i = *first; i < x.rank(); ++i) norm.axes.push_back(i);
  RowNormGradients(g, node, dy[0], norm, [](Value* v) { return v; });
}

void LayerNormGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  const auto& a = node.attrs<LayerNormAttrs>();
  TrailingNormGradients(g, node, dy, a.axis, {{}, a.epsilon, true});
}

void RmsNormGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  const auto& a = node.attrs<RmsNormAttrs>();
  TrailingNormGradients(g, node, dy, a.axis, {{}, a.epsilon, false});
}

// A vector of channels with the axes of a spatial tensor of this rank.
Value* AsChannels(Adjoints& g, Value* v, Layout layout, int rank) {
  if (layout == Layout::kNxc) return v;
  Dims dims(static_cast<size_t>(rank - 1), Dim(1));
  dims[0] = v->type().ranked() ? v->type().dim(0) : Dim(-1);
  return g.Op("reshape", {v}, ReshapeAttrs{dims, false});
}

void InstanceNormGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  const auto& a = node.attrs<InstanceNormAttrs>();
  if (!node.input(0)->type().ranked()) return FailWhere(g, node, "of dynamic rank");
  const int rank = node.input(0)->type().rank();
  std::vector<int64_t> axes(static_cast<size_t>(rank - 2));
  std::iota(axes.begin(), axes.end(), FirstSpatialAxis(a.layout));
  RowNormGradients(g, node, dy[0], {axes, a.epsilon, true},
                   [&](Value* v) { return AsChannels(g, v, a.layout, rank); });
}

void BatchNormGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  const auto& a = node.attrs<BatchNormAttrs>();
  Value* const x = node.input(0);
  if (!x->type().ranked()) return FailWhere(g, node, "of dynamic rank");
  const auto operand = [&](size_t i) {
    return AsChannels(g, node.input(i), a.layout, x->type().rank());
  };
  const auto pass = [&](size_t i, Value* part) {
    if (g.Wants(node.input(i)))
      g.Pass(node.input(i), g.Reshaped(g.SummedLike(part, operand(i)), node.input(i)));
  };
  Value* const variance = g.Plus(operand(4), static_cast<double>(a.epsilon));
  Value* const factor = g.Op("reciprocal", {g.Op("sqrt", {variance})});
  Value* const normal = g.Mul(g.Sub(x, operand(3)), factor);
  Value* const dx = g.Mul(g.Mul(dy[0], operand(1)), factor);
  g.Pass(x, dx);
  pass(1, g.Mul(dy[0], normal));
  pass(2, dy[0]);
  pass(3, g.Neg(dx));
  pass(4, g.Times(g.Mul(g.Mul(dx, normal), factor), -0.5));
}

const GradientRow kWindowGradients[] = {
    {.op = "max_pool", .rule = MaxPoolGradients},
    {.op = "average_pool", .rule = AveragePoolGradients},
    {.op = "layer_norm", .rule = LayerNormGradients},
    {.op = "rms_norm", .rule = RmsNormGradients},
    {.op = "instance_norm", .rule = InstanceNormGradients},
    {.op = "batch_norm", .rule = BatchNormGradients},
};

}  // namespace

std::span<const GradientRow> WindowGradients() {
  return kWindowGradients;
}

}  // namespace nn

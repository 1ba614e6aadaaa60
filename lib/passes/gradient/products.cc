// Derivatives of matrix products and convolutions.
#include <algorithm>

#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/reduce/reduce.h"
#include "passes/gradient/rules.h"

namespace nn {
namespace {

void MatmulGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  Value *const a = node.input(0), *const b = node.input(1), *const bias = node.input(2);
  if (bias != nullptr) g.PassBroadcast(bias, dy[0]);
  if (!a->type().ranked() || !b->type().ranked()) {
    g.Fail(UnsupportedError("Gradient through {} needs operands of known rank", node.Describe())
               .value());
    return;
  }
  auto [ta, tb] = node.attrs<MatmulAttrs>();
  // A vector as a matrix of one row or column.
  Value *left = a, *right = b, *d = dy[0];
  const bool row = a->type().rank() == 1, column = b->type().rank() == 1;
  if (column) {
    tb = false;
    right = g.Op("expand_dims", {b}, AxesAttrs{{1}});
    d = g.Op("expand_dims", {d}, AxesAttrs{{-1}});
  }
  if (row) {
    ta = false;
    left = g.Op("expand_dims", {a}, AxesAttrs{{0}});
    d = g.Op("expand_dims", {d}, AxesAttrs{{-2}});
  }
  if (g.Wants(a)) {
    Value* const da = ta ? g.Op("matmul", {right, d}, MatmulAttrs{tb, true})
                         : g.Op("matmul", {d, right}, MatmulAttrs{false, !tb});
    Value* const sum = g.SummedLike(da, left);
    g.Pass(a, row ? g.Reshaped(sum, a) : sum);
  }
  if (g.Wants(b)) {
    Value* const db = tb ? g.Op("matmul", {d, left}, MatmulAttrs{true, ta})
                         : g.Op("matmul", {left, d}, MatmulAttrs{!ta, false});
    Value* const sum = g.SummedLike(db, right);
    g.Pass(b, column ? g.Reshaped(sum, b) : sum);
  }
}

// A convolution of known shapes with the channels in axis 1, or the one that a transposed
// convolution reverses, whose x is the result.
struct KnownConv {
  std::vector<int64_t> x;
  std::vector<ConstWindow> windows;
  int64_t groups;
};

template <typename ConvolutionAttrs>
Result<KnownConv> KnownConvOf(const Node& node, FilterLayout channels_first) {
  const auto& a = node.attrs<ConvolutionAttrs>();
  const auto x = node.input(0)->type().const_dims(), filter = node.input(1)->type().const_dims();
  if (a.layout != Layout::kNcx || a.filter_layout != channels_first)
    return UnsupportedError("Gradient through {} with the channels last is unsupported",
                            node.Describe());
  if (!x || !filter)
    return UnsupportedError("Gradient through {} of dynamic shape is unsupported", node.Describe());
  NN_ASSIGN(ConvGeometry geometry, GeometryOf(a, *x, *filter));
  return KnownConv{*x, std::move(geometry.windows), a.groups};
}

void BiasGradient(Adjoints& g, const Value* bias, size_t rank, Value* dy) {
  if (!g.Wants(bias)) return;
  std::vector<int64_t> axes = {0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  g.Pass(bias, g.Op("reduce_sum", {dy}, ReduceAttrs{axes, false}));
}

// The first two axes swapped.
Value* Swapped(Adjoints& g, Value* v, size_t rank) {
  std::vector<int64_t> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = i < 2 ? static_cast<int64_t>(1 - i) : int64_t(i);
  return g.Op("transpose", {v}, TransposeAttrs{perm});
}

// The padding with which windows cover x exactly. Elements that no window reaches are removed.
PadAttrs ExactPadding(const KnownConv& c) {
  const size_t rank = c.x.size();
  PadAttrs pad;
  pad.pads.assign(2 * rank, 0);
  for (size_t i = 2; i < rank; ++i) {
    const ConstWindow& w = c.windows[i - 2];
    pad.pads[i] = w.pad_begin;
    pad.pads[rank + i] =
        (w.output - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - w.input - w.pad_begin;
  }
  return pad;
}

Value* Padded(Adjoints& g, Value* x, const PadAttrs& pad) {
  const bool pads = std::ranges::any_of(pad.pads, [](int64_t n) { return n != 0; });
  return pads ? g.Op("pad", {x}, pad) : x;
}

// dw[o, c, k] = sum over n, then p: x[n, c, p * stride + k * dilation - pad] * dy[n, o, p]: a
// convolution over the batch, with dy as filter, and stride and dilation exchanged.
Value* FilterGradient(Adjoints& g, const KnownConv& c, Value* x, Value* dy) {
  const size_t rank = c.x.size();
  const PadAttrs pad = ExactPadding(c);
  ConvAttrs conv;
  conv.groups = c.groups;
  // [n, group, c, ...] as [c, (group, n), ...].
  Dims grouped = ToDims({c.x[0], c.groups, c.x[1] / c.groups});
  Dims images = ToDims({c.x[1] / c.groups, c.groups * c.x[0]});
  std::vector<int64_t> perm = {2, 1, 0};
  for (size_t i = 2; i < rank; ++i) {
    conv.strides.push_back(c.windows[i - 2].dilation);
    conv.dilations.push_back(c.windows[i - 2].stride);
    const Dim size(c.x[i] + pad.pads[i] + pad.pads[rank + i]);
    grouped.push_back(size);
    images.push_back(size);
    perm.push_back(static_cast<int64_t>(i + 1));
  }
  x = Padded(g, x, pad);
  if (c.groups == 1) {
    x = Swapped(g, x, rank);
  } else {
    x = g.Op("reshape", {x}, ReshapeAttrs{grouped, false});
    x = g.Op("transpose", {x}, TransposeAttrs{perm});
    x = g.Op("reshape", {x}, ReshapeAttrs{images, false});
  }
  return Swapped(g, g.Op("conv", {x, Swapped(g, dy, rank)}, conv), rank);
}

void ConvGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  Value *const x = node.input(0), *const filter = node.input(1);
  const auto known = KnownConvOf<ConvAttrs>(node, FilterLayout::kOix);
  if (!known) {
    g.Fail(known.error());
    return;
  }
  const KnownConv& c = *known;
  BiasGradient(g, node.input(2), c.x.size(), dy[0]);
  if (g.Wants(x)) {
    ConvTransposeAttrs a;
    a.groups = c.groups;
    for (const ConstWindow& w : c.windows) {
      a.strides.push_back(w.stride);
      a.dilations.push_back(w.dilation);
      a.pads.push_back(w.pad_begin);
      a.output_shape.push_back(Dim(w.input));
    }
    a.pads.resize(2 * c.windows.size(), 0);
    g.Pass(x, g.Op("conv_transpose", {dy[0], filter}, a));
  }
  if (g.Wants(filter)) g.Pass(filter, FilterGradient(g, c, x, dy[0]));
}

// The derivative with respect to x is the convolution that the operator transposes, and that of the
// filter is the same with x and dy exchanged.
void ConvTransposeGradients(Adjoints& g, const Node& node, std::span<Value* const> dy) {
  Value *const x = node.input(0), *const filter = node.input(1);
  const auto known = KnownConvOf<ConvTransposeAttrs>(node, FilterLayout::kIox);
  const auto y = node.output()->type().const_dims();
  if (!known || !y) {
    g.Fail(known ? InternalError("the shape of {} is unknown", node.Describe()).value()
                 : known.error());
    return;
  }
  KnownConv c = *known;
  c.x = *y;
  ConvAttrs conv;
  conv.groups = c.groups;
  for (ConstWindow& w : c.windows) {
    std::swap(w.input, w.output);
    conv.strides.push_back(w.stride);
    conv.dilations.push_back(w.dilation);
  }
  BiasGradient(g, node.input(2), c.x.size(), dy[0]);
  if (g.Wants(x)) g.Pass(x, g.Op("conv", {Padded(g, dy[0], ExactPadding(c)), filter}, conv));
  if (g.Wants(filter)) g.Pass(filter, FilterGradient(g, c, dy[0], x));
}

const GradientRow kProductGradients[] = {
    {.op = "matmul", .rule = MatmulGradients},
    {.op = "conv", .rule = ConvGradients},
    {.op = "conv_transpose", .rule = ConvTransposeGradients},
};

}  // namespace

std::span<const GradientRow> ProductGradients() {
  return kProductGradients;
}

}  // namespace nn

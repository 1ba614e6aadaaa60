// Reductions, maximum and minimum, and products of many matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/support/index.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// The partial sums that reductions keep (the arithmetic contract).
constexpr int64_t kLanes = 16;
// Limits on the elements of the operands, and of the constants that are added to them, because even
// a small model can declare huge shapes.
constexpr int64_t kMaxReduced = int64_t{1} << 28;
constexpr int64_t kMaxAdded = int64_t{1} << 22;
// Elements of a constant that repeats a number.
constexpr int64_t kMaxFilled = int64_t{1} << 14;

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Value* Zeros(Expansion& e, const std::vector<int64_t>& dims) {
  return e.Constant(Tensor::Of(dims, std::vector<float>(static_cast<size_t>(Product(dims)))));
}

// The operand of a reduction as [outer, n, inner], where n are the reduced axes.
struct Rows {
  Value* value = nullptr;
  int64_t outer = 1, n = 1, inner = 1;
};

std::optional<std::vector<int64_t>> FixedDims(const Value* v) {
  auto dims = v->type().const_dims();
  const auto elements = dims ? CheckedElements(*dims) : std::nullopt;
  if (!elements || *elements == 0 || *elements > kMaxReduced) return std::nullopt;
  return dims;
}

// Null if shapes are unknown or there is nothing to reduce.
Result<Rows> RowsOf(Graph& graph, Node& node) {
  const auto& a = node.attrs<ReduceAttrs>();
  const auto dims = FixedDims(node.input(0));
  Rows rows;
  if (!IsPlainF32(node) || !dims || !FixedDims(node.output()) || node.inputs().size() > 1)
    return rows;
  const auto rank = static_cast<int64_t>(dims->size());
  if (rank == 0) return rows;
  std::vector<int64_t> axes = a.axes;
  for (int64_t& axis : axes)
    if (axis < 0) axis += rank;
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const int64_t first = *std::ranges::min_element(axes);
  std::vector<int64_t> perm;
  for (int64_t k = 0; k < first; ++k) perm.push_back(k);
  perm.insert(perm.end(), axes.begin(), axes.end());
  for (int64_t k = first; k < rank; ++k)
    if (std::ranges::find(axes, k) == axes.end()) perm.push_back(k);
  for (size_t i = 0; i < perm.size(); ++i) {
    const int64_t size = (*dims)[static_cast<size_t>(perm[i])];
    const auto place = static_cast<int64_t>(i);
    int64_t& part = place < first                                       ? rows.outer
                    : place < first + static_cast<int64_t>(axes.size()) ? rows.n
                                                                        : rows.inner;
    part *= size;
  }
  NN_ASSIGN(rows.value, Rearrange(graph, node.input(0), AxisMap::Permutation(perm)));
  return rows;
}

// Sums along the first spatial axis of [N, H, W, C], in order.
Result<Value*> ColumnSums(Expansion& e, Value* x) {
  const auto dims = *x->type().const_dims();
  const int64_t height = dims[1], channels = dims[3];
  Value* const ones = e.Constant(Tensor::Of(
      {1, height, 1, channels}, std::vector<float>(static_cast<size_t>(height * channels), 1.0f)));
  const auto layout = channels > 1 ? FilterLayout::kIxo : FilterLayout::kOxi;
  return e.Add("conv", {x, ones},
               ConvAttrs{.layout = Layout::kNxc,
                         .filter_layout = layout,
                         .strides = {},
                         .dilations = {},
                         .pads = {},
                         .padding = Padding::kValid,
                         .groups = channels});
}

// Whether the constants that SumOf() adds are small enough.
bool CanSum(const Rows& rows) {
  const int64_t lines = (rows.n + kLanes - 1) / kLanes;
  return rows.outer * rows.inner <= kMaxAdded / kLanes && lines * rows.inner <= kMaxAdded;
}

// The sums of rows, [outer, 1, 1, inner].
Result<Value*> SumOf(Graph& graph, Node& node, const Rows& rows) {
  Expansion e(graph, node);
  const int64_t outer = rows.outer, inner = rows.inner;
  if (rows.n == 1) return Reshaped(graph, node, rows.value, {outer, 1, 1, inner});
  const int64_t lines = (rows.n + kLanes - 1) / kLanes;
  NN_ASSIGN(Value * y, Reshaped(graph, node, rows.value, {outer, rows.n, inner}));
  if (const int64_t missing = lines * kLanes - rows.n; missing > 0) {
    NN_ASSIGN(y, e.Add("concat", {y, Zeros(e, {outer, missing, inner})}, ConcatAttrs{1}));
  }
  if (lines > 1) {
    NN_ASSIGN(y, Reshaped(graph, node, y, {outer, lines, kLanes, inner}));
    NN_ASSIGN(y, ColumnSums(e, y));
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    NN_ASSIGN(y, Reshaped(graph, node, y, {outer, 2, half, inner}));
    NN_ASSIGN(y, ColumnSums(e, y));
  }
  return y;
}

// v / n of [outer, 1, 1, inner]: the mean of v and zeros is the quotient, rounded once.
Result<Value*> Quotient(Expansion& e, Value* v, int64_t n) {
  if (n == 1) return v;
  const auto dims = *v->type().const_dims();
  const bool exact = (n & (n - 1)) == 0;
  if (exact || dims[0] * dims[3] > kMaxAdded / n) {
    NN_ASSIGN(Value* const factor, e.Number(DType::kF32, 1.0 / static_cast<double>(n)));
    return e.Add("mul", {v, factor});
  }
  NN_ASSIGN(Value* const column,
            e.Add("concat", {v, Zeros(e, {dims[0], n - 1, 1, dims[3]})}, ConcatAttrs{1}));
  AveragePoolAttrs pool;
  pool.layout = Layout::kNxc;
  pool.kernel = {n, 1};
  pool.padding = Padding::kValid;
  return e.Add("average_pool", {column}, std::move(pool));
}

Result<bool> ReplaceBy(Graph& graph, Node& node, Value* y) {
  NN_ASSIGN(y, Reshaped(graph, node, y, *node.output()->type().const_dims()));
  return Expansion(graph, node).Replace(y);
}

Result<Value*> TimesMinusOne(Expansion& e, Value* v) {
  // A product of two numbers would be a computed scalar.
  if (v->is_constant() && v->type().rank() == 0)
    return e.Constant(Tensor::Scalar(-static_cast<float>(v->constant().GetDouble(0))));
  return e.Add("mul", {v, e.Constant(Tensor::Scalar(-1.0f))});
}

// The maximum along the first spatial axis of [N, H, W, C].
Result<Value*> ColumnMaxima(Expansion& e, Value* x) {
  MaxPoolAttrs pool;
  pool.layout = Layout::kNxc;
  pool.kernel = {x->type().dim(1).value(), 1};
  pool.padding = Padding::kValid;
  return e.Add("max_pool", {x}, std::move(pool));
}

// A number in the shape of a value, computed to keep a large constant out of the model.
Result<Value*> FilledLike(Expansion& e, Value* like, Value* number) {
  NN_ASSIGN(Value * y, e.Add("clip", {like}, ClipAttrs{-1, 1}));
  NN_ASSIGN(y, e.Add("mul", {y, e.Constant(Tensor::Scalar(0.0f))}));
  return e.Add("add", {y, number});
}

}  // namespace

Result<bool> SumByConvolutions(Graph& graph, Node& node) {
  NN_ASSIGN(const Rows rows, RowsOf(graph, node));
  if (rows.value == nullptr || !CanSum(rows)) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, SumOf(graph, node, rows));
  if (node.Is("reduce_mean")) {
    NN_ASSIGN(y, Quotient(e, y, rows.n));
  }
  return ReplaceBy(graph, node, y);
}

Result<bool> ReduceMaxByPool(Graph& graph, Node& node) {
  NN_ASSIGN(const Rows rows, RowsOf(graph, node));
  if (rows.value == nullptr) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, Reshaped(graph, node, rows.value, {rows.outer, rows.n, 1, rows.inner}));
  NN_ASSIGN(y, ColumnMaxima(e, y));
  return ReplaceBy(graph, node, y);
}

Result<bool> NormByPool(Graph& graph, Node& node) {
  NN_ASSIGN(const Rows rows, RowsOf(graph, node));
  if (rows.value == nullptr) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, Reshaped(graph, node, rows.value, {rows.outer, rows.n, 1, rows.inner}));
  LpPoolAttrs pool;
  pool.layout = Layout::kNxc;
  pool.kernel = {rows.n, 1};
  pool.padding = Padding::kValid;
  pool.average = true;
  NN_ASSIGN(y, e.Add("lp_pool", {y}, std::move(pool)));
  NN_ASSIGN(Value* const factor, e.Number(DType::kF32, std::sqrt(static_cast<double>(rows.n))));
  NN_ASSIGN(y, e.Add("mul", {y, factor}));
  return ReplaceBy(graph, node, y);
}

namespace {

// Rows with mean 0 and variance 1.
struct Normalized {
  Value* rows = nullptr;     // [rows, n]
  Value* mean = nullptr;     // [rows, 1]
  Value* inverse = nullptr;  // 1 / sqrt(variance + epsilon), [rows, 1]
};

// With d = x - mean, the row (d, sqrt(n * epsilon)) has the L2 norm sqrt(n * (variance + epsilon)).
Result<Normalized> NormalizeRows(Graph& graph, Node& node, Value* x, int64_t rows, int64_t n,
                                 float epsilon, bool needs_inverse) {
  Expansion e(graph, node);
  Normalized out;
  NN_ASSIGN(x, Reshaped(graph, node, x, {rows, n}));
  NN_ASSIGN(Value * mean, SumOf(graph, node, Rows{x, rows, n, 1}));
  NN_ASSIGN(mean, Quotient(e, mean, n));
  NN_ASSIGN(out.mean, Reshaped(graph, node, mean, {rows, 1}));
  NN_ASSIGN(Value* const minus, TimesMinusOne(e, out.mean));
  NN_ASSIGN(Value * y, e.Add("add", {x, minus}));
  const double count = static_cast<double>(n);
  const auto last = static_cast<float>(std::sqrt(count * static_cast<double>(epsilon)));
  Value* const column =
      e.Constant(Tensor::Of({rows, 1}, std::vector<float>(static_cast<size_t>(rows), last)));
  NN_ASSIGN(y, e.Add("concat", {y, column}, ConcatAttrs{1}));
  NN_ASSIGN(y, Reshaped(graph, node, y, {rows, 1, 1, n + 1}));
  L2NormalizationAttrs norm;
  norm.axes = {3};
  norm.epsilon = 0;
  NN_ASSIGN(y, e.Add("l2_normalization", {y}, std::move(norm)));
  if (needs_inverse) {
    NN_ASSIGN(Value * v, Reshaped(graph, node, y, {rows, n + 1}));
    NN_ASSIGN(v, e.Add("slice", {v}, SliceAttrs{{1}, {n}, {n + 1}, {1}}));
    NN_ASSIGN(Value* const factor,
              e.Number(DType::kF32, 1 / std::sqrt(static_cast<double>(epsilon))));
    NN_ASSIGN(out.inverse, e.Add("mul", {v, factor}));
  }
  // Each element but the last, times sqrt(n).
  NN_ASSIGN(y, Reshaped(graph, node, y, {rows, 1, n + 1, 1}));
  Value* const taps =
      e.Constant(Tensor::Of<float>({1, 1, 2, 1}, {static_cast<float>(std::sqrt(count)), 0.0f}));
  NN_ASSIGN(y, e.Add("conv", {y, taps},
                     ConvAttrs{.layout = Layout::kNxc,
                               .filter_layout = FilterLayout::kOxi,
                               .strides = {},
                               .dilations = {},
                               .pads = {},
                               .padding = Padding::kValid,
                               .groups = 1}));
  NN_ASSIGN(out.rows, Reshaped(graph, node, y, {rows, n}));
  return out;
}

// y * scale + bias, of which each may be null.
Result<Value*> Scaled(Expansion& e, Value* y, Value* scale, Value* bias) {
  if (scale != nullptr) {
    NN_ASSIGN(y, e.Add("mul", {y, scale}));
  }
  if (bias != nullptr) {
    NN_ASSIGN(y, e.Add("add", {y, bias}));
  }
  return y;
}

bool HasUsedOutput(const Graph& graph, const Node& node, size_t i) {
  return i < node.outputs().size() && graph.HasUses(node.output(i));
}

bool TakesF32(const Node& node) {
  return std::ranges::all_of(node.inputs(), [](const Value* v) {
    return v == nullptr || (v->dtype() == DType::kF32 && !v->type().quantized());
  });
}

}  // namespace

Result<bool> LayerNormByL2(Graph& graph, Node& node) {
  const auto a = node.attrs<LayerNormAttrs>();
  const auto dims = FixedDims(node.input(0));
  const bool needs_inverse = HasUsedOutput(graph, node, 2);
  if (!TakesF32(node) || !dims || (needs_inverse && a.epsilon == 0)) return false;
  const auto rank = static_cast<int64_t>(dims->size());
  const auto axis = dims->begin() + (a.axis < 0 ? a.axis + rank : a.axis);
  const int64_t rows = std::accumulate(dims->begin(), axis, int64_t{1}, std::multiplies<>());
  const int64_t n = std::accumulate(axis, dims->end(), int64_t{1}, std::multiplies<>());
  if (!CanSum({nullptr, rows, n, 1})) return false;
  NN_ASSIGN(const Normalized norm,
            NormalizeRows(graph, node, node.input(0), rows, n, a.epsilon, needs_inverse));
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, Reshaped(graph, node, norm.rows, *dims));
  NN_ASSIGN(y, Scaled(e, y, node.input(1), node.input(2)));
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!HasUsedOutput(graph, node, i)) continue;
    NN_ASSIGN(Value* const v, Reshaped(graph, node, i == 1 ? norm.mean : norm.inverse,
                                       *node.output(i)->type().const_dims()));
    e.ReplaceOutput(i, v);
  }
  return e.Replace(y);
}

Result<bool> InstanceNormByL2(Graph& graph, Node& node) {
  const auto a = node.attrs<InstanceNormAttrs>();
  const auto dims = FixedDims(node.input(0));
  if (!TakesF32(node) || !dims || dims->size() < 2) return false;
  const int rank = static_cast<int>(dims->size());
  const int64_t channels = (*dims)[static_cast<size_t>(ChannelAxis(a.layout, rank))];
  const int64_t rows = (*dims)[0] * channels, n = Product(*dims) / rows;
  if (!CanSum({nullptr, rows, n, 1})) return false;
  const bool moves = a.layout == Layout::kNxc && rank > 2;
  Value* x = node.input(0);
  if (moves) {
    NN_ASSIGN(x, Rearrange(graph, x, AxisMap::ChannelsFirst(rank)));
  }
  const auto first = *x->type().const_dims();
  NN_ASSIGN(const Normalized norm, NormalizeRows(graph, node, x, rows, n, a.epsilon, false));
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, Reshaped(graph, node, norm.rows, {first[0], channels, n}));
  std::vector<Value*> factors;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    Value* v = node.input(i);
    if (v != nullptr) {
      NN_ASSIGN(v, Reshaped(graph, node, v, {channels, 1}));
    }
    factors.push_back(v);
  }
  NN_ASSIGN(y, Scaled(e, y, factors[0], factors[1]));
  NN_ASSIGN(y, Reshaped(graph, node, y, first));
  if (moves) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsLast(rank)));
  }
  return e.Replace(y);
}

Result<bool> ReduceMinByMax(Graph& graph, Node& node) {
  if (!IsReal(node) || node.inputs().size() > 1) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, TimesMinusOne(e, node.input(0)));
  NN_ASSIGN(y, e.Add("reduce_max", {y}, node.attrs()));
  NN_ASSIGN(y, TimesMinusOne(e, y));
  return e.Replace(y);
}

Result<bool> MaximumByPool(Graph& graph, Node& node) {
  const auto dims = FixedDims(node.output());
  if (!IsReal(node) || !dims || node.inputs().size() != 2) return false;
  Expansion e(graph, node);
  std::vector<Value*> rows;
  const int64_t n = Product(*dims);
  for (Value* v : node.inputs()) {
    const bool is_number = v->is_constant() && v->constant().elements() == 1;
    if (is_number && n > kMaxFilled) {
      NN_ASSIGN(v, FilledLike(e, node.input(v == node.input(0) ? 1 : 0), v));
    }
    if (!(*v->type().dims == *node.output()->type().dims)) {
      NN_ASSIGN(v, e.Add("expand", {v}, ExpandAttrs{ToDims(*dims)}));
    }
    NN_ASSIGN(v, Reshaped(graph, node, v, {1, 1, n, 1}));
    rows.push_back(v);
  }
  NN_ASSIGN(Value * y, e.Add("concat", std::move(rows), ConcatAttrs{1}));
  NN_ASSIGN(y, ColumnMaxima(e, y));
  return ReplaceBy(graph, node, y);
}

Result<bool> MinimumByMaximum(Graph& graph, Node& node) {
  if (!IsReal(node) || node.inputs().size() != 2) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const a, TimesMinusOne(e, node.input(0)));
  NN_ASSIGN(Value* const b, TimesMinusOne(e, node.input(1)));
  NN_ASSIGN(Value * y, e.Add("maximum", {a, b}));
  NN_ASSIGN(y, TimesMinusOne(e, y));
  return e.Replace(y);
}

Result<bool> ClipByBounds(Graph& graph, Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (!IsReal(node) || node.inputs().size() != 1 || !FixedDims(node.output())) return false;
  const float low = a.min, high = a.max;
  Expansion e(graph, node);
  Value* y = node.input(0);
  if (low != -std::numeric_limits<float>::infinity()) {
    NN_ASSIGN(y, e.Add("maximum", {y, e.Constant(Tensor::Scalar(low))}));
  }
  if (high != std::numeric_limits<float>::infinity()) {
    NN_ASSIGN(y, e.Add("minimum", {y, e.Constant(Tensor::Scalar(high))}));
  }
  return e.Replace(y);
}

Result<bool> RunningSum(Graph& graph, Node& node) {
  constexpr int64_t kLongest = 4096;
  const auto& a = node.attrs<ScanAttrs>();
  const auto dims = FixedDims(node.input(0));
  if (!IsReal(node) || !dims || dims->empty() || node.inputs().size() > 1) return false;
  const auto rank = static_cast<int64_t>(dims->size());
  const int64_t axis = a.axis < 0 ? a.axis + rank : a.axis;
  const auto at = dims->begin() + axis;
  const int64_t outer = std::accumulate(dims->begin(), at, int64_t{1}, std::multiplies<>());
  const int64_t inner = std::accumulate(at + 1, dims->end(), int64_t{1}, std::multiplies<>());
  const int64_t n = *at;
  if (n > kLongest || (a.exclusive && outer * inner > kMaxAdded)) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, Reshaped(graph, node, node.input(0), {outer, n, inner}));
  if (a.reverse) {
    NN_ASSIGN(y, e.Add("reverse", {y}, ReverseAttrs{{1}}));
  }
  if (a.exclusive) {
    std::vector<Value*> parts = {Zeros(e, {outer, 1, inner})};
    if (n > 1) {
      NN_ASSIGN(y, e.Add("slice", {y}, SliceAttrs{{1}, {0}, {n - 1}, {1}}));
      parts.push_back(y);
    }
    NN_ASSIGN(y, e.Add("concat", std::move(parts), ConcatAttrs{1}));
  }
  NN_ASSIGN(y, Reshaped(graph, node, y, {outer, n, inner, 1}));
  Value* const ones =
      e.Constant(Tensor::Of({1, n, 1, 1}, std::vector<float>(static_cast<size_t>(n), 1.0f)));
  NN_ASSIGN(y, e.Add("conv", {y, ones},
                     ConvAttrs{.layout = Layout::kNxc,
                               .filter_layout = FilterLayout::kOxi,
                               .strides = {},
                               .dilations = {},
                               .pads = {n - 1, 0, 0, 0},
                               .padding = Padding::kExplicit,
                               .groups = 1}));
  if (a.reverse) {
    NN_ASSIGN(y, e.Add("reverse", {y}, ReverseAttrs{{1}}));
  }
  return ReplaceBy(graph, node, y);
}

Result<bool> MatmulByBatches(Graph& graph, Node& node) {
  constexpr int64_t kMaxBatches = 256;
  const auto& a = node.attrs<MatmulAttrs>();
  const auto x = FixedDims(node.input(0));
  const auto w = FixedDims(node.input(1));
  const auto y = FixedDims(node.output());
  if (!IsPlainF32(node) || node.input(1)->dtype() != DType::kF32 || !x || !w || !y) return false;
  if (x->size() == 2 && w->size() == 2) return false;
  NN_ASSIGN(const MatmulGeometry g, GeometryOf(a, *x, *w));
  if (g.batch_count() > kMaxBatches) return false;
  const MatmulAttrs flags{a.transpose_a && x->size() > 1, a.transpose_b && w->size() > 1};
  // Matrices stacked vertically.
  const auto stack = [&](size_t i, int64_t rows, int64_t columns) -> Result<Value*> {
    const int64_t all = Product(*node.input(i)->type().const_dims());
    return Reshaped(graph, node, node.input(i), {all / columns / rows * rows, columns});
  };
  const int64_t x_rows = flags.transpose_a ? g.k : g.m, x_columns = flags.transpose_a ? g.m : g.k;
  const int64_t w_rows = flags.transpose_b ? g.n : g.k, w_columns = flags.transpose_b ? g.k : g.n;
  NN_ASSIGN(Value* const left, stack(0, x_rows, x_columns));
  NN_ASSIGN(Value* const right, stack(1, w_rows, w_columns));
  Expansion e(graph, node);
  const auto part = [&](Value* all, int64_t offset, int64_t rows, int64_t columns) {
    const int64_t at = offset / columns;
    return all->type().dim(0) == rows
               ? Result<Value*>(all)
               : e.Add("slice", {all}, SliceAttrs{{0}, {at}, {at + rows}, {1}});
  };
  std::vector<int64_t> w_offsets;
  ForEachOffset(g.batch, g.b_batch, [&](int64_t, int64_t at) { w_offsets.push_back(at); });
  std::vector<int64_t> x_offsets;
  ForEachOffset(g.batch, g.a_batch, [&](int64_t, int64_t at) { x_offsets.push_back(at); });
  std::vector<Value*> products;
  for (size_t i = 0; i < x_offsets.size(); ++i) {
    NN_ASSIGN(Value* const l, part(left, x_offsets[i], x_rows, x_columns));
    NN_ASSIGN(Value* const r, part(right, w_offsets[i], w_rows, w_columns));
    std::vector<Value*> inputs = {l, r};
    if (node.input(2) != nullptr) inputs.push_back(node.input(2));
    NN_ASSIGN(Value* const product, e.Add("matmul", std::move(inputs), flags));
    products.push_back(product);
  }
  Value* all = products[0];
  if (products.size() > 1) {
    NN_ASSIGN(all, e.Add("concat", std::move(products), ConcatAttrs{0}));
  }
  return ReplaceBy(graph, node, all);
}

}  // namespace nn::nnapi

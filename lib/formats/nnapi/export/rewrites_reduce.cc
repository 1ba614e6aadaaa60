// Reductions, maximum and minimum, and products of many matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/terms.h"
#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/support/index.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// The partial sums that reductions keep (the arithmetic contract).
constexpr int64_t kLanes = 16;
// Limit of NNAPI: elements of an operand of a reduction, a norm, a running sum, a maximum or a
// matrix product. Even a small model can declare huge shapes.
constexpr int64_t kMaxReduced = int64_t{1} << 28;
// Limit of NNAPI: elements of a constant that a reduction or a running sum adds.
constexpr int64_t kMaxAdded = int64_t{1} << 22;
// Elements of a constant that repeats a number.
constexpr int64_t kMaxFilled = int64_t{1} << 14;

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Tensor Filled(const std::vector<int64_t>& dims, float number) {
  return Tensor::Of(dims, std::vector<float>(static_cast<size_t>(Product(dims)), number));
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

Term Convolution(const Term& x, const Term& filter, ConvAttrs a) {
  a.layout = Layout::kNxc;
  return Apply("conv", {x, filter}, std::move(a));
}

// Sums along the first spatial axis, of `height` elements, of [N, H, W, C], in order.
Term ColumnSums(const Term& x, int64_t height, int64_t channels) {
  ConvAttrs a;
  a.filter_layout = channels > 1 ? FilterLayout::kIxo : FilterLayout::kOxi;
  a.padding = Padding::kValid;
  a.groups = channels;
  return Convolution(x, Filled({1, height, 1, channels}, 1), std::move(a));
}

// Whether the constants that SumOf() adds are small enough.
bool CanSum(const Rows& rows) {
  const int64_t lines = (rows.n + kLanes - 1) / kLanes;
  return rows.outer * rows.inner <= kMaxAdded / kLanes && lines * rows.inner <= kMaxAdded;
}

// The sums of rows, [outer, 1, 1, inner].
Term SumOf(const Rows& rows) {
  const int64_t outer = rows.outer, inner = rows.inner;
  if (rows.n == 1) return Shaped(rows.value, {outer, 1, 1, inner});
  const int64_t lines = (rows.n + kLanes - 1) / kLanes;
  Term y = Shaped(rows.value, {outer, rows.n, inner});
  if (const int64_t missing = lines * kLanes - rows.n; missing > 0)
    y = Concat({y, Filled({outer, missing, inner}, 0)}, 1);
  if (lines > 1) y = ColumnSums(Reshape(y, ToDims({outer, lines, kLanes, inner})), lines, inner);
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    y = ColumnSums(Reshape(y, ToDims({outer, 2, half, inner})), 2, inner);
  return y;
}

// A pool along the first spatial axis, of `height` elements, of [N, H, W, C].
template <typename A>
Term ColumnPool(std::string_view op, const Term& x, int64_t height, A a = {}) {
  a.layout = Layout::kNxc;
  a.kernel = {height, 1};
  a.padding = Padding::kValid;
  return Apply(op, {x}, std::move(a));
}

// v / n of [outer, 1, 1, inner]: the mean of v and zeros is the quotient, rounded once.
Term Quotient(const Term& v, const Rows& rows) {
  const int64_t outer = rows.outer, n = rows.n, inner = rows.inner;
  if (n == 1) return v;
  const bool exact = (n & (n - 1)) == 0;
  if (exact || outer * inner > kMaxAdded / n) return v * (1.0 / static_cast<double>(n));
  return ColumnPool<AveragePoolAttrs>("average_pool",
                                      Concat({v, Filled({outer, n - 1, 1, inner}, 0)}, 1), n);
}

// A number in the shape of a value, computed to keep a large constant out of the model.
Term FilledLike(const Term& like, const Term& number) {
  return Unit(like) * 0 + number;
}

// Columns, [outer, n, 1, inner].
Term ColumnsOf(const Rows& rows) {
  return Shaped(rows.value, {rows.outer, rows.n, 1, rows.inner});
}

// Replaces the node by [outer, 1, 1, inner].
Result<bool> ReplaceBy(Graph& graph, Node& node, const Rows& rows, const Term& y) {
  return Formulas(graph, node)
      .Replace(Shaped(y, {rows.outer, 1, 1, rows.inner}, *node.output()->type().const_dims()));
}

}  // namespace

Result<bool> SumByConvolutions(Graph& graph, Node& node) {
  NN_ASSIGN(const Rows rows, RowsOf(graph, node));
  if (rows.value == nullptr || !CanSum(rows)) return false;
  const Term sum = SumOf(rows);
  return ReplaceBy(graph, node, rows, node.Is("reduce_mean") ? Quotient(sum, rows) : sum);
}

Result<bool> ReduceMaxByPool(Graph& graph, Node& node) {
  NN_ASSIGN(const Rows rows, RowsOf(graph, node));
  if (rows.value == nullptr) return false;
  return ReplaceBy(graph, node, rows,
                   ColumnPool<MaxPoolAttrs>("max_pool", ColumnsOf(rows), rows.n));
}

Result<bool> NormByPool(Graph& graph, Node& node) {
  NN_ASSIGN(const Rows rows, RowsOf(graph, node));
  if (rows.value == nullptr) return false;
  LpPoolAttrs pool;
  pool.average = true;
  const Term norm = ColumnPool("lp_pool", ColumnsOf(rows), rows.n, std::move(pool));
  return ReplaceBy(graph, node, rows, norm * std::sqrt(static_cast<double>(rows.n)));
}

namespace {

// Rows with mean 0 and variance 1.
struct Normalized {
  Term rows;     // [rows, n]
  Term mean;     // [rows, 1]
  Term inverse;  // 1 / sqrt(variance + epsilon), [rows, 1]
};

// Of x [rows, n]. With d = x - mean, the row (d, sqrt(n * epsilon)) has the L2 norm
// sqrt(n * (variance + epsilon)).
Normalized NormalizeRows(Value* x, int64_t rows, int64_t n, float epsilon) {
  const Rows of{x, rows, n, 1};
  const Term mean = Reshape(Quotient(SumOf(of), of), ToDims({rows, 1}));
  const double count = static_cast<double>(n);
  const auto last = static_cast<float>(std::sqrt(count * static_cast<double>(epsilon)));
  const Term row =
      Reshape(Concat({x - mean, Filled({rows, 1}, last)}, 1), ToDims({rows, 1, 1, n + 1}));
  L2NormalizationAttrs norm;
  norm.axes = {3};
  norm.epsilon = 0;
  const Term y = Apply("l2_normalization", {row}, std::move(norm));
  const Term inverse = Slice(Reshape(y, ToDims({rows, n + 1})), 1, n, n + 1) *
                       (1 / std::sqrt(static_cast<double>(epsilon)));
  // Each element but the last, times sqrt(n).
  const Term taps = Tensor::Of<float>({1, 1, 2, 1}, {static_cast<float>(std::sqrt(count)), 0.0f});
  ConvAttrs conv;
  conv.filter_layout = FilterLayout::kOxi;
  conv.padding = Padding::kValid;
  const Term scaled = Convolution(Reshape(y, ToDims({rows, 1, n + 1, 1})), taps, std::move(conv));
  return {Reshape(scaled, ToDims({rows, n})), mean, inverse};
}

// y * scale + bias, of which each may be absent.
Term Scaled(const Term& y, const Term& scale, const Term& bias) {
  const Term product = scale.is_absent() ? y : y * scale;
  return bias.is_absent() ? product : product + bias;
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
  Formulas e(graph, node);
  NN_ASSIGN(Value* const x, e.Build(Shaped(node.input(0), {rows, n})));
  const Normalized norm = NormalizeRows(x, rows, n, a.epsilon);
  NN_ASSIGN(Value* const y,
            e.Build(Scaled(Shaped(norm.rows, {rows, n}, *dims), node.input(1), node.input(2))));
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!HasUsedOutput(graph, node, i)) continue;
    NN_ASSIGN(Value* const v, e.Build(Shaped(i == 1 ? norm.mean : norm.inverse, {rows, 1},
                                             *node.output(i)->type().const_dims())));
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
  Formulas e(graph, node);
  NN_ASSIGN(x, e.Build(Shaped(x, {rows, n})));
  const Normalized norm = NormalizeRows(x, rows, n, a.epsilon);
  const auto factor = [&](size_t i) {
    Value* const v = node.input(i);
    return v == nullptr ? Term() : Shaped(v, {channels, 1});
  };
  const std::vector<int64_t> shape = {first[0], channels, n};
  NN_ASSIGN(Value * y,
            e.Build(Shaped(Scaled(Shaped(norm.rows, {rows, n}, shape), factor(1), factor(2)), shape,
                           first)));
  if (moves) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsLast(rank)));
  }
  return e.Replace(y);
}

Result<bool> MaximumByPool(Graph& graph, Node& node) {
  const auto dims = FixedDims(node.output());
  if (!IsReal(node) || !dims || node.inputs().size() != 2) return false;
  Formulas e(graph, node);
  std::vector<Term> rows;
  const int64_t n = Product(*dims);
  for (Value* v : node.inputs()) {
    const bool is_number = v->is_constant() && v->constant().elements() == 1;
    if (is_number && n > kMaxFilled) {
      NN_ASSIGN(v, e.Build(FilledLike(node.input(v == node.input(0) ? 1 : 0), v)));
    }
    const bool is_full = *v->type().dims == *node.output()->type().dims;
    const Term full = is_full ? Term(v) : Apply("expand", {v}, ExpandAttrs{ToDims(*dims)});
    rows.push_back(Shaped(full, *dims, {1, 1, n, 1}));
  }
  const Term y = ColumnPool<MaxPoolAttrs>("max_pool", Concat(std::move(rows), 1), 2);
  return e.Replace(Shaped(y, {1, 1, n, 1}, *dims));
}

Result<bool> RunningSum(Graph& graph, Node& node) {
  // Limit of NNAPI: elements of the axis of a running sum.
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
  const auto reversed = [&](const Term& x) {
    return a.reverse ? Apply("reverse", {x}, ReverseAttrs{{1}}) : x;
  };
  Term x = reversed(Shaped(node.input(0), {outer, n, inner}));
  if (a.exclusive) {
    const Term zeros = Filled({outer, 1, inner}, 0);
    x = n > 1 ? Concat({zeros, Slice(x, 1, 0, n - 1)}, 1) : zeros;
  }
  ConvAttrs conv;
  conv.filter_layout = FilterLayout::kOxi;
  conv.pads = {n - 1, 0, 0, 0};
  conv.padding = Padding::kExplicit;
  const Term sums = Convolution(Reshape(x, ToDims({outer, n, inner, 1})), Filled({1, n, 1, 1}, 1),
                                std::move(conv));
  return Formulas(graph, node).Replace(Shaped(reversed(sums), {outer, n, inner, 1}, *dims));
}

Result<bool> MatmulByBatches(Graph& graph, Node& node) {
  // Limit of NNAPI: batches of a matrix product.
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
  const auto stack = [&](size_t i, int64_t rows, int64_t columns) {
    const int64_t all = Product(*node.input(i)->type().const_dims());
    return Shaped(node.input(i), {all / columns / rows * rows, columns});
  };
  const int64_t x_rows = flags.transpose_a ? g.k : g.m, x_columns = flags.transpose_a ? g.m : g.k;
  const int64_t w_rows = flags.transpose_b ? g.n : g.k, w_columns = flags.transpose_b ? g.k : g.n;
  Formulas e(graph, node);
  NN_ASSIGN(Value* const left, e.Build(stack(0, x_rows, x_columns)));
  NN_ASSIGN(Value* const right, e.Build(stack(1, w_rows, w_columns)));
  const auto part = [](Value* all, int64_t offset, int64_t rows, int64_t columns) {
    const int64_t at = offset / columns;
    return all->type().dim(0) == rows ? Term(all) : Slice(all, 0, at, at + rows);
  };
  std::vector<int64_t> w_offsets;
  ForEachOffset(g.batch, g.b_batch, [&](int64_t, int64_t at) { w_offsets.push_back(at); });
  std::vector<int64_t> x_offsets;
  ForEachOffset(g.batch, g.a_batch, [&](int64_t, int64_t at) { x_offsets.push_back(at); });
  std::vector<Term> products;
  for (size_t i = 0; i < x_offsets.size(); ++i) {
    std::vector<Term> operands = {part(left, x_offsets[i], x_rows, x_columns),
                                  part(right, w_offsets[i], w_rows, w_columns)};
    if (node.input(2) != nullptr) operands.push_back(node.input(2));
    products.push_back(Apply("matmul", std::move(operands), flags));
  }
  NN_ASSIGN(Value* const all, e.Build(Concat(std::move(products), 0)));
  return e.Replace(Shaped(all, *y));
}

}  // namespace nn::nnapi

// Rewrites of operators that NNAPI 1.0 lacks. Each preserves the values up to rounding.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/checked_math.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/rewrites_functions.h"
#include "formats/nnapi/export/terms.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/pool.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/rewrite.h"
#include "rewrite/weights.h"

namespace nn::nnapi {

bool IsReal(const Node& node) {
  return node.output()->dtype() == DType::kF32 && !WhyNotOperands(node);
}

namespace {

// ---- Matrices

// Operands in the layout of FULLY_CONNECTED: x [m, k], weights [n, k].
Result<bool> TransposeMatrices(Graph& graph, Node& node) {
  MatmulAttrs a = node.attrs<MatmulAttrs>();
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  if (!x.ranked() || x.rank() != 2 || !w.ranked() || w.rank() != 2) return false;
  if (!a.transpose_a && a.transpose_b) return false;
  const AxisMap swap = AxisMap::Permutation({1, 0});
  if (a.transpose_a) {
    NN_ASSIGN(Value* const v, Rearrange(graph, node.input(0), swap));
    graph.SetInput(&node, 0, v);
  }
  if (!a.transpose_b) {
    NN_ASSIGN(Value* const v, Rearrange(graph, node.input(1), swap));
    graph.SetInput(&node, 1, v);
  }
  node.set_attrs(MatmulAttrs{false, true});
  return true;
}

// x [..., m, k] by a matrix, as rows of one matrix.
Result<bool> FlattenMatmul(Graph& graph, Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const auto x = node.input(0)->type().const_dims();
  const auto y = node.output()->type().const_dims();
  const Type& w = node.input(1)->type();
  if (!x || !y || x->size() < 3 || a.transpose_a || !w.ranked() || w.rank() != 2) return false;
  if (node.output()->type().quantized() && node.output()->type().quant->per_axis()) return false;
  const auto rows = CheckedElements(std::span(x->begin(), x->end() - 1));
  if (!rows) return false;
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  Expansion e(graph, node);
  NN_ASSIGN(operands[0], e.Build(Shaped(node.input(0), {*rows, x->back()})));
  NN_ASSIGN(Value* const product, ExpansionLike(graph, node).Add("matmul", std::move(operands), a));
  return e.Replace(Shaped(product, *y));
}

// Lookups permute fewer elements, so that the sums keep their order.
Result<bool> FoldLargeTranspose(Graph& graph, Node& node) {
  constexpr int64_t kFewElements = 1 << 12;
  if (!TakesFlattenedTranspose(node)) return false;
  const auto dims = node.input(0)->type().const_dims();
  if (dims && CheckedElements(*dims).value_or(0) <= kFewElements) return false;
  return FoldFlattenedTranspose(graph, node);
}

// ---- Reductions over the spatial axes

// The layout whose spatial axes these are.
std::optional<Layout> SpatialLayout(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::sort(axes.begin(), axes.end());
  if (rank != 4) return std::nullopt;
  if (axes == std::vector<int64_t>{2, 3}) return Layout::kNcx;
  if (axes == std::vector<int64_t>{1, 2}) return Layout::kNxc;
  return std::nullopt;
}

template <typename A>
Result<bool> PoolAll(Graph& graph, Node& node, std::string_view op) {
  const auto& a = node.attrs<ReduceAttrs>();
  const Type& x = node.input(0)->type();
  if (!x.ranked() || x.dtype != DType::kF32 || node.inputs().size() > 1) return false;
  const auto layout = SpatialLayout(a.axes, x.rank());
  if (!layout) return false;
  const auto kernel = ConstDims(SpatialDims(*x.dims, *layout));
  const auto fits = [](int64_t k) { return k > 0 && k <= std::numeric_limits<int32_t>::max(); };
  if (!kernel || !std::ranges::all_of(*kernel, fits)) return false;
  A pool;
  pool.layout = *layout;
  pool.kernel = *kernel;
  const Term y = Apply(op, {node.input(0)}, std::move(pool));
  return Expansion(graph, node).Replace(a.keep_dims ? y : Squeeze(y, a.axes));
}

// Whether a convolution reads the value, or all of its elements in other places.
bool FeedsConv(const Value* v, int depth = 0) {
  constexpr int kMaxDepth = 16;
  return depth < kMaxDepth && std::ranges::any_of(v->uses(), [&](const Use& use) {
           const Node& user = *use.node;
           return user.Is<ConvAttrs>() ||
                  (user.op().movement != Movement::kNone && FeedsConv(user.output(), depth + 1));
         });
}

// A mean that a convolution reads scales whole channels, so the network amplifies the rounding of a
// different order of summation. SumByConvolutions() keeps the order.
Result<bool> PoolMean(Graph& graph, Node& node) {
  if (FeedsConv(node.output())) return false;
  return PoolAll<AveragePoolAttrs>(graph, node, "average_pool");
}
Result<bool> PoolMax(Graph& graph, Node& node) {
  return PoolAll<MaxPoolAttrs>(graph, node, "max_pool");
}

// ---- Padding

// Zeros around the spatial axes are what a convolution pads with.
Result<bool> PadInConv(Graph& graph, Node& node) {
  ConvAttrs a = node.attrs<ConvAttrs>();
  const Node* pad = node.input(0)->def();
  const int rank = node.input(0)->type().rank();
  if (pad == nullptr || !pad->Is<PadAttrs>() || pad->attrs<PadAttrs>().mode != PadMode::kConstant ||
      (a.padding != Padding::kExplicit && a.padding != Padding::kValid))
    return false;
  const std::vector<int64_t>& pads = pad->attrs<PadAttrs>().pads;
  if (pads.size() != 2 * static_cast<size_t>(rank)) return false;
  // A convolution pads with the real number 0, which is the zero point of quantized types.
  const Type& type = pad->input(0)->type();
  const double zero = type.quantized() ? static_cast<double>(type.quant->zero_point()) : 0;
  for (size_t i = 1; i < pad->inputs().size(); ++i) {
    const Value* v = pad->input(i);
    const bool is_zero = v == nullptr || (v->is_constant() && v->constant().elements() == 1 &&
                                          v->constant().GetDouble(0) == zero);
    if (!is_zero) return false;
  }
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  const auto axes = static_cast<size_t>(rank) - 2;
  std::vector<int64_t> sum(2 * axes, 0);
  for (size_t axis = 0; axis < static_cast<size_t>(rank); ++axis)
    for (size_t end = 0; end < 2; ++end) {
      const int64_t n = pads[end * static_cast<size_t>(rank) + axis];
      const bool spatial = axis >= first && axis < first + axes;
      if (n < 0 || (n != 0 && !spatial)) return false;
      if (spatial) sum[end * axes + axis - first] = n;
    }
  if (a.padding == Padding::kExplicit && !a.pads.empty())
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += a.pads[i];
  a.padding = Padding::kExplicit;
  a.pads = std::move(sum);
  graph.SetInput(&node, 0, pad->input(0));
  node.set_attrs(std::move(a));
  return true;
}

// A pad node is illegal; the convolutions after it absorb the padding.
Result<bool> PadIntoUses(Graph& graph, Node& node) {
  const std::vector<Use> uses(node.output()->uses().begin(), node.output()->uses().end());
  bool changed = false;
  for (const Use& use : uses) {
    if (!use.node->Is<ConvAttrs>() || use.index != 0) continue;
    NN_ASSIGN(const bool taken, PadInConv(graph, *use.node));
    changed |= taken;
  }
  if (changed && !graph.HasUses(node.output())) graph.Erase(&node);
  return changed;
}

// ---- Softmax

// The last axis must be that of two or four.
Result<bool> ShapeSoftmax(Graph& graph, Node& node) {
  const auto& a = node.attrs<SoftmaxAttrs>();
  const auto dims = node.input(0)->type().const_dims();
  const int64_t rank = dims ? static_cast<int64_t>(dims->size()) : 0;
  if ((rank != 1 && rank != 3) || (a.axis != -1 && a.axis != rank - 1)) return false;
  std::vector<int64_t> wider = {1};
  wider.insert(wider.end(), dims->begin(), dims->end());
  Expansion e(graph, node);
  NN_ASSIGN(Value* const in, e.Build(Shaped(node.input(0), wider)));
  NN_ASSIGN(Value* const y,
            ExpansionLike(graph, node).Add("softmax", {in}, SoftmaxAttrs{-1, a.beta}));
  return e.Replace(Shaped(y, *dims));
}

// ---- Indices

// EMBEDDING_LOOKUP takes a vector of i32. An input of i64 that is only such a vector becomes i32.
Result<bool> IndicesAsVector(Graph& graph, Node& node) {
  const auto a = node.attrs<GatherAttrs>();
  Value* const indices = node.input(1);
  const auto dims = indices->type().const_dims();
  if (a.axis != 0 || a.batch_dims != 0 || indices->is_constant() || !IsPlainF32(node) || !dims ||
      dims->empty() || !node.output()->type().const_dims())
    return false;
  const bool narrows = indices->dtype() == DType::kI64;
  if (narrows) {
    const auto is_index = [](const Use& u) { return u.node->Is<GatherAttrs>() && u.index == 1; };
    if (!indices->is_input() || graph.IsOutput(indices) ||
        !std::ranges::all_of(indices->uses(), is_index))
      return false;
    indices->set_type(Type(DType::kI32, *indices->type().dims));
  }
  std::vector<int64_t> ones;
  for (size_t k = 0; k < dims->size() && ones.size() + 1 < dims->size(); ++k)
    if ((*dims)[k] == 1) ones.push_back(static_cast<int64_t>(k));
  if (dims->size() - ones.size() != 1 || ones.empty()) return narrows;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const y, e.Add("gather", {node.input(0), Squeeze(indices, ones)}, a));
  return e.Replace(Shaped(y, *node.output()->type().const_dims()));
}

// ---- Dilations

// Zeros between taps, if that leaves the filter small; else DilatedByPhases() follows.
Result<bool> FillSmallDilations(Graph& graph, Node& node) {
  int64_t growth = 1;
  for (const int64_t d : node.attrs<ConvAttrs>().dilations) growth = std::max(growth, d);
  const Type& x = node.input(0)->type();
  if (growth > 2 && IsPlainF32(node) && x.const_dims()) return false;
  return FillDilations(graph, node);
}

}  // namespace

// All but DEPTHWISE_CONV_2D.
bool LacksGroups(const Node& conv) {
  if (!conv.Is<ConvAttrs>()) return false;
  const Type& filter = conv.input(1)->type();
  return filter.dim(AxesOf(conv.attrs<ConvAttrs>().filter_layout, filter.rank()).input) != 1;
}

std::optional<FilterLayout> FilterOrder(const Node& conv) {
  if (!conv.Is<ConvAttrs>() || FindExport(conv.op_name()) == nullptr) return std::nullopt;
  return conv.attrs<ConvAttrs>().groups != 1 ? FilterLayout::kIxo : FilterLayout::kOxi;
}

std::span<const Rewrite> Rewrites() {
  static const Rewrite rewrites[] = {
      kEarlyFunctions,
      {"reduce_mean", "mean as a pool", PoolMean},
      {"reduce_max", "maximum as a pool", PoolMax},
      {"pad", "padding in convolutions", PadIntoUses},
      {"grid_sample", "weighted sums", SampleByWeights},
      kForms,
      {"conv", "zeros between taps", FillSmallDilations},
      {"matmul", "flattened transposition", FoldLargeTranspose},
      {"matmul", "operands of a matrix product", TransposeMatrices},
      {"matmul", "rows of a matrix", FlattenMatmul},
      {"gather", "vector of indices", IndicesAsVector},
      {"softmax", "axes of softmax", ShapeSoftmax},
      kSharedFunctions,
  };
  return rewrites;
}

std::span<const Rewrite> LateRewrites() {
  static const auto rewrites = [] {
    std::vector<Rewrite> rows = {
        {"average_pool", "padding before the pool", PadBeforeMean},
        {"conv", "phases of a dilation", DilatedByPhases},
        {"conv_transpose", "zeros between elements", TransposedByZeros},
        {"reduce_sum", "convolutions with ones", SumByConvolutions},
        {"reduce_mean", "convolutions with ones", SumByConvolutions},
        {"reduce_max", "pool along rows", ReduceMaxByPool},
        {"reduce_l2", "pool along rows", NormByPool},
        {"layer_norm", "L2 normalization", LayerNormByL2},
        {"instance_norm", "L2 normalization", InstanceNormByL2},
        {"maximum", "pool of two rows", MaximumByPool},
        {"cum_sum", "convolution with ones", RunningSum},
        {"select", "lookups", SelectByLookups},
        {"scatter_nd", "gather", ScatterByLookups},
        {"scatter_elements", "gather", ScatterByLookups},
        {"matmul", "matrix by matrix", MatmulByBatches},
        {"concat", "fewer axes", JoinConcatAxes},
        {"", "reshapes in one", ReshapeInUses},
    };
    for (const std::string_view op : MoveOperators())
      rows.push_back({op, "lookups", MoveByLookups});
    rows.push_back({"resize", "taps", ResizeByTaps});
    rows.push_back({"", "fewer axes", JoinAxes});
    const auto functions = FunctionRewrites();
    rows.insert(rows.end(), functions.begin(), functions.end());
    rows.push_back(kSharedRules);
    return rows;
  }();
  return rewrites;
}

}  // namespace nn::nnapi

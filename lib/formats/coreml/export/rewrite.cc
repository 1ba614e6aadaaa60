#include "formats/coreml/export/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/coreml/export/export.h"
#include "formats/coreml/export/integer_range.h"
#include "ir/text/number.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/norm.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "ops/support/window.h"
#include "passes/facts/ranges.h"
#include "rewrite/expand.h"
#include "rewrite/forms/matrices.h"
#include "rewrite/legalize.h"
#include "rewrite/rewrite.h"
#include "rewrite/weights.h"

namespace nn::coreml {
namespace {

// Other nodes are not rewritten, so that the reason for a refusal names what the user's model has.
bool Computes(const Node& node) {
  return !WhyNotValues(node, Types::kFloat);
}

// ---- Axes ---------------------------------------------------------------------------------------

// [N, C, x...] -> [N, C, 1..., x...]
AxisMap MoreAxes(int rank, int added) {
  std::vector<int> from = {0, 1};
  from.insert(from.end(), static_cast<size_t>(added), AxisMap::kNew);
  for (int k = 2; k < rank; ++k) from.push_back(k);
  return AxisMap(rank, std::move(from));
}

Result<Value*> WithMoreAxes(Graph& graph, Value* v, int added) {
  return Rearrange(graph, v, MoreAxes(v->type().rank(), added));
}

}  // namespace

Result<bool> AddSpatialAxes(Graph& graph, Node& node) {
  // Operators that Core ML lacks are decomposed instead.
  if (!node.op().takes_unit_axes || FindExport(node.op_name()) == nullptr ||
      node.outputs().size() != 1)
    return false;
  const Type& x = node.input(0)->type();
  const auto layout = node.attrs().Get("layout");
  if (!x.ranked() || !layout || std::get<EnumValue>(*layout).name != EnumName(Layout::kNcx))
    return false;
  const int rank = x.rank();
  if (rank > 3 || rank < 2) return false;
  const int added = 4 - rank;
  NN_ASSIGN(Attrs attrs, WithUnitAxes(node.attrs(), static_cast<size_t>(added)));
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  NN_ASSIGN(inputs[0], WithMoreAxes(graph, inputs[0], added));
  if (node.attrs().Get("filter_layout")) {
    NN_ASSIGN(inputs[1], WithMoreAxes(graph, inputs[1], added));
  }
  Expansion b(graph, node);
  NN_ASSIGN(Value * y, b.Add(node.op_name(), std::move(inputs), std::move(attrs)));
  y->def()->set_name(node.name());
  NN_ASSIGN(y, Rearrange(graph, y, MoreAxes(rank, added).Inverse()));
  graph.Replace(&node, y);
  return true;
}

Result<bool> MergeSpatialAxes(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  const auto layout = node.attrs().Get("layout");
  if (!x.ranked() || x.rank() <= 4 || std::get<EnumValue>(*layout).name != EnumName(Layout::kNcx))
    return false;
  const Dims dims = *x.dims;
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = Reshape(node.input(0),
                        {dims[0], dims[1], Dim(1), Product(Dims(dims.begin() + 2, dims.end()))});
  const Term y = Apply(node.op_name(), std::move(operands), node.attrs());
  return Expansion(graph, node).Replace(Reshape(y, dims));
}

// ---- Products -----------------------------------------------------------------------------------

Result<bool> TransposeWeights(Graph& graph, Node& node) {
  MatmulAttrs a = node.attrs<MatmulAttrs>();
  Value* w = node.input(1);
  if (!w->is_constant() || w->type().rank() != 2 || node.input(0)->is_constant()) return false;
  // Nodes illegal for another reason are decomposed differently.
  if (!Computes(node)) return false;
  if (a.transpose_a) {
    const int rank = node.input(0)->type().rank();
    if (rank < 2) return false;
    std::vector<int64_t> perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    NN_ASSIGN(Value* const x, Rearrange(graph, node.input(0), AxisMap::Permutation(perm)));
    graph.SetInput(&node, 0, x);
    a.transpose_a = false;
    node.set_attrs(a);
    return true;
  }
  if (a.transpose_b) return false;
  NN_ASSIGN(Tensor rows, RearrangeConstant(w->constant(), AxisMap::Permutation({1, 0})));
  graph.SetInput(&node, 1, graph.AddConstant(std::move(rows), w->name()));
  a.transpose_b = true;
  node.set_attrs(a);
  return true;
}

Result<bool> ProductOfMatrices(Graph& graph, Node& node) {
  if (node.input(2) != nullptr || !Computes(node)) return false;
  return VectorsAsMatrices(graph, node);
}

// ---- Gather -------------------------------------------------------------------------------------

Result<bool> GatherToSlice(Graph& graph, Node& node) {
  const Value* index = node.input(1);
  const auto& a = node.attrs<GatherAttrs>();
  const Type& x = node.input(0)->type();
  if (!index->is_constant() || index->type().rank() != 0 || !x.ranked() || a.batch_dims != 0 ||
      x.rank() < 2)
    return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  const int64_t i = index->constant().GetInt(0);
  // An index out of range would select nothing.
  if (const Dim& size = x.dim(axis); size.is_const() && (i >= size.value() || i < -size.value()))
    return false;
  const int64_t end = i == -1 ? std::numeric_limits<int64_t>::max() : i + 1;
  return Expansion(graph, node).Replace(Squeeze(Slice(node.input(0), axis, i, end), {axis}));
}

// ---- Slices -------------------------------------------------------------------------------------

Result<bool> BoundsWithinAxes(Graph& graph, Node& node) {
  const auto is_inexact = [&](size_t i) {
    const Value* const v = node.input(i);
    return v->is_constant() && v->type().rank() == 1 && !AllExact(v->constant());
  };
  if (node.input(1) == nullptr || (!is_inexact(1) && !is_inexact(2))) return false;
  const Type& x = node.input(0)->type();
  if (!KnownLength(node.input(1)->type()) || !x.ranked() ||
      (node.input(3) != nullptr && !node.input(3)->is_constant()))
    return false;
  const std::vector<int64_t> axes = AxesOfComputedSlice(node);
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  for (const size_t i : {1, 2}) {
    if (!is_inexact(i)) continue;
    std::vector<Term> bounds;
    for (const int64_t bound : node.input(i)->constant().ToInts()) {
      const int64_t axis = axes[bounds.size()];
      const Term end = Cast(SizeOfAxis(node.input(0), axis), node.input(i)->dtype());
      const Term number = Cast(Vector({bound}), node.input(i)->dtype());
      const bool is_exact = bound >= -kMaxExact && bound <= kMaxExact;
      bounds.push_back(is_exact ? number : bound > 0 ? end : -end - 1);
    }
    operands[i] = Concat(std::move(bounds), 0);
  }
  return Expansion(graph, node).Replace(Apply("slice", std::move(operands), SliceAttrs{}));
}

// ---- Shapes and indices -------------------------------------------------------------------------

Result<bool> SliceAnyShape(Graph& graph, Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  if (!node.input(0)->type().ranked()) return false;
  const auto rank = static_cast<int64_t>(node.input(0)->type().rank());
  const auto place = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const bool is_whole = a.start == 0 && a.end == ShapeOfAttrs().end;
  if (is_whole || place(a.start) >= place(a.end)) return false;
  ShapeOfAttrs whole;
  whole.dtype = a.dtype;
  const Term all = Apply("shape_of", {node.input(0)}, whole);
  return Expansion(graph, node).Replace(Slice(all, 0, place(a.start), place(a.end)));
}

Result<bool> SliceShape(Graph& graph, Node& node) {
  if (WhyNotValues(node, Types::kAny)) return false;
  return SliceAnyShape(graph, node);
}

Result<bool> BatchBeforeTime(Graph& graph, Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  const int rank = node.input(0)->type().rank();
  if (WhyNotValues(node, Types::kAny)) return false;
  NN_ASSIGN(const int batch, NormalizeAxis(a.batch_axis, rank));
  NN_ASSIGN(const int time, NormalizeAxis(a.time_axis, rank));
  if (batch < time) return false;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(batch)], perm[static_cast<size_t>(time)]);
  return RearrangeAround(graph, node, AxisMap::Permutation(perm));
}

// Converts negative indices in float32, the type that Core ML stores all indices in. Fractions are
// dropped first.
Result<bool> CountFromBegin(Graph& graph, Node& node) {
  OneHotAttrs a = node.attrs<OneHotAttrs>();
  const Tensor* const depth = ConstantOf(node, 1);
  if (!a.wrap || depth == nullptr || IsFloat(node.input(0)->dtype()) ||
      WhyNotValues(node, Types::kAny))
    return false;
  a.wrap = false;
  const Term index = Cast(node.input(0), DType::kF32);
  const Term counted = Select(Less(index, 0), index + depth->GetDouble(0), index);
  return Expansion(graph, node)
      .Replace(Apply("one_hot", {counted, node.input(1), node.input(2)}, a));
}

Result<bool> ScatterList(Graph& graph, Node& node) {
  if (node.input(2)->type().dims != Dims{}) return false;
  return Expansion(graph, node)
      .Replace(
          Apply("scatter_nd",
                {node.input(0), ExpandDims(node.input(1), {0}), ExpandDims(node.input(2), {0})},
                node.attrs<ScatterNdAttrs>()));
}

namespace {

// Whether integers become no results of the graph, which have 32 bits, nor other integers.
bool StayInside(const Graph& graph, const Value& v, int depth = 0) {
  if (graph.IsOutput(&v) || depth == 64) return false;
  return std::ranges::all_of(v.uses(), [&](const Use& use) {
    const bool moves = use.node->op().movement != Movement::kNone;
    return std::ranges::all_of(use.node->outputs(), [&](const Value* y) {
      return !IsInteger(y->dtype()) || (moves && StayInside(graph, *y, depth + 1));
    });
  });
}

}  // namespace

Result<bool> DropFractions(Graph& graph, Node& node) {
  Value *const x = node.input(0), *const y = node.output();
  const bool fits =
      y->dtype() == DType::kI32 || (y->dtype() == DType::kI64 && StayInside(graph, *y));
  if (x->dtype() != DType::kF32 || !fits || WhyNotValues(node, Types::kAny)) return false;
  const Term whole = Select(Less(x, 0), Apply("ceil", {x}), Apply("floor", {x}));
  return Expansion(graph, node).Replace(Apply("cast", {whole}, node.attrs()));
}

// ---- Normalization ------------------------------------------------------------------------------

Result<bool> ScaleAndShift(Graph& graph, Node& node) {
  const bool has_layer = node.attrs<BatchNormAttrs>().epsilon != 0 && BatchNormFactors(node);
  if (has_layer || !Computes(node)) return false;
  return DecomposeBatchNorm(graph, node);
}

Result<bool> SplitStatistics(Graph& graph, Node& node) {
  if (node.outputs().size() == 1 || !Computes(node)) return false;
  const auto& a = node.attrs<LayerNormAttrs>();
  Value* const x = node.input(0);
  NN_ASSIGN(const int first, NormalizeAxis(a.axis, x->type().rank()));
  ReduceAttrs along;
  for (int k = first; k < x->type().rank(); ++k) along.axes.push_back(k);
  Expansion b(graph, node);
  const bool scaled = node.outputs().size() > 2 && graph.HasUses(node.output(2));
  if (scaled || graph.HasUses(node.output(1))) {
    NN_ASSIGN(Value* const mean, b.Add("reduce_mean", {x}, along));
    b.ReplaceOutput(1, mean);
    if (scaled) {
      const Term d = x - Term(mean);
      const Term variance = Apply("reduce_mean", {d * d}, along);
      NN_ASSIGN(Value* const inverse, b.Add("rsqrt", {variance + a.epsilon}));
      b.ReplaceOutput(2, inverse);
    }
  }
  return b.Replace(Apply("layer_norm", node.inputs(), a));
}

// ---- Functions ----------------------------------------------------------------------------------

// The remainder of the magnitudes, with the sign of the dividend.
Result<bool> DecomposeFmod(Graph& graph, Node& node) {
  if (!Computes(node) && (WhyNotValues(node, Types::kAny) || !IsExactArithmetic(node)))
    return false;
  const Term x = node.input(0);
  const Term rest = Apply("mod", {Apply("abs", {x}), Apply("abs", {node.input(1)})});
  return Expansion(graph, node).Replace(Select(Less(x, 0), -rest, rest));
}

// The remainder of a division of integers by 0 is 0 for mod and the dividend for fmod, and NaN in
// float32.
Result<bool> NonZeroDivisor(Graph& graph, Node& node) {
  Value *const a = node.input(0), *const b = node.input(1);
  if (!IsInteger(a->dtype()) || b->is_constant() || IsDivisor(b) || WhyNotValues(node, Types::kAny))
    return false;
  NN_ASSIGN(const Term zero, Number(a->dtype(), 0));
  const Term none = Equal(b, zero);
  const Term rest = Apply(node.op_name(), {a, Select(none, 1, b)});
  return Expansion(graph, node).Replace(Select(none, node.Is("fmod") ? Term(a) : zero, rest));
}

}  // namespace nn::coreml

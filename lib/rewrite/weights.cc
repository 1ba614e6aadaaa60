#include "rewrite/weights.h"

#include <algorithm>
#include <numeric>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/norm.h"
#include "rewrite/expand.h"
#include "rewrite/legalize.h"

namespace nn {
namespace {

bool IsF32Constant(const Value* v) {
  return v != nullptr && v->is_constant() && v->dtype() == DType::kF32 && !v->type().quantized();
}

// Scale and shift of every channel; empty if a statistic is not a float32 constant.
std::vector<ScaleShift> FactorsOf(const Node& node) {
  for (size_t i = 1; i <= 4; ++i)
    if (!IsF32Constant(node.input(i))) return {};
  return BatchNormFactors(node).value_or(std::vector<ScaleShift>{});
}

// The convolution whose only user is the node; null if there is none.
Node* ConvBefore(const Graph& graph, const Node& node) {
  const Value* x = node.input(0);
  Node* conv = x->def();
  if (conv == nullptr || !conv->Is<ConvAttrs>() || x->uses().size() != 1 || graph.IsOutput(x))
    return nullptr;
  if (!IsF32Constant(conv->input(1)) || x->dtype() != DType::kF32) return nullptr;
  if (conv->input(2) != nullptr && !IsF32Constant(conv->input(2))) return nullptr;
  return conv;
}

Value* AddFloats(Graph& graph, std::vector<int64_t> dims, const std::vector<float>& values,
                 SharedString name) {
  return graph.AddConstant(Tensor::Of(std::move(dims), values), name);
}

// A batch normalization that can be folded.
struct FoldableNorm {
  Node* conv = nullptr;  // null: it cannot
  std::vector<ScaleShift> factors;
};

FoldableNorm FoldableOf(const Graph& graph, const Node& node) {
  FoldableNorm out{ConvBefore(graph, node), FactorsOf(node)};
  if (out.conv == nullptr) return out;
  const Tensor& filter = out.conv->input(1)->constant();
  const FilterAxes axes = AxesOf(out.conv->attrs<ConvAttrs>().filter_layout, filter.rank());
  const auto channels = static_cast<size_t>(filter.dim(axes.output));
  if (out.factors.empty() || channels != out.factors.size()) out.conv = nullptr;
  return out;
}

bool FoldBatchNorm(Graph& graph, Node& node) {
  const auto [conv, factors] = FoldableOf(graph, node);
  if (conv == nullptr) return false;
  const size_t channels = factors.size();
  const Tensor filter = conv->input(1)->constant().Aligned();
  const auto weights = filter.As<float>();
  const FilterAxes axes = AxesOf(conv->attrs<ConvAttrs>().filter_layout, filter.rank());
  const auto inner = static_cast<size_t>(Strides(filter.dims())[static_cast<size_t>(axes.output)]);
  std::vector<float> scaled(weights.size()), shifted(channels);
  for (size_t i = 0; i < weights.size(); ++i)
    scaled[i] = weights[i] * factors[i / inner % channels].scale;
  for (size_t c = 0; c < channels; ++c) {
    const auto i = static_cast<int64_t>(c);
    const float bias = conv->input(2) == nullptr
                           ? 0.0f
                           : static_cast<float>(conv->input(2)->constant().GetDouble(i));
    shifted[c] = bias * factors[c].scale + factors[c].shift;
  }
  graph.SetInputs(
      conv, {conv->input(0), AddFloats(graph, filter.dims(), scaled, conv->input(1)->name()),
             AddFloats(graph, {static_cast<int64_t>(channels)}, shifted, node.input(2)->name())});
  Value* const y = conv->output();
  y->set_name({});
  graph.Replace(&node, y);
  return true;
}

}  // namespace

Result<int> FoldBatchNorms(Graph& graph) {
  int count = 0;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;
    if (!node.Is<BatchNormAttrs>()) continue;
    count += FoldBatchNorm(graph, node) ? 1 : 0;
  }
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& region) {
    return FoldBatchNorms(region).map([&](int folded) { count += folded; });
  }));
  return count;
}

int CountFoldableNorms(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes()) {
    if (node.Is<BatchNormAttrs>() && FoldableOf(graph, node).conv != nullptr) ++count;
    for (const auto& region : node.regions()) count += CountFoldableNorms(*region);
  }
  return count;
}

namespace {

// Scale and shift of the channels, computed from parameters that are not all constant.
Result<bool> ComputeBatchNorm(Graph& graph, Node& node, int axis) {
  for (size_t i = 1; i <= 4; ++i)
    if (node.input(i)->dtype() != DType::kF32 || node.input(i)->type().quantized()) return false;
  Dims dims(static_cast<size_t>(node.input(0)->type().rank() - axis), Dim(1));
  dims[0] = node.input(0)->type().dim(axis);
  Expansion e(graph, node);
  NN_ASSIGN(Value* const epsilon, e.Number(DType::kF32, node.attrs<BatchNormAttrs>().epsilon));
  NN_ASSIGN(Value * root, e.Add("add", {node.input(4), epsilon}));
  NN_ASSIGN(root, e.Add("sqrt", {root}));
  NN_ASSIGN(Value * scale, e.Add("div", {node.input(1), root}));
  NN_ASSIGN(Value * shift, e.Add("mul", {node.input(3), scale}));
  NN_ASSIGN(shift, e.Add("sub", {node.input(2), shift}));
  NN_ASSIGN(scale, e.Add("reshape", {scale}, ReshapeAttrs{dims, false}));
  NN_ASSIGN(shift, e.Add("reshape", {shift}, ReshapeAttrs{dims, false}));
  NN_ASSIGN(Value * y, e.Add("mul", {node.input(0), scale}));
  NN_ASSIGN(y, e.Add("add", {y, shift}));
  return e.Replace(y);
}

}  // namespace

Result<bool> DecomposeBatchNorm(Graph& graph, Node& node) {
  const std::vector<ScaleShift> factors = FactorsOf(node);
  const Type& x = node.input(0)->type();
  if (!x.ranked() || x.dtype != DType::kF32 || x.quantized()) return false;
  const int rank = x.rank();
  if (factors.empty())
    return ComputeBatchNorm(graph, node, ChannelAxis(node.attrs<BatchNormAttrs>().layout, rank));
  const int axis = ChannelAxis(node.attrs<BatchNormAttrs>().layout, rank);
  std::vector<int64_t> dims(static_cast<size_t>(rank - axis), 1);
  dims[0] = static_cast<int64_t>(factors.size());
  std::vector<float> scale, shift;
  for (const ScaleShift& f : factors) {
    scale.push_back(f.scale);
    shift.push_back(f.shift);
  }
  NN_ASSIGN(Node* const product,
            graph.Append("mul", {node.input(0), AddFloats(graph, dims, scale, {})}, {}, 1, &node));
  NN_ASSIGN(
      Node* const sum,
      graph.Append("add", {product->output(), AddFloats(graph, dims, shift, {})}, {}, 1, &node));
  Value* const y = sum->output();
  graph.Replace(&node, y);
  return true;
}

// ---- Flattened transposes -----------------------------------------------------------------------

bool TakesFlattenedTranspose(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const Value* w = node.input(1);
  if (a.transpose_a || !a.transpose_b || !w->is_constant() || w->type().rank() != 2) return false;
  if (w->type().quantized() && w->type().quant->per_axis() && w->type().quant->axis != 0)
    return false;
  const Node* reshape = node.input(0)->def();
  if (reshape == nullptr || !reshape->Is<ReshapeAttrs>() || reshape->input(1) != nullptr)
    return false;
  const Node* transpose = reshape->input(0)->def();
  if (transpose == nullptr || !transpose->Is<TransposeAttrs>()) return false;
  const auto& perm = transpose->attrs<TransposeAttrs>().perm;
  const Dims& dims = *transpose->output()->type().dims;
  const Type& flat = reshape->output()->type();
  const Dims rest(dims.begin() + 1, dims.end());
  return perm[0] == 0 && ConstDims(rest) && flat.rank() == 2 && flat.dim(0) == dims[0] &&
         flat.dim(1) == Product(rest);
}

Result<bool> FoldFlattenedTranspose(Graph& graph, Node& node) {
  if (!TakesFlattenedTranspose(node)) return false;
  const Node* reshape = node.input(0)->def();
  const Node* transpose = reshape->input(0)->def();
  const AxisMap map = AxisMap::Permutation(transpose->attrs<TransposeAttrs>().perm);
  // The input axis of the weights, unflattened, with the outputs in place of the batch axis.
  const Value* w = node.input(1);
  std::vector<int64_t> axes = {w->constant().dim(0)};
  const Dims& dims = *transpose->output()->type().dims;
  for (size_t i = 1; i < dims.size(); ++i) axes.push_back(dims[i].value());
  NN_ASSIGN(const Tensor unfolded, w->constant().Reshaped(axes));
  NN_ASSIGN(const Tensor permuted, RearrangeConstant(unfolded, map.Inverse()));
  NN_ASSIGN(Tensor weights, permuted.Reshaped(w->constant().dims()));
  NN_ASSIGN(Node* const flat,
            graph.Append("reshape", {transpose->input(0)}, reshape->attrs(), 1, &node));
  Type type = reshape->output()->type();
  flat->output()->set_type(type);
  flat->output()->set_name(reshape->output()->name());
  graph.SetInput(&node, 0, flat->output());
  graph.SetInput(&node, 1, graph.AddConstant(std::move(weights), w->name(), w->type().quant));
  return true;
}

// ---- Shuffles -----------------------------------------------------------------------------------

namespace {

struct Shuffle {
  size_t axis;                 // of the tensor before and after the shuffle
  std::vector<int64_t> parts;  // sizes into which the axis is split
  std::vector<int64_t> perm;   // of the parts
};

std::optional<Shuffle> ShuffleOf(const Node& node) {
  const Node* cut = node.input(0)->def();
  const Value* y = node.output();
  if (cut == nullptr || !cut->Is<ReshapeAttrs>() || cut->input(1) != nullptr ||
      y->uses().size() != 1)
    return std::nullopt;
  const Node* join = y->uses()[0].node;
  if (!join->Is<ReshapeAttrs>() || join->input(1) != nullptr) return std::nullopt;
  const Type& x = cut->input(0)->type();
  if (!x.ranked() || !join->output()->type().ranked() || *x.dims != *join->output()->type().dims)
    return std::nullopt;
  const Dims& whole = *x.dims;
  const Dims& cut_dims = *cut->output()->type().dims;
  if (cut_dims.size() <= whole.size()) return std::nullopt;
  const size_t parts = cut_dims.size() - whole.size() + 1;
  Shuffle s{};
  while (s.axis < whole.size() && whole[s.axis] == cut_dims[s.axis]) ++s.axis;
  if (s.axis >= whole.size()) return std::nullopt;
  for (size_t i = s.axis + 1; i < whole.size(); ++i)
    if (whole[i] != cut_dims[i + parts - 1]) return std::nullopt;
  const auto& perm = node.attrs<TransposeAttrs>().perm;
  for (size_t i = 0; i < perm.size(); ++i) {
    const bool part = i >= s.axis && i < s.axis + parts;
    const int64_t p = perm[i] - static_cast<int64_t>(s.axis);
    if (part ? p < 0 || p >= static_cast<int64_t>(parts) : perm[i] != static_cast<int64_t>(i))
      return std::nullopt;
    if (!part) continue;
    if (!cut_dims[i].is_const()) return std::nullopt;
    s.parts.push_back(cut_dims[i].value());
    s.perm.push_back(p);
  }
  return s;
}

}  // namespace

bool IsShuffle(const Node& transpose) {
  return ShuffleOf(transpose).has_value();
}

Result<bool> ShuffleAsGather(Graph& graph, Node& transpose) {
  const auto s = ShuffleOf(transpose);
  if (!s) return false;
  const Node* cut = transpose.input(0)->def();
  Node* join = transpose.output()->uses()[0].node;
  std::vector<int64_t> places(static_cast<size_t>(
      std::accumulate(s->parts.begin(), s->parts.end(), int64_t{1}, std::multiplies<>())));
  std::iota(places.begin(), places.end(), 0);
  NN_ASSIGN(const Tensor whole, Tensor::Ints(places).Reshaped(s->parts));
  NN_ASSIGN(const Tensor permuted, RearrangeTensor(whole, AxisMap::Permutation(s->perm)));
  const std::vector<int64_t> order = permuted.ToInts();
  const std::vector<int32_t> narrow(order.begin(), order.end());
  Value* indices =
      graph.AddConstant(Tensor::Of({static_cast<int64_t>(narrow.size())}, narrow), "shuffle");
  NN_ASSIGN(Node* const gather,
            graph.Append("gather", {cut->input(0), indices},
                         GatherAttrs{static_cast<int64_t>(s->axis), 0}, 1, join));
  Value* const y = gather->output();
  y->set_type(Refine(join->output()->type(), y->type()));
  graph.Replace(join, y);
  graph.Erase(&transpose);
  return true;
}

}  // namespace nn

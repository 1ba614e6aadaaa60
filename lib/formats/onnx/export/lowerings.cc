#include "formats/onnx/export/lowerings.h"

#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/softmax.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"
#include "rewrite/expand/affine.h"
#include "rewrite/recurrent_layout.h"
#include "rewrite/rewrite.h"

namespace nn::onnx {
namespace {

// Up to operator set 12, softmax and its relatives work on all axes from `axis` on.
template <typename A>
Result<bool> AlongLastAxis(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.ranked() || x.rank() == 0) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(node.attrs<A>().axis, x.rank()));
  if (axis == x.rank() - 1) return false;
  std::vector<int64_t> perm(static_cast<size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return RearrangeAround(graph, node, AxisMap::Permutation(perm));
}

// A reversal -> a gather along each axis.
Result<bool> GatherReversed(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.ranked()) return false;
  NN_ASSIGN(const std::vector<int> axes, NormalizeAxes(node.attrs<ReverseAttrs>().axes, x.rank()));
  for (const int axis : axes)
    if (!x.dim(axis).is_const()) return false;
  Expansion e(graph, node);
  Value* y = node.input(0);
  for (const int axis : axes) {
    std::vector<int64_t> indices(static_cast<size_t>(x.dim(axis).value()));
    std::iota(indices.rbegin(), indices.rend(), 0);
    NN_ASSIGN(y, e.Add("gather", {y, e.Constant(Tensor::Ints(indices))}, GatherAttrs{axis, 0}));
  }
  return e.Replace(y);
}

// maximum and minimum of integers -> a selection by a comparison.
Result<bool> SelectExtreme(Graph& graph, Node& node) {
  Value* const a = node.input(0);
  Value* const b = node.input(1);
  if (!IsInteger(a->dtype()) || a->type().quantized()) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const takes_a, e.Add(node.Is("maximum") ? "greater" : "less", {a, b}));
  NN_ASSIGN(Value* const y, e.Add("select", {takes_a, a, b}));
  return e.Replace(y);
}

bool IsNarrowInteger(const Value* v) {
  return IsInteger(v->dtype()) && DTypeBits(v->dtype()) < 32 && !v->type().quantized();
}

// Integers of 8 and 16 bits -> of 32 bits, between casts.
Result<bool> WidenIntegers(Graph& graph, Node& node) {
  if (!node.op().wraps_integers && !node.Is("div")) return false;
  return ComputeIn(DType::kI32, graph, node, IsNarrowInteger, nullptr);
}

// A slice with steps -> a gather along each axis that has one.
Result<bool> GatherSteps(Graph& graph, Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Type& x = node.input(0)->type();
  if (node.input(1) != nullptr || !x.ranked()) return false;
  Expansion e(graph, node);
  Value* y = node.input(0);
  for (size_t i = 0; i < a.starts.size(); ++i) {
    NN_ASSIGN(const int axis,
              NormalizeAxis(a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i], x.rank()));
    if (!x.dim(axis).is_const()) return false;
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    NN_ASSIGN(const SliceRange r, RangeOf(a.starts[i], a.ends[i], step, x.dim(axis).value()));
    std::vector<int64_t> indices;
    for (int64_t k = 0; k < r.count; ++k) indices.push_back(r.start + k * r.step);
    NN_ASSIGN(y, e.Add("gather", {y, e.Constant(Tensor::Ints(indices))}, GatherAttrs{axis, 0}));
  }
  return e.Replace(y);
}

// Only a pad with elements of the input becomes gathers.
Result<bool> GatherPadding(Graph& graph, Node& node) {
  return node.attrs<PadAttrs>().mode != PadMode::kConstant ? ExpandPad(graph, node)
                                                           : Result<bool>(false);
}

// reduce_max and reduce_min of bool -> reduce_any and reduce_all.
Result<bool> ReduceLogically(Graph& graph, Node& node) {
  if (node.input(0)->dtype() != DType::kBool) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const y, e.Add(node.Is("reduce_max") ? "reduce_any" : "reduce_all",
                                  {node.inputs().begin(), node.inputs().end()}, node.attrs()));
  return e.Replace(y);
}

}  // namespace

std::span<const Rewrite> Lowerings() {
  static constexpr Rewrite kLowerings[] = {
      {"layer_norm", "moments", ExpandNorm},
      {"softmax", "last axis", AlongLastAxis<SoftmaxAttrs>},
      {"log_softmax", "last axis", AlongLastAxis<AlongAxisAttrs>},
      {"hardmax", "last axis", AlongLastAxis<AlongAxisAttrs>},
      {"reverse", "gathers", GatherReversed},
      {"maximum", "selection", SelectExtreme},
      {"minimum", "selection", SelectExtreme},
      {"lstm", "time first", PutTimeFirst},
      {"gru", "time first", PutTimeFirst},
      {"rnn", "time first", PutTimeFirst},
      {"reduce_max", "logic", ReduceLogically},
      {"reduce_min", "logic", ReduceLogically},
      {"slice", "gathers", GatherSteps},
      {"arg_max", "first index", ExpandLastIndex},
      {"arg_min", "first index", ExpandLastIndex},
      {"gather_elements", "gather", ExpandGatherElements},
      {"scatter_elements", "scatter_nd", ExpandScatterElements},
      {"gather_nd", "indices of batches", ExpandGatherBatches},
      {"trilu", "selection", ExpandTrilu},
      {"one_hot", "selection", ExpandOneHot},
      {"eye_like", "constant", ExpandEyeLike},
      {"compress", "gather", ExpandCompress},
      {"top_k", "largest elements of the last axis", ExpandTopK},
      {"unique", "groups", ExpandUnique},
      {"pad", "gathers", GatherPadding},
      {"resize", "gathers", ExpandResize},
      {"grid_sample", "gathers", ExpandGridSample},
      {"affine_grid", "product", ExpandAffineGrid},
      {"roi_align", "gathers", ExpandRoiAlign},
      {"max_pool", "gathers", ExpandMaxPoolIndices},
      {"max_pool", "gathers", ExpandDilatedPool},
      {"average_pool", "gathers", ExpandDilatedPool},
      {"dft", "products", ExpandDft},
      {"stft", "products", ExpandStft},
      {"det", "elimination", ExpandDet},
      {"matmul_integer", "exact products", ExpandIntegerProduct},
      {"conv_integer", "exact products", ExpandIntegerProduct},
      {"dynamic_quantize", "definition", ExpandDynamicQuantize},
      {"pow", "float exponent", ExpandIntegerExponent},
      {"bernoulli", "uniform numbers", ExpandBernoulli},
      {"", "wider integers", WidenIntegers},
  };
  return kLowerings;
}

}  // namespace nn::onnx

// Expansions that select elements.
#include <limits>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/generate.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"
#include "rewrite/legalize.h"
#include "rewrite/rewrite.h"

namespace nn {
namespace {

// Integers up to this are exact in float32.
constexpr int64_t kExactIntegers = int64_t{1} << 24;
// The size of an axis, which may count from the end; nullopt if it is not known.
Result<std::optional<int64_t>> SizeOf(const Type& type, int64_t axis) {
  NN_ASSIGN(const int at, NormalizeAxis(axis, type.rank()));
  const Dim& size = type.dim(at);
  return size.is_const() ? std::optional(size.value()) : std::nullopt;
}

}  // namespace

Result<bool> AlongLastAxis(Graph& graph, Node& node) {
  const auto attr = node.attrs().Get("axis");
  const Type& x = node.input(0)->type();
  if (!attr || !x.ranked() || x.rank() == 0) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(std::get<int64_t>(*attr), x.rank()));
  if (axis == x.rank() - 1) return false;
  std::vector<int64_t> perm;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  return RearrangeAround(graph, node, AxisMap::Permutation(perm));
}

Result<bool> ExpandHardmax(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  const int64_t axis = node.attrs<AlongAxisAttrs>().axis;
  NN_ASSIGN(const auto size, SizeOf(x, axis));
  if (!size || *size == 0 || x.dtype != DType::kF32) return false;
  NN_ASSIGN(const int at, NormalizeAxis(axis, x.rank()));
  const Term index = Apply("arg_max", {node.input(0)}, ArgAttrs{.axis = at, .keep_dims = false});
  return Expansion(graph, node)
      .Replace(Apply("one_hot", {index, Tensor::Scalar(*size), Tensor::Of<float>({2}, {0, 1})},
                     OneHotAttrs{.axis = at, .wrap = false}));
}

// Index i of the reversed axis is n - 1 - i, computed in float32, which all targets have.
Result<bool> ExpandLastIndex(Graph& graph, Node& node) {
  ArgAttrs a = node.attrs<ArgAttrs>();
  const Type& x = node.input(0)->type();
  NN_ASSIGN(const auto size, SizeOf(x, a.axis));
  if (!a.select_last_index || !size || *size > kExactIntegers) return false;
  NN_ASSIGN(a.axis, NormalizeAxis(a.axis, x.rank()));
  a.select_last_index = false;
  const Term reversed = Apply("reverse", {node.input(0)}, ReverseAttrs{{a.axis}});
  const Term from_end = Cast(Apply(node.op_name(), {reversed}, a), DType::kF32);
  return Expansion(graph, node).Replace(Cast(*size - 1 - from_end, a.output_type));
}

Result<bool> ExpandTrilu(Graph& graph, Node& node) {
  const auto& a = node.attrs<TriluAttrs>();
  const Type& x = node.input(0)->type();
  const auto rank = x.rank();
  if (x.quantized() || !(IsInteger(x.dtype) || IsFloat(x.dtype) || x.dtype == DType::kBool))
    return false;
  if (std::ranges::any_of(*x.dims, [](const Dim& d) { return d == 0; }))
    return Expansion(graph, node).Replace(node.input(0));
  const Dim &height = x.dim(rank - 2), &width = x.dim(rank - 1);
  if (!height.is_const() || !width.is_const()) return false;
  const int64_t rows = height.value(), columns = width.value();
  if (!ElementsWithin({rows, columns}, kMaxElements)) return false;
  Term mask;
  if (Value* const k = node.input(1); k == nullptr) {
    NN_ASSIGN(TensorBuilder kept, TensorBuilder::Create(DType::kBool, {rows, columns}));
    for (int64_t i = 0; i < rows * columns; ++i) {
      // Compared without a sum, which could overflow.
      const int64_t diagonal = i % columns - i / columns;
      kept.SetInt(i, (a.upper ? diagonal >= a.k : diagonal <= a.k) ? 1 : 0);
    }
    mask = kept.Finish();
  } else {
    NN_ASSIGN(TensorBuilder diagonals, TensorBuilder::Create(k->dtype(), {rows, columns}));
    for (int64_t i = 0; i < rows * columns; ++i) diagonals.SetInt(i, i % columns - i / columns);
    mask = Apply(a.upper ? "greater_equal" : "less_equal", {diagonals.Finish(), k});
  }
  return Expansion(graph, node).Replace(Select(mask, node.input(0), 0));
}

// The index of its own batch, before each index vector.
Result<bool> ExpandGatherBatches(Graph& graph, Node& node) {
  const auto batches = static_cast<size_t>(node.attrs<GatherNdAttrs>().batch_dims);
  const auto indices = node.input(1)->type().const_dims();
  if (batches == 0 || !indices || indices->size() <= batches) return false;
  std::vector<int64_t> dims = *indices;
  const int64_t entries = std::exchange(dims.back(), static_cast<int64_t>(batches));
  const DType dtype = node.input(1)->dtype();
  if (entries == 0 || !ElementsWithin(dims, kMaxElements)) return false;
  const std::vector<int64_t> strides = Strides(dims);
  NN_ASSIGN(TensorBuilder batch, TensorBuilder::Create(dtype, dims));
  for (int64_t i = 0; i < batch.elements(); ++i) {
    const auto axis = static_cast<size_t>(i % dims.back());
    batch.SetInt(i, i / strides[axis] % dims[axis]);
  }
  const Term all = Concat({batch.Finish(), node.input(1)}, std::ssize(dims) - 1);
  return Expansion(graph, node).Replace(Apply("gather_nd", {node.input(0), all}, GatherNdAttrs{}));
}

namespace {

// The elements of the opposite order; of integers, their bits, since the lowest has no negative.
Term Opposite(const Term& x, DType dtype) {
  return IsFloat(dtype) ? -x : -1 - x;
}

}  // namespace

Result<bool> ExpandTopK(Graph& graph, Node& node) {
  TopKAttrs a = node.attrs<TopKAttrs>();
  Value* const given = node.input(1);
  Term x = node.input(0), k = given;
  const Type type = node.input(0)->type();
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, type.rank()));
  if (axis != type.rank() - 1) {
    std::vector<int64_t> perm(static_cast<size_t>(type.rank()));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[static_cast<size_t>(axis)], perm.back());
    return RearrangeAround(graph, node, AxisMap::Permutation(perm));
  }
  const DType dtype = type.dtype;
  const bool narrow = dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16;
  const bool whole = dtype == DType::kI32 || dtype == DType::kI64;
  const bool list = !given->is_constant() && given->type().ranked() && given->type().rank() == 1;
  const bool opposite = !a.largest;
  if (!list && !opposite && node.outputs().size() > 1) return false;
  if (opposite && (type.quantized() || !(narrow || whole || dtype == DType::kF32))) return false;
  if (list) k = Reshape(k, {});
  if (opposite) {
    a.largest = true;
    x = Opposite(narrow ? Cast(x, DType::kI32) : x, dtype);
  }
  const std::vector<Term> sorted = ApplyAll("top_k", {x, k}, a, 2);
  Term y = sorted[0];
  if (opposite) y = Opposite(y, dtype);
  if (opposite && narrow) y = Cast(y, dtype);
  Expansion e(graph, node);
  if (node.outputs().size() > 1) {
    NN_ASSIGN(Value* const indices, e.Build(sorted[1]));
    e.ReplaceOutput(1, indices);
  }
  return e.Replace(y);
}

Result<bool> ExpandGatherElements(Graph& graph, Node& node) {
  const auto x = node.input(0)->type().const_dims();
  if (!x || x->empty()) return false;
  const std::optional<int64_t> from = ElementsWithin(*x, std::numeric_limits<int32_t>::max());
  if (!from) return false;
  NN_ASSIGN(const int axis,
            NormalizeAxis(node.attrs<GatherElementsAttrs>().axis, static_cast<int>(x->size())));
  NN_ASSIGN(const Term places, FlatPositions(node.input(1), *x, axis));
  if (places.is_absent()) return false;
  return Expansion(graph, node).Replace(Gather(Reshape(node.input(0), {Dim(*from)}), places, 0));
}

}  // namespace nn

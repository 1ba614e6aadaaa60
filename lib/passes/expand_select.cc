// Expansions that select elements.
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/gather.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/math/elementwise.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/selection.h"
#include "ops/support/types.h"
#include "passes/expand.h"

namespace nn {
namespace {

// Integers up to this are exact in float32.
constexpr int64_t kExactIntegers = int64_t{1} << 24;
// The elements of a constant that an expansion may add.
constexpr int64_t kMostElements = int64_t{1} << 24;

// The size of an axis, which may count from the end; nullopt if it is not known.
Result<std::optional<int64_t>> SizeOf(const Type& type, int64_t axis) {
  NN_ASSIGN(const int at, NormalizeAxis(axis, type.rank()));
  const Dim& size = type.dim(at);
  return size.is_const() ? std::optional(size.value()) : std::nullopt;
}

// The number of elements, if it is positive and at most `most`.
std::optional<int64_t> ElementsWithin(const std::vector<int64_t>& dims, int64_t most) {
  int64_t n = 1;
  for (const int64_t d : dims) {
    if (d == 0 || n > most / d) return std::nullopt;
    n *= d;
  }
  return n;
}

}  // namespace

Result<bool> ExpandHardmax(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  const int64_t axis = node.attrs<AlongAxisAttrs>().axis;
  NN_ASSIGN(const auto size, SizeOf(x, axis));
  if (!size || *size == 0 || x.dtype != DType::kF32) return false;
  NN_ASSIGN(const int at, NormalizeAxis(axis, x.rank()));
  Expansion e(graph, node);
  NN_ASSIGN(Value* const index,
            e.Add("arg_max", {node.input(0)}, ArgAttrs{.axis = at, .keep_dims = false}));
  NN_ASSIGN(Value* const depth, e.Number(DType::kI64, static_cast<double>(*size)));
  Value* const values = e.Constant(Tensor::Of<float>({2}, {0, 1}));
  NN_ASSIGN(Value* const y,
            e.Add("one_hot", {index, depth, values}, OneHotAttrs{.axis = at, .wrap = false}));
  return e.Replace(y);
}

// Index i of the reversed axis is n - 1 - i, computed in float32, which all targets have.
Result<bool> ExpandLastIndex(Graph& graph, Node& node) {
  ArgAttrs a = node.attrs<ArgAttrs>();
  const Type& x = node.input(0)->type();
  NN_ASSIGN(const auto size, SizeOf(x, a.axis));
  if (!a.select_last_index || !size || *size > kExactIntegers) return false;
  NN_ASSIGN(a.axis, NormalizeAxis(a.axis, x.rank()));
  a.select_last_index = false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const reversed, e.Add("reverse", {node.input(0)}, ReverseAttrs{{a.axis}}));
  NN_ASSIGN(Value * y, e.Add(node.op_name(), {reversed}, a));
  NN_ASSIGN(y, e.Add("cast", {y}, CastAttrs{.to = DType::kF32}));
  NN_ASSIGN(Value* const last, e.Number(DType::kF32, static_cast<double>(*size - 1)));
  NN_ASSIGN(y, e.Add("sub", {last, y}));
  NN_ASSIGN(y, e.Add("cast", {y}, CastAttrs{.to = a.output_type}));
  return e.Replace(y);
}

Result<bool> ExpandTrilu(Graph& graph, Node& node) {
  const auto& a = node.attrs<TriluAttrs>();
  const Type& x = node.input(0)->type();
  const auto rank = x.rank();
  if (x.quantized() || !(IsInteger(x.dtype) || IsFloat(x.dtype) || x.dtype == DType::kBool))
    return false;
  const Dim &height = x.dim(rank - 2), &width = x.dim(rank - 1);
  if (!height.is_const() || !width.is_const()) return false;
  const int64_t rows = height.value(), columns = width.value();
  if (!ElementsWithin({rows, columns}, kMostElements)) return false;
  Expansion e(graph, node);
  Value* mask = nullptr;
  if (Value* const k = node.input(1); k == nullptr) {
    NN_ASSIGN(TensorBuilder kept, TensorBuilder::Create(DType::kBool, {rows, columns}));
    for (int64_t i = 0; i < rows * columns; ++i) {
      // Compared without a sum, which could overflow.
      const int64_t diagonal = i % columns - i / columns;
      kept.SetInt(i, (a.upper ? diagonal >= a.k : diagonal <= a.k) ? 1 : 0);
    }
    mask = e.Constant(kept.Finish());
  } else {
    NN_ASSIGN(TensorBuilder diagonals, TensorBuilder::Create(k->dtype(), {rows, columns}));
    for (int64_t i = 0; i < rows * columns; ++i) diagonals.SetInt(i, i % columns - i / columns);
    NN_ASSIGN(mask,
              e.Add(a.upper ? "greater_equal" : "less_equal", {e.Constant(diagonals.Finish()), k}));
  }
  NN_ASSIGN(Value* const zero, e.Number(x.dtype, 0));
  NN_ASSIGN(Value* const y, e.Add("select", {mask, node.input(0), zero}));
  return e.Replace(y);
}

// An element's place among all is index * stride of the axis + a constant of the other axes.
Result<bool> ExpandGatherElements(Graph& graph, Node& node) {
  const auto x = node.input(0)->type().const_dims();
  const auto to = node.input(1)->type().const_dims();
  if (!x || !to || x->empty()) return false;
  const DType dtype = node.input(1)->dtype();
  const std::optional<int64_t> from = ElementsWithin(*x, std::numeric_limits<int32_t>::max());
  const std::optional<int64_t> count = ElementsWithin(*to, kMostElements);
  if (!from || !count) return false;
  NN_ASSIGN(const int axis,
            NormalizeAxis(node.attrs<GatherElementsAttrs>().axis, static_cast<int>(x->size())));
  const auto at = static_cast<size_t>(axis);
  const std::vector<int64_t> strides = Strides(*x), steps = Strides(*to);
  NN_ASSIGN(TensorBuilder base, TensorBuilder::Create(dtype, *to));
  for (int64_t i = 0; i < *count; ++i) {
    int64_t place = 0;
    for (size_t k = 0; k < x->size(); ++k)
      if (k != at) place += i / steps[k] % (*to)[k] * strides[k];
    base.SetInt(i, place);
  }
  Expansion e(graph, node);
  Value* index = node.input(1);
  NN_ASSIGN(Value* const zero, e.Number(dtype, 0));
  NN_ASSIGN(Value* const size, e.Number(dtype, static_cast<double>((*x)[at])));
  NN_ASSIGN(Value* const stride, e.Number(dtype, static_cast<double>(strides[at])));
  NN_ASSIGN(Value* const negative, e.Add("less", {index, zero}));
  NN_ASSIGN(Value* const counted, e.Add("add", {index, size}));
  NN_ASSIGN(index, e.Add("select", {negative, counted, index}));
  NN_ASSIGN(index, e.Add("mul", {index, stride}));
  NN_ASSIGN(index, e.Add("add", {index, e.Constant(base.Finish())}));
  NN_ASSIGN(Value* const flat,
            e.Add("reshape", {node.input(0)}, ReshapeAttrs{{Dim(*from)}, false}));
  NN_ASSIGN(Value* const y, e.Add("gather", {flat, index}, GatherAttrs{0, 0}));
  return e.Replace(y);
}

}  // namespace nn

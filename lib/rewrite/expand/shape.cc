// Expansions of operators whose shape or bounds are computed.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The sizes of x in the integers of another list.
Result<Value*> SizesOf(Expansion& e, Value* x, DType dtype, int64_t end) {
  return e.Add("shape_of", {x}, ShapeOfAttrs{.end = end, .dtype = dtype});
}

bool IsIndex(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kI64;
}

// `list` after `count` times the number.
Result<Value*> After(Expansion& e, Value* list, int64_t count, int64_t number) {
  if (count <= 0) return list;
  NN_ASSIGN(TensorBuilder more, TensorBuilder::Create(list->dtype(), {count}));
  for (int64_t i = 0; i < count; ++i) more.SetInt(i, number);
  return e.Add("concat", {e.Constant(more.Finish()), list}, ConcatAttrs{0});
}

}  // namespace

Result<bool> ExpandCopiedSizes(Graph& graph, Node& node) {
  ReshapeAttrs a = node.attrs<ReshapeAttrs>();
  Value *const x = node.input(0), *const shape = node.input(1);
  if (shape == nullptr || !a.zero_copies || !IsIndex(shape->dtype())) return false;
  const auto length = KnownLength(shape->type());
  if (!length) return false;
  Expansion e(graph, node);
  const int64_t rank = x->type().rank();
  NN_ASSIGN(Value * sizes, SizesOf(e, x, shape->dtype(), *length));
  NN_ASSIGN(Value* const zero, e.Number(shape->dtype(), 0));
  if (*length > rank) {
    // Zeros after the last axis of x have nothing to copy.
    NN_ASSIGN(TensorBuilder rest, TensorBuilder::Create(shape->dtype(), {*length - rank}));
    for (int64_t i = 0; i < rest.elements(); ++i) rest.SetInt(i, 0);
    NN_ASSIGN(sizes, e.Add("concat", {sizes, e.Constant(rest.Finish())}, ConcatAttrs{0}));
  }
  NN_ASSIGN(Value* const copied, e.Add("equal", {shape, zero}));
  NN_ASSIGN(Value* const to, e.Add("select", {copied, sizes, shape}));
  a.zero_copies = false;
  a.dims.clear();
  NN_ASSIGN(Value* const y, e.Add("reshape", {x, to}, std::move(a)));
  return e.Replace(y);
}

// Axes of size 1 are repeated, the others once.
Result<bool> ExpandAsTile(Graph& graph, Node& node) {
  Value *x = node.input(0), *shape = node.input(1);
  if (shape == nullptr || !IsIndex(shape->dtype())) return false;
  const auto length = KnownLength(shape->type());
  const int64_t rank = x->type().rank();
  if (!length || rank == 0) return false;
  Expansion e(graph, node);
  NN_ASSIGN(shape, After(e, shape, rank - *length, 1));
  if (*length > rank) {
    std::vector<int64_t> axes(static_cast<size_t>(*length - rank));
    std::iota(axes.begin(), axes.end(), 0);
    NN_ASSIGN(x, e.Add("expand_dims", {x}, AxesAttrs{std::move(axes)}));
  }
  NN_ASSIGN(Value* const one, e.Number(shape->dtype(), 1));
  NN_ASSIGN(Value* const sizes, SizesOf(e, x, shape->dtype(), std::max(rank, *length)));
  NN_ASSIGN(Value* const repeated, e.Add("equal", {sizes, one}));
  NN_ASSIGN(Value* const repeats, e.Add("select", {repeated, shape, one}));
  NN_ASSIGN(Value* const y, e.Add("tile", {x, repeats}, TileAttrs{}));
  return e.Replace(y);
}

Result<bool> ExpandComputedBounds(Graph& graph, Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  if (node.inputs().size() < 3) return false;
  const auto rank = static_cast<size_t>(node.input(0)->type().rank());
  const auto known = [&](size_t i, const std::vector<int64_t>& given) {
    const Value* v = node.input(i);
    if (v == nullptr) return std::optional(given);
    const auto elements = KnownElements(v);
    return elements ? ConstDims(*elements) : std::nullopt;
  };
  auto axes = known(3, a.axes), steps = known(4, a.steps);
  Value* bounds[2] = {node.input(1), node.input(2)};
  const std::vector<int64_t>* given[2] = {&a.starts, &a.ends};
  std::optional<int64_t> count;
  for (size_t k = 0; k < 2; ++k) {
    const auto length = bounds[k] != nullptr ? KnownLength(bounds[k]->type())
                                             : std::optional<int64_t>(std::ssize(*given[k]));
    if (!length || (count && *count != *length)) return false;
    if (bounds[k] != nullptr && !IsIndex(bounds[k]->dtype())) return false;
    count = length;
  }
  if (!axes || !steps || *count > static_cast<int64_t>(rank)) return false;
  if (axes->empty()) {
    axes->resize(static_cast<size_t>(*count));
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (steps->empty()) steps->assign(axes->size(), 1);
  const bool in_order = [&] {
    for (size_t i = 0; i < axes->size(); ++i)
      if ((*axes)[i] != static_cast<int64_t>(i)) return false;
    return bounds[0] != nullptr && bounds[1] != nullptr;
  }();
  if (in_order || axes->size() != static_cast<size_t>(*count) || steps->size() != axes->size() ||
      std::any_of(steps->begin(), steps->end(), [](int64_t s) { return s < 1; }))
    return false;
  // Of each axis, the place of its bound in the list, after the bound of the other axes.
  std::vector<int32_t> places(rank, 0);
  std::vector<int64_t> all_steps(rank, 1), all_axes(rank);
  std::iota(all_axes.begin(), all_axes.end(), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    NN_ASSIGN(const int axis, NormalizeAxis((*axes)[i], static_cast<int>(rank)));
    places[static_cast<size_t>(axis)] = static_cast<int32_t>(i + 1);
    all_steps[static_cast<size_t>(axis)] = (*steps)[i];
  }
  Expansion e(graph, node);
  Value* const at = e.Constant(Tensor::Of({std::ssize(places)}, places));
  constexpr int64_t kWhole[2] = {0, std::numeric_limits<int32_t>::max()};
  for (size_t k = 0; k < 2; ++k) {
    if (bounds[k] == nullptr) {
      std::vector<int64_t> clamped = *given[k];
      for (int64_t& v : clamped) v = std::clamp<int64_t>(v, -kWhole[1], kWhole[1]);
      bounds[k] = e.Constant(Tensor::Ints(clamped));
    }
    NN_ASSIGN(bounds[k], After(e, bounds[k], 1, kWhole[k]));
    NN_ASSIGN(bounds[k], e.Add("gather", {bounds[k], at}, GatherAttrs{0, 0}));
  }
  NN_ASSIGN(Value* const y,
            e.Add("slice",
                  {node.input(0), bounds[0], bounds[1], e.Constant(Tensor::Ints(all_axes)),
                   e.Constant(Tensor::Ints(all_steps))},
                  SliceAttrs{}));
  return e.Replace(y);
}

}  // namespace nn

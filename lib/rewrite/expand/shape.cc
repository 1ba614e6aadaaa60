// Expansions of operators whose shape or bounds are computed.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The sizes of x in the integers of another list.
Term SizesOf(const Term& x, DType dtype, int64_t end) {
  return Apply("shape_of", {x}, ShapeOfAttrs{.end = end, .dtype = dtype});
}

bool IsIndex(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kI64;
}

// A list of i32 or i64 with `count` times the number.
Term Repeated(DType dtype, int64_t count, int64_t number) {
  const auto n = static_cast<size_t>(count);
  if (dtype == DType::kI64) return Vector(std::vector<int64_t>(n, number));
  return Tensor::Of({count}, std::vector<int32_t>(n, static_cast<int32_t>(number)));
}

}  // namespace

Result<bool> SkipAddedAxes(Graph& graph, Node& node) {
  const Node* const expand = node.input(0)->def();
  if (expand == nullptr || !expand->Is("expand_dims") || expand->inputs().size() > 1 ||
      node.inputs().size() > 1 || expand->attrs<AxesAttrs>().axes != node.attrs<AxesAttrs>().axes)
    return false;
  return Expansion(graph, node).Replace(expand->input(0));
}

Result<bool> ExpandCopiedSizes(Graph& graph, Node& node) {
  ReshapeAttrs a = node.attrs<ReshapeAttrs>();
  Value *const x = node.input(0), *const shape = node.input(1);
  if (shape == nullptr || !a.zero_copies || !IsIndex(shape->dtype())) return false;
  const auto length = KnownLength(shape->type());
  if (!length) return false;
  const int64_t rank = x->type().rank();
  Term sizes = SizesOf(x, shape->dtype(), *length);
  // Zeros after the last axis of x have nothing to copy.
  if (*length > rank) sizes = Concat({sizes, Repeated(shape->dtype(), *length - rank, 0)}, 0);
  a.zero_copies = false;
  a.dims.clear();
  const Term to = Select(Equal(shape, 0), sizes, shape);
  return Expansion(graph, node).Replace(Apply("reshape", {x, to}, std::move(a)));
}

// Axes of size 1 are repeated, the others once.
Result<bool> ExpandAsTile(Graph& graph, Node& node) {
  if (node.input(1) == nullptr || !IsIndex(node.input(1)->dtype())) return false;
  const DType dtype = node.input(1)->dtype();
  const auto length = KnownLength(node.input(1)->type());
  const int64_t rank = node.input(0)->type().rank();
  if (!length || rank == 0) return false;
  Term x = node.input(0), shape = node.input(1);
  if (*length < rank) shape = Concat({Repeated(dtype, rank - *length, 1), shape}, 0);
  if (*length > rank) {
    std::vector<int64_t> axes(static_cast<size_t>(*length - rank));
    std::iota(axes.begin(), axes.end(), 0);
    x = ExpandDims(x, std::move(axes));
  }
  NN_ASSIGN(const Term one, Number(dtype, 1));
  const Term repeated = Equal(SizesOf(x, dtype, std::max(rank, *length)), one);
  return Expansion(graph, node)
      .Replace(Apply("tile", {x, Select(repeated, shape, one)}, TileAttrs{}));
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
  const Term at = Tensor::Of({std::ssize(places)}, places);
  Term all_bounds[2];
  constexpr int64_t kWhole[2] = {0, std::numeric_limits<int32_t>::max()};
  for (size_t k = 0; k < 2; ++k) {
    Term list = bounds[k];
    if (bounds[k] == nullptr) {
      std::vector<int64_t> clamped = *given[k];
      for (int64_t& v : clamped) v = std::clamp<int64_t>(v, -kWhole[1], kWhole[1]);
      list = Vector(clamped);
    }
    const DType dtype = bounds[k] == nullptr ? DType::kI64 : bounds[k]->dtype();
    all_bounds[k] = Gather(Concat({Repeated(dtype, 1, kWhole[k]), list}, 0), at, 0);
  }
  return Expansion(graph, node)
      .Replace(
          Apply("slice",
                {node.input(0), all_bounds[0], all_bounds[1], Vector(all_axes), Vector(all_steps)},
                SliceAttrs{}));
}

}  // namespace nn

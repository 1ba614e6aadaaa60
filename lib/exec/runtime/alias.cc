#include "exec/runtime/alias.h"

#include <algorithm>
#include <unordered_map>

#include "base/checked_math.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/shape.h"
#include "ops/support/types.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// The group that computes each value.
using Makers = std::unordered_map<const Value*, const Group*>;

// Whether the value can be computed directly in the memory of another one.
bool CanMove(const Graph& graph, const PlanContext& ctx, const Makers& makers, const Value* value) {
  return value->def() != nullptr && !value->is_constant() && !graph.IsOutput(value) &&
         !ctx.HasView(value) && makers.contains(value) && !IsView(*makers.at(value)->node);
}

bool MadeStrided(const Makers& makers, const Value* value) {
  const KernelInfo* kernel = FindKernel(makers.at(value)->node->op_name());
  return kernel != nullptr && kernel->strided_output;
}

void PlaceInputs(const Graph& graph, const Makers& makers, const Node& concat, PlanContext& ctx) {
  const Value* y = concat.output();
  const auto shape = ShapeOf(y);
  const auto axis = NormalizeAxis(concat.attrs<ConcatAttrs>().axis, static_cast<int>(shape.size()));
  if (!axis || DTypeBits(y->dtype()) < 8 || CheckedElements(shape) == 0) return;
  const auto at = static_cast<size_t>(*axis);
  // A repeated input must be copied.
  std::unordered_map<const Value*, size_t> times;
  for (const Value* x : concat.inputs()) ++times[x];
  int64_t first = 0;
  for (const Value* x : concat.inputs()) {
    const int64_t size = ShapeOf(x)[at];
    const int64_t begin = first;
    first += size;
    const Quant* from = x->type().quant.get();
    const Quant* to = y->type().quant.get();
    const bool converts = from != nullptr && (to == nullptr || !from->SameMapping(*to));
    if (converts || times.at(x) != 1 || !CanMove(graph, ctx, makers, x)) continue;
    const MemoryView whole = ctx.ViewOf(y);
    const auto view = PartOf(whole, y, at, begin);
    if (!view) continue;
    const bool dense = view->row_stride == static_cast<size_t>(ShapeOf(x).back());
    if (dense || (MadeStrided(makers, x) && UsersAcceptStrides(x))) ctx.SetView(x, *view);
  }
}

// Whether the node updates some elements of its first input in place, which has no other use.
bool ChangesInput(const Node& node) {
  const KernelInfo* kernel = FindKernel(node.op_name());
  return kernel != nullptr && kernel->changes_input && node.input(0)->uses().size() == 1;
}

// Places the first input of a node in the memory of the result.
void PlaceInput(const Graph& graph, const Makers& makers, const Node& node, PlanContext& ctx) {
  const Value* x = node.input(0);
  const auto shape = ShapeOf(x);
  const auto y_shape = ShapeOf(node.output());
  if (!CanMove(graph, ctx, makers, x)) return;
  MemoryView view = ctx.ViewOf(node.output());
  if (!y_shape.empty() && view.row_stride != static_cast<size_t>(y_shape.back())) return;
  view.row_stride = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  ctx.SetView(x, view);
}

}  // namespace

bool IsView(const Node& node) {
  if (IsChecked(node)) return false;
  // A shape known only at run time, from another input, is checked when the node is evaluated.
  if (node.op().movement == Movement::kInOrder) return node.input(1) == nullptr;
  const auto map = AxisMapOf(node);
  return map && map->KeepsOrder(*node.input(0)->type().dims);
}

std::optional<MemoryView> PartOf(const MemoryView& whole, const Value* value, size_t axis,
                                 int64_t first) {
  const auto shape = ShapeOf(value);
  const size_t element = static_cast<size_t>(DTypeBits(value->dtype())) / 8;
  MemoryView view = whole;
  if (axis + 1 == shape.size()) {
    view.offset += static_cast<size_t>(first) * element;
    return view;
  }
  if (ElementsOf(shape, 0, axis) != 1) return std::nullopt;
  const size_t rows = static_cast<size_t>(first) * ElementsOf(shape, axis + 1, shape.size() - 1);
  view.offset += rows * whole.row_stride * element;
  return view;
}

bool UsersAcceptStrides(const Value* value) {
  return std::all_of(value->uses().begin(), value->uses().end(), [&](const Use& use) {
    const KernelInfo* kernel = FindKernel(use.node->op_name());
    return kernel != nullptr && kernel->strided_input &&
           (kernel->strided_others ||
            (use.node->input(0) == value &&
             std::count(use.node->inputs().begin(), use.node->inputs().end(), value) == 1));
  });
}

void PlaceParts(const Graph& graph, std::span<const Group> groups, PlanContext& ctx) {
  Makers makers;
  for (const Group& g : groups) makers[g.result()] = &g;
  // Last to first: a concatenation that is part of another gets its place before its inputs do.
  for (size_t i = groups.size(); i-- > 0;) {
    const Node& node = *groups[i].node;
    if (!groups[i].post_ops.empty()) continue;
    if (node.Is<ConcatAttrs>())
      PlaceInputs(graph, makers, node, ctx);
    else if (IsView(node) && ctx.HasView(node.output()))
      PlaceInput(graph, makers, node, ctx);
    else if (ChangesInput(node))
      PlaceInput(graph, makers, node, ctx);
  }
}

}  // namespace nn

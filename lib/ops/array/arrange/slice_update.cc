#include "ops/array/arrange/slice_update.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ops/array/arrange/scatter.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/insert_before.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> SliceUpdateAttrs::Fields() {
  static const AttrField fields[] = {Field<&SliceUpdateAttrs::axes>("axes"),
                                     Field<&SliceUpdateAttrs::steps>("steps")};
  return fields;
}

namespace {

int64_t StepOf(const SliceUpdateAttrs& a, size_t i) {
  return a.steps.empty() ? 1 : a.steps[i];
}

Status InferSliceUpdate(InferContext& ctx) {
  const auto& a = ctx.attrs<SliceUpdateAttrs>();
  const Type &x = ctx.in(0), &update = ctx.in(2);
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 2}));
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, 1, "starts"));
  NN_RETURN_IF_ERROR(RequireList(ctx, 1, a.axes.size()));
  if (!a.steps.empty() && a.steps.size() != a.axes.size())
    return ModelError("axes and steps have {} and {} entries", a.axes.size(), a.steps.size());
  if (x.quantized() && (!update.quantized() || !x.quant->SameMapping(*update.quant)))
    return UnsupportedError("update {} has a different quantization than x {}", update.ToString(),
                            x.ToString());
  ctx.set_out(0, x);
  if (!x.ranked() || !update.ranked()) return {};
  NN_ASSIGN(const auto axes, NormalizeAxes(a.axes, x.rank()));
  bool fits = x.rank() == update.rank();
  for (int d = 0; fits && d < x.rank(); ++d) {
    const Dim &size = x.dim(d), &count = update.dim(d);
    if (!size.is_const() || !count.is_const()) continue;
    const bool is_part = std::ranges::find(axes, d) != axes.end();
    fits = is_part ? count.value() <= size.value() : count == size;
  }
  if (!fits) return ModelError("update {} does not fit x {}", update.ToString(), x.ToString());
  return {};
}

Status EvalSliceUpdate(EvalContext& ctx) {
  const auto& a = ctx.attrs<SliceUpdateAttrs>();
  const Tensor &x = ctx.in(0), &starts = ctx.in(1), &update = ctx.in(2);
  NN_ASSIGN(const auto axes, NormalizeAxes(a.axes, x.rank()));
  // Where each element of an axis of the update goes.
  const std::vector<int64_t> strides = Strides(x.dims());
  std::vector<AxisTable> tables;
  for (size_t d = 0; d < strides.size(); ++d) {
    const auto it = std::ranges::find(axes, static_cast<int>(d));
    const auto i = static_cast<size_t>(it - axes.begin());
    int64_t start = it == axes.end() ? 0 : starts.GetInt(static_cast<int64_t>(i));
    if (start < 0) start += x.dims()[d];
    const int64_t step = it == axes.end() ? 1 : StepOf(a, i);
    AxisTable table(static_cast<size_t>(update.dims()[d]));
    for (size_t k = 0; k < table.size(); ++k) {
      const int64_t at = start + static_cast<int64_t>(k) * step;
      if (at < 0 || at >= x.dims()[d])
        return ModelError("element {} of axis {} is outside of its {} elements", at, d,
                          x.dims()[d]);
      table[k] = at * strides[d];
    }
    tables.push_back(std::move(table));
  }
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  out.Copy(0, x, 0, x.elements());
  std::vector<size_t> index(tables.size(), 0);
  for (int64_t from = 0; from < update.elements(); ++from) {
    int64_t to = 0;
    for (size_t d = 0; d < tables.size(); ++d) to += tables[d][index[d]];
    out.Copy(to, update, from, 1);
    for (size_t d = tables.size(); d-- > 0 && ++index[d] == tables[d].size();) index[d] = 0;
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// The axes whose positions select the rows that an update replaces, first, and their number: those
// up to the last one that is not whole. If that is the last axis of all, rows would be single
// elements; then the whole axes come last.
std::pair<std::vector<int64_t>, size_t> RowAxesFirst(const std::vector<int>& axes, int rank) {
  const auto is_part = [&](int d) { return std::ranges::find(axes, d) != axes.end(); };
  int end = rank;
  while (end > 0 && !is_part(end - 1)) --end;
  std::vector<int64_t> rows, others;
  for (int d = 0; d < rank; ++d)
    (end == rank ? is_part(d) : d < end) ? rows.push_back(d) : others.push_back(d);
  const size_t count = rows.size();
  rows.insert(rows.end(), others.begin(), others.end());
  return {std::move(rows), count};
}

// Scatters the update over the rows of x.
Result<bool> DecomposeSliceUpdate(Graph& graph, Node& node) {
  const auto& a = node.attrs<SliceUpdateAttrs>();
  Value* const x = node.input(0);
  if (!x->type().ranked()) return false;
  NN_ASSIGN(const auto axes, NormalizeAxes(a.axes, x->type().rank()));
  const Term starts = Cast(node.input(1), DType::kI64), update = node.input(2);
  const auto [order, count] = RowAxesFirst(axes, x->type().rank());
  const auto positions = [&](int64_t axis) {
    const Term all = Apply("range", {0, Squeeze(SizeOfAxis(update, axis), {0}), 1});
    const auto it = std::ranges::find(axes, static_cast<int>(axis));
    if (it == axes.end()) return all;
    const auto i = it - axes.begin();
    const Term start = Slice(starts, 0, i, i + 1);
    const Term from = Select(Less(start, 0), start + SizeOfAxis(x, axis), start);
    return from + all * StepOf(a, static_cast<size_t>(i));
  };
  InsertBefore add(graph, node);
  if (count == 0) {
    NN_ASSIGN(Value* const y, add.Build(update));
    graph.Replace(&node, y);
    return true;
  }
  Term rows = positions(order[0]);
  for (size_t i = 1; i < count; ++i)
    rows = ExpandDims(rows, {-1}) * SizeOfAxis(x, order[i]) + positions(order[i]);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Term moved = Transpose(x, order);
  const auto sizes = [&](size_t start) {
    return Apply("shape_of", {moved}, ShapeOfAttrs{.start = static_cast<int64_t>(start)});
  };
  const Term before =
      Apply("reshape", {moved, Concat({Vector({-1}), sizes(count)}, 0)}, ReshapeAttrs{});
  const Term after = Apply("scatter_nd", {before, ExpandDims(rows, {-1}), Transpose(update, order)},
                           ScatterNdAttrs{});
  NN_ASSIGN(Value* const y,
            add.Build(Transpose(Apply("reshape", {after, sizes(0)}, ReshapeAttrs{}), back)));
  graph.Replace(&node, y);
  return true;
}

// The positions of an axis that have room for the update.
Domain SliceUpdateDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input != 1) return y[0].contents ? Domain() : y[0];
  const auto& a = node.attrs<SliceUpdateAttrs>();
  const auto dims = DimsOf(node.input(0)), parts = DimsOf(node.input(2));
  if (!dims || !parts || a.axes.size() != 1 || StepOf(a, 0) != 1) return {};
  const auto axes = NormalizeAxes(a.axes, static_cast<int>(dims->size()));
  if (!axes || parts->size() != dims->size()) return {};
  const auto axis = static_cast<size_t>(axes->front());
  return Between(0, static_cast<double>((*dims)[axis] - (*parts)[axis]));
}

}  // namespace

void RegisterSliceUpdateOp(OpRegistry& ops) {
  OpDef update;
  update.name = "slice_update";
  update.summary = "replaces elements between two bounds with a step along axes";
  update.category = Category::kMovement;
  update.wraps_integers = true;
  update.exact_integers = true;
  update.selects = Selection{.inputs = 0b101};
  update.attrs = AttrsInfoOf<SliceUpdateAttrs>();
  update.inputs = {{"x", Arity::kRequired, Elements::kAny},
                   {"starts"},
                   {"update", Arity::kRequired, Elements::kAny}};
  update.infer = InferSliceUpdate;
  update.eval = EvalSliceUpdate;
  update.decompose = DecomposeSliceUpdate;
  ops.Add(std::move(update));
}

void AddSliceUpdateDomain(DomainTable& domains) {
  domains["slice_update"] = SliceUpdateDomain;
}

}  // namespace nn

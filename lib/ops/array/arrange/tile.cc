#include "ops/array/arrange/tile.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/array_shape.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> TileAttrs::Fields() {
  static const AttrField fields[] = {Field<&TileAttrs::repeats>("repeats")};
  return fields;
}
std::span<const AttrField> ExpandAttrs::Fields() {
  static const AttrField fields[] = {Field<&ExpandAttrs::dims>("dims")};
  return fields;
}

namespace {

// ---- tile ---------------------------------------------------------------------------------------

std::vector<AxisTable> TileTables(const std::vector<int64_t>& dims,
                                  const std::vector<int64_t>& repeated) {
  const auto strides = Strides(dims);
  std::vector<AxisTable> tables;
  for (size_t d = 0; d < dims.size(); ++d) {
    AxisTable table(static_cast<size_t>(repeated[d]));
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = static_cast<int64_t>(i) % dims[d] * strides[d];
    tables.push_back(std::move(table));
  }
  return tables;
}

Status InferTile(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_ASSIGN(const auto repeats, SizesOf(ctx, ctx.attrs<TileAttrs>().repeats, 1));
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  if (repeats && repeats->size() != x.dims->size())
    return ModelError("repeats has {} entries for a tensor of rank {}", repeats->size(), x.rank());
  Dims dims = *x.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    dims[d] = repeats ? RepeatedSize(dims[d], (*repeats)[d]) : ctx.NewSymbol();
  ctx.set_out(0, x.WithDims(dims));
  if (x.const_dims() && ConstDims(dims))
    MoveKnownElements(ctx, [&] { return TileTables(*x.const_dims(), *ConstDims(dims)); });
  return {};
}

Status EvalTile(EvalContext& ctx) {
  return MoveInput(ctx, [&] { return TileTables(ctx.in(0).dims(), *ctx.out_type().const_dims()); });
}

std::optional<AxesChange> ChangeTileAxes(const Node& node, Operand changed, const AxisMap& map) {
  if (node.input(1) != nullptr) return std::nullopt;
  auto repeats = MapPerAxis(node.attrs<TileAttrs>().repeats, map, Dim(1));
  if (!repeats) return std::nullopt;
  return SameAxesChange(node, changed, map, TileAttrs{*std::move(repeats)});
}

Result<bool> AbsorbRepeats(Graph& graph, Node& node) {
  if (node.input(1) == nullptr) return false;
  NN_ASSIGN(const auto repeats, SizesOf(InferContext(node), Dims(), 1));
  if (!repeats || !KnownBeforeRun(*repeats)) return false;
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(TileAttrs{*repeats});
  return true;
}

// ---- expand -------------------------------------------------------------------------------------

std::vector<AxisTable> ExpandTables(const std::vector<int64_t>& dims,
                                    const std::vector<int64_t>& expanded) {
  const auto strides = Strides(dims);
  const size_t missing = expanded.size() - dims.size();
  std::vector<AxisTable> tables;
  for (size_t d = 0; d < expanded.size(); ++d) {
    const bool repeats = d < missing || dims[d - missing] == 1;
    tables.push_back(WholeAxis(expanded[d], repeats ? 0 : strides[d - missing]));
  }
  return tables;
}

Status InferExpand(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_ASSIGN(const auto shape, SizesOf(ctx, ctx.attrs<ExpandAttrs>().dims, 1));
  const auto length =
      shape ? std::optional(static_cast<int64_t>(shape->size())) : KnownLength(ctx.in(1));
  if (length && *length > kMaxRank)
    return LimitError("the result has rank {}, which exceeds the limit", *length);
  if (!x.ranked() || !length) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  Dims target;
  if (shape) {
    target = *shape;
  } else {
    for (int64_t i = 0; i < *length; ++i) target.push_back(ctx.NewSymbol());
  }
  NN_ASSIGN(const Dims dims, BroadcastDims(*x.dims, target));
  ctx.set_out(0, x.WithDims(dims));
  if (x.const_dims() && ConstDims(dims))
    MoveKnownElements(ctx, [&] { return ExpandTables(*x.const_dims(), *ConstDims(dims)); });
  return {};
}

Status EvalExpand(EvalContext& ctx) {
  return MoveInput(ctx,
                   [&] { return ExpandTables(ctx.in(0).dims(), *ctx.out_type().const_dims()); });
}

std::optional<AxesChange> ChangeExpandAxes(const Node& node, Operand changed, const AxisMap& map) {
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (node.input(1) != nullptr || !x.ranked() || !y.ranked()) return std::nullopt;
  AxisMap y_map = map;
  if (!changed.is_output) {
    // The axes missing in x stay in front.
    const int missing = y.rank() - x.rank();
    std::vector<int> from(static_cast<size_t>(missing));
    std::iota(from.begin(), from.end(), 0);
    for (const int f : map.from()) from.push_back(f == AxisMap::kNew ? f : f + missing);
    y_map = AxisMap(y.rank(), std::move(from));
  }
  for (int d = 0; d < y.rank(); ++d)
    if (!y_map.ResultAxis(d) && !(y.dim(d) == 1)) return std::nullopt;
  const ExpandAttrs a{y_map.Apply(*y.dims)};
  if (!changed.is_output) return AxesChange{a, {{Operand{true, 0}, y_map}}};
  return AxesChange{
      a, {{Operand{false, 0}, x.rank() == y.rank() ? y_map : y_map.ForTrailing(x.rank())}}};
}

Result<bool> AbsorbExpandedShape(Graph& graph, Node& node) {
  if (node.input(1) == nullptr) return false;
  NN_ASSIGN(const auto shape, SizesOf(InferContext(node), Dims(), 1));
  if (!shape || !KnownBeforeRun(*shape)) return false;
  const Type& y = node.output()->type();
  ExpandAttrs a{*shape};
  if (y.ranked() && KnownBeforeRun(*y.dims)) a.dims = *y.dims;
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(std::move(a));
  return true;
}

Domain TileDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0].contents ? Domain() : y[0];
  const auto x = DimsOf(node.input(0)), out = DimsOf(node.output());
  if (!x || !out || x->size() != out->size()) return Between(1, 2);
  std::vector<int64_t> repeats;  // of the declared shape
  for (size_t k = 0; k < x->size(); ++k) repeats.push_back((*x)[k] == 0 ? 1 : (*out)[k] / (*x)[k]);
  return Exactly(repeats);
}

// The declared shape, or that of x with further axes of size 1.
Domain ExpandDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0].contents ? Domain() : y[0];
  const auto count = LengthOf(node.input(1));
  auto dims = DimsOf(node.output());
  if (!dims) dims = DimsOf(node.input(0));
  if (!count || *count < 0 || !dims) return {};
  // Axes align at the end.
  const auto n = static_cast<size_t>(*count);
  if (n < dims->size()) dims->erase(dims->begin(), dims->end() - *count);
  dims->insert(dims->begin(), n - dims->size(), 1);
  return Exactly(*dims);
}

}  // namespace

void RegisterTileOps(OpRegistry& ops) {
  OpDef tile;
  tile.name = "tile";
  tile.summary = "repeats a tensor along its axes";
  tile.category = Category::kMovement;
  tile.quant_rule = QuantRule::kSame;
  tile.selects = Selection();
  tile.attrs = AttrsInfoOf<TileAttrs>();
  tile.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"repeats", Arity::kOptional}};
  tile.infer = InferTile;
  tile.eval = EvalTile;
  tile.change_axes = ChangeTileAxes;
  tile.absorb_inputs = AbsorbRepeats;
  tile.formats = {{"mil", "tile", 1, {}}};
  ops.Add(std::move(tile));

  OpDef expand;
  expand.name = "expand";
  expand.summary = "broadcasts a tensor to a shape";
  expand.category = Category::kMovement;
  expand.quant_rule = QuantRule::kSame;
  expand.selects = Selection();
  expand.attrs = AttrsInfoOf<ExpandAttrs>();
  expand.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"shape", Arity::kOptional}};
  expand.infer = InferExpand;
  expand.eval = EvalExpand;
  expand.change_axes = ChangeExpandAxes;
  expand.absorb_inputs = AbsorbExpandedShape;
  ops.Add(std::move(expand));
}

void AddTileDomains(DomainTable& domains) {
  domains["tile"] = TileDomain;
  domains["expand"] = ExpandDomain;
}

}  // namespace nn

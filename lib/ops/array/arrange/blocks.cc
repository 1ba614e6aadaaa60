#include "ops/array/arrange/blocks.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/arrange/join_axes.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> DepthToSpaceAttrs::Fields() {
  static const AttrField fields[] = {Field<&DepthToSpaceAttrs::block>("block"),
                                     Field<&DepthToSpaceAttrs::mode>("mode"),
                                     Field<&DepthToSpaceAttrs::layout>("layout")};
  return fields;
}
std::span<const AttrField> SpaceToBatchAttrs::Fields() {
  static const AttrField fields[] = {Field<&SpaceToBatchAttrs::blocks>("blocks"),
                                     Field<&SpaceToBatchAttrs::pads>("pads"),
                                     Field<&SpaceToBatchAttrs::layout>("layout")};
  return fields;
}

namespace {

// Positions in a block: `blocks[k]` along spatial axis k.
struct BlockShape {
  std::vector<int64_t> blocks;

  size_t axes() const { return blocks.size(); }
  int64_t count() const {
    return std::accumulate(blocks.begin(), blocks.end(), int64_t{1}, std::multiplies<>());
  }
  // The step of the position number along axis k.
  int64_t step(size_t k) const {
    return std::accumulate(blocks.begin() + static_cast<std::ptrdiff_t>(k) + 1, blocks.end(),
                           int64_t{1}, std::multiplies<>());
  }
  // The index of a position along axis k.
  int64_t index(int64_t position, size_t k) const { return position / step(k) % blocks[k]; }
};

size_t ChannelOf(Layout layout, size_t rank) {
  return static_cast<size_t>(ChannelAxis(layout, static_cast<int>(rank)));
}

// Divides a dimension; kModel if it is not divisible.
Result<Dim> Divide(const Dim& size, int64_t by, std::string_view what) {
  if (const auto exact = Dim::ExactDiv(size, Dim(by))) return *exact;
  if (size.is_const())
    return ModelError("{} {} are not divisible by {}", size.ToString(), what, by);
  return Dim::FloorDiv(size, Dim(by));
}

Status CheckBlocks(const std::vector<int64_t>& blocks) {
  for (const int64_t b : blocks)
    if (b < 1) return ModelError("block size {} is less than 1", b);
  if (!CheckedElements(blocks)) return ModelError("the number of elements in a block overflows");
  return {};
}

// ---- depth_to_space, space_to_depth -------------------------------------------------------------

BlockShape BlockOf(const DepthToSpaceAttrs& a, size_t rank) {
  return {std::vector<int64_t>(rank - 2, a.block)};
}

template <bool to_space>
Status InferDepthToSpace(InferContext& ctx) {
  const auto& a = ctx.attrs<DepthToSpaceAttrs>();
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  const BlockShape block = BlockOf(a, x.dims->size());
  NN_RETURN_IF_ERROR(CheckBlocks(block.blocks));
  Dims dims = *x.dims;
  Dim& channels = dims[ChannelOf(a.layout, dims.size())];
  if (to_space) {
    NN_ASSIGN(channels, Divide(channels, block.count(), "channels"));
  } else {
    channels = channels * Dim(block.count());
  }
  for (size_t k = 0; k < block.axes(); ++k) {
    Dim& d = dims[static_cast<size_t>(FirstSpatialAxis(a.layout)) + k];
    if (to_space) {
      d = d * Dim(a.block);
    } else {
      NN_ASSIGN(d, Divide(d, a.block, "elements of a spatial axis"));
    }
  }
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

Status EvalDepthToSpace(EvalContext& ctx) {
  const auto& a = ctx.attrs<DepthToSpaceAttrs>();
  const auto& dims = ctx.in(0).dims();
  const BlockShape block = BlockOf(a, dims.size());
  const auto out = *ctx.out_type().const_dims();
  return MoveInput(ctx, [&] {
    const auto strides = Strides(dims);
    auto tables = WholeAxes(dims);
    const size_t channel = ChannelOf(a.layout, dims.size());
    const bool dcr = a.mode == DepthOrder::kDcr;
    const int64_t depth = strides[channel];
    tables[channel] = WholeAxis(out[channel], dcr ? depth : depth * block.count());
    for (size_t k = 0; k < block.axes(); ++k) {
      const size_t axis = static_cast<size_t>(FirstSpatialAxis(a.layout)) + k;
      const int64_t position = block.step(k) * (dcr ? out[channel] : 1) * depth;
      tables[axis].clear();
      for (int64_t i = 0; i < out[axis]; ++i)
        tables[axis].push_back(i / a.block * strides[axis] + i % a.block * position);
    }
    return tables;
  });
}

Status EvalSpaceToDepth(EvalContext& ctx) {
  const auto& a = ctx.attrs<DepthToSpaceAttrs>();
  const auto& dims = ctx.in(0).dims();
  const BlockShape block = BlockOf(a, dims.size());
  const auto out = *ctx.out_type().const_dims();
  return MoveInput(ctx, [&] {
    const auto strides = Strides(dims);
    auto tables = WholeAxes(dims);
    const size_t channel = ChannelOf(a.layout, dims.size());
    const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
    for (size_t k = 0; k < block.axes(); ++k)
      tables[first + k] = WholeAxis(out[first + k], a.block * strides[first + k]);
    tables[channel].clear();
    for (int64_t d = 0; d < out[channel]; ++d) {
      const bool dcr = a.mode == DepthOrder::kDcr;
      const int64_t position = dcr ? d / dims[channel] : d % block.count();
      int64_t from = (dcr ? d % dims[channel] : d / block.count()) * strides[channel];
      for (size_t k = 0; k < block.axes(); ++k)
        from += block.index(position, k) * strides[first + k];
      tables[channel].push_back(from);
    }
    return tables;
  });
}

// ---- Decomposition ------------------------------------------------------------------------------
// Each of the four operators is lowered to: split axes, permute, join axes. An axis of `split` is
// an axis of x or a factor of one; `permuted` lists the axes of `split` in result order; `joined`
// is the result's shape.

struct Rewiring {
  Dims split;
  std::vector<int64_t> permuted;
  Dims joined;
};

Result<Value*> Rewire(Graph& graph, Node& node, Value* x, const Rewiring& r) {
  NN_ASSIGN(const Node* split,
            graph.Append("reshape", {x}, ReshapeAttrs{r.split, false}, 1, &node));
  NN_ASSIGN(const Node* permuted,
            graph.Append("transpose", {split->output()}, TransposeAttrs{r.permuted}, 1, &node));
  NN_ASSIGN(const Node* joined,
            graph.Append("reshape", {permuted->output()}, ReshapeAttrs{r.joined, false}, 1, &node));
  return joined->output();
}

// The decomposition that takes shape x to shape y. `heap` is the channel or batch axis that holds
// the positions in a block, before or after its own index; the spatial axes begin at `first`.
// `gathers`: positions move from the spatial axes to the heap, otherwise from the heap to the
// spatial axes.
Rewiring RewireBlocks(const Dims& x, const Dims& y, size_t heap, size_t first,
                      const BlockShape& block, bool positions_first, bool gathers) {
  Rewiring r;
  // The indices in `split` of the axes' own parts and of the positions.
  std::vector<int64_t> own(x.size(), 0);
  std::vector<int64_t> positions(block.axes(), 0);
  const auto add = [&](const Dim& d) {
    r.split.push_back(d);
    return static_cast<int64_t>(r.split.size()) - 1;
  };
  for (size_t axis = 0; axis < x.size(); ++axis) {
    const bool spatial = axis >= first && axis < first + block.axes();
    const size_t k = axis - first;
    if (axis == heap && !gathers) {
      if (!positions_first) own[axis] = add(y[axis]);
      for (size_t p = 0; p < block.axes(); ++p) positions[p] = add(Dim(block.blocks[p]));
      if (positions_first) own[axis] = add(y[axis]);
    } else if (spatial && gathers) {
      own[axis] = add(y[axis]);
      positions[k] = add(Dim(block.blocks[k]));
    } else {
      own[axis] = add(x[axis]);
    }
  }
  for (size_t axis = 0; axis < x.size(); ++axis) {
    const bool spatial = axis >= first && axis < first + block.axes();
    if (axis == heap && gathers) {
      if (!positions_first) r.permuted.push_back(own[axis]);
      r.permuted.insert(r.permuted.end(), positions.begin(), positions.end());
      if (positions_first) r.permuted.push_back(own[axis]);
    } else {
      r.permuted.push_back(own[axis]);
      if (spatial && !gathers) r.permuted.push_back(positions[axis - first]);
    }
  }
  r.joined = y;
  return r;
}

template <bool to_space>
Result<bool> DecomposeDepth(Graph& graph, Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (!x.ranked() || !y.ranked()) return false;
  const Rewiring r =
      RewireBlocks(*x.dims, *y.dims, ChannelOf(a.layout, x.dims->size()),
                   static_cast<size_t>(FirstSpatialAxis(a.layout)), BlockOf(a, x.dims->size()),
                   a.mode == DepthOrder::kDcr, !to_space);
  NN_ASSIGN(Value* const result, Rewire(graph, node, node.input(0), r));
  graph.Replace(&node, result);
  return true;
}

// The size of a block if each spatial axis of `wide` has `block` times the elements of that of
// `deep`, and `deep` the more channels; nullopt if not, or if it is 1.
std::optional<int64_t> BlockBetween(const Dims& deep, const Dims& wide, Layout layout) {
  const size_t channel = ChannelOf(layout, deep.size());
  const auto first = static_cast<size_t>(FirstSpatialAxis(layout));
  if (deep[first] == 0) return std::nullopt;
  const auto block = Dim::ExactDiv(wide[first], deep[first]);
  if (!block || !block->is_const() || block->value() < 2) return std::nullopt;
  Dims expected = deep;
  expected[channel] = wide[channel];
  Dim depth = wide[channel];
  for (size_t axis = first; axis < first + deep.size() - 2; ++axis) {
    expected[axis] = expected[axis] * *block;
    depth = depth * *block;
  }
  return expected == wide && depth == deep[channel] ? std::optional(block->value()) : std::nullopt;
}

// ---- space_to_batch_nd, batch_to_space_nd -------------------------------------------------------

// The spatial pads; 0 if none are given.
std::vector<int64_t> PadsOf(const SpaceToBatchAttrs& a) {
  return a.pads.empty() ? std::vector<int64_t>(2 * a.blocks.size(), 0) : a.pads;
}

template <bool to_batch>
Status InferSpaceToBatch(InferContext& ctx) {
  const auto& a = ctx.attrs<SpaceToBatchAttrs>();
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(CheckBlocks(a.blocks));
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  const auto axes = static_cast<int>(a.blocks.size());
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, axes + 2, axes + 2));
  const auto pads = PadsOf(a);
  if (pads.size() != 2 * a.blocks.size())
    return ModelError("pads has {} entries for {} spatial axes", pads.size(), axes);
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; }))
    return ModelError("pads {} contain a negative entry", ToString(ToDims(pads)));
  const BlockShape block{a.blocks};
  Dims dims = *x.dims;
  if (to_batch) {
    dims[0] = dims[0] * Dim(block.count());
  } else {
    NN_ASSIGN(dims[0], Divide(dims[0], block.count(), "images"));
  }
  for (size_t k = 0; k < block.axes(); ++k) {
    Dim& d = dims[static_cast<size_t>(FirstSpatialAxis(a.layout)) + k];
    const Dim padding = Dim(pads[k]) + Dim(pads[block.axes() + k]);
    if (to_batch) {
      NN_ASSIGN(d, Divide(d + padding, a.blocks[k], "elements of a padded spatial axis"));
    } else {
      d = d * Dim(a.blocks[k]) - padding;
    }
  }
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

Status EvalSpaceToBatch(EvalContext& ctx) {
  const auto& a = ctx.attrs<SpaceToBatchAttrs>();
  const Tensor& x = ctx.in(0);
  const BlockShape block{a.blocks};
  const auto pads = PadsOf(a);
  const auto strides = Strides(x.dims());
  NN_ASSIGN(const Tensor zero, ZeroElement(ctx.in_type(0)));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int64_t images = out.elements() == 0 ? 0 : out.elements() / block.count();
  for (int64_t position = 0; images > 0 && position < block.count(); ++position) {
    auto tables = WholeAxes(x.dims());
    for (size_t k = 0; k < block.axes(); ++k) {
      const size_t axis = static_cast<size_t>(FirstSpatialAxis(a.layout)) + k;
      tables[axis].clear();
      for (int64_t i = 0; i < out.dims()[axis]; ++i) {
        const int64_t from = i * a.blocks[k] + block.index(position, k) - pads[k];
        tables[axis].push_back(from < 0 || from >= x.dims()[axis] ? kFillEntry
                                                                  : from * strides[axis]);
      }
    }
    ForEachRun(tables, [&](int64_t to, int64_t from, int64_t count) {
      if (from == kFillEntry)
        out.Fill(position * images + to, count, zero);
      else
        out.Copy(position * images + to, x, from, count);
    });
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalBatchToSpace(EvalContext& ctx) {
  const auto& a = ctx.attrs<SpaceToBatchAttrs>();
  const auto& dims = ctx.in(0).dims();
  const BlockShape block{a.blocks};
  const auto pads = PadsOf(a);
  const auto out = *ctx.out_type().const_dims();
  return MoveInput(ctx, [&] {
    const auto strides = Strides(dims);
    auto tables = WholeAxes(dims);
    tables[0] = WholeAxis(out[0], strides[0]);
    for (size_t k = 0; k < block.axes(); ++k) {
      const size_t axis = static_cast<size_t>(FirstSpatialAxis(a.layout)) + k;
      tables[axis].clear();
      for (int64_t i = 0; i < out[axis]; ++i) {
        const int64_t at = i + pads[k];
        tables[axis].push_back(at / a.blocks[k] * strides[axis] +
                               at % a.blocks[k] * block.step(k) * out[0] * strides[0]);
      }
    }
    return tables;
  });
}

Result<bool> DecomposeSpaceToBatch(Graph& graph, Node& node) {
  const auto& a = node.attrs<SpaceToBatchAttrs>();
  const Type& y = node.output()->type();
  if (!node.input(0)->type().ranked() || !y.ranked()) return false;
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  const auto pads = PadsOf(a);
  const size_t rank = y.dims->size();
  PadAttrs padding;
  padding.pads.assign(2 * rank, 0);
  for (size_t k = 0; k < a.blocks.size(); ++k) {
    padding.pads[first + k] = pads[k];
    padding.pads[rank + first + k] = pads[a.blocks.size() + k];
  }
  NN_ASSIGN(const Node* padded, graph.Append("pad", {node.input(0)}, padding, 1, &node));
  const Rewiring r = RewireBlocks(*padded->output()->type().dims, *y.dims, 0, first,
                                  BlockShape{a.blocks}, true, true);
  NN_ASSIGN(Value* const result, Rewire(graph, node, padded->output(), r));
  graph.Replace(&node, result);
  return true;
}

Result<bool> DecomposeBatchToSpace(Graph& graph, Node& node) {
  const auto& a = node.attrs<SpaceToBatchAttrs>();
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (!x.ranked() || !y.ranked()) return false;
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  const auto pads = PadsOf(a);
  Dims whole = *y.dims;
  SliceAttrs cropped;
  for (size_t k = 0; k < a.blocks.size(); ++k) {
    const int64_t end = pads[a.blocks.size() + k];
    whole[first + k] = x.dim(static_cast<int>(first + k)) * Dim(a.blocks[k]);
    cropped.axes.push_back(static_cast<int64_t>(first + k));
    cropped.starts.push_back(pads[k]);
    cropped.ends.push_back(end == 0 ? std::numeric_limits<int64_t>::max() : -end);
  }
  const Rewiring r = RewireBlocks(*x.dims, whole, 0, first, BlockShape{a.blocks}, true, false);
  NN_ASSIGN(Value* const wide, Rewire(graph, node, node.input(0), r));
  NN_ASSIGN(const Node* slice, graph.Append("slice", {wide}, cropped, 1, &node));
  graph.Replace(&node, slice->output());
  return true;
}

Domain BlocksDomain(const Node&, size_t, std::span<const Domain> y) {
  return y[0].contents ? Domain() : y[0];
}

}  // namespace

std::optional<DepthMove> DepthMoveOf(const Dims& x, const Dims& split,
                                     const std::vector<int64_t>& perm, const Dims& y) {
  if (x.size() < 3 || x.size() != y.size()) return std::nullopt;
  const AxisPermutation moves = JoinedPermutation(split, perm);
  for (const bool to_space : {true, false})
    for (const Layout layout : {Layout::kNcx, Layout::kNxc}) {
      const auto block = to_space ? BlockBetween(x, y, layout) : BlockBetween(y, x, layout);
      if (!block) continue;
      for (const DepthOrder mode : {DepthOrder::kDcr, DepthOrder::kCrd}) {
        const DepthToSpaceAttrs a{*block, mode, layout};
        const Rewiring r = RewireBlocks(x, y, ChannelOf(layout, x.size()),
                                        static_cast<size_t>(FirstSpatialAxis(layout)),
                                        BlockOf(a, x.size()), mode == DepthOrder::kDcr, !to_space);
        if (JoinedPermutation(r.split, r.permuted) == moves)
          return DepthMove{to_space ? "depth_to_space" : "space_to_depth", a};
      }
    }
  return std::nullopt;
}

void RegisterBlockOps(OpRegistry& ops) {
  const auto define = [](std::string_view name, std::string_view summary, const AttrsInfo* attrs) {
    OpDef op;
    op.name = name;
    op.summary = summary;
    op.category = Category::kMovement;
    op.quant_rule = QuantRule::kSame;
    op.selects = Selection();
    op.attrs = attrs;
    op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
    return op;
  };
  OpDef to_space = define("depth_to_space", "moves channels into blocks of spatial elements",
                          AttrsInfoOf<DepthToSpaceAttrs>());
  to_space.infer = InferDepthToSpace<true>;
  to_space.eval = EvalDepthToSpace;
  to_space.change_axes = LayoutChange;
  to_space.decompose = DecomposeDepth<true>;
  to_space.formats = {{"mil", "depth_to_space", 1, {{"block", "block_size"}}}};
  ops.Add(std::move(to_space));

  OpDef to_depth = define("space_to_depth", "moves blocks of spatial elements into channels",
                          AttrsInfoOf<DepthToSpaceAttrs>());
  to_depth.infer = InferDepthToSpace<false>;
  to_depth.eval = EvalSpaceToDepth;
  to_depth.change_axes = LayoutChange;
  to_depth.decompose = DecomposeDepth<false>;
  to_depth.formats = {{"mil", "space_to_depth", 1, {{"block", "block_size"}}}};
  ops.Add(std::move(to_depth));

  OpDef to_batch = define("space_to_batch_nd", "moves blocks of spatial elements into the batch",
                          AttrsInfoOf<SpaceToBatchAttrs>());
  to_batch.infer = InferSpaceToBatch<true>;
  to_batch.eval = EvalSpaceToBatch;
  to_batch.change_axes = LayoutChange;
  to_batch.decompose = DecomposeSpaceToBatch;
  to_batch.selects = Selection{.zero = true};
  ops.Add(std::move(to_batch));

  OpDef from_batch = define("batch_to_space_nd", "moves the batch into blocks of spatial elements",
                            AttrsInfoOf<SpaceToBatchAttrs>());
  from_batch.infer = InferSpaceToBatch<false>;
  from_batch.eval = EvalBatchToSpace;
  from_batch.change_axes = LayoutChange;
  from_batch.decompose = DecomposeBatchToSpace;
  ops.Add(std::move(from_batch));
}

void AddBlockDomains(DomainTable& domains) {
  domains["depth_to_space"] = BlocksDomain;
  domains["space_to_depth"] = BlocksDomain;
  domains["space_to_batch_nd"] = BlocksDomain;
  domains["batch_to_space_nd"] = BlocksDomain;
}

}  // namespace nn

#include <algorithm>
#include <array>
#include <numeric>

#include "formats/coreml/family.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// ---- Reshapes -----------------------------------------------------------------------------------

// Permutes the axes [.., C, H, W] so that C is last, or the reverse.
Term MoveChannels(Term x, int rank, bool last) {
  std::vector<int64_t> perm(static_cast<size_t>(std::max(0, rank - 3)));
  std::iota(perm.begin(), perm.end(), 0);
  for (const int k : last ? std::array{2, 1, 3} : std::array{1, 3, 2}) perm.push_back(rank - k);
  return Transpose(std::move(x), std::move(perm));
}

// [..., C, H, W] -> [..., C * H * W, 1, 1]
Status ImportFlatten(ImportContext& ctx) {
  Term x = ctx.input(0);
  Dims dims = *ctx.input(0)->type().dims;
  if (dims.size() < 3) return ModelError("the input must have rank 3 or more, not {}", dims.size());
  if (ctx.params().Enum("mode") == "CHANNEL_LAST")
    x = MoveChannels(x, ctx.input(0)->type().rank(), true);
  const Dim all = Product(Dims(dims.end() - 3, dims.end()));
  dims.resize(dims.size() - 3);
  dims.insert(dims.end(), {all, Dim(1), Dim(1)});
  return ctx.EmitTerm(Reshape(x, std::move(dims)));
}

// Rank 5, to [C, H, W] or [S, C, H, W].
Status ImportReshape(ImportContext& ctx) {
  const Term x = ctx.input(0);
  const Dims& in = *ctx.input(0)->type().dims;
  if (in.size() != 5) return ModelError("the input must have rank 5, not {}", in.size());
  auto target = ctx.params().Ints("targetShape");
  if (target.size() != 3 && target.size() != 4)
    return ModelError("targetShape has {} entries; expected 3 or 4", target.size());
  const bool last = ctx.params().Enum("mode") == "CHANNEL_LAST";
  Dims dims = {in[0], in[1]};
  if (target.size() == 4) {
    dims[0] = target[0];
    target.erase(target.begin());
  }
  if (!last) {
    for (const int64_t d : target) dims.emplace_back(d);
    return ctx.EmitTerm(Reshape(x, std::move(dims)));
  }
  dims.insert(dims.end(), {Dim(target[1]), Dim(target[2]), Dim(target[0])});
  const Term y = Reshape(MoveChannels(x, 5, true), std::move(dims));
  return ctx.EmitTerm(MoveChannels(y, 5, false));
}

Status ImportReshapeStatic(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.EmitTerm(Reshape(x, ToDims(ctx.params().Ints("targetShape"))));
}

// 0 copies a size.
Status ImportRankPreservingReshape(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Dims dims = ToDims(ctx.params().Ints("targetShape"));
  if (dims.size() != x->type().dims->size())
    return ModelError("targetShape has {} entries for the input {}", dims.size(),
                      x->type().ToString());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 0) dims[i] = (*x->type().dims)[i];
  return ctx.EmitTerm(Reshape(x, std::move(dims)));
}

Status ImportReshapeLike(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const Value* const like = ctx.input(1);
  return ctx.EmitTerm(Reshape(x, *like->type().dims));
}

Status ImportReshapeDynamic(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const shape = ctx.input(1);
  return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{});
}

Status ImportFlattenTo2d(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const Dims& dims = *x->type().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = ctx.params().Int("axis");
  if (axis < -rank || axis > rank)
    return ModelError("axis {} is out of range for rank {}", axis, rank);
  if (axis < 0) axis += rank;
  return ctx.EmitTerm(Reshape(x, {Product(Dims(dims.begin(), dims.begin() + axis)),
                                  Product(Dims(dims.begin() + axis, dims.end()))}));
}

// ---- Axes ---------------------------------------------------------------------------------------

Status ImportExpandDims(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("expand_dims", {x}, AxesAttrs{ctx.params().Ints("axes")});
}

// There are no scalars: if all axes are removed, one of size 1 stays.
Status ImportSqueeze(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const bool all = ctx.params().Bool("squeezeAll");
  auto axes = all ? std::vector<int64_t>{} : ctx.params().Ints("axes");
  if (!all && axes.empty()) return ModelError("axes is empty");
  if (axes.size() == x->type().dims->size()) axes.pop_back();
  if (!all && axes.empty()) return ctx.EmitTerm(x);
  if (all && Product(*x->type().dims) == 1) return ctx.EmitTerm(Reshape(x, {Dim(1)}));
  return ctx.Emit("squeeze", {x}, AxesAttrs{std::move(axes)});
}

Status ImportTranspose(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("transpose", {x}, TransposeAttrs{ctx.params().Ints("axes")});
}

// A permutation of S, C, H, W; B is fixed.
Status ImportPermute(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (x->type().rank() != 5)
    return ModelError("the input must have rank 5, not {}", x->type().rank());
  const auto order = ctx.params().Ints("axis");
  if (order.size() != 4) return ModelError("axis has {} entries; expected 4", order.size());
  std::vector<int64_t> perm = {0, 1};
  for (size_t i = 0; i < 4; ++i) {
    if (order[i] < 0 || order[i] > 3)
      return ModelError("axis[{}] is {}; expected 0 to 3", i, order[i]);
    const int64_t axis = order[i] == 0 ? 0 : order[i] + 1;
    if (i == 0)
      perm[0] = axis;
    else
      perm.push_back(axis);
  }
  return ctx.Emit("transpose", {x}, TransposeAttrs{std::move(perm)});
}

// ---- Shapes as values ---------------------------------------------------------------------------

Status ImportGetShape(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("shape_of", {x}, ShapeOfAttrs{});
}

Status ImportBroadcastToStatic(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("expand", {x}, ExpandAttrs{ToDims(ctx.params().Ints("targetShape"))});
}

Status ImportBroadcastToLike(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const Value* const like = ctx.input(1);
  return ctx.Emit("expand", {x}, ExpandAttrs{*like->type().dims});
}

Status ImportBroadcastToDynamic(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const shape = ctx.input(1);
  return ctx.Emit("expand", {x, shape}, ExpandAttrs{});
}

// Repetitions of the last axes.
Status ImportTile(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const size_t rank = x->type().dims->size();
  if (ctx.input_count() == 2) {
    Term repeats = ctx.input(1);
    const auto count = KnownLength(ctx.input(1)->type());
    const auto all = static_cast<int64_t>(rank);
    if (count && *count < all)
      repeats =
          Concat({Vector(std::vector<int64_t>(static_cast<size_t>(all - *count), 1)), repeats}, 0);
    return ctx.Emit("tile", {x, repeats}, TileAttrs{});
  }
  auto reps = ctx.params().Ints("reps");
  if (reps.size() > rank)
    return ModelError("reps has {} entries; expected at most {}", reps.size(), rank);
  reps.insert(reps.begin(), rank - reps.size(), 1);
  return ctx.Emit("tile", {x}, TileAttrs{ToDims(reps)});
}

// Along the first of five axes.
Status ImportSequenceRepeat(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (x->type().rank() != 5)
    return ModelError("the input must have rank 5, not {}", x->type().rank());
  NN_ASSIGN(const int64_t n, ctx.params().Size("nRepetitions"));
  return ctx.Emit("tile", {x}, TileAttrs{{Dim(std::max<int64_t>(n, 1)), 1, 1, 1, 1}});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// ---- Reshape ------------------------------------------------------------------------------------

// The sizes of the result with at most one -1; nullopt if more sizes are dynamic.
std::optional<std::vector<int64_t>> StaticTarget(const Dims& dims) {
  std::vector<int64_t> target;
  bool rest = false;
  for (const Dim& d : dims) {
    if (!d.is_const() && rest) return std::nullopt;
    rest |= !d.is_const();
    target.push_back(d.is_const() ? d.value() : -1);
  }
  return target;
}

// The same for a shape of the input's rank, with 0 for sizes copied from the input.
std::optional<std::vector<int64_t>> PreservingTarget(const Dims& in, const Dims& out) {
  if (in.size() != out.size()) return std::nullopt;
  std::vector<int64_t> target;
  bool rest = false;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool kept = in[i] == out[i];
    if (!kept && !out[i].is_const() && rest) return std::nullopt;
    rest |= !kept && !out[i].is_const();
    target.push_back(kept ? 0 : out[i].is_const() ? out[i].value() : -1);
  }
  return target;
}

// The axis that separates the input's axes into the two of the result.
std::optional<int64_t> FlattenAxis(const Dims& in, const Dims& out) {
  if (out.size() != 2) return std::nullopt;
  for (size_t axis = 0; axis <= in.size(); ++axis) {
    const auto at = in.begin() + static_cast<ptrdiff_t>(axis);
    if (Product(Dims(in.begin(), at)) == out[0] && Product(Dims(at, in.end())) == out[1])
      return static_cast<int64_t>(axis);
  }
  return std::nullopt;
}

// The axes of size 1, and the sizes of the others.
struct UnitAxes {
  explicit UnitAxes(const Dims& dims) {
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] == 1)
        axes.push_back(static_cast<int64_t>(i));
      else
        others.push_back(dims[i]);
  }
  std::vector<int64_t> axes;
  Dims others;
};

// Whether only axes of size 1 are removed and inserted, of arrays with others.
bool MovesUnitAxes(const Dims& in, const Dims& out) {
  const UnitAxes from(in), to(out);
  return !from.others.empty() && from.others == to.others;
}

void WriteUnitAxes(ExportContext& ctx, const Node& node, const Dims& in, const Dims& out) {
  const UnitAxes from(in), to(out);
  std::string x = ctx.NameOf(node.input(0));
  const std::string y = ctx.NameOf(node.output());
  if (!from.axes.empty()) {
    const std::string squeezed = to.axes.empty() ? y : ctx.NewName("squeezed");
    ctx.AddLayer(node, "squeeze", {x}, {squeezed}).Ints("axes", from.axes);
    x = squeezed;
  }
  if (!to.axes.empty()) ctx.AddLayer(node, "expandDims", {x}, {y}).Ints("axes", to.axes);
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr) {
    ctx.AddLayer(node, "reshapeDynamic");
    return {};
  }
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  if (const auto target = StaticTarget(out))
    ctx.AddLayer(node, "reshapeStatic").Ints("targetShape", *target);
  else if (const auto kept = PreservingTarget(in, out))
    ctx.AddRankedLayer(node, "rankPreservingReshape").Ints("targetShape", *kept);
  else if (const auto axis = FlattenAxis(in, out))
    ctx.AddLayer(node, "flattenTo2D").Int("axis", *axis);
  else if (MovesUnitAxes(in, out))
    WriteUnitAxes(ctx, node, in, out);
  else
    return InternalError("reshape was not legalized for Core ML");
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  if (node.input(1) != nullptr) {
    if (node.attrs<ReshapeAttrs>().zero_copies)
      return "a computed shape cannot contain 0 (copied dimensions)";
    return std::nullopt;
  }
  if (std::any_of(out.begin(), out.end(), [](const Dim& d) { return d == 0; }))
    return "its result cannot be empty";
  if (StaticTarget(out) || PreservingTarget(in, out) || FlattenAxis(in, out) ||
      MovesUnitAxes(in, out))
    return std::nullopt;
  return "its shape can have at most one dynamic dimension";
}

// ---- Axes ---------------------------------------------------------------------------------------

Status WriteTranspose(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "transpose").Ints("axes", node.attrs<TransposeAttrs>().perm);
  return {};
}

Status WriteExpandDims(ExportContext& ctx, const Node& node) {
  const auto& axes = node.attrs<AxesAttrs>().axes;
  if (axes.empty())
    ctx.Alias(node, node.output(), node.input(0));
  else
    ctx.AddLayer(node, "expandDims").Ints("axes", axes);
  return {};
}

Status WriteSqueeze(ExportContext& ctx, const Node& node) {
  const auto& axes = node.attrs<AxesAttrs>().axes;
  Writer p = ctx.AddLayer(node, "squeeze");
  if (axes.empty())
    p.Bool("squeezeAll", true);
  else
    p.Ints("axes", axes);
  return {};
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (node.input(1) != nullptr) return "its axes must be constant";
  return std::nullopt;
}

// ---- Shapes, repetition -------------------------------------------------------------------------

Status WriteShapeOf(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "getShape");
  return {};
}
std::optional<std::string> WhyNotShapeOf(const Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  if (a.start != 0 || a.end < node.input(0)->type().rank())
    return "start and end are unsupported; Core ML returns the whole shape";
  return std::nullopt;
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "tile");
  if (node.input(1) == nullptr) p.Ints("reps", *ConstDims(node.attrs<TileAttrs>().repeats));
  return {};
}
std::optional<std::string> WhyNotTile(const Node& node) {
  const Dims& repeats = node.attrs<TileAttrs>().repeats;
  if (node.input(1) != nullptr) return std::nullopt;
  const auto numbers = ConstDims(repeats);
  if (!numbers) return "its repeats must be constant";
  if (std::any_of(numbers->begin(), numbers->end(), [](int64_t n) { return n < 1; }))
    return "its repeats must be 1 or more";
  return std::nullopt;
}

Status WriteExpand(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr)
    ctx.AddLayer(node, "broadcastToDynamic");
  else
    ctx.AddLayer(node, "broadcastToStatic")
        .Ints("targetShape", *node.output()->type().const_dims());
  return {};
}
std::optional<std::string> WhyNotExpand(const Node& node) {
  if (node.input(1) == nullptr && !node.output()->type().const_dims())
    return "its shape must be constant";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kShapeImports[] = {
    {.layer = "flatten", .import = ImportFlatten, .inputs = "a"},
    {.layer = "reshape", .import = ImportReshape, .inputs = "a"},
    {.layer = "reshapeStatic", .import = ImportReshapeStatic, .inputs = "a"},
    {.layer = "rankPreservingReshape", .import = ImportRankPreservingReshape, .inputs = "a"},
    {.layer = "reshapeLike", .import = ImportReshapeLike, .inputs = "aa"},
    {.layer = "reshapeDynamic", .import = ImportReshapeDynamic, .inputs = "ai"},
    {.layer = "flattenTo2D", .import = ImportFlattenTo2d, .inputs = "a"},
    {.layer = "expandDims", .import = ImportExpandDims, .inputs = "a"},
    {.layer = "squeeze", .import = ImportSqueeze, .inputs = "a"},
    {.layer = "transpose", .import = ImportTranspose, .inputs = "a"},
    {.layer = "permute", .import = ImportPermute, .inputs = "a"},
    {.layer = "getShape", .import = ImportGetShape, .inputs = "a"},
    {.layer = "broadcastToStatic", .import = ImportBroadcastToStatic, .inputs = "a"},
    {.layer = "broadcastToLike", .import = ImportBroadcastToLike, .inputs = "aa"},
    {.layer = "broadcastToDynamic", .import = ImportBroadcastToDynamic, .inputs = "ai"},
    {.layer = "tile", .import = ImportTile, .inputs = "a?i"},
    {.layer = "sequenceRepeat", .import = ImportSequenceRepeat, .inputs = "a"},
};

constexpr ExportRow kShapeExports[] = {
    {.op = "reshape", .write = WriteReshape, .why_not = WhyNotReshape, .types = Types::kAny},
    {.op = "transpose", .write = WriteTranspose, .types = Types::kAny},
    {.op = "expand_dims", .write = WriteExpandDims, .why_not = WhyNotAxes, .types = Types::kAny},
    {.op = "squeeze", .write = WriteSqueeze, .why_not = WhyNotAxes, .types = Types::kAny},
    {.op = "shape_of", .write = WriteShapeOf, .why_not = WhyNotShapeOf, .types = Types::kAny},
    {.op = "tile", .write = WriteTile, .why_not = WhyNotTile, .types = Types::kAny},
    {.op = "expand", .write = WriteExpand, .why_not = WhyNotExpand, .types = Types::kAny},
};

}  // namespace

Family ShapeFamily() {
  return {.imports = kShapeImports, .exports = kShapeExports};
}

}  // namespace nn::coreml

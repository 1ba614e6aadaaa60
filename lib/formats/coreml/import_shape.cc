#include <algorithm>
#include <array>
#include <numeric>

#include "formats/coreml/import.h"
#include "ops/shape.h"
#include "ops/shape_of.h"
#include "ops/tile.h"

namespace nn::coreml {
namespace {

// ---- Reshapes -----------------------------------------------------------------------------------

// The axes [.., C, H, W] of a blob with C last, or the reverse.
Result<Value*> MoveChannels(ImportContext& ctx, Value* x, bool last) {
  const int rank = x->type().rank();
  std::vector<int64_t> perm(static_cast<size_t>(std::max(0, rank - 3)));
  std::iota(perm.begin(), perm.end(), 0);
  for (const int k : last ? std::array{2, 1, 3} : std::array{1, 3, 2}) perm.push_back(rank - k);
  return ctx.Add("transpose", {x}, TransposeAttrs{std::move(perm)});
}

// [..., C, H, W] -> [..., C * H * W, 1, 1]
Status ImportFlatten(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value * x, ctx.Any(0));
  Dims dims = *x->type().dims;
  if (dims.size() < 3) return ModelError("its input has rank {}", dims.size());
  if (ctx.params().Enum("mode") == "CHANNEL_LAST") {
    NN_ASSIGN(x, MoveChannels(ctx, x, true));
  }
  const Dim all = Product(Dims(dims.end() - 3, dims.end()));
  dims.resize(dims.size() - 3);
  dims.insert(dims.end(), {all, Dim(1), Dim(1)});
  NN_ASSIGN(Value* const y, ctx.Reshape(x, std::move(dims)));
  ctx.SetOutput(0, y);
  return {};
}

// Rank 5, to [C, H, W] or [S, C, H, W].
Status ImportReshape(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value * x, ctx.Any(0));
  const Dims in = *x->type().dims;
  if (in.size() != 5) return ModelError("its input has rank {}, not 5", in.size());
  auto target = ctx.params().Ints("targetShape");
  if (target.size() != 3 && target.size() != 4)
    return ModelError("targetShape has {} entries, not 3 or 4", target.size());
  const bool last = ctx.params().Enum("mode") == "CHANNEL_LAST";
  Dims dims = {in[0], in[1]};
  if (target.size() == 4) {
    dims[0] = target[0];
    target.erase(target.begin());
  }
  if (!last) {
    for (const int64_t d : target) dims.emplace_back(d);
    NN_ASSIGN(Value* const y, ctx.Reshape(x, std::move(dims)));
    ctx.SetOutput(0, y);
    return {};
  }
  NN_ASSIGN(x, MoveChannels(ctx, x, true));
  dims.insert(dims.end(), {Dim(target[1]), Dim(target[2]), Dim(target[0])});
  NN_ASSIGN(x, ctx.Reshape(x, std::move(dims)));
  NN_ASSIGN(Value* const y, MoveChannels(ctx, x, false));
  ctx.SetOutput(0, y);
  return {};
}

Status EmitReshape(ImportContext& ctx, Value* x, Dims dims) {
  NN_ASSIGN(Value* const y, ctx.Reshape(x, std::move(dims)));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportReshapeStatic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return EmitReshape(ctx, x, ToDims(ctx.params().Ints("targetShape")));
}

// 0 keeps a size.
Status ImportRankPreservingReshape(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  Dims dims = ToDims(ctx.params().Ints("targetShape"));
  if (dims.size() != x->type().dims->size())
    return ModelError("targetShape has {} entries for the input {}", dims.size(),
                      x->type().ToString());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 0) dims[i] = (*x->type().dims)[i];
  return EmitReshape(ctx, x, std::move(dims));
}

Status ImportReshapeLike(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(const Value* const like, ctx.Any(1));
  return EmitReshape(ctx, x, *like->type().dims);
}

Status ImportReshapeDynamic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(Value* const shape, ctx.Index(1));
  return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{});
}

Status ImportFlattenTo2d(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const Dims& dims = *x->type().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = ctx.params().Int("axis");
  if (axis < -rank || axis > rank) return ModelError("axis {} of rank {}", axis, rank);
  if (axis < 0) axis += rank;
  return EmitReshape(ctx, x,
                     {Product(Dims(dims.begin(), dims.begin() + axis)),
                      Product(Dims(dims.begin() + axis, dims.end()))});
}

// ---- Axes ---------------------------------------------------------------------------------------

Status ImportExpandDims(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return ctx.Emit("expand_dims", {x}, AxesAttrs{ctx.params().Ints("axes")});
}

// There are no scalars: where all axes go, one of size 1 stays.
Status ImportSqueeze(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const bool all = ctx.params().Bool("squeezeAll");
  auto axes = all ? std::vector<int64_t>{} : ctx.params().Ints("axes");
  if (!all && axes.empty()) return ModelError("no axes");
  if (axes.size() == x->type().dims->size()) axes.pop_back();
  if (!all && axes.empty()) {
    ctx.SetOutput(0, x);
    return {};
  }
  if (all && Product(*x->type().dims) == 1) return EmitReshape(ctx, x, {Dim(1)});
  return ctx.Emit("squeeze", {x}, AxesAttrs{std::move(axes)});
}

Status ImportTranspose(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return ctx.Emit("transpose", {x}, TransposeAttrs{ctx.params().Ints("axes")});
}

// The order of S, C, H, W; B stays.
Status ImportPermute(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  if (x->type().rank() != 5) return ModelError("its input has rank {}, not 5", x->type().rank());
  const auto order = ctx.params().Ints("axis");
  if (order.size() != 4) return ModelError("axis has {} entries, not 4", order.size());
  std::vector<int64_t> perm = {0, 1};
  for (size_t i = 0; i < 4; ++i) {
    if (order[i] < 0 || order[i] > 3) return ModelError("axis[{}] is {}", i, order[i]);
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
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return ctx.Emit("shape_of", {x}, ShapeOfAttrs{});
}

Status ImportBroadcastToStatic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return ctx.Emit("expand", {x}, ExpandAttrs{ToDims(ctx.params().Ints("targetShape"))});
}

Status ImportBroadcastToLike(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(const Value* const like, ctx.Any(1));
  return ctx.Emit("expand", {x}, ExpandAttrs{*like->type().dims});
}

Status ImportBroadcastToDynamic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(Value* const shape, ctx.Index(1));
  return ctx.Emit("expand", {x, shape}, ExpandAttrs{});
}

// Repetitions of the last axes.
Status ImportTile(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  if (ctx.input_count() == 2) {
    NN_ASSIGN(Value* const repeats, ctx.Index(1));
    return ctx.Emit("tile", {x, repeats}, TileAttrs{});
  }
  auto reps = ctx.params().Ints("reps");
  const size_t rank = x->type().dims->size();
  if (reps.size() > rank) return ModelError("reps has {} entries, not {}", reps.size(), rank);
  reps.insert(reps.begin(), rank - reps.size(), 1);
  return ctx.Emit("tile", {x}, TileAttrs{ToDims(reps)});
}

// Along the first of five axes.
Status ImportSequenceRepeat(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  if (x->type().rank() != 5) return ModelError("its input has rank {}, not 5", x->type().rank());
  NN_ASSIGN(const int64_t n, ctx.params().Size("nRepetitions"));
  return ctx.Emit("tile", {x}, TileAttrs{{Dim(std::max<int64_t>(n, 1)), 1, 1, 1, 1}});
}

}  // namespace

void AddShapeImports(ImportTable& t) {
  t["flatten"] = ImportFlatten;
  t["reshape"] = ImportReshape;
  t["reshapeStatic"] = ImportReshapeStatic;
  t["rankPreservingReshape"] = ImportRankPreservingReshape;
  t["reshapeLike"] = ImportReshapeLike;
  t["reshapeDynamic"] = ImportReshapeDynamic;
  t["flattenTo2D"] = ImportFlattenTo2d;
  t["expandDims"] = ImportExpandDims;
  t["squeeze"] = ImportSqueeze;
  t["transpose"] = ImportTranspose;
  t["permute"] = ImportPermute;
  t["getShape"] = ImportGetShape;
  t["broadcastToStatic"] = ImportBroadcastToStatic;
  t["broadcastToLike"] = ImportBroadcastToLike;
  t["broadcastToDynamic"] = ImportBroadcastToDynamic;
  t["tile"] = ImportTile;
  t["sequenceRepeat"] = ImportSequenceRepeat;
}

}  // namespace nn::coreml

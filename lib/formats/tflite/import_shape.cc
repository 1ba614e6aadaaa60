#include <numeric>

#include "formats/tflite/import.h"
#include "formats/tflite/tensor.h"
#include "ops/blocks.h"
#include "ops/generate.h"
#include "ops/movement.h"
#include "ops/shape.h"
#include "ops/shape_of.h"
#include "ops/tile.h"

namespace nn::tflite {
namespace {

// The shape is an input or, in old files, an option, where [0] stands for a scalar.
Status ImportReshape(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (Value* shape = ctx.input(1)) return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{});
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ReshapeOptions>());
  auto dims = ListOf<int64_t>(o->new_shape());
  if (dims.size() == 1 && dims[0] == 0) dims.clear();
  return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(dims), false});
}

// ReshapeAttrs cannot tell an empty shape from none, so a scalar is made by an input.
Status ImportReshapeToScalar(ImportContext& ctx) {
  const bool scalar =
      ctx.input(1) == nullptr && ctx.output_type().ranked() && ctx.output_type().rank() == 0;
  if (!scalar) return ImportReshape(ctx);
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("reshape", {x, ctx.Constant(Tensor::Ints({}))}, ReshapeAttrs{});
}

Status ImportSqueeze(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SqueezeOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("squeeze", {x}, AxesAttrs{ListOf<int64_t>(o->squeeze_dims())});
}

Status ImportExpandDims(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const auto axes, ctx.KnownInts(1, "the axes"));
  return ctx.Emit("expand_dims", {x}, AxesAttrs{axes});
}

Status ImportTranspose(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(auto perm, ctx.KnownInts(1, "the permutation's entries"));
  for (int64_t& p : perm)
    if (p < 0) p += x->type().rank();
  return ctx.Emit("transpose", {x}, TransposeAttrs{perm});
}

Status ImportShape(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ShapeOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  ShapeOfAttrs a;
  a.dtype = DTypeOf(o->out_type());
  if (a.dtype != DType::kI32 && a.dtype != DType::kI64)
    return ModelError("a shape of type {}", TensorTypeName(o->out_type()));
  return ctx.Emit("shape_of", {x}, a);
}

Status ImportRank(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  ctx.SetOutput(0, ctx.Constant(Tensor::Scalar(static_cast<int32_t>(x->type().rank()))));
  return {};
}

// ---- Repetition ---------------------------------------------------------------------------------

Status ImportBroadcastTo(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const shape, ctx.Required(1));
  return ctx.Emit("expand", {x, shape}, ExpandAttrs{});
}

Status ImportFill(ImportContext& ctx) {
  NN_ASSIGN(Value* const dims, ctx.Required(0));
  NN_ASSIGN(Value* const value, ctx.Required(1));
  return ctx.Emit("expand", {value, dims}, ExpandAttrs{});
}

Status ImportZerosLike(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Tensor zero, ZeroElement(x->type()));
  NN_ASSIGN(zero, zero.Reshaped({}));
  NN_ASSIGN(Value* const shape, ctx.Add("shape_of", {x}, ShapeOfAttrs{}));
  Value* value = ctx.graph().AddConstant(std::move(zero), {}, x->type().quant);
  return ctx.Emit("expand", {value, shape}, ExpandAttrs{});
}

Status ImportTile(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const repeats, ctx.Required(1));
  return ctx.Emit("tile", {x, repeats}, TileAttrs{});
}

Status ImportRange(ImportContext& ctx) {
  return ctx.Emit("range", ctx.inputs());
}

// ---- Blocks -------------------------------------------------------------------------------------

Status ImportSpaceToDepth(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SpaceToDepthOptions>());
  return ctx.Emit("space_to_depth", ctx.inputs(),
                  DepthToSpaceAttrs{o->block_size(), DepthOrder::kDcr, Layout::kNxc});
}

Status ImportDepthToSpace(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::DepthToSpaceOptions>());
  return ctx.Emit("depth_to_space", ctx.inputs(),
                  DepthToSpaceAttrs{o->block_size(), DepthOrder::kDcr, Layout::kNxc});
}

// The file has a pair of pads for each spatial axis, the graph all begins and then all ends.
Status ImportBlocks(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  SpaceToBatchAttrs a;
  a.layout = Layout::kNxc;
  NN_ASSIGN(a.blocks, ctx.KnownInts(1, "the blocks' sizes"));
  NN_ASSIGN(const auto pairs, ctx.KnownInts(2, "the pads"));
  if (pairs.size() != 2 * a.blocks.size())
    return ModelError("{} pads for {} axes", pairs.size(), a.blocks.size());
  for (size_t i = 0; i < pairs.size(); i += 2) a.pads.push_back(pairs[i]);
  for (size_t i = 1; i < pairs.size(); i += 2) a.pads.push_back(pairs[i]);
  return ctx.Emit(op, {x}, std::move(a));
}

Status ImportSpaceToBatch(ImportContext& ctx) {
  return ImportBlocks(ctx, "space_to_batch_nd");
}
Status ImportBatchToSpace(ImportContext& ctx) {
  return ImportBlocks(ctx, "batch_to_space_nd");
}

}  // namespace

void AddShapeImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::RESHAPE, ImportReshapeToScalar);
  t.Add(Op::SQUEEZE, ImportSqueeze);
  t.Add(Op::EXPAND_DIMS, ImportExpandDims);
  t.Add(Op::TRANSPOSE, ImportTranspose);
  t.Add(Op::SHAPE, ImportShape);
  t.Add(Op::RANK, ImportRank);
  t.Add(Op::BROADCAST_TO, ImportBroadcastTo);
  t.Add(Op::FILL, ImportFill);
  t.Add(Op::ZEROS_LIKE, ImportZerosLike);
  t.Add(Op::TILE, ImportTile);
  t.Add(Op::RANGE, ImportRange);
  t.Add(Op::SPACE_TO_DEPTH, ImportSpaceToDepth);
  t.Add(Op::DEPTH_TO_SPACE, ImportDepthToSpace);
  t.Add(Op::SPACE_TO_BATCH_ND, ImportSpaceToBatch);
  t.Add(Op::BATCH_TO_SPACE_ND, ImportBatchToSpace);
}

}  // namespace nn::tflite

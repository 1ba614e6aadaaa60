#include <algorithm>
#include <numeric>

#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// The shape is an input or, in old files, an option, in which [0] means a scalar.
Status ImportReshape(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (Value* shape = ctx.input(1)) return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{});
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ReshapeOptions>());
  auto dims = ListOf<int64_t>(o->new_shape());
  if (dims.size() == 1 && dims[0] == 0) dims.clear();
  return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(dims), false});
}

// ReshapeAttrs cannot distinguish an empty shape from an absent one, so a scalar shape is an input.
Status ImportReshapeToScalar(ImportContext& ctx) {
  const bool scalar =
      ctx.input(1) == nullptr && ctx.output_type().ranked() && ctx.output_type().rank() == 0;
  if (!scalar) return ImportReshape(ctx);
  Value* const x = ctx.input(0);
  return ctx.Emit("reshape", {x, ctx.Constant(Tensor::Ints({}))}, ReshapeAttrs{});
}

Status ImportSqueeze(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SqueezeOptions>());
  Value* const x = ctx.input(0);
  return ctx.Emit("squeeze", {x}, AxesAttrs{ListOf<int64_t>(o->squeeze_dims())});
}

Status ImportExpandDims(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const auto axes, ctx.KnownInts(1, "the axes"));
  return ctx.Emit("expand_dims", {x}, AxesAttrs{axes});
}

Status ImportTranspose(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(auto perm, ctx.KnownInts(1, "the permutation"));
  for (int64_t& p : perm)
    if (p < 0) p += x->type().rank();
  return ctx.Emit("transpose", {x}, TransposeAttrs{perm});
}

// Sparse constants are imported as dense.
Status ImportDensify(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  ctx.SetOutput(0, x);
  return {};
}

Status ImportShape(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ShapeOptions>());
  Value* const x = ctx.input(0);
  ShapeOfAttrs a;
  a.dtype = DTypeOf(o->out_type());
  if (a.dtype != DType::kI32 && a.dtype != DType::kI64)
    return ModelError("out_type must be INT32 or INT64, not {}", TensorTypeName(o->out_type()));
  return ctx.Emit("shape_of", {x}, a);
}

Status ImportRank(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  ctx.SetOutput(0, ctx.Constant(Tensor::Scalar(static_cast<int32_t>(x->type().rank()))));
  return {};
}

// ---- Repetition ---------------------------------------------------------------------------------

Status ImportBroadcastTo(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const shape = ctx.input(1);
  return ctx.Emit("expand", {x, shape}, ExpandAttrs{});
}

Status ImportFill(ImportContext& ctx) {
  Value* const dims = ctx.input(0);
  Value* const value = ctx.input(1);
  return ctx.Emit("expand", {value, dims}, ExpandAttrs{});
}

Status ImportZerosLike(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Tensor zero, ZeroElement(x->type()));
  NN_ASSIGN(zero, zero.Reshaped({}));
  NN_ASSIGN(Value* const shape, ctx.Add("shape_of", {x}, ShapeOfAttrs{}));
  Value* value = ctx.graph().AddConstant(std::move(zero), {}, x->type().quant);
  return ctx.Emit("expand", {value, shape}, ExpandAttrs{});
}

Status ImportTile(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const repeats = ctx.input(1);
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

// The file stores a pair of pads per spatial axis; the graph has all begins, then all ends.
Status ImportBlocks(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  SpaceToBatchAttrs a;
  a.layout = Layout::kNxc;
  NN_ASSIGN(a.blocks, ctx.KnownInts(1, "the block sizes"));
  NN_ASSIGN(const auto pairs, ctx.KnownInts(2, "the pads"));
  if (pairs.size() != 2 * a.blocks.size())
    return ModelError("there are {} pads for {} axes", pairs.size(), a.blocks.size());
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

// ==== To TensorFlow Lite =========================================================================

namespace {

std::ptrdiff_t UnknownSizes(const Dims& dims) {
  return std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return !d.is_const(); });
}

// The shape for a RESHAPE to `dims`, with -1 for at most one unknown size.
Result<TensorIndex> AddShape(ExportContext& ctx, const Dims& dims) {
  if (UnknownSizes(dims) != 1) return ctx.AddDims(dims, "shape");
  std::vector<int64_t> numbers;
  for (const Dim& d : dims) numbers.push_back(d.is_const() ? d.value() : -1);
  if (std::count(numbers.begin(), numbers.end(), 0) > 0) return ctx.AddDims(dims, "shape");
  return ctx.AddInts(numbers, "shape");
}

Status WriteAsReshape(ExportContext& ctx, const Node& node) {
  const Dims& dims = *node.output()->type().dims;
  NN_ASSIGN(const TensorIndex shape, AddShape(ctx, dims));
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> numbers = 0;
  if (UnknownSizes(dims) <= 1) {
    std::vector<int32_t> list;
    for (const Dim& d : dims) list.push_back(d.is_const() ? static_cast<int32_t>(d.value()) : -1);
    numbers = ctx.builder().CreateVector(list);
  }
  ctx.AddOperator(Op::RESHAPE, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), shape}},
                  fb::CreateReshapeOptions(ctx.builder(), numbers));
  return {};
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  if (node.input(1) == nullptr) return WriteAsReshape(ctx, node);
  ctx.AddOperator(Op::RESHAPE,
                  {ctx.ResultsOf(node),
                   {ctx.TensorOf(node.input(0)), ctx.TensorAs(node.input(1), DType::kI32)}},
                  fb::CreateReshapeOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  if (node.input(1) == nullptr) return std::nullopt;
  if (node.attrs<ReshapeAttrs>().zero_copies)
    return "a computed shape that may contain 0 (copied dimensions) must have a known length";
  return std::nullopt;
}

// Transpositions that do not move elements are reshapes.
Status WriteTranspose(ExportContext& ctx, const Node& node) {
  const auto& perm = node.attrs<TransposeAttrs>().perm;
  const Dims& from = *node.input(0)->type().dims;
  if (AxisMap::Permutation(perm).KeepsOrder(from) && UnknownSizes(from) <= 1)
    return WriteAsReshape(ctx, node);
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(perm, "perm"));
  ctx.AddOperator(Op::TRANSPOSE, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), axes}},
                  fb::CreateTransposeOptions(ctx.builder()));
  return {};
}

Status WriteExpandDims(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  NN_ASSIGN(std::vector<int> axes, NormalizeAxes(node.attrs<AxesAttrs>().axes, y.rank()));
  std::sort(axes.begin(), axes.end());
  Type type = node.input(0)->type();
  TensorIndex from = ctx.TensorOf(node.input(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    Dims dims = *type.dims;
    dims.insert(dims.begin() + axes[i], Dim(1));
    type.dims = std::move(dims);
    if (type.quantized() && type.quant->per_axis() && type.quant->axis >= axes[i]) {
      auto quant = std::make_shared<Quant>(*type.quant);
      ++quant->axis;
      type.quant = std::move(quant);
    }
    const TensorIndex to =
        i + 1 == axes.size() ? ctx.ResultOf(node) : ctx.AddTensor(type, node.output()->name());
    NN_ASSIGN(const TensorIndex axis, ctx.AddInt(axes[i], "axis"));
    ctx.AddOperator(Op::EXPAND_DIMS, {{to}, {from, axis}},
                    fb::CreateExpandDimsOptions(ctx.builder()));
    from = to;
  }
  return {};
}

std::optional<std::string> WhyNotExpandDims(const Node& node) {
  if (auto reason = WhyNotAxes(node)) return reason;
  if (node.attrs<AxesAttrs>().axes.empty()) return "its axes cannot be empty";
  return std::nullopt;
}

Status WriteSqueeze(ExportContext& ctx, const Node& node) {
  const auto& axes = node.attrs<AxesAttrs>().axes;
  const std::vector<int32_t> narrow(axes.begin(), axes.end());
  ctx.AddOperator(Op::SQUEEZE, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0))}},
                  fb::CreateSqueezeOptions(ctx.builder(), ctx.builder().CreateVector(narrow)));
  return {};
}

// ---- Shapes and repetition ----------------------------------------------------------------------

Status WriteShapeOf(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  const int rank = node.input(0)->type().rank();
  const fb::TensorType type =
      a.dtype == DType::kI32 ? fb::TensorType::INT32 : fb::TensorType::INT64;
  const bool whole = node.output()->type().dim(0) == rank;
  const TensorIndex shape =
      whole ? ctx.ResultOf(node) : ctx.AddTensor(Type(a.dtype, {Dim(rank)}), "shape");
  ctx.AddOperator(Op::SHAPE, {{shape}, {ctx.TensorOf(node.input(0))}},
                  fb::CreateShapeOptions(ctx.builder(), type));
  if (whole) return {};
  const int64_t start = std::clamp<int64_t>(a.start < 0 ? a.start + rank : a.start, 0, rank);
  NN_ASSIGN(const TensorIndex begin, ctx.AddInts({start}, "begin"));
  NN_ASSIGN(const TensorIndex size, ctx.AddInts({node.output()->type().dim(0).value()}, "size"));
  ctx.AddOperator(Op::SLICE, {ctx.ResultsOf(node), {shape, begin, size}},
                  fb::CreateSliceOptions(ctx.builder()));
  return {};
}

// Broadcasting a scalar is FILL.
Status WriteExpand(ExportContext& ctx, const Node& node) {
  TensorIndex shape = kNoTensor;
  if (node.input(1) == nullptr) {
    NN_ASSIGN(shape, ctx.AddDims(*node.output()->type().dims, "shape"));
  } else {
    shape = ctx.TensorAs(node.input(1), DType::kI32);
  }
  const TensorIndex x = ctx.TensorOf(node.input(0));
  if (node.input(0)->type().rank() == 0)
    ctx.AddOperator(Op::FILL, {ctx.ResultsOf(node), {shape, x}},
                    fb::CreateFillOptions(ctx.builder()));
  else
    ctx.AddOperator(Op::BROADCAST_TO, {ctx.ResultsOf(node), {x, shape}},
                    fb::CreateBroadcastToOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotExpand(const Node& node) {
  if (!node.input(0)->type().ranked()) return "its rank must be known";
  if (node.input(1) == nullptr && !node.output()->type().ranked()) return "its rank must be known";
  if (node.input(1) != nullptr && node.input(0)->type().rank() != 0)
    return "a computed shape must have a known length; BROADCAST_TO does not keep axes where the "
           "shape is 1";
  return std::nullopt;
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  TensorIndex repeats = kNoTensor;
  if (node.input(1) == nullptr) {
    NN_ASSIGN(repeats, ctx.AddDims(node.attrs<TileAttrs>().repeats, "multiples"));
  } else {
    repeats = ctx.TensorAs(node.input(1), DType::kI32);
  }
  ctx.AddOperator(Op::TILE, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), repeats}},
                  fb::CreateTileOptions(ctx.builder()));
  return {};
}

Status WriteRange(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::RANGE, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateRangeOptions(ctx.builder()));
  return {};
}

// ---- Blocks -------------------------------------------------------------------------------------

template <Op op>
Status WriteDepth(ExportContext& ctx, const Node& node) {
  const auto block = static_cast<int32_t>(node.attrs<DepthToSpaceAttrs>().block);
  if constexpr (op == Op::DEPTH_TO_SPACE)
    ctx.AddOperator(op, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                    fb::CreateDepthToSpaceOptions(ctx.builder(), block));
  else
    ctx.AddOperator(op, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                    fb::CreateSpaceToDepthOptions(ctx.builder(), block));
  return {};
}

std::optional<std::string> WhyNotDepth(const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (node.output()->type().rank() != 4) return "its rank must be 4";
  if (a.mode != DepthOrder::kDcr) return "the order must be DCR";
  if (a.layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

template <Op op>
Status WriteBlocks(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<SpaceToBatchAttrs>();
  const size_t n = a.blocks.size();
  std::vector<int32_t> pairs;
  for (size_t i = 0; i < n; ++i)
    for (const size_t k : {i, n + i})
      pairs.push_back(a.pads.empty() ? 0 : static_cast<int32_t>(a.pads[k]));
  NN_ASSIGN(const TensorIndex blocks, ctx.AddInts(a.blocks, "block_shape"));
  const TensorIndex pads = ctx.AddConstant(Tensor::Of({static_cast<int64_t>(n), 2}, pairs), "pads");
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), blocks, pads};
  if constexpr (op == Op::SPACE_TO_BATCH_ND)
    ctx.AddOperator(op, {ctx.ResultsOf(node), inputs},
                    fb::CreateSpaceToBatchNDOptions(ctx.builder()));
  else
    ctx.AddOperator(op, {ctx.ResultsOf(node), inputs},
                    fb::CreateBatchToSpaceNDOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotBlocks(const Node& node) {
  const int rank = node.output()->type().rank();
  if (rank != 3 && rank != 4) return "its rank must be 3 or 4";
  if (node.attrs<SpaceToBatchAttrs>().layout != Layout::kNxc)
    return "the channels must be the last axis";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kShapeImports[] = {
    {.op = Op::RESHAPE, .import = ImportReshapeToScalar, .inputs = "a"},
    {.op = Op::SQUEEZE, .import = ImportSqueeze, .inputs = "a"},
    {.op = Op::EXPAND_DIMS, .import = ImportExpandDims, .inputs = "a"},
    {.op = Op::TRANSPOSE, .import = ImportTranspose, .inputs = "r"},
    {.op = Op::SHAPE, .import = ImportShape, .inputs = "a"},
    {.op = Op::RANK, .import = ImportRank, .inputs = "r"},
    {.op = Op::BROADCAST_TO, .import = ImportBroadcastTo, .inputs = "aa"},
    {.op = Op::FILL, .import = ImportFill, .inputs = "aa"},
    {.op = Op::ZEROS_LIKE, .import = ImportZerosLike, .inputs = "a"},
    {.op = Op::TILE, .import = ImportTile, .inputs = "aa"},
    {.op = Op::DENSIFY, .import = ImportDensify, .inputs = "a"},
    {.op = Op::RANGE, .import = ImportRange},
    {.op = Op::SPACE_TO_DEPTH, .import = ImportSpaceToDepth},
    {.op = Op::DEPTH_TO_SPACE, .import = ImportDepthToSpace},
    {.op = Op::SPACE_TO_BATCH_ND, .import = ImportSpaceToBatch},
    {.op = Op::BATCH_TO_SPACE_ND, .import = ImportBatchToSpace},
};

constexpr ExportRow kShapeExports[] = {
    {.op = "reshape", .write = WriteReshape, .why_not = WhyNotReshape, .any_type = true},
    {.op = "transpose", .write = WriteTranspose, .any_type = true},
    {.op = "expand_dims", .write = WriteExpandDims, .why_not = WhyNotExpandDims, .any_type = true},
    {.op = "squeeze", .write = WriteSqueeze, .why_not = WhyNotAxes, .any_type = true},
    {.op = "shape_of", .write = WriteShapeOf, .why_not = WhyNotUnranked, .any_type = true},
    {.op = "expand", .write = WriteExpand, .why_not = WhyNotExpand, .any_type = true},
    {.op = "tile", .write = WriteTile, .any_type = true},
    {.op = "range", .write = WriteRange},
    {.op = "depth_to_space", .write = WriteDepth<Op::DEPTH_TO_SPACE>, .why_not = WhyNotDepth},
    {.op = "space_to_depth", .write = WriteDepth<Op::SPACE_TO_DEPTH>, .why_not = WhyNotDepth},
    {.op = "space_to_batch_nd",
     .write = WriteBlocks<Op::SPACE_TO_BATCH_ND>,
     .why_not = WhyNotBlocks},
    {.op = "batch_to_space_nd",
     .write = WriteBlocks<Op::BATCH_TO_SPACE_ND>,
     .why_not = WhyNotBlocks},
};

}  // namespace

Family ShapeFamily() {
  return {.imports = kShapeImports, .exports = kShapeExports};
}

}  // namespace nn::tflite

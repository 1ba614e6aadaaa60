#include <algorithm>

#include "formats/tflite/export.h"
#include "ops/blocks.h"
#include "ops/shape.h"
#include "ops/shape_of.h"
#include "ops/tile.h"
#include "ops/types.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

std::ptrdiff_t UnknownSizes(const Dims& dims) {
  return std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return !d.is_const(); });
}

// The shape for a RESHAPE to `dims`; one size that is not known may be left to the run.
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
  ctx.AddOperator(Op::RESHAPE, {ctx.TensorOf(node.input(0)), shape}, ctx.ResultsOf(node),
                  fb::CreateReshapeOptions(ctx.builder(), numbers));
  return {};
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  if (node.input(1) == nullptr) return WriteAsReshape(ctx, node);
  ctx.AddOperator(Op::RESHAPE,
                  {ctx.TensorOf(node.input(0)), ctx.TensorAs(node.input(1), DType::kI32)},
                  ctx.ResultsOf(node), fb::CreateReshapeOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  if (node.input(1) == nullptr) return std::nullopt;
  if (node.attrs<ReshapeAttrs>().zero_copies) return "a shape that is not constant and may copy";
  return std::nullopt;
}

// Transpositions that leave the elements in place are reshapes.
Status WriteTranspose(ExportContext& ctx, const Node& node) {
  const auto& perm = node.attrs<TransposeAttrs>().perm;
  const Dims& from = *node.input(0)->type().dims;
  if (AxisMap::Permutation(perm).KeepsOrder(from) && UnknownSizes(from) <= 1)
    return WriteAsReshape(ctx, node);
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(perm, "perm"));
  ctx.AddOperator(Op::TRANSPOSE, {ctx.TensorOf(node.input(0)), axes}, ctx.ResultsOf(node),
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
    type.dims->insert(type.dims->begin() + axes[i], Dim(1));
    const TensorIndex to =
        i + 1 == axes.size() ? ctx.ResultOf(node) : ctx.AddTensor(type, node.output()->name());
    NN_ASSIGN(const TensorIndex axis, ctx.AddInt(axes[i], "axis"));
    ctx.AddOperator(Op::EXPAND_DIMS, {from, axis}, {to},
                    fb::CreateExpandDimsOptions(ctx.builder()));
    from = to;
  }
  return {};
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (node.input(1) != nullptr) return "its axes are not constant";
  if (!node.input(0)->type().ranked()) return "unknown rank";
  if (node.Is("expand_dims") && node.attrs<AxesAttrs>().axes.empty()) return "no axes";
  return std::nullopt;
}

Status WriteSqueeze(ExportContext& ctx, const Node& node) {
  const auto& axes = node.attrs<AxesAttrs>().axes;
  const std::vector<int32_t> narrow(axes.begin(), axes.end());
  ctx.AddOperator(Op::SQUEEZE, {ctx.TensorOf(node.input(0))}, ctx.ResultsOf(node),
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
  ctx.AddOperator(Op::SHAPE, {ctx.TensorOf(node.input(0))}, {shape},
                  fb::CreateShapeOptions(ctx.builder(), type));
  if (whole) return {};
  const int64_t start = std::clamp<int64_t>(a.start < 0 ? a.start + rank : a.start, 0, rank);
  NN_ASSIGN(const TensorIndex begin, ctx.AddInts({start}, "begin"));
  NN_ASSIGN(const TensorIndex size, ctx.AddInts({node.output()->type().dim(0).value()}, "size"));
  ctx.AddOperator(Op::SLICE, {shape, begin, size}, ctx.ResultsOf(node),
                  fb::CreateSliceOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotShapeOf(const Node& node) {
  if (!node.input(0)->type().ranked()) return "unknown rank";
  return std::nullopt;
}

// One value throughout is FILL.
Status WriteExpand(ExportContext& ctx, const Node& node) {
  TensorIndex shape = kNoTensor;
  if (node.input(1) == nullptr) {
    NN_ASSIGN(shape, ctx.AddDims(*node.output()->type().dims, "shape"));
  } else {
    shape = ctx.TensorAs(node.input(1), DType::kI32);
  }
  const TensorIndex x = ctx.TensorOf(node.input(0));
  if (node.input(0)->type().rank() == 0)
    ctx.AddOperator(Op::FILL, {shape, x}, ctx.ResultsOf(node),
                    fb::CreateFillOptions(ctx.builder()));
  else
    ctx.AddOperator(Op::BROADCAST_TO, {x, shape}, ctx.ResultsOf(node),
                    fb::CreateBroadcastToOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotExpand(const Node& node) {
  if (!node.input(0)->type().ranked()) return "unknown rank";
  if (node.input(1) == nullptr && !node.output()->type().ranked()) return "unknown rank";
  if (node.input(1) != nullptr && node.input(0)->type().rank() != 0)
    return "a shape that is not constant and may keep axes by 1";
  return std::nullopt;
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  TensorIndex repeats = kNoTensor;
  if (node.input(1) == nullptr) {
    NN_ASSIGN(repeats, ctx.AddDims(node.attrs<TileAttrs>().repeats, "multiples"));
  } else {
    repeats = ctx.TensorAs(node.input(1), DType::kI32);
  }
  ctx.AddOperator(Op::TILE, {ctx.TensorOf(node.input(0)), repeats}, ctx.ResultsOf(node),
                  fb::CreateTileOptions(ctx.builder()));
  return {};
}

Status WriteRange(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::RANGE, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateRangeOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotRange(const Node& node) {
  const DType t = node.output()->dtype();
  if (t == DType::kI32 || t == DType::kI64 || t == DType::kF32) return std::nullopt;
  return fmt::format("a range of {}", DTypeName(t));
}

// ---- Blocks -------------------------------------------------------------------------------------

template <Op op>
Status WriteDepth(ExportContext& ctx, const Node& node) {
  const auto block = static_cast<int32_t>(node.attrs<DepthToSpaceAttrs>().block);
  if constexpr (op == Op::DEPTH_TO_SPACE)
    ctx.AddOperator(op, ctx.InputsOf(node), ctx.ResultsOf(node),
                    fb::CreateDepthToSpaceOptions(ctx.builder(), block));
  else
    ctx.AddOperator(op, ctx.InputsOf(node), ctx.ResultsOf(node),
                    fb::CreateSpaceToDepthOptions(ctx.builder(), block));
  return {};
}

std::optional<std::string> WhyNotDepth(const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (node.output()->type().rank() != 4) return "a rank other than 4";
  if (a.mode != DepthOrder::kDcr) return "the position in a block comes after the channel";
  if (a.layout != Layout::kNxc) return "channels are not last";
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
    ctx.AddOperator(op, inputs, ctx.ResultsOf(node),
                    fb::CreateSpaceToBatchNDOptions(ctx.builder()));
  else
    ctx.AddOperator(op, inputs, ctx.ResultsOf(node),
                    fb::CreateBatchToSpaceNDOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotBlocks(const Node& node) {
  const int rank = node.output()->type().rank();
  if (rank != 3 && rank != 4) return "a rank other than 3 and 4";
  if (node.attrs<SpaceToBatchAttrs>().layout != Layout::kNxc) return "channels are not last";
  return std::nullopt;
}

}  // namespace

void AddShapeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"reshape", WriteReshape, WhyNotReshape});
  rows.push_back({"transpose", WriteTranspose});
  rows.push_back({"expand_dims", WriteExpandDims, WhyNotAxes});
  rows.push_back({"squeeze", WriteSqueeze, WhyNotAxes});
  rows.push_back({"shape_of", WriteShapeOf, WhyNotShapeOf});
  rows.push_back({"expand", WriteExpand, WhyNotExpand});
  rows.push_back({"tile", WriteTile});
  rows.push_back({"range", WriteRange, WhyNotRange});
  rows.push_back({"depth_to_space", WriteDepth<Op::DEPTH_TO_SPACE>, WhyNotDepth});
  rows.push_back({"space_to_depth", WriteDepth<Op::SPACE_TO_DEPTH>, WhyNotDepth});
  rows.push_back({"space_to_batch_nd", WriteBlocks<Op::SPACE_TO_BATCH_ND>, WhyNotBlocks});
  rows.push_back({"batch_to_space_nd", WriteBlocks<Op::BATCH_TO_SPACE_ND>, WhyNotBlocks});
}

}  // namespace nn::tflite

// Operations that change shapes, join and split tensors, repeat and pad them, and move blocks.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "formats/coreml/program/export/broadcast.h"
#include "formats/coreml/program/family.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/reshape_to.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml::program {
namespace {

Status ImportIdentity(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  return ctx.EmitTerm(x);
}

// ---- Reshapes -----------------------------------------------------------------------------------

// The sizes that entries 0 of a shape of `count` entries copy: those of the last axes, after ones.
Term SizesFromTheEnd(Value* x, int64_t count) {
  const int64_t missing = std::max<int64_t>(0, count - x->type().rank());
  const Term sizes =
      Apply("shape_of", {x}, ShapeOfAttrs{.start = x->type().rank() - count + missing});
  if (missing == 0) return sizes;
  return Concat({Vector(std::vector<int64_t>(static_cast<size_t>(missing), 1)), sizes}, 0);
}

// Entries 0 copy the size of the same axis, and since iOS17 that of the axis as far from the end.
Status ImportReshape(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const shape, ctx.In("shape"));
  const auto known = KnownElements(shape);
  const bool copies = !known || std::ranges::count(*known, Dim(0)) > 0;
  const auto count = KnownLength(shape->type());
  if (!copies || count == x->type().rank() ||
      ctx.definition().Find(Label::kZerosFromTheEnd) == nullptr)
    return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{{}, true});
  if (!count) return UnsupportedError("the length of input shape is unknown");
  if (*count > kMaxRank)
    return ModelError("input shape has {} elements; there are at most {} axes", *count, kMaxRank);
  const Term wide = Cast(shape, DType::kI64);
  return ctx.Emit("reshape", {x, Select(Equal(wide, 0), SizesFromTheEnd(x, *count), wide)},
                  ReshapeAttrs{});
}

// The numbers of a list of constants.
Result<std::vector<int64_t>> NumbersOf(ImportContext& ctx, std::string_view name) {
  NN_ASSIGN(const std::vector<Value*> values, ctx.List(name));
  std::vector<int64_t> numbers;
  for (const Value* const v : values) {
    const auto known = KnownElements(v);
    if (!known || known->size() != 1 || !known->front().is_const())
      return UnsupportedError("input {} is not a list of constant numbers", name);
    numbers.push_back(known->front().value());
  }
  return numbers;
}

// To the joined slices of other shapes.
Status ImportReshapeLike(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const std::vector<Value*> refs, ctx.List("ref_tensors"));
  NN_ASSIGN(const auto begins, NumbersOf(ctx, "begins"));
  NN_ASSIGN(const auto ends, NumbersOf(ctx, "ends"));
  NN_ASSIGN(const auto end_masks, NumbersOf(ctx, "end_masks"));
  if (begins.size() != refs.size() || ends.size() != refs.size() ||
      end_masks.size() != refs.size() || refs.empty())
    return ModelError("ref_tensors, begins, ends and end_masks have {}, {}, {} and {} entries",
                      refs.size(), begins.size(), ends.size(), end_masks.size());
  std::vector<Term> parts;
  for (size_t i = 0; i < refs.size(); ++i) {
    ShapeOfAttrs a{.start = begins[i]};
    if (end_masks[i] == 0) a.end = ends[i];
    parts.push_back(Apply("shape_of", {refs[i]}, a));
  }
  return ctx.Emit("reshape", {x, Concat(std::move(parts), 0)}, ReshapeAttrs{});
}

// The axes before `axis`, and those from it on, as one each.
Status ImportFlatten2d(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(int64_t axis, ctx.Int("axis"));
  const Dims& dims = *x->type().dims;
  const int64_t rank = x->type().rank();
  axis = std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  const Dims flat = {Product(Dims(dims.begin(), dims.begin() + axis)),
                     Product(Dims(dims.begin() + axis, dims.end()))};
  return ctx.Emit("reshape", {x}, ReshapeTo(dims, flat));
}

// Axes of another size than 1 stay. Of those whose size a run decides about, the ones that are
// given have size 1.
Status ImportSqueeze(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  const bool is_given = ctx.Has("axes");
  std::vector<int64_t> axes;
  for (int i = 0; i < x->type().rank(); ++i) axes.push_back(i);
  if (is_given) {
    NN_ASSIGN(axes, ctx.Axes("axes", x->type().rank()));
  }
  std::erase_if(axes, [&](int64_t a) {
    const Dim& size = x->type().dim(static_cast<int>(a));
    return size != Dim(1) && (size.is_const() || !is_given);
  });
  return ctx.EmitTerm(axes.empty() ? Term(x) : Squeeze(x, std::move(axes)));
}

Status ImportTranspose(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(auto perm, ctx.Axes("perm", x->type().rank()));
  return ctx.Emit("transpose", {x}, TransposeAttrs{std::move(perm)});
}

Status ImportShape(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  return ctx.Emit("shape_of", {x}, ShapeOfAttrs{.dtype = DType::kI32});
}

// ---- Joining and splitting ----------------------------------------------------------------------

// The values along a new axis.
Term Stacked(const std::vector<Value*>& values, int64_t axis) {
  std::vector<Term> parts;
  for (Value* const v : values) parts.push_back(ExpandDims(v, {axis}));
  return Concat(std::move(parts), axis);
}

Status ImportConcat(ImportContext& ctx) {
  NN_ASSIGN(const std::vector<Value*> values, ctx.List("values"));
  if (values.empty()) return ModelError("input values is missing");
  if (!values[0]->type().ranked()) return UnsupportedError("the rank of input values is unknown");
  Dims dims = *values[0]->type().dims;
  if (dims.empty()) return ctx.EmitTerm(Stacked(values, 0));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", static_cast<int>(dims.size())));
  NN_ASSIGN(const bool interleaves, ctx.Bool("interleave"));
  if (!interleaves) return ctx.Emit("concat", values, ConcatAttrs{axis});
  const Dim count(static_cast<int64_t>(values.size()));
  Dims stacked = dims;
  stacked.insert(stacked.begin() + axis + 1, count);
  dims[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)] * count;
  return ctx.Emit("reshape", {Stacked(values, axis + 1)}, ReshapeTo(stacked, dims));
}

Status ImportStack(ImportContext& ctx) {
  NN_ASSIGN(const std::vector<Value*> values, ctx.List("values"));
  NN_ASSIGN(const int64_t axis, ctx.Int("axis"));
  if (values.empty()) return ModelError("input values is missing");
  return ctx.EmitTerm(Stacked(values, axis));
}

// Without sizes, the parts are equal.
Status ImportSplit(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  SplitAttrs a;
  NN_ASSIGN(a.axis, ctx.Axis("axis", x->type().rank()));
  const auto parts = static_cast<int64_t>(ctx.output_count());
  const bool has_sizes = ctx.Has("split_sizes");
  int64_t count = parts;
  if (has_sizes) {
    NN_ASSIGN(a.sizes, ctx.Ints("split_sizes"));
    count = std::ssize(a.sizes);
  } else {
    NN_ASSIGN(count, ctx.Int("num_splits"));
  }
  if (count != parts || parts == 0)
    return ModelError("there are {} outputs for {} parts", parts, count);
  const Dim& size = x->type().dim(static_cast<int>(a.axis));
  if (!has_sizes && size.is_const()) {
    if (size.value() % parts != 0)
      return ModelError("an axis of size {} cannot be split into {} equal parts", size.value(),
                        parts);
    a.sizes.assign(static_cast<size_t>(parts), size.value() / parts);
  }
  return ctx.Emit("split", {x}, std::move(a));
}

// ---- Repetition and padding ---------------------------------------------------------------------

Result<Term> FillValue(ImportContext& ctx) {
  NN_ASSIGN(Value* const value, ctx.Optional("value"));
  return value == nullptr ? Term(Tensor::Scalar(0.0F)) : Term(value);
}

Status ImportFill(ImportContext& ctx) {
  NN_ASSIGN(Value* const shape, ctx.In("shape"));
  NN_ASSIGN(const Term value, FillValue(ctx));
  return ctx.Emit("expand", {value, shape}, ExpandAttrs{});
}

Status ImportFillLike(ImportContext& ctx) {
  NN_ASSIGN(Value* const like, ctx.In("ref_tensor"));
  NN_ASSIGN(const Term value, FillValue(ctx));
  return ctx.Emit("expand", {value, Apply("shape_of", {like}, ShapeOfAttrs{})}, ExpandAttrs{});
}

Result<PadMode> PadModeOf(const ImportContext& ctx) {
  NN_ASSIGN(const std::string mode, ctx.String("mode"));
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "replicate") return PadMode::kEdge;
  return ModelError("mode {} is unknown", mode);
}

// Amounts before and after each of the last axes.
Status ImportPad(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const pad, ctx.In("pad"));
  PadAttrs a;
  NN_ASSIGN(a.mode, PadModeOf(ctx));
  NN_ASSIGN(Value * value, ctx.Optional("constant_val"));
  if (a.mode != PadMode::kConstant) value = nullptr;
  const int64_t rank = x->type().rank();
  const auto length = KnownLength(pad->type());
  if (!length) return UnsupportedError("the length of input pad is unknown");
  if (*length % 2 != 0 || *length > 2 * rank)
    return ModelError("input pad has {} entries for a tensor of rank {}", *length, rank);
  const int64_t count = *length / 2;
  const auto elements = KnownElements(pad);
  const auto known = elements ? ConstDims(*elements) : std::nullopt;
  if (!known) {
    std::vector<int64_t> axes;
    for (int64_t axis = rank - count; axis < rank; ++axis) axes.push_back(axis);
    const Term pairs = Reshape(pad, {Dim(count), Dim(2)});
    return ctx.Emit("pad", {x, value, Reshape(Transpose(pairs, {1, 0}), {Dim(-1)}), Vector(axes)},
                    a);
  }
  a.pads.assign(static_cast<size_t>(2 * rank), 0);
  for (int64_t i = 0; i < *length; ++i)
    a.pads[static_cast<size_t>((1 + i % 2) * rank - count + i / 2)] =
        (*known)[static_cast<size_t>(i)];
  return ctx.Emit("pad", {x, value}, std::move(a));
}

// ---- Blocks -------------------------------------------------------------------------------------

Status ImportPixelShuffle(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const int64_t block, ctx.Int("upscale_factor"));
  return ctx.Emit("depth_to_space", {x}, DepthToSpaceAttrs{block, DepthOrder::kCrd});
}

Status ImportPixelUnshuffle(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const int64_t block, ctx.Int("downscale_factor"));
  return ctx.Emit("space_to_depth", {x}, DepthToSpaceAttrs{block, DepthOrder::kCrd});
}

// `pads`: the name of the amounts before and after each spatial axis.
Status EmitBatchBlocks(ImportContext& ctx, std::string_view op, std::string_view pads) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  SpaceToBatchAttrs a;
  NN_ASSIGN(a.blocks, ctx.Ints("block_shape"));
  NN_ASSIGN(const auto amounts, ctx.Ints(pads));
  if (a.blocks.size() != 2 || amounts.size() != 4)
    return ModelError("block_shape and {} have {} and {} elements; expected 2 and 4", pads,
                      a.blocks.size(), amounts.size());
  for (const size_t i : {0, 2, 1, 3}) a.pads.push_back(amounts[i]);
  return ctx.Emit(op, {x}, std::move(a));
}

Status ImportSpaceToBatch(ImportContext& ctx) {
  return EmitBatchBlocks(ctx, "space_to_batch_nd", "paddings");
}

Status ImportBatchToSpace(ImportContext& ctx) {
  return EmitBatchBlocks(ctx, "batch_to_space_nd", "crops");
}

// ---- Export -------------------------------------------------------------------------------------

// The sizes are those of the result; one that is not known can be the rest.
Status WriteReshape(ExportContext& ctx, const Node& node) {
  const Type& x = node.input(0)->type();
  if (node.output()->type().rank() == 0) {  // a shape is not empty
    if (x.rank() == 0) return ctx.Alias(node, node.input(0));
    std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    return ctx.Add("squeeze").In("x", node.input(0)).Ints("axes", axes).To(node);
  }
  OperationWriter op = ctx.Add("reshape");
  op.In("x", node.input(0));
  if (node.input(1) != nullptr) return op.In("shape", node.input(1)).To(node);
  Dims dims = *node.output()->type().dims;
  const auto is_open = [](const Dim& d) { return !d.is_const(); };
  if (std::ranges::count_if(dims, is_open) == 1) *std::ranges::find_if(dims, is_open) = Dim(-1);
  NN_ASSIGN(const std::string shape, ctx.AddSizes(dims));
  return op.In("shape", shape).To(node);
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  if (node.input(1) != nullptr && node.attrs<ReshapeAttrs>().zero_copies)
    return "a computed shape cannot copy sizes in ML Programs";
  return std::nullopt;
}

Status WriteTranspose(ExportContext& ctx, const Node& node) {
  return ctx.Add("transpose")
      .In("x", node.input(0))
      .Ints("perm", node.attrs<TransposeAttrs>().perm)
      .To(node);
}

Status WriteExpandDims(ExportContext& ctx, const Node& node) {
  return ctx.Add("expand_dims")
      .In("x", node.input(0))
      .Ints("axes", node.attrs<AxesAttrs>().axes)
      .To(node);
}

Status WriteSqueeze(ExportContext& ctx, const Node& node) {
  const Type& x = node.input(0)->type();
  std::vector<int64_t> axes = node.attrs<AxesAttrs>().axes;
  if (axes.empty())
    for (int axis = 0; axis < x.rank(); ++axis)
      if (x.dim(axis) == Dim(1)) axes.push_back(axis);
  if (axes.empty()) return ctx.Alias(node, node.input(0));
  return ctx.Add("squeeze").In("x", node.input(0)).Ints("axes", axes).To(node);
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (node.inputs().size() > 1) return "the axes must be constants";
  return std::nullopt;
}

Status WriteConcat(ExportContext& ctx, const Node& node) {
  return ctx.Add("concat")
      .List("values", node.inputs())
      .Int("axis", node.attrs<ConcatAttrs>().axis)
      .To(node);
}

Status WriteSplit(ExportContext& ctx, const Node& node) {
  const int64_t rank = node.input(0)->type().rank();
  int64_t axis = node.attrs<SplitAttrs>().axis;
  if (axis < 0) axis += rank;
  std::vector<int64_t> sizes;
  for (const Value* const part : node.outputs()) {
    const Dim& size = part->type().dim(static_cast<int>(axis));
    if (!size.is_const()) break;
    sizes.push_back(size.value());
  }
  OperationWriter op = ctx.Add("split");
  op.In("x", node.input(0));
  if (sizes.size() == node.outputs().size())
    op.Ints("split_sizes", sizes);
  else
    op.Int("num_splits", std::ssize(node.outputs()));
  return op.Int("axis", axis).To(node);
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  const auto& a = node.attrs<SplitAttrs>();
  if (node.input(1) != nullptr) return "the sizes of a split must be constants";
  const int axis = static_cast<int>(a.axis < 0 ? a.axis + node.input(0)->type().rank() : a.axis);
  if (!node.input(0)->type().dim(axis).is_const())
    return "the size of the axis that is split must be known";
  return std::nullopt;
}

Status WriteShape(ExportContext& ctx, const Node& node) {
  return ctx.Add("shape").In("x", node.input(0)).To(node);
}

std::optional<std::string> WhyNotShape(const Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  if (a.start != 0 || a.end < node.input(0)->type().rank())
    return "ML Programs have the whole shape";
  return std::nullopt;
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  OperationWriter op = ctx.Add("tile");
  op.In("x", node.input(0));
  if (node.input(1) != nullptr) return op.In("reps", node.input(1)).To(node);
  NN_ASSIGN(const std::string repeats, ctx.AddSizes(node.attrs<TileAttrs>().repeats));
  return op.In("reps", repeats).To(node);
}

Status WriteExpand(ExportContext& ctx, const Node& node) {
  std::string name = ctx.NameOf(node.output());
  return WriteBroadcast(ctx, node, node.input(0), node.input(1), std::move(name));
}

// ---- Padding and blocks

// Amounts before all axes, then after them, as a pair for each.
Status WriteComputedPad(ExportContext& ctx, const Node& node) {
  const int64_t rank = node.input(0)->type().rank();
  const Type halves(DType::kI32, {Dim(2), Dim(rank)}), pairs(DType::kI32, {Dim(rank), Dim(2)});
  NN_ASSIGN(
      const std::string split,
      ctx.Add("reshape").In("x", node.input(2)).Ints("shape", {2, rank}).Helper(halves, node));
  NN_ASSIGN(const std::string turned,
            ctx.Add("transpose").In("x", split).Ints("perm", {1, 0}).Helper(pairs, node));
  NN_ASSIGN(const std::string pad, ctx.Add("reshape")
                                       .In("x", turned)
                                       .Ints("shape", {-1})
                                       .Helper(Type(DType::kI32, {Dim(2 * rank)}), node));
  return ctx.Add("pad")
      .In("x", node.input(0))
      .In("pad", pad)
      .Text("mode", "constant")
      .In("constant_val", node.input(1))
      .To(node);
}

Status WritePad(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (node.input(2) != nullptr) return WriteComputedPad(ctx, node);
  const size_t rank = a.pads.size() / 2;
  size_t first = 0;  // of the axes that are padded
  while (first + 1 < rank && a.pads[first] == 0 && a.pads[rank + first] == 0) ++first;
  std::vector<int64_t> pairs;
  for (size_t axis = first; axis < rank; ++axis) {
    pairs.push_back(a.pads[axis]);
    pairs.push_back(a.pads[rank + axis]);
  }
  const std::string_view mode = a.mode == PadMode::kConstant  ? "constant"
                                : a.mode == PadMode::kReflect ? "reflect"
                                                              : "replicate";
  return ctx.Add("pad")
      .In("x", node.input(0))
      .Ints("pad", pairs)
      .Text("mode", mode)
      .In("constant_val", node.input(1))
      .To(node);
}

// Other writers have at most the last two axes reflected or replicated.
std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (node.input(3) != nullptr || (node.input(2) != nullptr && a.mode != PadMode::kConstant))
    return "the padding must be constant";
  if (node.input(1) != nullptr && ConstantOf(node, 1) == nullptr)
    return "the padding value must be a constant";
  if (a.mode == PadMode::kSymmetric || a.mode == PadMode::kWrap)
    return fmt::format("ML Programs have no padding of mode {}", EnumName(a.mode));
  if (std::ranges::any_of(a.pads, [](int64_t p) { return p < 0; }))
    return "ML Programs have no negative padding";
  const size_t rank = a.pads.size() / 2;
  for (size_t axis = 0; a.mode != PadMode::kConstant && axis + 2 < rank; ++axis)
    if (a.pads[axis] != 0 || a.pads[rank + axis] != 0)
      return fmt::format("ML Programs have padding of mode {} along the last two axes",
                         EnumName(a.mode));
  return std::nullopt;
}

Status WriteDepthToSpace(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (a.mode == DepthOrder::kCrd)
    return ctx.Add("pixel_shuffle").In("x", node.input(0)).Int("upscale_factor", a.block).To(node);
  return ctx.Add("depth_to_space").In("x", node.input(0)).Int("block_size", a.block).To(node);
}

Status WriteSpaceToDepth(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  OperationWriter op = ctx.Add(a.mode == DepthOrder::kCrd ? "pixel_unshuffle" : "space_to_depth");
  op.In("x", node.input(0));
  if (a.mode == DepthOrder::kDcr) return op.Int("block_size", a.block).To(node);
  const Tensor factor = Tensor::Scalar(static_cast<uint32_t>(a.block));
  return op.Const("downscale_factor", factor).To(node);
}

template <typename A>
std::optional<std::string> WhyNotBlocks(const Node& node) {
  if (node.attrs<A>().layout != Layout::kNcx)
    return "ML Programs have channels before the spatial axes";
  return std::nullopt;
}

template <const char* kOperation, const char* kPads>
Status WriteBatchBlocks(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<SpaceToBatchAttrs>();
  const std::vector<int64_t> pads = a.pads.empty() ? std::vector<int64_t>(4, 0) : a.pads;
  NN_ASSIGN(const Tensor pairs,
            Tensor::Ints({pads[0], pads[2], pads[1], pads[3]}).Reshaped({2, 2}));
  return ctx.Add(kOperation)
      .In("x", node.input(0))
      .Ints("block_shape", a.blocks)
      .Const(kPads, pairs)
      .To(node);
}

std::optional<std::string> WhyNotBatchBlocks(const Node& node) {
  if (node.attrs<SpaceToBatchAttrs>().blocks.size() != 2)
    return "ML Programs have blocks of two spatial axes";
  return WhyNotBlocks<SpaceToBatchAttrs>(node);
}

constexpr char kToBatch[] = "space_to_batch", kToSpace[] = "batch_to_space",
               kPaddings[] = "paddings", kCropSizes[] = "crops";

}  // namespace

Family ShapeFamily() {
  static constexpr ImportRow kImports[] = {
      {"batch_to_space", ImportBatchToSpace},
      {"concat", ImportConcat},
      {"fill", ImportFill},
      {"fill_like", ImportFillLike},
      {"flatten2d", ImportFlatten2d},
      {"identity", ImportIdentity},
      {"pad", ImportPad},
      {"pixel_shuffle", ImportPixelShuffle},
      {"pixel_unshuffle", ImportPixelUnshuffle},
      {"reshape", ImportReshape},
      {"reshape_like", ImportReshapeLike},
      {"shape", ImportShape},
      {"space_to_batch", ImportSpaceToBatch},
      {"split", ImportSplit},
      {"squeeze", ImportSqueeze},
      {"stack", ImportStack},
      {"transpose", ImportTranspose},
  };
  static constexpr ExportRow kExports[] = {
      {"batch_to_space_nd", WriteBatchBlocks<kToSpace, kCropSizes>, WhyNotBatchBlocks},
      {"concat", WriteConcat},
      {"depth_to_space", WriteDepthToSpace, WhyNotBlocks<DepthToSpaceAttrs>},
      {"expand", WriteExpand},
      {"expand_dims", WriteExpandDims, WhyNotAxes},
      {"pad", WritePad, WhyNotPad},
      {"reshape", WriteReshape, WhyNotReshape},
      {"shape_of", WriteShape, WhyNotShape},
      {"space_to_batch_nd", WriteBatchBlocks<kToBatch, kPaddings>, WhyNotBatchBlocks},
      {"space_to_depth", WriteSpaceToDepth, WhyNotBlocks<DepthToSpaceAttrs>},
      {"split", WriteSplit, WhyNotSplit},
      {"squeeze", WriteSqueeze, WhyNotAxes},
      {"tile", WriteTile},
      {"transpose", WriteTranspose},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

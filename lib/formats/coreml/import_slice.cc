#include <algorithm>
#include <limits>

#include "formats/coreml/import.h"
#include "formats/coreml/window.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/select.h"
#include "ops/shape.h"
#include "ops/slice.h"

namespace nn::coreml {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
constexpr int64_t kBegin = std::numeric_limits<int64_t>::min();

// ---- Joining and splitting ----------------------------------------------------------------------

Result<std::vector<Value*>> Operands(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, SIZE_MAX));
  return ctx.Alike();
}

// Along C, or along S.
Status ImportConcat(ImportContext& ctx) {
  NN_ASSIGN(std::vector<Value*> inputs, Operands(ctx));
  return ctx.Emit("concat", std::move(inputs),
                  ConcatAttrs{ctx.params().Bool("sequenceConcat") ? -5 : -3});
}

// The inputs joined along a new axis.
Result<Value*> Stack(ImportContext& ctx, std::vector<Value*> inputs, int64_t axis) {
  for (Value*& v : inputs) {
    NN_ASSIGN(v, ctx.Add("expand_dims", {v}, AxesAttrs{{axis}}));
  }
  return ctx.Add("concat", std::move(inputs), ConcatAttrs{axis});
}

Status ImportConcatNd(ImportContext& ctx) {
  NN_ASSIGN(std::vector<Value*> inputs, Operands(ctx));
  int64_t axis = ctx.params().Int("axis");
  if (!ctx.params().Bool("interleave"))
    return ctx.Emit("concat", std::move(inputs), ConcatAttrs{axis});
  // Element by element: joined along an axis of its own, which is then merged.
  Dims dims = *inputs[0]->type().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < -rank || axis >= rank) return ModelError("axis {} of rank {}", axis, rank);
  if (axis < 0) axis += rank;
  Dim& joined = dims[static_cast<size_t>(axis)];
  joined = joined * Dim(static_cast<int64_t>(inputs.size()));
  NN_ASSIGN(Value* const stacked, Stack(ctx, std::move(inputs), axis + 1));
  NN_ASSIGN(Value* const y, ctx.Reshape(stacked, std::move(dims)));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportStack(ImportContext& ctx) {
  NN_ASSIGN(std::vector<Value*> inputs, Operands(ctx));
  NN_ASSIGN(Value* const y, Stack(ctx, std::move(inputs), ctx.params().Int("axis")));
  ctx.SetOutput(0, y);
  return {};
}

Status EmitSplit(ImportContext& ctx, Value* x, int64_t axis, std::vector<int64_t> sizes) {
  const size_t count = ctx.output_count();
  const int rank = x->type().rank();
  if (count == 0) return ModelError("it has no outputs");
  if (axis < -rank || axis >= rank) return ModelError("axis {} of rank {}", axis, rank);
  const Dim& size = x->type().dim(static_cast<int>(axis < 0 ? axis + rank : axis));
  if (sizes.empty() && size.is_const() && size.value() % static_cast<int64_t>(count) != 0)
    return ModelError("an axis of size {} in {} equal parts", size.value(), count);
  if (sizes.empty() && size.is_const())
    sizes.assign(count, size.value() / static_cast<int64_t>(count));
  NN_ASSIGN(Node* const node, ctx.AddNode("split", {x}, SplitAttrs{axis, std::move(sizes)}, count));
  for (size_t i = 0; i < count; ++i) ctx.SetOutput(i, node->output(i));
  return {};
}

Status ImportSplit(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return EmitSplit(ctx, x, -3, {});
}

Status ImportSplitNd(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const auto sizes = ctx.params().Ints("splitSizes");
  if (!sizes.empty() && sizes.size() != ctx.output_count())
    return ModelError("{} sizes for {} outputs", sizes.size(), ctx.output_count());
  return EmitSplit(ctx, x, ctx.params().Int("axis"), sizes);
}

// ---- Slices -------------------------------------------------------------------------------------

Status ImportSlice(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const std::string_view axis = p.Enum("axis");
  SliceAttrs a;
  a.axes = {axis == "CHANNEL_AXIS" ? -3 : axis == "HEIGHT_AXIS" ? -2 : -1};
  a.starts = {p.Int("startIndex")};
  a.ends = {p.Int("endIndex")};
  NN_ASSIGN(const int64_t stride, p.Size("stride"));
  if (stride == 0) return ModelError("stride is 0");
  a.steps = {stride};
  return ctx.Emit("slice", {x}, std::move(a));
}

// What a static slice says, all lists as long as the input has axes.
struct Ranges {
  std::vector<int64_t> begins, ends, strides;
  std::vector<bool> begin_masks, end_masks, squeeze_masks;
};

Status CheckRanges(const Ranges& r, size_t rank) {
  const size_t sizes[] = {r.begins.size(),      r.ends.size(),      r.strides.size(),
                          r.begin_masks.size(), r.end_masks.size(), r.squeeze_masks.size()};
  for (const size_t n : sizes)
    if (n != rank) return ModelError("{} numbers for {} axes", n, rank);
  return {};
}

Status EmitRanges(ImportContext& ctx, Value* x, const Ranges& r) {
  const size_t rank = x->type().dims->size();
  NN_RETURN_IF_ERROR(CheckRanges(r, rank));
  SliceAttrs a;
  std::vector<int64_t> squeezed;
  for (size_t i = 0; i < rank; ++i) {
    const bool back = r.strides[i] < 0;
    const auto axis = static_cast<int64_t>(i);
    if (r.squeeze_masks[i]) {
      squeezed.push_back(axis);
      a.axes.push_back(axis);
      a.starts.push_back(r.begins[i]);
      a.ends.push_back(r.begins[i] == -1 ? kEnd : r.begins[i] + 1);
      a.steps.push_back(1);
      continue;
    }
    if (r.begin_masks[i] && r.end_masks[i] && r.strides[i] == 1) continue;
    a.axes.push_back(axis);
    a.starts.push_back(r.begin_masks[i] ? (back ? kEnd : 0) : r.begins[i]);
    a.ends.push_back(r.end_masks[i] ? (back ? kBegin : kEnd) : r.ends[i]);
    a.steps.push_back(r.strides[i]);
  }
  Value* y = x;
  if (!a.axes.empty()) {
    NN_ASSIGN(y, ctx.Add("slice", {x}, std::move(a)));
  }
  if (squeezed.size() == rank) squeezed.pop_back();  // there are no scalars
  if (!squeezed.empty()) {
    NN_ASSIGN(y, ctx.Add("squeeze", {y}, AxesAttrs{std::move(squeezed)}));
  }
  ctx.SetOutput(0, y);
  return {};
}

Status ImportSliceStatic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Any(0));
  Ranges r{p.Ints("beginIds"),    p.Ints("endIds"),    p.Ints("strides"),
           p.Bools("beginMasks"), p.Bools("endMasks"), p.Bools("squeezeMasks")};
  if (r.squeeze_masks.empty()) r.squeeze_masks.assign(x->type().dims->size(), false);
  return EmitRanges(ctx, x, r);
}

// Numbers from an input if there is one, else from a field.
Result<std::vector<int64_t>> Numbers(ImportContext& ctx, size_t input, std::vector<int64_t> field) {
  if (input >= ctx.input_count()) return field;
  NN_ASSIGN(const Value* const v, ctx.Index(input));
  const auto elements = KnownElements(v);
  const auto numbers = elements ? ConstDims(*elements) : std::nullopt;
  if (!numbers) return UnsupportedError("a slice whose bounds are only known in a run");
  return *numbers;
}

Result<std::vector<bool>> Masks(ImportContext& ctx, size_t input, std::vector<bool> field,
                                size_t rank) {
  NN_ASSIGN(const std::vector<int64_t> numbers, Numbers(ctx, input, {}));
  if (!numbers.empty()) {
    field.clear();
    for (const int64_t v : numbers) field.push_back(v != 0);
  }
  if (field.empty()) field.assign(rank, false);
  return field;
}

Status ImportSliceDynamic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 7));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const size_t rank = x->type().dims->size();
  Ranges r;
  NN_ASSIGN(r.begins, Numbers(ctx, 1, {}));
  NN_ASSIGN(r.ends, Numbers(ctx, 2, p.Ints("endIds")));
  NN_ASSIGN(r.strides, Numbers(ctx, 3, p.Ints("strides")));
  NN_ASSIGN(r.begin_masks, Masks(ctx, 4, p.Bools("beginMasks"), rank));
  NN_ASSIGN(r.end_masks, Masks(ctx, 5, p.Bools("endMasks"), rank));
  NN_ASSIGN(r.squeeze_masks, Masks(ctx, 6, p.Bools("squeezeMasks"), rank));
  if (r.strides.empty()) r.strides.assign(rank, 1);
  if (r.ends.empty()) r.ends.assign(rank, 0);
  return EmitRanges(ctx, x, r);
}

Status ImportSliceBySize(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(const int64_t size, ctx.params().Size("size"));
  NN_ASSIGN(Value * begin, ctx.Index(1));
  NN_ASSIGN(begin, ctx.Reshape(begin, {Dim(1)}));
  NN_ASSIGN(Value* const end, ctx.Add("add", {begin, ctx.Constant(Tensor::Ints({size}))}));
  Value* const axis = ctx.Constant(Tensor::Ints({ctx.params().Int("axis")}));
  return ctx.Emit("slice", {x, begin, end, axis}, SliceAttrs{});
}

// ---- Borders ------------------------------------------------------------------------------------

// Cuts H and W: off the borders, or down to the size of a second input.
Status ImportCrop(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const int rank = x->type().rank();
  if (rank < 3) return ModelError("its input has rank {}", rank);
  SliceAttrs a;
  a.axes = {-2, -1};
  if (ctx.input_count() == 1) {
    NN_ASSIGN(std::vector<int64_t> amounts, BorderPads(p.Sub("cropAmounts")));
    amounts.resize(4, 0);
    a.starts = {amounts[0], amounts[1]};
    for (const size_t i : {2, 3}) a.ends.push_back(amounts[i] == 0 ? kEnd : -amounts[i]);
    return ctx.Emit("slice", {x}, std::move(a));
  }
  NN_ASSIGN(a.starts, p.Sizes("offset", 2, 0));
  NN_ASSIGN(const Value* const like, ctx.Any(1));
  const int like_rank = like->type().rank();
  if (like_rank < 3) return ModelError("its second input has rank {}", like_rank);
  for (const int i : {2, 1}) {
    const Dim& size = like->type().dim(like_rank - i);
    if (!size.is_const()) return UnsupportedError("a crop to a size that varies");
    a.ends.push_back(a.starts[static_cast<size_t>(2 - i)] + size.value());
  }
  return ctx.Emit("slice", {x}, std::move(a));
}

Status ImportPadding(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const size_t rank = x->type().dims->size();
  if (rank < 2) return ModelError("its input has rank {}", rank);
  NN_ASSIGN(std::vector<int64_t> amounts, BorderPads(p.Sub("paddingAmounts")));
  amounts.resize(4, 0);
  PadAttrs a;
  a.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < 2; ++i) {
    a.pads[rank - 2 + i] = amounts[i];
    a.pads[2 * rank - 2 + i] = amounts[2 + i];
  }
  const std::string_view type = p.OneOf("PaddingType");
  if (type == "reflection") a.mode = PadMode::kReflect;
  if (type == "replication") a.mode = PadMode::kEdge;
  std::vector<Value*> inputs = {x};
  if (const float v = p.Sub("constant").Float("value"); type == "constant" && v != 0)
    inputs.push_back(ctx.Scalar(v));
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

// Amounts before and after each axis; in the other mode the one of the two that is not 0 is the
// size that the axis gets by padding on that side.
Status ImportConstantPad(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(const std::vector<int64_t> amounts, Numbers(ctx, 1, p.Ints("padAmounts")));
  const size_t rank = x->type().dims->size();
  if (amounts.size() != 2 * rank) return ModelError("{} amounts for {} axes", amounts.size(), rank);
  PadAttrs a;
  a.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i)
    for (const size_t side : {0, 1}) {
      const int64_t amount = amounts[2 * i + side];
      if (amount < 0 || amount > std::numeric_limits<int32_t>::max())
        return ModelError("padAmounts[{}] is {}", 2 * i + side, amount);
      int64_t& pad = a.pads[side * rank + i];
      pad = amount;
      if (!p.Bool("padToGivenOutputSizeMode") || amount == 0) continue;
      const Dim& size = (*x->type().dims)[i];
      if (!size.is_const()) return UnsupportedError("padding of a size that varies to a given one");
      pad = std::max<int64_t>(0, amount - size.value());
    }
  std::vector<Value*> inputs = {x};
  if (p.Float("value") != 0) inputs.push_back(ctx.Scalar(p.Float("value")));
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

// ---- Order --------------------------------------------------------------------------------------

Status ImportReverse(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const auto flags = ctx.params().Bools("reverseDim");
  if (flags.size() != x->type().dims->size())
    return ModelError("reverseDim has {} entries for the input {}", flags.size(),
                      x->type().ToString());
  ReverseAttrs a;
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) a.axes.push_back(static_cast<int64_t>(i));
  return ctx.Emit("reverse", {x}, std::move(a));
}

Status ImportReverseSeq(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(Value* const lengths, ctx.Index(1));
  return ctx.Emit(
      "reverse_sequence", {x, lengths},
      ReverseSequenceAttrs{ctx.params().Int("batchAxis"), ctx.params().Int("sequenceAxis")});
}

}  // namespace

void AddSliceImports(ImportTable& t) {
  t["concat"] = ImportConcat;
  t["concatND"] = ImportConcatNd;
  t["stack"] = ImportStack;
  t["split"] = ImportSplit;
  t["splitND"] = ImportSplitNd;
  t["slice"] = ImportSlice;
  t["sliceStatic"] = ImportSliceStatic;
  t["sliceDynamic"] = ImportSliceDynamic;
  t["sliceBySize"] = ImportSliceBySize;
  t["crop"] = ImportCrop;
  t["padding"] = ImportPadding;
  t["constantPad"] = ImportConstantPad;
  t["reverse"] = ImportReverse;
  t["reverseSeq"] = ImportReverseSeq;
}

}  // namespace nn::coreml

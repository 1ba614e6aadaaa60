#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "formats/coreml/family.h"
#include "formats/coreml/window.h"
#include "ops/array/concat.h"
#include "ops/array/pad.h"
#include "ops/array/positions.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/array/slice.h"
#include "ops/support/types.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

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

// Concatenates the inputs along a new axis.
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
  // Interleaves the elements: concatenates along a new axis and merges it.
  Dims dims = *inputs[0]->type().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < -rank || axis >= rank)
    return ModelError("axis {} is out of range for rank {}", axis, rank);
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

// Without sizes, the parts are equal, or nearly so if they may be uneven.
Status EmitSplit(ImportContext& ctx, Value* x, int64_t axis, std::vector<int64_t> sizes,
                 bool uneven) {
  const size_t count = ctx.output_count();
  const int rank = x->type().rank();
  if (count == 0) return ModelError("it has no outputs");
  if (axis < -rank || axis >= rank)
    return ModelError("axis {} is out of range for rank {}", axis, rank);
  const Dim& size = x->type().dim(static_cast<int>(axis < 0 ? axis + rank : axis));
  const auto parts = static_cast<int64_t>(count);
  if (sizes.empty() && size.is_const() && size.value() % parts != 0 && !uneven)
    return ModelError("an axis of size {} cannot be split into {} equal parts", size.value(),
                      count);
  // The first parts have one more of the rest.
  for (int64_t i = 0; size.is_const() && sizes.size() < count; ++i)
    sizes.push_back(size.value() / parts + (i < size.value() % parts ? 1 : 0));
  NN_ASSIGN(Node* const node, ctx.AddNode("split", {x}, SplitAttrs{axis, std::move(sizes)}, count));
  for (size_t i = 0; i < count; ++i) ctx.SetOutput(i, node->output(i));
  return {};
}

Status ImportSplit(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  return EmitSplit(ctx, x, -3, {}, false);
}

Status ImportSplitNd(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const auto sizes = ctx.params().Ints("splitSizes");
  if (!sizes.empty() && sizes.size() != ctx.output_count())
    return ModelError("there are {} sizes for {} outputs", sizes.size(), ctx.output_count());
  return EmitSplit(ctx, x, ctx.params().Int("axis"), sizes, true);
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

// The fields of a static slice; every list has one entry per axis.
struct Ranges {
  std::vector<int64_t> begins, ends, strides;
  std::vector<bool> begin_masks, end_masks, squeeze_masks;
};

Status CheckRanges(const Ranges& r, size_t rank) {
  const size_t sizes[] = {r.begins.size(),      r.ends.size(),      r.strides.size(),
                          r.begin_masks.size(), r.end_masks.size(), r.squeeze_masks.size()};
  for (const size_t n : sizes)
    if (n != rank) return ModelError("there are {} entries for {} axes", n, rank);
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
      const int64_t begin = !r.begin_masks[i] ? r.begins[i] : back ? -1 : 0;
      squeezed.push_back(axis);
      a.axes.push_back(axis);
      a.starts.push_back(begin);
      a.ends.push_back(begin == -1 ? kEnd : begin + 1);
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

// Converters write lists of a slice for more axes than there are.
void Shorten(std::vector<int64_t>& field, size_t rank) {
  if (field.size() > rank) field.resize(rank);
}

// Integers from an input if there is one and its contents are known, else from a field; nullopt if
// they depend on the run.
Result<std::optional<std::vector<int64_t>>> Numbers(ImportContext& ctx, size_t input,
                                                    std::vector<int64_t> field) {
  if (input >= ctx.input_count()) return field;
  NN_ASSIGN(const Value* const v, ctx.Index(input));
  const auto elements = KnownElements(v);
  return elements ? ConstDims(*elements) : std::nullopt;
}

// A slice whose bounds depend on the run. Its fields are inputs, or constants of one number for
// each axis.
class OpenSlice {
 public:
  OpenSlice(ImportContext& ctx, Value* x)
      : ctx_(ctx), x_(x), rank_(static_cast<size_t>(x->type().rank())) {}

  Status Emit() {
    const Fields& p = ctx_.params();
    NN_ASSIGN(Value* const begins, Numbers(1, {}, 0));
    NN_ASSIGN(Value* const ends, Numbers(2, p.Ints("endIds"), 0));
    NN_ASSIGN(Value * strides, Numbers(3, p.Ints("strides"), 1));
    NN_ASSIGN(Value* const begin_masks, Flags(4, p.Bools("beginMasks")));
    NN_ASSIGN(Value* const end_masks, Flags(5, p.Bools("endMasks")));
    NN_ASSIGN(Value* const squeeze_masks, Flags(6, p.Bools("squeezeMasks")));
    const auto squeezes = KnownElements(squeeze_masks);
    const auto squeezed = squeezes ? ConstDims(*squeezes) : std::nullopt;
    if (!squeezed) return UnsupportedError("the squeeze masks of a slice must be constant");
    NN_ASSIGN(Value* const back, ctx_.Add("less", {strides, Number(0)}));
    NN_ASSIGN(Value * starts, Choose(back, Number(-1), Number(0)));
    NN_ASSIGN(starts, Choose(begin_masks, starts, begins));
    NN_ASSIGN(Value * stops, Choose(back, Number(kFirst), Number(kLast)));
    NN_ASSIGN(stops, Choose(end_masks, stops, ends));
    // One element of the axes that are dropped.
    NN_ASSIGN(Value* const last, ctx_.Add("equal", {starts, Number(-1)}));
    NN_ASSIGN(Value * next, ctx_.Add("add", {starts, Number(1)}));
    NN_ASSIGN(next, Choose(last, Number(kLast), next));
    NN_ASSIGN(stops, Choose(squeeze_masks, next, stops));
    NN_ASSIGN(strides, Choose(squeeze_masks, Number(1), strides));
    std::vector<int64_t> axes, dropped;
    for (size_t i = 0; i < rank_; ++i) {
      axes.push_back(static_cast<int64_t>(i));
      if (i < squeezed->size() && (*squeezed)[i] != 0) dropped.push_back(axes.back());
    }
    Value* const all = ctx_.Constant(Tensor::Ints(axes));
    NN_ASSIGN(Value * y, ctx_.Add("slice", {x_, starts, stops, all, strides}, SliceAttrs{}));
    if (dropped.size() == rank_) dropped.pop_back();  // there are no scalars
    if (!dropped.empty()) {
      NN_ASSIGN(y, ctx_.Add("squeeze", {y}, AxesAttrs{std::move(dropped)}));
    }
    ctx_.SetOutput(0, y);
    return {};
  }

 private:
  // Beyond the ends of every axis, in the 32 bits of formats that compute bounds in them.
  static constexpr int64_t kLast = std::numeric_limits<int32_t>::max();
  static constexpr int64_t kFirst = std::numeric_limits<int32_t>::min();

  Value* Number(int64_t v) { return ctx_.Constant(Tensor::Scalar(v)); }
  Result<Value*> Choose(Value* mask, Value* a, Value* b) {
    return ctx_.Add("select", {mask, a, b});
  }

  Status CheckCount(size_t count) const {
    if (count == rank_) return {};
    return ModelError("there are {} entries for {} axes", count, rank_);
  }
  Result<Value*> Numbers(size_t input, std::vector<int64_t> field, int64_t otherwise) {
    if (input < ctx_.input_count()) {
      NN_ASSIGN(Value* const v, ctx_.Index(input));
      if (const auto count = KnownLength(v->type()))
        NN_RETURN_IF_ERROR(CheckCount(static_cast<size_t>(*count)));
      return v;
    }
    if (field.empty()) field.assign(rank_, otherwise);
    Shorten(field, rank_);
    NN_RETURN_IF_ERROR(CheckCount(field.size()));
    return ctx_.Constant(Tensor::Ints(field));
  }
  Result<Value*> Flags(size_t input, const std::vector<bool>& field) {
    NN_ASSIGN(Value* const numbers,
              Numbers(input, std::vector<int64_t>(field.begin(), field.end()), 0));
    return ctx_.Add("not_equal", {numbers, Number(0)});
  }

  ImportContext& ctx_;
  Value* x_;
  size_t rank_;
};

std::vector<bool> ToFlags(const std::vector<int64_t>& numbers, size_t rank) {
  if (numbers.empty()) return std::vector<bool>(rank, false);
  std::vector<bool> out;
  for (const int64_t v : numbers) out.push_back(v != 0);
  return out;
}

Status ImportSliceDynamic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 7));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const size_t rank = x->type().dims->size();
  const auto flags = [&](std::string_view field) {
    const std::vector<bool> values = p.Bools(field);
    return std::vector<int64_t>(values.begin(), values.end());
  };
  const std::vector<int64_t> fields[] = {{},
                                         p.Ints("endIds"),
                                         p.Ints("strides"),
                                         flags("beginMasks"),
                                         flags("endMasks"),
                                         flags("squeezeMasks")};
  std::vector<std::vector<int64_t>> known;
  for (size_t i = 0; i < std::size(fields); ++i) {
    NN_ASSIGN(auto numbers, Numbers(ctx, i + 1, fields[i]));
    if (!numbers) return OpenSlice(ctx, x).Emit();
    if (i + 1 >= ctx.input_count()) Shorten(*numbers, rank);
    known.push_back(*std::move(numbers));
  }
  Ranges r{known[0],
           known[1],
           known[2],
           ToFlags(known[3], rank),
           ToFlags(known[4], rank),
           ToFlags(known[5], rank)};
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

// Crops H and W: at the borders, or to the size of a second input.
Status ImportCrop(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Any(0));
  const int rank = x->type().rank();
  if (rank < 3) return ModelError("the input must have rank 3 or more, not {}", rank);
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
  if (like_rank < 3)
    return ModelError("the second input must have rank 3 or more, not {}", like_rank);
  for (const int i : {2, 1}) {
    const Dim& size = like->type().dim(like_rank - i);
    if (!size.is_const()) return UnsupportedError("a crop to a dynamic size is unsupported");
    a.ends.push_back(a.starts[static_cast<size_t>(2 - i)] + size.value());
  }
  return ctx.Emit("slice", {x}, std::move(a));
}

Status ImportPadding(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const size_t rank = x->type().dims->size();
  if (rank < 2) return ModelError("the input must have rank 2 or more, not {}", rank);
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

// Amounts before and after each axis. In the other mode, the nonzero one is the size that padding
// on that side gives the axis.
// Amounts that depend on the run, before and after each axis in turn.
Status EmitOpenPad(ImportContext& ctx, Value* x) {
  const Fields& p = ctx.params();
  const Dim rank(x->type().rank());
  NN_ASSIGN(Value * amounts, ctx.Index(1));
  NN_ASSIGN(amounts, ctx.Reshape(amounts, {rank, Dim(2)}));
  if (p.Bool("padToGivenOutputSizeMode")) {
    Value* const zero = ctx.Constant(Tensor::Scalar<int64_t>(0));
    NN_ASSIGN(Value * sizes, ctx.Add("shape_of", {x}, ShapeOfAttrs{}));
    NN_ASSIGN(sizes, ctx.Reshape(sizes, {rank, Dim(1)}));
    NN_ASSIGN(Value * missing, ctx.Add("sub", {amounts, sizes}));
    NN_ASSIGN(missing, ctx.Add("maximum", {missing, zero}));
    NN_ASSIGN(Value* const none, ctx.Add("equal", {amounts, zero}));
    NN_ASSIGN(amounts, ctx.Add("select", {none, zero, missing}));
  }
  NN_ASSIGN(amounts, ctx.Add("transpose", {amounts}, TransposeAttrs{{1, 0}}));
  NN_ASSIGN(amounts, ctx.Reshape(amounts, {Dim(2) * rank}));
  Value* const value = p.Float("value") == 0 ? nullptr : ctx.Scalar(p.Float("value"));
  return ctx.Emit("pad", {x, value, amounts}, PadAttrs{});
}

Status ImportConstantPad(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(const auto known, Numbers(ctx, 1, p.Ints("padAmounts")));
  if (!known) return EmitOpenPad(ctx, x);
  const std::vector<int64_t>& amounts = *known;
  const size_t rank = x->type().dims->size();
  if (amounts.size() != 2 * rank)
    return ModelError("padAmounts has {} entries for {} axes", amounts.size(), rank);
  PadAttrs a;
  a.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i)
    for (const size_t side : {0, 1}) {
      const int64_t amount = amounts[2 * i + side];
      if (amount < 0 || amount > std::numeric_limits<int32_t>::max())
        return ModelError("padAmounts[{}] is {}, which is out of range", 2 * i + side, amount);
      int64_t& pad = a.pads[side * rank + i];
      pad = amount;
      if (!p.Bool("padToGivenOutputSizeMode") || amount == 0) continue;
      const Dim& size = (*x->type().dims)[i];
      if (!size.is_const())
        return UnsupportedError("padding of a dynamic size to a given one is unsupported");
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
    return ModelError("reverseDim has {} entries, but the input is {}", flags.size(),
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

// ==== To Core ML =================================================================================

namespace {

// concatND needs two inputs or more.
Status WriteConcat(ExportContext& ctx, const Node& node) {
  if (node.inputs().size() == 1) {
    ctx.AddLayer(node, "copy");
    return {};
  }
  ctx.AddLayer(node, "concatND").Int("axis", node.attrs<ConcatAttrs>().axis);
  return {};
}

// ---- Split --------------------------------------------------------------------------------------

std::optional<std::vector<int64_t>> PartSizes(const Node& node) {
  const auto axis = NormalizeAxis(node.attrs<SplitAttrs>().axis, node.input(0)->type().rank());
  if (!axis) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Value* v : node.outputs()) {
    const Dim& d = v->type().dim(*axis);
    if (!d.is_const()) return std::nullopt;
    sizes.push_back(d.value());
  }
  return sizes;
}

Status WriteSplit(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "splitND", 1);
  p.Int("axis", node.attrs<SplitAttrs>().axis);
  p.Int("numSplits", static_cast<int64_t>(node.outputs().size()));
  p.Ints("splitSizes", *PartSizes(node));
  return {};
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  const auto sizes = PartSizes(node);
  if (!sizes) return "its parts must have constant sizes";
  if (std::any_of(sizes->begin(), sizes->end(), [](int64_t n) { return n == 0; }))
    return "its parts cannot be empty";
  return std::nullopt;
}

// ---- Slice --------------------------------------------------------------------------------------

// The bounds along one axis; a mask means the border.
struct Bounds {
  int64_t begin = 0, end = 0, stride = 1;
  bool begin_mask = true, end_mask = true;
};

// For a dynamic size: bounds that mean the same in both formats.
std::optional<Bounds> OpenBounds(int64_t start, int64_t end, int64_t step) {
  if (step < 1) return std::nullopt;
  Bounds b{start, end, step, start == 0, end == std::numeric_limits<int64_t>::max()};
  if (b.end_mask) b.end = 0;
  return b;
}

Bounds KnownBounds(const SliceRange& r) {
  const int64_t end = r.start + r.count * r.step;
  return {r.start, std::max<int64_t>(end, 0), r.step, false, end < 0};
}

std::optional<std::vector<Bounds>> BoundsOf(const Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Dims& dims = *node.input(0)->type().dims;
  std::vector<Bounds> out(dims.size());
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const auto axis = NormalizeAxis(a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i],
                                    static_cast<int>(dims.size()));
    if (!axis) return std::nullopt;
    const Dim& size = dims[static_cast<size_t>(*axis)];
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    std::optional<Bounds> b;
    if (size.is_const()) {
      const auto range = RangeOf(a.starts[i], a.ends[i], step, size.value());
      if (range && range->count > 0) b = KnownBounds(*range);
    } else {
      b = OpenBounds(a.starts[i], a.ends[i], step);
    }
    if (!b) return std::nullopt;
    out[static_cast<size_t>(*axis)] = *b;
  }
  return out;
}

Status WriteSlice(ExportContext& ctx, const Node& node) {
  std::vector<int64_t> begins, ends, strides;
  std::vector<bool> begin_masks, end_masks;
  const std::vector<Bounds> bounds = *BoundsOf(node);
  for (const Bounds& b : bounds) {
    begins.push_back(b.begin);
    ends.push_back(b.end);
    strides.push_back(b.stride);
    begin_masks.push_back(b.begin_mask);
    end_masks.push_back(b.end_mask);
  }
  Writer p = ctx.AddLayer(node, "sliceStatic");
  p.Ints("beginIds", begins);
  p.Ints("endIds", ends);
  p.Ints("strides", strides);
  p.Bools("beginMasks", begin_masks);
  p.Bools("endMasks", end_masks);
  p.Bools("squeezeMasks", std::vector<bool>(begins.size(), false));
  return {};
}

std::optional<std::string> WhyNotSlice(const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr) return "its bounds must be constant";
  if (!BoundsOf(node)) return "its result cannot be empty, and negative steps need a constant size";
  return std::nullopt;
}

Status WriteReverse(ExportContext& ctx, const Node& node) {
  const int rank = node.input(0)->type().rank();
  std::vector<bool> flags(static_cast<size_t>(rank), false);
  for (const int64_t axis : node.attrs<ReverseAttrs>().axes)
    flags[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  ctx.AddLayer(node, "reverse").Bools("reverseDim", flags);
  return {};
}

Status WriteReverseSequence(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  const int rank = node.input(0)->type().rank();
  Writer p = ctx.AddLayer(node, "reverseSeq");
  p.Int("batchAxis", *NormalizeAxis(a.batch_axis, rank));
  p.Int("sequenceAxis", *NormalizeAxis(a.time_axis, rank));
  return {};
}

// ---- Pad ----------------------------------------------------------------------------------------

Status WritePad(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const size_t rank = a.pads.size() / 2;
  if (a.mode == PadMode::kConstant) {
    std::vector<int64_t> amounts;
    for (size_t i = 0; i < rank; ++i) amounts.insert(amounts.end(), {a.pads[i], a.pads[rank + i]});
    const Tensor* value = ConstantOf(node, 1);
    Writer p = ctx.AddLayer(node, "constantPad", 1);
    p.Float("value", value == nullptr ? 0.0f : static_cast<float>(value->GetDouble(0)));
    p.Ints("padAmounts", amounts);
    return {};
  }
  Writer p = ctx.AddLayer(node, "padding", 1);
  p.Sub(a.mode == PadMode::kReflect ? "reflection" : "replication");
  WriteBorderPads(p.Sub("paddingAmounts"),
                  {a.pads[rank - 2], a.pads[rank - 1], a.pads[2 * rank - 2], a.pads[2 * rank - 1]});
  return {};
}

std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (node.input(2) != nullptr || node.input(3) != nullptr) return "its pads must be constant";
  if (auto reason = WhyNotPads(a.pads)) return reason;
  if (node.input(1) != nullptr && ConstantOf(node, 1) == nullptr)
    return "its value must be constant";
  if (a.mode == PadMode::kConstant) return std::nullopt;
  if (a.mode != PadMode::kReflect && a.mode != PadMode::kEdge)
    return fmt::format("Core ML has no padding mode {}", EnumName(a.mode));
  const size_t rank = a.pads.size() / 2;
  if (rank < 3) return "reflect and edge padding need rank 3 or more";
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a.pads[i] != 0 || a.pads[rank + i] != 0)
      return "reflect and edge padding must be on the last two axes";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kSliceImports[] = {
    {.layer = "concat", .import = ImportConcat},
    {.layer = "concatND", .import = ImportConcatNd},
    {.layer = "stack", .import = ImportStack},
    {.layer = "split", .import = ImportSplit},
    {.layer = "splitND", .import = ImportSplitNd},
    {.layer = "slice", .import = ImportSlice},
    {.layer = "sliceStatic", .import = ImportSliceStatic},
    {.layer = "sliceDynamic", .import = ImportSliceDynamic},
    {.layer = "sliceBySize", .import = ImportSliceBySize},
    {.layer = "crop", .import = ImportCrop},
    {.layer = "padding", .import = ImportPadding},
    {.layer = "constantPad", .import = ImportConstantPad},
    {.layer = "reverse", .import = ImportReverse},
    {.layer = "reverseSeq", .import = ImportReverseSeq},
};

constexpr ExportRow kSliceExports[] = {
    {.op = "concat", .write = WriteConcat, .types = Types::kAny},
    {.op = "split", .write = WriteSplit, .why_not = WhyNotSplit, .types = Types::kAny},
    {.op = "slice", .write = WriteSlice, .why_not = WhyNotSlice, .types = Types::kAny},
    {.op = "reverse", .write = WriteReverse, .types = Types::kAny},
    {.op = "reverse_sequence", .write = WriteReverseSequence, .types = Types::kAny},
    {.op = "pad", .write = WritePad, .why_not = WhyNotPad},
};

}  // namespace

Family SliceFamily() {
  return {.imports = kSliceImports, .exports = kSliceExports};
}

}  // namespace nn::coreml

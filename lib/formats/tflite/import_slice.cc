#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "formats/tflite/import.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/shape.h"
#include "ops/slice.h"
#include "ops/types.h"

namespace nn::tflite {
namespace {

// ---- Joining and cutting up ---------------------------------------------------------------------

Status ImportConcatenation(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ConcatenationOptions>());
  return ctx.EmitActivated(o->fused_activation_function(), "concat", ctx.inputs(),
                           ConcatAttrs{o->axis()});
}

// One number that is known before the run.
Result<int64_t> KnownAxis(const ImportContext& ctx, size_t i) {
  NN_ASSIGN(const auto axis, ctx.KnownInts(i, "the axis"));
  if (axis.size() != 1) return ModelError("an axis of {} numbers", axis.size());
  return axis[0];
}

Status ImportSplit(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SplitOptions>());
  NN_ASSIGN(const int64_t axis, KnownAxis(ctx, 0));
  NN_ASSIGN(Value* const x, ctx.Ranked(1));
  if (o->num_splits() != static_cast<int64_t>(ctx.output_count()))
    return ModelError("num_splits is {} for {} outputs", o->num_splits(), ctx.output_count());
  NN_ASSIGN(const int at, NormalizeAxis(axis, x->type().rank()));
  const Dim& size = x->type().dim(at);
  if (size.is_const() && o->num_splits() > 0 && size.value() % o->num_splits() != 0)
    return ModelError("an axis of size {} does not split into {} equal parts", size.value(),
                      o->num_splits());
  return ctx.Emit("split", {x}, SplitAttrs{axis, {}});
}

Status ImportSplitV(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const sizes, ctx.Required(1));
  NN_ASSIGN(const int64_t axis, KnownAxis(ctx, 2));
  return ctx.Emit("split", {x, sizes}, SplitAttrs{axis, {}});
}

Status ImportPack(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::PackOptions>());
  std::vector<Value*> parts;
  for (Value* x : ctx.inputs()) {
    if (x == nullptr) return ModelError("an input is missing");
    NN_ASSIGN(Value* const part,
              ctx.Add("expand_dims", {x}, AxesAttrs{{o->axis()}}, x->type().quant));
    parts.push_back(part);
  }
  return ctx.Emit("concat", std::move(parts), ConcatAttrs{o->axis()});
}

Status ImportUnpack(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::UnpackOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const int axis, NormalizeAxis(o->axis(), x->type().rank()));
  const auto count = static_cast<int64_t>(ctx.output_count());
  if (const Dim& size = x->type().dim(axis); size.is_const() && size.value() != count)
    return ModelError("an axis of size {} for {} outputs", size.value(), count);
  for (int64_t i = 0; i < count; ++i) {
    NN_ASSIGN(Value* const part,
              ctx.Add("slice", {x}, SliceAttrs{{axis}, {i}, {i + 1}, {}}, x->type().quant));
    NN_ASSIGN(Value* const y, ctx.Add("squeeze", {part}, AxesAttrs{{axis}}, x->type().quant));
    ctx.SetOutput(static_cast<size_t>(i), y);
  }
  return {};
}

// ---- Slices -------------------------------------------------------------------------------------

// A size of -1 means up to the end.
Status ImportSlice(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const auto size, ctx.KnownInts(2, "the sizes of the slice"));
  const auto begin = ctx.Elements(1);
  SliceAttrs a;
  for (size_t i = 0; i < size.size(); ++i) a.axes.push_back(static_cast<int64_t>(i));
  if (begin && ConstDims(*begin)) {
    a.starts = *ConstDims(*begin);
    if (a.starts.size() != size.size())
      return ModelError("{} begins and {} sizes", a.starts.size(), size.size());
    for (size_t i = 0; i < size.size(); ++i)
      a.ends.push_back(size[i] == -1 ? std::numeric_limits<int64_t>::max() : a.starts[i] + size[i]);
    return ctx.Emit("slice", {x}, std::move(a));
  }
  NN_ASSIGN(Value* const starts, ctx.Required(1));
  if (std::count(size.begin(), size.end(), -1) > 0)
    return UnsupportedError("the rest of an axis from a begin that is not constant");
  NN_ASSIGN(Value* const sizes, ctx.Required(2));
  NN_ASSIGN(Value* const ends, ctx.Add("add", {starts, sizes}));
  return ctx.Emit("slice", {x, starts, ends}, SliceAttrs{});
}

// What STRIDED_SLICE does to an axis of x, or that it adds one.
struct AxisSpec {
  bool is_new = false;
  bool shrink = false;
  bool whole = false;
  int64_t begin = 0, end = 0, stride = 1;
  bool from_first = false, to_last = false;  // by begin_mask and end_mask
};

// The entries of begin, end and strides as one for each axis of the result before shrinking.
Result<std::vector<AxisSpec>> SpecsOf(const fb::StridedSliceOptions& o,
                                      const std::vector<int64_t>& begin,
                                      const std::vector<int64_t>& end,
                                      const std::vector<int64_t>& strides, size_t rank) {
  if (begin.size() != end.size() || begin.size() != strides.size() || begin.size() > 31)
    return ModelError("{} begins, {} ends and {} strides", begin.size(), end.size(),
                      strides.size());
  const auto bit = [](int32_t mask, size_t i) {
    return ((static_cast<uint32_t>(mask) >> i) & 1u) != 0;
  };
  size_t axes = 0;  // that have an entry of their own
  for (size_t i = 0; i < begin.size(); ++i)
    axes += !bit(o.ellipsis_mask(), i) && !bit(o.new_axis_mask(), i);
  if (axes > rank) return ModelError("{} entries for {} axes", axes, rank);
  std::vector<AxisSpec> specs;
  size_t rest = rank - axes;
  const auto add_rest = [&] {
    AxisSpec whole;
    whole.whole = true;
    specs.insert(specs.end(), rest, whole);
    rest = 0;
  };
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit(o.ellipsis_mask(), i)) {
      add_rest();
      continue;
    }
    AxisSpec s;
    s.is_new = bit(o.new_axis_mask(), i);
    s.shrink = bit(o.shrink_axis_mask(), i);
    s.begin = begin[i];
    s.end = o.offset() ? begin[i] + end[i] : end[i];
    s.stride = strides[i];
    s.from_first = bit(o.begin_mask(), i);
    s.to_last = bit(o.end_mask(), i);
    if (s.stride == 0) return ModelError("a stride of 0");
    specs.push_back(s);
  }
  add_rest();
  return specs;
}

// Adds an axis to the slice: NumPy's rules, which for a known size the bounds are computed by.
Status AddAxis(const AxisSpec& s, int64_t axis, const Dim& size, SliceAttrs& a) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  int64_t begin = s.from_first ? (s.stride > 0 ? 0 : kLast) : s.begin;
  int64_t end = s.to_last ? (s.stride > 0 ? kLast : kFirst) : s.end;
  int64_t stride = s.stride;
  if (s.shrink) {
    end = begin == -1 ? kLast : begin + 1;
    stride = 1;
    if (size.is_const() && (begin < -size.value() || begin >= size.value()))
      return ModelError("index {} of an axis of size {}", begin, size.value());
  } else if (size.is_const()) {
    const int64_t n = size.value();
    const int64_t low = stride > 0 ? 0 : -1;
    const int64_t high = stride > 0 ? n : n - 1;
    const auto bound = [&](int64_t v) {
      return std::clamp(v < 0 && v != kFirst ? v + n : v, low, high);
    };
    begin = bound(begin);
    end = bound(end);
    const bool none = stride > 0 ? begin >= end : begin <= end;
    if (none) begin = end = 0, stride = 1;
    if (end < 0) end = kFirst;
  } else if (stride < 0) {
    return UnsupportedError("a negative stride on an axis of unknown size");
  }
  a.axes.push_back(axis);
  a.starts.push_back(begin);
  a.ends.push_back(end);
  a.steps.push_back(stride);
  return {};
}

// Begins or ends that only a run can tell, without any mask: the slice takes them as inputs.
Status ImportDynamicStridedSlice(ImportContext& ctx, const fb::StridedSliceOptions& o) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const begin, ctx.Required(1));
  NN_ASSIGN(Value* const end, ctx.Required(2));
  NN_ASSIGN(const auto strides, ctx.KnownInts(3, "the strides"));
  const bool forward = std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s > 0; });
  if (o.begin_mask() != 0 || o.end_mask() != 0 || o.ellipsis_mask() != 0 ||
      o.new_axis_mask() != 0 || o.shrink_axis_mask() != 0 || o.offset() || !forward)
    return UnsupportedError("begins or ends that are not constant, with masks or backwards");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < strides.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return ctx.Emit(
      "slice",
      {x, begin, end, ctx.Constant(Tensor::Ints(axes)), ctx.Constant(Tensor::Ints(strides))},
      SliceAttrs{});
}

Status ImportStridedSlice(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::StridedSliceOptions>());
  NN_ASSIGN(Value * x, ctx.Ranked(0));
  const auto begin = ctx.KnownInts(1, "begins");
  const auto end = ctx.KnownInts(2, "ends");
  if (!begin || !end) return ImportDynamicStridedSlice(ctx, *o);
  NN_ASSIGN(const auto strides, ctx.KnownInts(3, "the strides"));
  const auto rank = static_cast<size_t>(x->type().rank());
  NN_ASSIGN(const auto specs, SpecsOf(*o, *begin, *end, strides, rank));
  SliceAttrs slice;
  AxesAttrs dropped, added;
  int64_t axis = 0, kept = 0;
  for (const AxisSpec& s : specs) {
    if (s.is_new) {
      added.axes.push_back(kept++);
      continue;
    }
    if (!s.whole)
      NN_RETURN_IF_ERROR(AddAxis(s, axis, x->type().dim(static_cast<int>(axis)), slice));
    if (s.shrink)
      dropped.axes.push_back(axis);
    else
      ++kept;
    ++axis;
  }
  if (!dropped.axes.empty() || !added.axes.empty()) {
    const auto& quant = x->type().quant;
    NN_ASSIGN(x, ctx.Add("slice", {x}, std::move(slice), quant));
    if (added.axes.empty()) return ctx.Emit("squeeze", {x}, std::move(dropped));
    if (!dropped.axes.empty()) {
      NN_ASSIGN(x, ctx.Add("squeeze", {x}, std::move(dropped), quant));
    }
    return ctx.Emit("expand_dims", {x}, std::move(added));
  }
  return ctx.Emit("slice", {x}, std::move(slice));
}

// ---- Padding ------------------------------------------------------------------------------------

// The file has a pair of pads for each axis, the graph all begins and then all ends.
Status EmitPad(ImportContext& ctx, PadMode mode, Value* value) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  PadAttrs a;
  a.mode = mode;
  if (const auto pairs = ctx.KnownInts(1, "the pads")) {
    for (size_t i = 0; i < pairs->size(); i += 2) a.pads.push_back((*pairs)[i]);
    for (size_t i = 1; i < pairs->size(); i += 2) a.pads.push_back((*pairs)[i]);
    std::vector<Value*> inputs = {x};
    if (value != nullptr) inputs.push_back(value);
    return ctx.Emit("pad", std::move(inputs), std::move(a));
  }
  NN_ASSIGN(Value* const pairs, ctx.Required(1));
  NN_ASSIGN(Value* const lists, ctx.Add("transpose", {pairs}, TransposeAttrs{{1, 0}}));
  NN_ASSIGN(Value* const flat, ctx.Add("reshape", {lists}, ReshapeAttrs{{Dim(-1)}, false}));
  return ctx.Emit("pad", {x, value, flat}, a);
}

Status ImportPad(ImportContext& ctx) {
  return EmitPad(ctx, PadMode::kConstant, nullptr);
}

Status ImportPadV2(ImportContext& ctx) {
  return EmitPad(ctx, PadMode::kConstant, ctx.input(2));
}

Status ImportMirrorPad(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::MirrorPadOptions>());
  return EmitPad(ctx,
                 o->mode() == fb::MirrorPadMode::REFLECT ? PadMode::kReflect : PadMode::kSymmetric,
                 nullptr);
}

Status ImportReverse(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const auto axes, ctx.KnownInts(1, "the axes"));
  return ctx.Emit("reverse", {x}, ReverseAttrs{axes});
}

}  // namespace

void AddSliceImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::CONCATENATION, ImportConcatenation);
  t.Add(Op::SPLIT, ImportSplit);
  t.Add(Op::SPLIT_V, ImportSplitV);
  t.Add(Op::PACK, ImportPack);
  t.Add(Op::UNPACK, ImportUnpack);
  t.Add(Op::SLICE, ImportSlice);
  t.Add(Op::STRIDED_SLICE, ImportStridedSlice);
  t.Add(Op::PAD, ImportPad);
  t.Add(Op::PADV2, ImportPadV2);
  t.Add(Op::MIRROR_PAD, ImportMirrorPad);
  t.Add(Op::REVERSE_V2, ImportReverse);
}

}  // namespace nn::tflite

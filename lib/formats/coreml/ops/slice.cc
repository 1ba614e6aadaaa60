// Slices, and the order of elements along an axis.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <span>

#include "formats/coreml/family.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
constexpr int64_t kBegin = std::numeric_limits<int64_t>::min();

Status ImportSlice(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
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
  const Term y = a.axes.empty() ? x : Apply("slice", {x}, std::move(a));
  if (squeezed.size() == rank) squeezed.pop_back();  // there are no scalars
  return ctx.EmitTerm(squeezed.empty() ? y : Squeeze(y, std::move(squeezed)));
}

Status ImportSliceStatic(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  Ranges r{p.Ints("beginIds"),    p.Ints("endIds"),    p.Ints("strides"),
           p.Bools("beginMasks"), p.Bools("endMasks"), p.Bools("squeezeMasks")};
  if (r.squeeze_masks.empty()) r.squeeze_masks.assign(x->type().dims->size(), false);
  return EmitRanges(ctx, x, r);
}

// Converters write lists of a slice for more axes than there are.
void Shorten(std::vector<int64_t>& field, size_t rank) {
  if (field.size() > rank) field.resize(rank);
}

// The sizes of the axes, as i64.
Term SizesOf(Value* x) {
  if (const auto dims = x->type().const_dims()) return Vector(*dims);
  return Apply("shape_of", {x}, ShapeOfAttrs{});
}

// Positions that a run computes, as i64. Floats are cut beyond the bounds, which leaves what they
// select as it is, and float32 exact in what is computed from them.
Term Within(Value* positions, const Term& low, const Term& high) {
  if (!IsFloat(positions->dtype())) return positions;
  const auto real = [](const Term& v) { return Cast(v, DType::kF32); };
  return Cast(Minimum(Maximum(positions, real(low)), real(high)), DType::kI64);
}

// A slice whose bounds depend on the run. Its fields are inputs, or constants of one number for
// each axis.
class OpenSlice {
 public:
  OpenSlice(ImportContext& ctx, Value* x)
      : ctx_(ctx),
        x_(x),
        rank_(static_cast<size_t>(x->type().rank())),
        last_(SizesOf(x)),
        first_(Number(-1) - last_) {}

  Status Emit() {
    const Fields& p = ctx_.params();
    NN_ASSIGN(const Term begins, Numbers(1, {}, 0));
    NN_ASSIGN(const Term ends, Numbers(2, p.Ints("endIds"), 0));
    NN_ASSIGN(const Term given_strides, Numbers(3, p.Ints("strides"), 1));
    NN_ASSIGN(const Term begin_masks, Flags(4, p.Bools("beginMasks")));
    NN_ASSIGN(const Term end_masks, Flags(5, p.Bools("endMasks")));
    NN_ASSIGN(const Term squeeze_masks, Flags(6, p.Bools("squeezeMasks")));
    NN_ASSIGN(const Value* const known_masks, ctx_.Build(squeeze_masks));
    const auto squeezes = KnownElements(known_masks);
    const auto squeezed = squeezes ? ConstDims(*squeezes) : std::nullopt;
    if (!squeezed) return UnsupportedError("the squeeze masks of a slice must be constant");
    const Term zero = Number(0);
    const Term back = Less(given_strides, zero);
    const Term starts = Select(begin_masks, Select(back, Number(-1), zero), begins);
    // One element of the axes that are dropped.
    const Term next = Select(Equal(starts, Number(-1)), last_, starts + Number(1));
    const Term stops =
        Select(squeeze_masks, next, Select(end_masks, Select(back, first_, last_), ends));
    const Term strides = Select(squeeze_masks, Number(1), given_strides);
    std::vector<int64_t> axes, dropped;
    for (size_t i = 0; i < rank_; ++i) {
      axes.push_back(static_cast<int64_t>(i));
      if (i < squeezed->size() && (*squeezed)[i] != 0) dropped.push_back(axes.back());
    }
    const Term y = Apply("slice", {x_, starts, stops, Vector(axes), strides}, SliceAttrs{});
    if (dropped.size() == rank_) dropped.pop_back();  // there are no scalars
    return ctx_.EmitTerm(dropped.empty() ? y : Squeeze(y, std::move(dropped)));
  }

 private:
  // A term of i64, also beside other numbers.
  static Term Number(int64_t v) { return Tensor::Scalar(v); }

  Status CheckCount(size_t count) const {
    if (count == rank_) return {};
    return ModelError("there are {} entries for {} axes", count, rank_);
  }
  Result<Term> Numbers(size_t input, std::vector<int64_t> field, int64_t otherwise) {
    if (Value* const v = ctx_.input(input)) {
      if (const auto count = KnownLength(v->type()))
        NN_RETURN_IF_ERROR(CheckCount(static_cast<size_t>(*count)));
      return Within(v, first_, last_);
    }
    if (field.empty()) field.assign(rank_, otherwise);
    Shorten(field, rank_);
    NN_RETURN_IF_ERROR(CheckCount(field.size()));
    return Vector(field);
  }
  Result<Term> Flags(size_t input, const std::vector<bool>& field) {
    NN_ASSIGN(const Term numbers,
              Numbers(input, std::vector<int64_t>(field.begin(), field.end()), 0));
    return Apply("not_equal", {numbers, Number(0)});
  }

  ImportContext& ctx_;
  Value* x_;
  size_t rank_;
  Term last_, first_;  // after the end of each axis, and before its beginning
};

std::vector<bool> ToFlags(const std::vector<int64_t>& numbers, size_t rank) {
  if (numbers.empty()) return std::vector<bool>(rank, false);
  std::vector<bool> out;
  for (const int64_t v : numbers) out.push_back(v != 0);
  return out;
}

Status ImportSliceDynamic(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
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
    NN_ASSIGN(auto numbers, ctx.KnownInts(i + 1, fields[i]));
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
  NN_ASSIGN(const int64_t size, ctx.params().Size("size"));
  Value* const x = ctx.input(0);
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.params().Int("axis"), x->type().rank()));
  const Term count = Vector({size}), last = SizeOfAxis(x, axis);
  // Where the end is before the axis too.
  const Term first = Vector({-1}) - last - count;
  const Term begin = Reshape(Within(ctx.input(1), first, last), {Dim(1)});
  return ctx.Emit("slice", {x, begin, begin + count, Vector({axis})}, SliceAttrs{});
}

Status ImportReverse(ImportContext& ctx) {
  Value* const x = ctx.input(0);
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
  Value* const x = ctx.input(0);
  Value* const lengths = ctx.input(1);
  return ctx.Emit(
      "reverse_sequence", {x, lengths},
      ReverseSequenceAttrs{ctx.params().Int("batchAxis"), ctx.params().Int("sequenceAxis")});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

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

// A vector with the numbers of a list for these axes, and 0 for others.
std::string ForAllAxes(ExportContext& ctx, const std::string& list, std::span<const int64_t> axes,
                       size_t rank) {
  if (axes.size() == rank && std::ranges::is_sorted(axes)) return list;
  std::vector<int64_t> places(rank, -1);
  for (size_t i = 0; i < axes.size(); ++i)
    places[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return ctx.Arrange(list, places);
}

Status WriteComputedSlice(ExportContext& ctx, const Node& node) {
  const auto rank = static_cast<size_t>(node.input(0)->type().rank());
  const std::vector<int64_t> axes = AxesOfComputedSlice(node);
  const Tensor* const steps = ConstantOf(node, 4);
  std::vector<int64_t> strides(rank, 1);
  std::vector<bool> is_whole(rank, true);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    is_whole[axis] = false;
    if (steps != nullptr) strides[axis] = steps->GetInt(static_cast<int64_t>(i));
  }
  std::vector<std::string> inputs;
  for (const size_t i : {0, 1, 2}) {
    inputs.push_back(ctx.NameOf(node.input(i)));
    if (i > 0) inputs.back() = ForAllAxes(ctx, inputs.back(), axes, rank);
  }
  Writer p = ctx.AddLayer(node, "sliceDynamic", inputs, {ctx.NameOf(node.output())});
  p.Bools("beginMasks", is_whole);
  p.Bools("endMasks", is_whole);
  p.Ints("strides", strides);
  p.Bools("squeezeMasks", std::vector<bool>(rank, false));
  return {};
}

Status WriteSlice(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr) return WriteComputedSlice(ctx, node);
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
  if (node.input(1) != nullptr) {
    if (!KnownLength(node.input(1)->type())) return "the number of its bounds must be known";
    for (const size_t i : {3, 4})
      if (node.input(i) != nullptr && !node.input(i)->is_constant())
        return "its axes and steps must be constant";
    return std::nullopt;
  }
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

}  // namespace

namespace {

constexpr ImportRow kSliceImports[] = {
    {.layer = "slice", .import = ImportSlice, .inputs = "a"},
    {.layer = "sliceStatic", .import = ImportSliceStatic, .inputs = "a"},
    {.layer = "sliceDynamic", .import = ImportSliceDynamic, .inputs = "ap?piiii"},
    {.layer = "sliceBySize", .import = ImportSliceBySize, .inputs = "ap"},
    {.layer = "reverse", .import = ImportReverse, .inputs = "a"},
    {.layer = "reverseSeq", .import = ImportReverseSeq, .inputs = "ai"},
};

constexpr ExportRow kSliceExports[] = {
    {.op = "slice", .write = WriteSlice, .why_not = WhyNotSlice, .types = Types::kAny},
    {.op = "reverse", .write = WriteReverse, .types = Types::kAny},
    {.op = "reverse_sequence", .write = WriteReverseSequence, .types = Types::kAny},
};

}  // namespace

Family SliceFamily() {
  return {.imports = kSliceImports, .exports = kSliceExports};
}

}  // namespace nn::coreml

// Slices, updates of slices, windows, and the order of elements along axes.
#include "ops/array/arrange/slice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/coreml/program/family.h"
#include "ops/array/arrange/slice_update.h"
#include "ops/array/reshape_to.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml::program {
namespace {

// ---- Slices -------------------------------------------------------------------------------------

// Beyond the ends of every axis, in the 32 bits of formats that compute bounds in them.
constexpr int64_t kAfterLast = std::numeric_limits<int32_t>::max();
constexpr int64_t kBeforeFirst = std::numeric_limits<int32_t>::min();

// Where a slice of an axis begins or ends.
struct Bound {
  explicit Bound(int64_t v) : number(v), list(Vector({v})) {}
  explicit Bound(Term t) : list(std::move(t)) {}

  std::optional<int64_t> number;  // unless it depends on the run
  Term list;                      // of one i64
};

// The elements of an axis from `begin` up to `end`, or if it is dropped, the one at `begin`.
struct AxisRange {
  Bound begin, end;
  int64_t step = 1;
  bool is_dropped = false;

  bool IsWhole() const {
    return begin.number == 0 && end.number == kAfterLast && step == 1 && !is_dropped;
  }
};

// A bound of each axis.
Result<std::vector<Bound>> BoundsOf(ImportContext& ctx, std::string_view name, int rank) {
  NN_ASSIGN(Value* const list, ctx.In(name));
  const auto known = KnownElements(list);
  const auto count = known ? std::ssize(*known) : KnownLength(list->type()).value_or(rank);
  if (count != rank)
    return ModelError("input {} is {}; expected a number for each of {} axes", name,
                      list->type().ToString(), rank);
  const Term numbers = Cast(list, DType::kI64);
  std::vector<Bound> bounds;
  for (int64_t i = 0; i < rank; ++i) {
    const bool is_const = known && (*known)[static_cast<size_t>(i)].is_const();
    bounds.push_back(is_const ? Bound(std::clamp((*known)[static_cast<size_t>(i)].value(),
                                                 kBeforeFirst, kAfterLast))
                              : Bound(Slice(numbers, 0, i, i + 1)));
  }
  return bounds;
}

// The end of one element.
Bound After(const Bound& begin) {
  if (begin.number) return Bound(*begin.number == -1 ? kAfterLast : *begin.number + 1);
  return Bound(Select(Equal(begin.list, -1), Vector({kAfterLast}), begin.list + 1));
}

// The ranges of slice_by_index and slice_update.
Result<std::vector<AxisRange>> RangesOf(ImportContext& ctx, int rank) {
  NN_ASSIGN(const auto begins, BoundsOf(ctx, "begin", rank));
  NN_ASSIGN(const auto ends, BoundsOf(ctx, "end", rank));
  NN_ASSIGN(const auto strides, ctx.Ints("stride", rank));
  NN_ASSIGN(const auto begin_masks, ctx.Bools("begin_mask", rank));
  NN_ASSIGN(const auto end_masks, ctx.Bools("end_mask", rank));
  NN_ASSIGN(const auto squeeze_masks, ctx.Bools("squeeze_mask", rank));
  const auto count = static_cast<size_t>(rank);
  if (strides.size() != count || begin_masks.size() != count || end_masks.size() != count ||
      squeeze_masks.size() != count)
    return ModelError(
        "stride, begin_mask, end_mask and squeeze_mask have {}, {}, {} and {} "
        "elements; expected {}",
        strides.size(), begin_masks.size(), end_masks.size(), squeeze_masks.size(), rank);
  std::vector<AxisRange> ranges;
  for (size_t i = 0; i < count; ++i) {
    const bool back = strides[i] < 0;
    AxisRange r{begins[i], ends[i], strides[i], squeeze_masks[i]};
    if (begin_masks[i]) r.begin = Bound(back ? -1 : 0);
    if (end_masks[i]) r.end = Bound(back ? kBeforeFirst : kAfterLast);
    if (r.is_dropped) {
      r.end = After(r.begin);
      r.step = 1;
    }
    ranges.push_back(std::move(r));
  }
  return ranges;
}

// The elements in the ranges; all axes stay.
Term Sliced(const Term& x, std::span<const AxisRange> ranges) {
  SliceAttrs a;
  std::vector<Term> begins, ends;
  bool is_known = true;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const AxisRange& r = ranges[i];
    if (r.IsWhole()) continue;
    is_known &= r.begin.number && r.end.number;
    a.axes.push_back(static_cast<int64_t>(i));
    a.starts.push_back(r.begin.number.value_or(0));
    a.ends.push_back(r.end.number.value_or(0));
    a.steps.push_back(r.step);
    begins.push_back(r.begin.list);
    ends.push_back(r.end.list);
  }
  if (a.axes.empty()) return x;
  if (is_known) return Apply("slice", {x}, std::move(a));
  return Apply("slice",
               {x, Concat(std::move(begins), 0), Concat(std::move(ends), 0), Vector(a.axes),
                Vector(a.steps)},
               SliceAttrs{});
}

std::vector<int64_t> DroppedAxes(std::span<const AxisRange> ranges) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].is_dropped) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Status ImportSliceByIndex(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const auto ranges, RangesOf(ctx, x->type().rank()));
  const Term y = Sliced(x, ranges);
  const auto dropped = DroppedAxes(ranges);
  return ctx.EmitTerm(dropped.empty() ? y : Squeeze(y, dropped));
}

// The end of `size` elements, or for -1 of all.
Bound EndOf(const Bound& begin, const Bound& size) {
  if (size.number == -1) return Bound(kAfterLast);
  if (begin.number && size.number) {
    const int64_t end = *begin.number + *size.number;
    return Bound(*begin.number < 0 && end >= 0 ? kAfterLast : end);
  }
  // A begin that counts from the end may have a size up to it.
  const Term end = begin.list + size.list;
  const Term is_last = Or(Less(size.list, 0), And(Less(begin.list, 0), GreaterEqual(end, 0)));
  return Bound(Select(is_last, Vector({kAfterLast}), end));
}

Status ImportSliceBySize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const auto begins, BoundsOf(ctx, "begin", x->type().rank()));
  NN_ASSIGN(const auto sizes, BoundsOf(ctx, "size", x->type().rank()));
  std::vector<AxisRange> ranges;
  for (size_t i = 0; i < begins.size(); ++i)
    ranges.push_back({.begin = begins[i], .end = EndOf(begins[i], sizes[i])});
  NN_ASSIGN(Value* const y, ctx.Build(Sliced(x, ranges)));
  // The sizes are known, if not from where.
  const Dims from = *y->type().dims;
  Dims to = from;
  for (size_t i = 0; i < to.size(); ++i)
    if (sizes[i].number.value_or(-1) >= 0) to[i] = Dim(*sizes[i].number);
  if (to == from) return ctx.EmitTerm(y);
  return ctx.Emit("reshape", {y}, ReshapeTo(from, to));
}

// ---- Positions ----------------------------------------------------------------------------------

// 0, 1, ... along an axis.
Term PositionsOf(Value* x, int64_t axis) {
  return Apply("range", {0, Squeeze(SizeOfAxis(x, axis), {0}), 1});
}

Status ImportSliceUpdate(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const given, ctx.In("update"));
  NN_ASSIGN(const auto ranges, RangesOf(ctx, x->type().rank()));
  const auto dropped = DroppedAxes(ranges);
  const Term update = dropped.empty() ? Term(given) : ExpandDims(given, dropped);
  SliceUpdateAttrs a;
  std::vector<Term> starts;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].IsWhole()) continue;
    a.axes.push_back(static_cast<int64_t>(i));
    a.steps.push_back(ranges[i].step);
    starts.push_back(ranges[i].begin.list);
  }
  if (a.axes.empty()) return ctx.EmitTerm(update);
  return ctx.EmitTerm(
      Apply("slice_update", {x, Concat(std::move(starts), 0), update}, std::move(a)));
}

// Windows are gathered by a table of their positions.
Status ImportSlidingWindows(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", x->type().rank()));
  NN_ASSIGN(const int64_t size, ctx.Int("size"));
  NN_ASSIGN(const int64_t stride, ctx.Int("stride"));
  const Dim& length = x->type().dim(static_cast<int>(axis));
  if (size < 1 || stride < 1 || (length.is_const() && length.value() < size))
    return ModelError("windows of {} elements, {} apart, do not fit an axis of size {}", size,
                      stride, length.ToString());
  const AxisRange begins{Bound(0), Bound(size == 1 ? kAfterLast : 1 - size), stride};
  const Term begin = Sliced(PositionsOf(x, axis), std::span(&begins, 1));
  const Term window = Apply("range", {0, Tensor::Scalar(size), 1});
  return ctx.EmitTerm(Gather(x, ExpandDims(begin, {1}) + window, axis));
}

Status ImportReverse(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(auto axes, ctx.Axes("axes", x->type().rank()));
  return ctx.Emit("reverse", {x}, ReverseAttrs{std::move(axes)});
}

// ---- Export -------------------------------------------------------------------------------------

// What slice_by_index has for each axis.
struct IndexRange {
  std::vector<int64_t> begin, end, stride;
  std::vector<bool> begin_mask, end_mask;

  explicit IndexRange(int rank)
      : begin(static_cast<size_t>(rank)),
        end(static_cast<size_t>(rank)),
        stride(static_cast<size_t>(rank), 1),
        begin_mask(static_cast<size_t>(rank), true),
        end_mask(static_cast<size_t>(rank), true) {}

  // Elements from `from` to `to`, which may be beyond the axis.
  void Set(size_t axis, int64_t from, int64_t to, int64_t step, const Dim& size) {
    stride[axis] = step;
    if (size.is_const()) {
      const auto range = RangeOf(from, to, step, size.value());
      if (!range) return;
      begin[axis] = range->start;
      end[axis] = range->start + range->count * step;
      begin_mask[axis] = false;
      end_mask[axis] = end[axis] < 0 || end[axis] >= size.value();
      return;
    }
    SetBegin(axis, from);
    SetEnd(axis, to);
  }

  // Of an axis of any size, whose stride is set.
  void SetBegin(size_t axis, int64_t from) {
    begin_mask[axis] = stride[axis] > 0 ? from == 0 : from >= kMost || from == -1;
    begin[axis] = begin_mask[axis] ? 0 : std::clamp(from, -kMost, kMost);
  }
  void SetEnd(size_t axis, int64_t to) {
    end_mask[axis] = stride[axis] > 0 ? to >= kMost : to <= -kMost;
    end[axis] = end_mask[axis] ? 0 : std::clamp(to, -kMost, kMost);
  }

 private:
  static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
};

size_t AxisAt(int64_t axis, int rank) {
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

Status WriteRange(ExportContext& ctx, const Node& node, const IndexRange& r) {
  return ctx.Add("slice_by_index")
      .In("x", node.input(0))
      .Ints("begin", r.begin)
      .Ints("end", r.end)
      .Ints("stride", r.stride)
      .Bools("begin_mask", r.begin_mask)
      .Bools("end_mask", r.end_mask)
      .To(node);
}

// A vector with the numbers of a list for these axes, and 0 for others.
Result<std::string> ForAllAxes(ExportContext& ctx, const Node& node, const std::string& list,
                               std::span<const int64_t> axes, int rank) {
  std::vector<std::string> parts(static_cast<size_t>(rank));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    NN_ASSIGN(parts[AxisAt(axes[i], rank)], ctx.Add("slice_by_index")
                                                .In("x", list)
                                                .Ints("begin", {at})
                                                .Ints("end", {at + 1})
                                                .Helper(Type(DType::kI32, {Dim(1)}), node));
  }
  OperationWriter all = ctx.Add("concat");
  for (std::string& part : parts) {
    if (part.empty()) {
      NN_ASSIGN(part, ctx.AddConstant(Tensor::Ints({0}), "zero"));
    }
    all.In("values", part);
  }
  return all.Int("axis", 0).Helper(Type(DType::kI32, {Dim(rank)}), node);
}

Status WriteComputedSlice(ExportContext& ctx, const Node& node) {
  const int rank = node.input(0)->type().rank();
  const std::vector<int64_t> axes = AxesOfComputedSlice(node);
  IndexRange r(rank);
  const Tensor* const starts = ConstantOf(node, 1);
  const Tensor* const ends = ConstantOf(node, 2);
  const Tensor* const steps = ConstantOf(node, 4);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = AxisAt(axes[i], rank);
    const auto at = static_cast<int64_t>(i);
    if (steps != nullptr) r.stride[axis] = steps->GetInt(at);
    r.begin_mask[axis] = r.end_mask[axis] = false;
    if (starts != nullptr) r.SetBegin(axis, starts->GetInt(at));
    if (ends != nullptr) r.SetEnd(axis, ends->GetInt(at));
  }
  std::string begin, end;
  if (starts == nullptr) {
    NN_ASSIGN(const std::string list, ctx.NameFor(node.input(1)));
    NN_ASSIGN(begin, ForAllAxes(ctx, node, list, axes, rank));
  }
  if (ends == nullptr) {
    NN_ASSIGN(const std::string list, ctx.NameFor(node.input(2)));
    NN_ASSIGN(end, ForAllAxes(ctx, node, list, axes, rank));
  }
  OperationWriter y = ctx.Add("slice_by_index");
  const auto add = [&y](std::string_view input, const std::string& list, const auto& numbers) {
    list.empty() ? y.Ints(input, numbers) : y.In(input, list);
  };
  add("begin", begin, r.begin);
  add("end", end, r.end);
  return y.In("x", node.input(0))
      .Ints("stride", r.stride)
      .Bools("begin_mask", r.begin_mask)
      .Bools("end_mask", r.end_mask)
      .To(node);
}

Status WriteSlice(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr) return WriteComputedSlice(ctx, node);
  const auto& a = node.attrs<SliceAttrs>();
  const Type& x = node.input(0)->type();
  IndexRange r(x.rank());
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const size_t axis = AxisAt(a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i], x.rank());
    r.Set(axis, a.starts[i], a.ends[i], a.steps.empty() ? 1 : a.steps[i],
          x.dim(static_cast<int>(axis)));
  }
  return WriteRange(ctx, node, r);
}

std::optional<std::string> WhyNotSlice(const Node& node) {
  if (node.input(1) == nullptr) return std::nullopt;
  if (!KnownLength(node.input(1)->type())) return "the number of its bounds must be known";
  for (const size_t i : {3, 4})
    if (node.input(i) != nullptr && ConstantOf(node, i) == nullptr)
      return "the axes and steps of a slice must be constants";
  return std::nullopt;
}

Status WriteSliceUpdate(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<SliceUpdateAttrs>();
  const int rank = node.input(0)->type().rank();
  IndexRange r(rank);
  Dims counts;  // elements from the start to the end
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const size_t axis = AxisAt(a.axes[i], rank);
    r.begin_mask[axis] = r.end_mask[axis] = false;
    if (!a.steps.empty()) r.stride[axis] = a.steps[i];
    counts.push_back(node.input(2)->type().dim(static_cast<int>(axis)) * r.stride[axis]);
  }
  NN_ASSIGN(const std::string starts, ctx.NameFor(node.input(1)));
  NN_ASSIGN(const std::string begin, ForAllAxes(ctx, node, starts, a.axes, rank));
  NN_ASSIGN(const std::string size, ctx.AddSizes(counts));
  NN_ASSIGN(const std::string ends,
            ctx.Add("add")
                .In("x", starts)
                .In("y", size)
                .Helper(Type(DType::kI32, {Dim(std::ssize(counts))}), node));
  NN_ASSIGN(const std::string end, ForAllAxes(ctx, node, ends, a.axes, rank));
  return ctx.Add("slice_update")
      .In("x", node.input(0))
      .In("update", node.input(2))
      .In("begin", begin)
      .In("end", end)
      .Ints("stride", r.stride)
      .Bools("begin_mask", r.begin_mask)
      .Bools("end_mask", r.end_mask)
      .To(node);
}

// A negative start may have an end of 0, and a negative step an end of -1.
std::optional<std::string> WhyNotSliceUpdate(const Node& node) {
  const auto& steps = node.attrs<SliceUpdateAttrs>().steps;
  if (std::ranges::any_of(steps, [](int64_t s) { return s < 1; }))
    return "its steps must be positive";
  return std::nullopt;
}

Status WriteReverse(ExportContext& ctx, const Node& node) {
  if (node.attrs<ReverseAttrs>().axes.empty()) return ctx.Alias(node, node.input(0));
  return ctx.Add("reverse")
      .In("x", node.input(0))
      .Ints("axes", node.attrs<ReverseAttrs>().axes)
      .To(node);
}

}  // namespace

Family SliceFamily() {
  static constexpr ImportRow kImports[] = {
      {"reverse", ImportReverse},
      {"slice_by_index", ImportSliceByIndex},
      {"slice_by_size", ImportSliceBySize},
      {"slice_update", ImportSliceUpdate},
      {"sliding_windows", ImportSlidingWindows},
  };
  static constexpr ExportRow kExports[] = {
      {"reverse", WriteReverse},
      {"slice", WriteSlice, WhyNotSlice},
      {"slice_update", WriteSliceUpdate, WhyNotSliceUpdate},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

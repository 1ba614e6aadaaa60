// Slices, and the order of elements along an axis.
#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "formats/tflite/family.h"
#include "ir/text/number.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// An index after the last element of every axis.
int64_t LastIndex(DType dtype) {
  return dtype == DType::kI32 ? std::numeric_limits<int32_t>::max()
                              : std::numeric_limits<int64_t>::max();
}

// `whole`, an index after the last element of every axis, where a number is -1, otherwise `other`.
// Both indices are computed.
Result<Term> LastIfMinusOne(const Term& number, const Type& type, const Term& other) {
  if (type.dtype != DType::kI32 && type.dtype != DType::kI64)
    return UnsupportedError("indices of type {} are unsupported", type.ToString());
  NN_ASSIGN(TensorBuilder whole, TensorBuilder::Create(type.dtype, {}));
  whole.SetInt(0, LastIndex(type.dtype));
  return Select(Equal(number, -1), whole.Finish(), other);
}

// A size of -1 extends to the end.
Status ImportSlice(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const auto constant = [&](size_t i) {
    const auto elements = ctx.Elements(i);
    return elements ? ConstDims(*elements) : std::nullopt;
  };
  Value* const starts = ctx.input(1);
  Value* const sizes = ctx.input(2);
  const auto begin = constant(1), size = constant(2);
  if (!begin || !size) {
    Term ends = Term(starts) + sizes;
    if (!size || std::ranges::count(*size, -1) > 0) {
      NN_ASSIGN(ends, LastIfMinusOne(sizes, sizes->type(), ends));
    }
    return ctx.Emit("slice", {x, starts, ends}, SliceAttrs{});
  }
  if (begin->size() != size->size())
    return ModelError("begin has {} entries and size has {}", begin->size(), size->size());
  SliceAttrs a;
  for (size_t i = 0; i < size->size(); ++i) {
    a.axes.push_back(static_cast<int64_t>(i));
    a.starts.push_back((*begin)[i]);
    a.ends.push_back((*size)[i] == -1 ? std::numeric_limits<int64_t>::max()
                                      : (*begin)[i] + (*size)[i]);
  }
  return ctx.Emit("slice", {x}, std::move(a));
}

// How STRIDED_SLICE slices an axis of x, or that it inserts one.
struct AxisSpec {
  size_t entry = 0;  // of begin, end and strides; not for `whole`
  bool is_new = false;
  bool shrink = false;
  bool whole = false;
  int64_t begin = 0, end = 0, stride = 1;
  bool from_first = false, to_last = false;  // by begin_mask and end_mask
};

// Expands begin, end and strides to one entry per axis of the result before shrinking.
Result<std::vector<AxisSpec>> SpecsOf(const fb::StridedSliceOptions& o,
                                      const std::vector<int64_t>& begin,
                                      const std::vector<int64_t>& end,
                                      const std::vector<int64_t>& strides, size_t rank) {
  if (begin.size() != end.size() || begin.size() != strides.size() || begin.size() > 31)
    return ModelError(
        "begin, end and strides must have one length of at most 31; they have {}, {} and {}",
        begin.size(), end.size(), strides.size());
  const auto bit = [](int32_t mask, size_t i) {
    return ((static_cast<uint32_t>(mask) >> i) & 1u) != 0;
  };
  size_t axes = 0;  // with an entry of their own
  for (size_t i = 0; i < begin.size(); ++i)
    axes += !bit(o.ellipsis_mask(), i) && !bit(o.new_axis_mask(), i);
  if (axes > rank) return ModelError("begin has {} entries for {} axes", axes, rank);
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
    s.entry = i;
    s.is_new = bit(o.new_axis_mask(), i);
    s.shrink = bit(o.shrink_axis_mask(), i);
    s.begin = begin[i];
    s.end = o.offset() ? begin[i] + end[i] : end[i];
    s.stride = strides[i];
    s.from_first = bit(o.begin_mask(), i);
    s.to_last = bit(o.end_mask(), i);
    if (s.stride == 0) return ModelError("a stride is 0");
    specs.push_back(s);
  }
  add_rest();
  return specs;
}

// Adds an axis to the slice. For a known size, the bounds follow NumPy's rules.
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
      return ModelError("index {} is out of range for an axis of size {}", begin, size.value());
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
    return UnsupportedError("a negative stride needs an axis of known size");
  }
  a.axes.push_back(axis);
  a.starts.push_back(begin);
  a.ends.push_back(end);
  a.steps.push_back(stride);
  return {};
}

// The axes that a STRIDED_SLICE removes after the slice, and then adds.
struct Reshaping {
  AxesAttrs dropped, added;
};

Reshaping ReshapingOf(const std::vector<AxisSpec>& specs) {
  Reshaping out;
  int64_t axis = 0, kept = 0;
  for (const AxisSpec& s : specs) {
    if (s.is_new) {
      out.added.axes.push_back(kept++);
      continue;
    }
    if (s.shrink)
      out.dropped.axes.push_back(axis);
    else
      ++kept;
    ++axis;
  }
  return out;
}

// The operator's result, from a slice of x.
Status EmitReshaped(ImportContext& ctx, const Terms& operands, SliceAttrs slice, Reshaping r) {
  if (r.dropped.axes.empty() && r.added.axes.empty())
    return ctx.Emit("slice", operands, std::move(slice));
  const auto quant = ctx.input(0)->type().quant;
  NN_ASSIGN(Value * x, ctx.Add("slice", operands, std::move(slice), quant));
  if (r.added.axes.empty()) return ctx.Emit("squeeze", {x}, std::move(r.dropped));
  if (!r.dropped.axes.empty()) {
    NN_ASSIGN(x, ctx.Add("squeeze", {x}, std::move(r.dropped), quant));
  }
  return ctx.Emit("expand_dims", {x}, std::move(r.added));
}

// The begin and the end of an axis as vectors of one element.
Result<std::pair<Term, Term>> ComputedBounds(const ImportContext& ctx, const AxisSpec& s,
                                             bool is_offset) {
  const auto i = static_cast<int64_t>(s.entry);
  const Term from = Slice(ctx.input(1), 0, i, i + 1), to = Slice(ctx.input(2), 0, i, i + 1);
  const DType dtype = ctx.input(1)->dtype();
  const auto number = [&](int64_t v) -> Result<Term> {
    NN_ASSIGN(TensorBuilder one, TensorBuilder::Create(dtype, {1}));
    one.SetInt(0, v);
    return Term(one.Finish());
  };
  NN_ASSIGN(const Term begin, s.from_first ? number(0) : from);
  Term end = is_offset ? from + to : to;
  if (s.shrink) {
    NN_ASSIGN(const Term one, number(1));
    NN_ASSIGN(end, LastIfMinusOne(begin, Type(dtype, {Dim(1)}), begin + one));
  } else if (s.to_last) {
    NN_ASSIGN(end, number(LastIndex(dtype)));
  }
  return std::pair(begin, end);
}

// Computed begins or ends become inputs of the slice.
Status ImportDynamicStridedSlice(ImportContext& ctx, const fb::StridedSliceOptions& o) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Value* const begin, ctx.Ranked(1));
  NN_ASSIGN(const Value* const end, ctx.Ranked(2));
  NN_ASSIGN(const auto strides, ctx.KnownInts(3, "the strides"));
  if (!std::ranges::all_of(strides, [](int64_t s) { return s > 0; }))
    return UnsupportedError("computed begins or ends need positive strides");
  const Dims count = {Dim(static_cast<int64_t>(strides.size()))};
  if (begin->type().dims != count || end->type().dims != count || begin->dtype() != end->dtype())
    return UnsupportedError("begins and ends are {} and {}; expected {} numbers of one type",
                            begin->type().ToString(), end->type().ToString(), strides.size());
  const std::vector<int64_t> unknown(strides.size(), 0);
  NN_ASSIGN(const auto specs,
            SpecsOf(o, unknown, unknown, strides, static_cast<size_t>(x->type().rank())));
  std::vector<Term> starts, ends;
  std::vector<int64_t> axes, steps;
  int64_t axis = 0;
  for (const AxisSpec& s : specs) {
    if (s.is_new) continue;
    if (!s.whole) {
      NN_ASSIGN(const auto bounds, ComputedBounds(ctx, s, o.offset()));
      starts.push_back(bounds.first);
      ends.push_back(bounds.second);
      axes.push_back(axis);
      steps.push_back(s.shrink ? 1 : s.stride);
    }
    ++axis;
  }
  if (axes.empty()) return EmitReshaped(ctx, {x}, SliceAttrs{}, ReshapingOf(specs));
  return EmitReshaped(ctx, {x, Concat(starts, 0), Concat(ends, 0), Vector(axes), Vector(steps)},
                      SliceAttrs{}, ReshapingOf(specs));
}

Status ImportStridedSlice(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::StridedSliceOptions>());
  Value* const x = ctx.input(0);
  const auto begin = ctx.KnownInts(1, "begins");
  const auto end = ctx.KnownInts(2, "ends");
  if (!begin || !end) return ImportDynamicStridedSlice(ctx, *o);
  NN_ASSIGN(const auto strides, ctx.KnownInts(3, "the strides"));
  NN_ASSIGN(const auto specs,
            SpecsOf(*o, *begin, *end, strides, static_cast<size_t>(x->type().rank())));
  SliceAttrs slice;
  int64_t axis = 0;
  for (const AxisSpec& s : specs) {
    if (s.is_new) continue;
    if (!s.whole)
      NN_RETURN_IF_ERROR(AddAxis(s, axis, x->type().dim(static_cast<int>(axis)), slice));
    ++axis;
  }
  return EmitReshaped(ctx, {x}, std::move(slice), ReshapingOf(specs));
}

Status ImportReverse(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const auto axes, ctx.KnownInts(1, "the axes"));
  return ctx.Emit("reverse", {x}, ReverseAttrs{axes});
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

// The operands of STRIDED_SLICE: numbers per axis, and masks for axes that begin or end with x.
struct Strided {
  std::vector<int64_t> begin, end, strides;
  int32_t begin_mask = 0, end_mask = 0;
};

// nullopt where the graph's bounds (ONNX's rule) depend on an unknown size.
std::optional<Strided> StridedOf(const Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Type& x = node.input(0)->type();
  const auto rank = static_cast<size_t>(x.rank());
  Strided s{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0),
            std::vector<int64_t>(rank, 1), 0, 0};
  const auto all = static_cast<int32_t>((uint32_t{1} << rank) - 1);
  s.begin_mask = s.end_mask = all;
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t axis = a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i];
    const auto at = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    const Dim& size = x.dim(static_cast<int>(at));
    int64_t begin = a.starts[i], end = a.ends[i];
    if (size.is_const()) {
      const auto range = RangeOf(begin, end, step, size.value());
      if (!range) return std::nullopt;
      begin = range->start;
      end = range->start + range->count * range->step;
    } else if (step < 0) {
      return std::nullopt;
    }
    const auto bit = static_cast<int32_t>(uint32_t{1} << at);
    if (step > kMax || step < -kMax || begin > kMax || begin < -kMax) return std::nullopt;
    const bool to_last = end > kMax || (size.is_const() && end < 0);
    s.begin[at] = begin;
    s.end[at] = to_last ? 0 : std::max(end, -kMax);
    s.strides[at] = step;
    s.begin_mask &= ~bit;
    if (!to_last) s.end_mask &= ~bit;
  }
  return s;
}

Status WriteStrided(ExportContext& ctx, const Node& node, const Strided& s) {
  NN_ASSIGN(const TensorIndex begin, ctx.AddInts(s.begin, "begin"));
  NN_ASSIGN(const TensorIndex end, ctx.AddInts(s.end, "end"));
  NN_ASSIGN(const TensorIndex strides, ctx.AddInts(s.strides, "strides"));
  ctx.AddOperator(Op::STRIDED_SLICE,
                  {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), begin, end, strides}},
                  fb::CreateStridedSliceOptions(ctx.builder(), s.begin_mask, s.end_mask));
  return {};
}

// SLICE for steps of 1 and known sizes.
Status WriteSlice(ExportContext& ctx, const Node& node) {
  if (node.inputs().size() > 1) {
    TensorIndex strides = kNoTensor;
    if (node.input(4) != nullptr) {
      strides = ctx.TensorAs(node.input(4), DType::kI32);
    } else {
      const auto count = static_cast<size_t>(*KnownLength(node.input(1)->type()));
      NN_ASSIGN(strides, ctx.AddInts(std::vector<int64_t>(count, 1), "strides"));
    }
    ctx.AddOperator(Op::STRIDED_SLICE,
                    {ctx.ResultsOf(node),
                     {ctx.TensorOf(node.input(0)), ctx.TensorAs(node.input(1), DType::kI32),
                      ctx.TensorAs(node.input(2), DType::kI32), strides}},
                    fb::CreateStridedSliceOptions(ctx.builder()));
    return {};
  }
  const Strided s = *StridedOf(node);
  const Dims& to = *node.output()->type().dims;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < to.size(); ++i) {
    const auto bit = static_cast<int32_t>(uint32_t{1} << i);
    const bool rest = (s.end_mask & bit) != 0;
    if (s.strides[i] != 1 || s.begin[i] < 0 || (!to[i].is_const() && !rest))
      return WriteStrided(ctx, node, s);
    sizes.push_back(to[i].is_const() ? to[i].value() : -1);
  }
  NN_ASSIGN(const TensorIndex begin, ctx.AddInts(s.begin, "begin"));
  NN_ASSIGN(const TensorIndex size, ctx.AddInts(sizes, "size"));
  ctx.AddOperator(Op::SLICE, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), begin, size}},
                  fb::CreateSliceOptions(ctx.builder()));
  return {};
}

// With computed bounds, only positive steps over the first axes, where the rules agree.
std::optional<std::string> WhyNotSlice(const Node& node) {
  if (!node.input(0)->type().ranked()) return "its rank must be known";
  if (node.input(0)->type().rank() > 8) return "its rank must be at most 8";
  if (node.inputs().size() == 1) {
    if (!StridedOf(node)) return "a negative step needs an axis of known size";
    return std::nullopt;
  }
  if (node.input(1) == nullptr || node.input(2) == nullptr)
    return "computed starts or ends need constant axes and positive steps";
  const auto known = [](const Value* v) {
    const auto e = KnownElements(v);
    return e ? ConstDims(*e) : std::nullopt;
  };
  if (node.input(3) != nullptr) {
    const auto axes = known(node.input(3));
    for (size_t i = 0; axes && i < axes->size(); ++i)
      if ((*axes)[i] != static_cast<int64_t>(i))
        return "computed bounds need positive steps and lists of known length";
    if (!axes) return "its axes must be constant";
  }
  if (node.input(4) != nullptr) {
    const auto steps = known(node.input(4));
    if (!steps) return "its steps must be constant";
    if (std::any_of(steps->begin(), steps->end(), [](int64_t s) { return s < 1; }))
      return "computed bounds need positive steps";
  } else if (!KnownLength(node.input(1)->type())) {
    return "computed bounds must have a known length";
  }
  return std::nullopt;
}

Status WriteReverse(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(node.attrs<ReverseAttrs>().axes, "axes"));
  ctx.AddOperator(Op::REVERSE_V2, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), axes}},
                  fb::CreateReverseV2Options(ctx.builder()));
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kSliceImports[] = {
    {.op = Op::SLICE, .import = ImportSlice, .inputs = "aaa"},
    {.op = Op::STRIDED_SLICE, .import = ImportStridedSlice, .inputs = "r"},
    {.op = Op::REVERSE_V2, .import = ImportReverse, .inputs = "a"},
};

constexpr ExportRow kSliceExports[] = {
    {.op = "slice", .write = WriteSlice, .why_not = WhyNotSlice, .any_type = true},
    {.op = "reverse", .write = WriteReverse, .any_type = true},
};

}  // namespace

Family SliceFamily() {
  return {.imports = kSliceImports, .exports = kSliceExports};
}

}  // namespace nn::tflite

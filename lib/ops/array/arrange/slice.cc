#include "ops/array/arrange/slice.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> SliceAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&SliceAttrs::axes>("axes"), Field<&SliceAttrs::starts>("starts"),
      Field<&SliceAttrs::ends>("ends"), Field<&SliceAttrs::steps>("steps")};
  return fields;
}
std::span<const AttrField> ReverseAttrs::Fields() {
  static const AttrField fields[] = {Field<&ReverseAttrs::axes>("axes")};
  return fields;
}

Result<SliceRange> RangeOf(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (step == 0) return ModelError("steps contains 0");
  // -INT64_MIN overflows; no axis is that long.
  step = std::max(step, -std::numeric_limits<int64_t>::max());
  if (start < 0) start += size;
  if (end < 0) end += size;
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  start = std::clamp(start, step > 0 ? 0 : std::min<int64_t>(0, high), high);
  end = std::clamp(end, low, high);
  const int64_t distance = step > 0 ? end - start : start - end;
  const int64_t stride = std::abs(step);
  return SliceRange{start, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

std::vector<int64_t> AxesOfComputedSlice(const Node& slice) {
  std::vector<int64_t> axes;
  if (slice.input(3) != nullptr) {
    axes = slice.input(3)->constant().ToInts();
  } else {
    axes.resize(static_cast<size_t>(*KnownLength(slice.input(1)->type())));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes)
    if (axis < 0) axis += slice.input(0)->type().rank();
  return axes;
}

namespace {

// The operands of a slice, as far as known.
struct SliceSpec {
  std::vector<int> axes;
  Dims starts, ends, steps;
};

Result<SliceSpec> CheckSpec(SliceSpec spec, const std::optional<Dims>& axes, int rank) {
  const size_t n = spec.starts.size();
  if (spec.steps.empty()) spec.steps.assign(n, Dim(1));
  std::vector<int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (axes) numbers = *ConstDims(*axes);
  if (spec.ends.size() != n || spec.steps.size() != n || numbers.size() != n)
    return ModelError("starts, ends, axes and steps have {}, {}, {} and {} entries", n,
                      spec.ends.size(), numbers.size(), spec.steps.size());
  NN_ASSIGN(spec.axes, NormalizeAxes(numbers, rank));
  for (const Dim& step : spec.steps)
    if (step == 0) return ModelError("steps contains 0");
  return spec;
}

// From the attributes or the inputs; nullopt if an input's contents are not known.
template <typename Context>
Result<std::optional<SliceSpec>> SpecOf(const Context& ctx, int rank) {
  const auto& a = ctx.template attrs<SliceAttrs>();
  SliceSpec spec{{}, ToDims(a.starts), ToDims(a.ends), ToDims(a.steps)};
  std::optional<Dims> axes;
  if (!a.axes.empty()) axes = ToDims(a.axes);
  if (ctx.has(1)) {
    if (!a.axes.empty() || !a.starts.empty() || !a.ends.empty() || !a.steps.empty())
      return ModelError("the bounds are given both as attributes and as inputs");
    if (!ctx.has(2)) return ModelError("the input starts is given without ends");
    const auto starts = Contents(ctx, 1);
    const auto ends = Contents(ctx, 2);
    const auto steps = ctx.has(4) ? Contents(ctx, 4) : Dims();
    if (ctx.has(3)) axes = Contents(ctx, 3);
    if (!starts || !ends || !steps || (ctx.has(3) && (!axes || !ConstDims(*axes))))
      return std::nullopt;
    spec = {{}, *starts, *ends, *steps};
  }
  NN_ASSIGN(spec, CheckSpec(std::move(spec), axes, rank));
  return spec;
}

// Files express "to the end" by any number beyond the axis, such as INT32_MAX.
bool IsBeyondAnyAxis(const Dim& d) {
  return d.is_const() && d.value() >= std::numeric_limits<int32_t>::max();
}

// `bound` as a position in [0, size]; nullopt if its sign is not known.
std::optional<Dim> Position(const Dim& bound, const Dim& size) {
  if (IsBeyondAnyAxis(bound)) return size;
  if (bound.is_const() && bound.value() < 0) return Dim::Max(0, size + bound);
  if (!bound.non_negative()) return std::nullopt;
  return Dim::Min(bound, size);
}

// The number of elements taken along an axis; nullopt if it is known only at run time.
Result<std::optional<Dim>> TakenSize(const Dim& start, const Dim& end, const Dim& step,
                                     const Dim& size) {
  if (!step.is_const()) return std::nullopt;
  if (start.is_const() && end.is_const() && size.is_const()) {
    NN_ASSIGN(const SliceRange r, RangeOf(start.value(), end.value(), step.value(), size.value()));
    return Dim(r.count);
  }
  if (step.value() < 0) {
    // Only the reversal of the whole axis occurs in practice.
    if (start == -1 && end.is_const() && end.value() <= -std::numeric_limits<int32_t>::max())
      return Dim::CeilDiv(size, Dim(0) - step);
    return std::nullopt;
  }
  const auto from = Position(start, size);
  const auto to = Position(end, size);
  if (!from || !to) return std::nullopt;
  return Dim::CeilDiv(Dim::Max(0, *to - *from), step);
}

// Requires numbers that passed the checks.
std::vector<AxisTable> SliceTables(const SliceSpec& spec, const std::vector<int64_t>& dims) {
  const auto strides = Strides(dims);
  std::vector<AxisTable> tables = WholeAxes(dims);
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(spec.axes[i]);
    const SliceRange r =
        *RangeOf(spec.starts[i].value(), spec.ends[i].value(), spec.steps[i].value(), dims[axis]);
    AxisTable table(static_cast<size_t>(r.count));
    for (size_t k = 0; k < table.size(); ++k)
      table[k] = (r.start + static_cast<int64_t>(k) * r.step) * strides[axis];
    tables[axis] = std::move(table);
  }
  return tables;
}

// Starts, ends, axes and steps must have the same length, whatever they hold.
Status CheckLengths(const InferContext& ctx) {
  std::optional<int64_t> length;
  for (size_t i = 1; i < ctx.input_count() && !length; ++i)
    if (ctx.has(i)) length = KnownLength(ctx.in(i));
  for (size_t i = 1; length && i < ctx.input_count(); ++i)
    NN_RETURN_IF_ERROR(RequireList(ctx, i, static_cast<size_t>(*length)));
  return {};
}

Status InferSlice(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(CheckLengths(ctx));
  NN_ASSIGN(const auto spec, SpecOf(ctx, x.rank()));
  Dims dims = *x.dims;
  if (!spec) {
    // If the axes are known, the other axes keep their size.
    const auto axes = ctx.has(3) ? ctx.elements(3) : std::nullopt;
    if (const auto known = axes ? ConstDims(*axes) : std::nullopt)
      NN_RETURN_IF_ERROR(NormalizeAxes(*known, x.rank()));
    for (size_t d = 0; d < dims.size(); ++d) {
      const auto last = static_cast<int64_t>(d) - x.rank();
      const bool untouched =
          axes && ConstDims(*axes) && std::none_of(axes->begin(), axes->end(), [&](const Dim& a) {
            return a == static_cast<int64_t>(d) || a == last;
          });
      if (!untouched) dims[d] = ctx.NewSymbol();
    }
    ctx.set_out(0, x.WithDims(std::move(dims)));
    return {};
  }
  bool constant = true;
  for (size_t i = 0; i < spec->axes.size(); ++i) {
    Dim& d = dims[static_cast<size_t>(spec->axes[i])];
    NN_ASSIGN(const auto taken, TakenSize(spec->starts[i], spec->ends[i], spec->steps[i], d));
    constant &= spec->starts[i].is_const() && spec->ends[i].is_const() && spec->steps[i].is_const();
    d = taken ? *taken : ctx.NewSymbol();
  }
  ctx.set_out(0, x.WithDims(std::move(dims)));
  if (constant && x.const_dims())
    MoveKnownElements(ctx, [&] { return SliceTables(*spec, *x.const_dims()); });
  return {};
}

Status EvalSlice(EvalContext& ctx) {
  NN_ASSIGN(const auto spec, SpecOf(ctx, ctx.in(0).rank()));
  return MoveInput(ctx, [&] { return SliceTables(*spec, ctx.in(0).dims()); });
}

// The attributes with every list explicit and axes normalized.
std::optional<SliceAttrs> ExplicitAttrs(const Node& node, int rank) {
  SliceAttrs a = node.attrs<SliceAttrs>();
  if (a.axes.empty()) {
    a.axes.resize(a.starts.size());
    std::iota(a.axes.begin(), a.axes.end(), 0);
  }
  if (a.steps.empty()) a.steps.assign(a.starts.size(), 1);
  const auto axes = NormalizeAxes(a.axes, rank);
  if (!axes) return std::nullopt;
  a.axes.assign(axes->begin(), axes->end());
  return a;
}

std::optional<AxesChange> ChangeSliceAxes(const Node& node, Operand changed, const AxisMap& map) {
  if (node.input(1) != nullptr) return std::nullopt;
  auto a = ExplicitAttrs(node, map.source_rank());
  if (!a) return std::nullopt;
  auto axes = MapAxes(a->axes, map);
  if (!axes) return std::nullopt;
  a->axes = *std::move(axes);
  if (std::all_of(a->steps.begin(), a->steps.end(), [](int64_t s) { return s == 1; }))
    a->steps.clear();
  return SameAxesChange(node, changed, map, *std::move(a));
}

Result<bool> AbsorbRanges(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (node.input(1) == nullptr || !x.ranked()) return false;
  NN_ASSIGN(const auto spec, SpecOf(InferContext(node), x.rank()));
  if (!spec) return false;
  SliceAttrs a;
  for (size_t i = 0; i < spec->axes.size(); ++i) {
    const Dim& size = x.dim(spec->axes[i]);
    Dim end = spec->ends[i];
    const Dim& step = spec->steps[i];
    if (!end.is_const() && end == size && step.is_const() && step.value() > 0)
      end = Dim(std::numeric_limits<int64_t>::max());
    if (!spec->starts[i].is_const() || !end.is_const() || !step.is_const()) return false;
    a.axes.push_back(spec->axes[i]);
    a.starts.push_back(spec->starts[i].value());
    a.ends.push_back(end.value());
    a.steps.push_back(step.value());
  }
  if (std::all_of(a.steps.begin(), a.steps.end(), [](int64_t s) { return s == 1; }))
    a.steps.clear();
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(std::move(a));
  return true;
}

// ---- reverse ------------------------------------------------------------------------------------

std::vector<AxisTable> ReverseTables(const std::vector<int64_t>& axes,
                                     const std::vector<int64_t>& dims) {
  auto tables = WholeAxes(dims);
  for (const int64_t axis : axes) {
    const auto normal = NormalizeAxis(axis, static_cast<int>(dims.size()));
    if (normal)
      std::reverse(tables[static_cast<size_t>(*normal)].begin(),
                   tables[static_cast<size_t>(*normal)].end());
  }
  return tables;
}

Status InferReverse(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const auto& axes = ctx.attrs<ReverseAttrs>().axes;
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  ctx.set_out(0, x);
  if (!x.ranked()) return {};
  NN_RETURN_IF_ERROR(NormalizeAxes(axes, x.rank()));
  MoveKnownElements(ctx, [&] { return ReverseTables(axes, *x.const_dims()); });
  return {};
}

Status EvalReverse(EvalContext& ctx) {
  return MoveInput(ctx,
                   [&] { return ReverseTables(ctx.attrs<ReverseAttrs>().axes, ctx.in(0).dims()); });
}

std::optional<AxesChange> ChangeReverseAxes(const Node& node, Operand changed, const AxisMap& map) {
  auto axes = MapAxes(node.attrs<ReverseAttrs>().axes, map);
  if (!axes) return std::nullopt;
  return SameAxesChange(node, changed, map, ReverseAttrs{*std::move(axes)});
}

// The axes of n bounds: unless they are known, those that get another size first.
std::vector<int64_t> AxesOfBounds(const Node& node, size_t n) {
  std::vector<int64_t> axes = node.attrs<SliceAttrs>().axes;
  if (const auto known = KnownElements(node.input(3)))
    if (const auto numbers = ConstDims(*known)) axes = *numbers;
  if (!axes.empty()) return axes;
  const auto x = DimsOf(node.input(0)), y = DimsOf(node.output());
  axes.resize(std::max(n, x ? x->size() : 0));
  std::iota(axes.begin(), axes.end(), 0);
  const auto changes = [&](int64_t axis) {
    return (*x)[static_cast<size_t>(axis)] != (*y)[static_cast<size_t>(axis)];
  };
  if (node.input(3) != nullptr && x && y && axes.size() == x->size() && y->size() == x->size())
    std::ranges::stable_partition(axes, changes);
  axes.resize(n);
  return axes;
}

// The declared shape from the first elements on; without one, all elements.
Domain SliceDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0].contents ? Domain() : y[0];
  const auto count = LengthOf(node.input(input));
  if (!count || *count < 0) return {};
  const auto n = static_cast<size_t>(*count);
  std::vector<int64_t> list(n, input == 4 ? 1 : 0);
  const std::vector<int64_t> axes = AxesOfBounds(node, n);
  if (input == 3) list = axes;
  if (input == 2) {
    auto dims = DimsOf(node.output());
    if (!dims) dims = DimsOf(node.input(0));
    if (!dims) return {};
    for (size_t k = 0; k < n; ++k) {
      int64_t axis = k < axes.size() ? axes[k] : static_cast<int64_t>(k);
      if (axis < 0) axis += std::ssize(*dims);
      if (axis < 0 || axis >= std::ssize(*dims)) return {};
      list[k] = (*dims)[static_cast<size_t>(axis)];
    }
  }
  return Exactly(list);
}

}  // namespace

void RegisterSliceOps(OpRegistry& ops) {
  OpDef slice;
  slice.name = "slice";
  slice.summary = "selects elements between two bounds with a step along axes";
  slice.category = Category::kMovement;
  slice.wraps_integers = true;
  slice.selects = Selection();
  slice.quant_rule = QuantRule::kSame;
  slice.attrs = AttrsInfoOf<SliceAttrs>();
  slice.inputs = {{"x", Arity::kRequired, Elements::kAny},
                  {"starts", Arity::kOptional},
                  {"ends", Arity::kOptional},
                  {"axes", Arity::kOptional},
                  {"steps", Arity::kOptional}};
  slice.infer = InferSlice;
  slice.eval = EvalSlice;
  slice.change_axes = ChangeSliceAxes;
  slice.absorb_inputs = AbsorbRanges;
  ops.Add(std::move(slice));

  OpDef reverse;
  reverse.name = "reverse";
  reverse.summary = "reverses the elements along axes";
  reverse.category = Category::kMovement;
  reverse.wraps_integers = true;
  reverse.selects = Selection();
  reverse.quant_rule = QuantRule::kSame;
  reverse.attrs = AttrsInfoOf<ReverseAttrs>();
  reverse.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  reverse.infer = InferReverse;
  reverse.eval = EvalReverse;
  reverse.change_axes = ChangeReverseAxes;
  ops.Add(std::move(reverse));
}

void AddSliceDomains(DomainTable& domains) {
  domains["slice"] = SliceDomain;
  domains["reverse"] = SelectsElements;
}

}  // namespace nn

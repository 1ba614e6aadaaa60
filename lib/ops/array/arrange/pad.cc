#include "ops/array/arrange/pad.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/array_shape.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> PadAttrs::Fields() {
  static const AttrField fields[] = {Field<&PadAttrs::pads>("pads"),
                                     Field<&PadAttrs::mode>("mode")};
  return fields;
}

std::optional<int64_t> PaddedIndex(int64_t i, int64_t begin, int64_t end, int64_t size,
                                   PadMode mode) {
  // The elements [first, first + kept) remain; the pattern continues them.
  const int64_t first = std::max<int64_t>(0, -begin);
  const int64_t kept = size - first - std::max<int64_t>(0, -end);
  const int64_t at = i - std::max<int64_t>(0, begin);
  if (at >= 0 && at < kept) return first + at;
  const auto modulo = [at](int64_t n) { return at - FloorDiv(at, n) * n; };
  switch (mode) {
    case PadMode::kConstant:
      return std::nullopt;
    case PadMode::kEdge:
      return first + std::clamp<int64_t>(at, 0, kept - 1);
    case PadMode::kWrap:
      return first + modulo(kept);
    case PadMode::kReflect: {
      if (kept == 1) return first;
      const int64_t m = modulo(2 * (kept - 1));
      return first + std::min(m, 2 * (kept - 1) - m);
    }
    case PadMode::kSymmetric: {
      const int64_t m = modulo(2 * kept);
      return first + std::min(m, 2 * kept - 1 - m);
    }
  }
  return std::nullopt;
}

namespace {

// Pads of all axes: begins, then ends; nullopt if an input's contents are not known.
template <typename Context>
Result<std::optional<Dims>> PadsOf(const Context& ctx, int rank) {
  const auto& a = ctx.template attrs<PadAttrs>();
  const auto n = static_cast<size_t>(rank);
  Dims pads = ToDims(a.pads);
  if (ctx.has(2)) {
    if (!a.pads.empty()) return ModelError("pads is given both as an attribute and as an input");
    const auto contents = Contents(ctx, 2);
    if (!contents) return std::nullopt;
    pads = *contents;
  }
  if (ctx.has(3)) {
    if (!ctx.has(2)) return ModelError("the input axes is given without the input pads");
    const auto contents = Contents(ctx, 3);
    const auto numbers = contents ? ConstDims(*contents) : std::nullopt;
    if (!numbers) return std::nullopt;
    NN_ASSIGN(const auto axes, NormalizeAxes(*numbers, rank));
    if (pads.size() != 2 * axes.size())
      return ModelError("pads has {} entries for {} axes", pads.size(), axes.size());
    Dims all(2 * n);
    for (size_t i = 0; i < axes.size(); ++i) {
      all[static_cast<size_t>(axes[i])] = pads[i];
      all[n + static_cast<size_t>(axes[i])] = pads[axes.size() + i];
    }
    pads = std::move(all);
  }
  if (pads.size() != 2 * n)
    return ModelError("pads has {} entries for a tensor of rank {}", pads.size(), rank);
  return pads;
}

// kModel if more elements are removed than exist, or the pattern has no elements to repeat.
Status CheckAxis(int64_t begin, int64_t end, int64_t size, PadMode mode, size_t axis) {
  const bool possible = begin >= -size && end >= -size;
  const int64_t kept =
      possible ? size + std::min<int64_t>(0, begin) + std::min<int64_t>(0, end) : -1;
  if (kept < 0)
    return ModelError("pads {} and {} remove more than the {} elements of axis {}", begin, end,
                      size, axis);
  if (mode != PadMode::kConstant && kept == 0 && (begin > 0 || end > 0))
    return ModelError("{} padding of axis {}, which has no elements left", EnumName(mode), axis);
  return {};
}

std::vector<AxisTable> PadTables(const std::vector<int64_t>& pads, PadMode mode,
                                 const std::vector<int64_t>& dims) {
  const auto strides = Strides(dims);
  std::vector<AxisTable> tables;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t begin = pads[d];
    const int64_t end = pads[dims.size() + d];
    AxisTable table(static_cast<size_t>(begin + dims[d] + end));
    for (size_t i = 0; i < table.size(); ++i) {
      const auto from = PaddedIndex(static_cast<int64_t>(i), begin, end, dims[d], mode);
      table[i] = from ? *from * strides[d] : kFillEntry;
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

Status InferPad(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const PadMode mode = ctx.attrs<PadAttrs>().mode;
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  if (ctx.has(1)) {
    NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1}));
    const auto dims = ctx.in(1).const_dims();
    if (dims && CheckedElements(*dims) != 1)
      return ModelError("the padding value is {}; must have one element", ctx.in(1).ToString());
  }
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  const auto axes = ctx.has(3) ? KnownLength(ctx.in(3)) : std::optional<int64_t>(x.rank());
  if (axes) NN_RETURN_IF_ERROR(RequireList(ctx, 2, 2 * static_cast<size_t>(*axes)));
  NN_ASSIGN(const auto pads, PadsOf(ctx, x.rank()));
  Dims dims = *x.dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!pads) {
      dims[d] = ctx.NewSymbol();
      continue;
    }
    const Dim& begin = (*pads)[d];
    const Dim& end = (*pads)[dims.size() + d];
    if (begin.is_const() && end.is_const() && dims[d].is_const())
      NN_RETURN_IF_ERROR(CheckAxis(begin.value(), end.value(), dims[d].value(), mode, d));
    dims[d] = PaddedSize(dims[d], begin, end);
  }
  ctx.set_out(0, x.WithDims(std::move(dims)));
  const auto numbers = pads ? ConstDims(*pads) : std::nullopt;
  const auto fill = ctx.has(1) ? ctx.elements(1) : std::optional(Dims{0});
  if (numbers && fill && fill->size() == 1 && x.const_dims())
    MoveKnownElements(
        ctx, [&] { return PadTables(*numbers, mode, *x.const_dims()); }, (*fill)[0]);
  return {};
}

Status EvalPad(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  const PadMode mode = ctx.attrs<PadAttrs>().mode;
  NN_ASSIGN(const auto dims, PadsOf(ctx, x.rank()));
  const auto pads = dims ? ConstDims(*dims) : std::nullopt;
  if (!pads) return InternalError("pads is not known");
  NN_ASSIGN(Tensor fill, ZeroElement(ctx.in_type(0)));
  if (ctx.has(1)) fill = ctx.in(1);
  return MoveInput(
      ctx, [&] { return PadTables(*pads, mode, x.dims()); }, &fill);
}

std::optional<AxesChange> ChangePadAxes(const Node& node, Operand changed, const AxisMap& map) {
  PadAttrs a = node.attrs<PadAttrs>();
  if (node.input(2) != nullptr || changed == Operand{false, 1}) return std::nullopt;
  const auto middle = a.pads.begin() + static_cast<std::ptrdiff_t>(a.pads.size() / 2);
  const auto begins = MapPerAxis<int64_t>({a.pads.begin(), middle}, map, 0);
  const auto ends = MapPerAxis<int64_t>({middle, a.pads.end()}, map, 0);
  if (!begins || !ends) return std::nullopt;
  a.pads = *begins;
  a.pads.insert(a.pads.end(), ends->begin(), ends->end());
  return SameAxesChange(node, changed, map, std::move(a));
}

Result<bool> AbsorbPads(Graph& graph, Node& node) {
  if (node.input(2) == nullptr || !node.input(0)->type().ranked()) return false;
  NN_ASSIGN(const auto dims, PadsOf(InferContext(node), node.input(0)->type().rank()));
  const auto pads = dims ? ConstDims(*dims) : std::nullopt;
  if (!pads) return false;
  PadAttrs a = node.attrs<PadAttrs>();
  a.pads = *pads;
  std::vector<Value*> inputs = {node.input(0)};
  if (node.input(1) != nullptr) inputs.push_back(node.input(1));
  graph.SetInputs(&node, std::move(inputs));
  node.set_attrs(std::move(a));
  return true;
}

Domain PadDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input <= 1) return y[0].contents ? Domain() : y[0];
  if (input == 3) {
    const auto count = LengthOf(node.input(3));
    if (!count) return {};
    std::vector<int64_t> axes(static_cast<size_t>(std::max<int64_t>(*count, 0)));
    std::iota(axes.begin(), axes.end(), 0);
    return Exactly(axes);
  }
  const auto x = DimsOf(node.input(0)), out = DimsOf(node.output());
  const auto count = LengthOf(node.input(2));
  if (x && out && count && x->size() == out->size() && *count == 2 * std::ssize(*x)) {
    std::vector<int64_t> pads(2 * x->size(), 0);  // the declared shape
    for (size_t k = 0; k < x->size(); ++k) pads[x->size() + k] = (*out)[k] - (*x)[k];
    return Exactly(pads);
  }
  return Between(0, 2);
}

}  // namespace

void RegisterPadOps(OpRegistry& ops) {
  OpDef pad;
  pad.name = "pad";
  pad.summary = "adds elements around a tensor";
  pad.category = Category::kMovement;
  pad.quant_rule = QuantRule::kSame;
  pad.exact_integers = true;
  pad.selects = Selection{.inputs = 0b11, .zero = true};
  pad.attrs = AttrsInfoOf<PadAttrs>();
  pad.inputs = {{"x", Arity::kRequired, Elements::kAny},
                {"value", Arity::kOptional, Elements::kAny},
                {"pads", Arity::kOptional},
                {"axes", Arity::kOptional}};
  pad.infer = InferPad;
  pad.eval = EvalPad;
  pad.change_axes = ChangePadAxes;
  pad.absorb_inputs = AbsorbPads;
  ops.Add(std::move(pad));
}

void AddPadDomains(DomainTable& domains) {
  domains["pad"] = PadDomain;
}

}  // namespace nn

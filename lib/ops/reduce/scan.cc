#include "ops/reduce/scan.h"

#include <functional>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/reduce/reduction.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ScanAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&ScanAttrs::axis>("axis"),
      Field<&ScanAttrs::exclusive>("exclusive"),
      Field<&ScanAttrs::reverse>("reverse"),
  };
  return fields;
}

namespace {

Status InferScan(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  NN_RETURN_IF_ERROR(RequireOneNumber(ctx, 1));
  if (!ctx.has(1)) NN_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs<ScanAttrs>().axis, ctx.in(0).rank()));
  ctx.set_out(0, Type(ctx.in(0).dtype, *ctx.in(0).dims));
  return {};
}

// Combines the elements along the axis one by one, from `first` on: reads them with get(i), writes
// the results with put(i, result).
template <typename Combine, typename T, typename Get, typename Put>
void Scan(const ScanAttrs& a, const Rows& rows, T first, Get get, Put put) {
  const int64_t n = rows.length();
  rows.ForEach([&](int64_t, int64_t start) {
    T result = first;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = start + rows.offset(a.reverse ? n - 1 - i : i);
      const T before = result;
      result = Combine()(result, get(at));
      put(at, a.exclusive ? before : result);
    }
  });
}

template <typename Combine, int kFirst>
Status EvalScan(EvalContext& ctx) {
  const auto& a = ctx.attrs<ScanAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.has(1) ? ctx.in(1).GetInt(0) : a.axis, x.rank()));
  if (ctx.in_type(0).quantized())
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  const Rows rows(x.dims(), std::span(&axis, 1));
  if (IsInteger(x.dtype())) {
    NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
    Scan<Combine>(
        a, rows, uint64_t{kFirst}, [&](int64_t i) { return static_cast<uint64_t>(x.GetInt(i)); },
        [&](int64_t i, uint64_t v) { y.SetInt(i, static_cast<int64_t>(v)); });
    ctx.set_out(0, y.Finish());
    return {};
  }
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> values(x);
    Scan<Combine>(
        a, rows, T{kFirst}, [&](int64_t i) { return values[i]; },
        [&](int64_t i, T v) { y[i] = v; });
    y.Finish();
    return {};
  });
}

std::optional<AxesChange> ChangeScanAxes(const Node& node, Operand changed, const AxisMap& map) {
  if (node.input(1) != nullptr) return std::nullopt;  // becomes the attribute first
  ScanAttrs a = node.attrs<ScanAttrs>();
  const auto axis = MapAxis(a.axis, node.input(0)->type().rank(), map);
  if (!axis) return std::nullopt;
  a.axis = *axis;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

// Moves an axis input with known contents to the attribute.
Result<bool> AbsorbAxis(Graph& graph, Node& node) {
  if (node.input(1) == nullptr) return false;
  const auto contents = Contents(InferContext(node), 1);
  if (!contents || contents->size() != 1 || !contents->front().is_const()) return false;
  ScanAttrs attrs = node.attrs<ScanAttrs>();
  attrs.axis = contents->front().value();
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(attrs);
  return true;
}

// Partial sums are within the bounds of the sum of all elements, or 0.
Interval RunningSumRange(RangeContext& ctx, size_t) {
  const Interval x = ctx.in(0);
  if (!IsInteger(ctx.node().output()->dtype()))
    return x.min >= 0 ? Interval{.min = 0} : x.max <= 0 ? Interval{.max = 0} : Interval();
  const auto dims = ctx.node().input(0)->type().const_dims();
  const auto elements = dims ? CheckedElements(*dims) : std::nullopt;
  const double count = elements ? static_cast<double>(*elements) : kLargestSize;
  return Interval{count, count} * Union(x, {0, 0});
}

OpDef ScanOp(std::string_view name, std::string_view summary, Status (*eval)(EvalContext&)) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kReduction;
  op.wraps_integers = true;
  op.attrs = AttrsInfoOf<ScanAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kReals | Elements::kIntegers},
               {"axis", Arity::kOptional}};
  op.infer = InferScan;
  op.eval = eval;
  op.change_axes = ChangeScanAxes;
  op.absorb_inputs = AbsorbAxis;
  return op;
}

Domain ScanDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto dims = DimsOf(node.input(0));
  return input == 1 && dims ? IndexDomain(std::ssize(*dims)) : Domain();
}

}  // namespace

void RegisterScanOps(OpRegistry& ops) {
  OpDef sum = ScanOp("cum_sum", "running sum along an axis", EvalScan<std::plus<>, 0>);
  sum.exact_integers = true;
  sum.range = RunningSumRange;
  ops.Add(std::move(sum));
  ops.Add(ScanOp("cum_prod", "running product along an axis", EvalScan<std::multiplies<>, 1>));
}

void AddScanDomains(DomainTable& domains) {
  domains["cum_sum"] = ScanDomain;
  domains["cum_prod"] = ScanDomain;
}

}  // namespace nn

#include "ops/nn/softmax.h"

#include <limits>
#include <type_traits>

#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/quantized.h"
#include "ops/reduce/reduce.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> SoftmaxAttrs::Fields() {
  static const AttrField fields[] = {Field<&SoftmaxAttrs::axis>("axis"),
                                     Field<&SoftmaxAttrs::beta>("beta")};
  return fields;
}
std::span<const AttrField> AlongAxisAttrs::Fields() {
  static const AttrField fields[] = {Field<&AlongAxisAttrs::axis>("axis")};
  return fields;
}

namespace {

template <typename A>
Status InferSoftmax(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  NN_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs<A>().axis, ctx.in(0).rank()));
  const Type& x = ctx.in(0);
  // The integer arithmetic on 8 bits has results of 8 or 16 bits: the type is declared.
  const bool declared = std::is_same_v<A, SoftmaxAttrs> && x.quantized() &&
                        DTypeBits(x.dtype) == 8 && ctx.node().arithmetic() == Arithmetic::kTflite;
  ctx.set_out(0, Type(declared ? DType::kUnknown : x.dtype, *x.dims));
  return {};
}

template <typename A>
Result<Rows> RowsOf(const EvalContext& ctx) {
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.attrs<A>().axis, ctx.in(0).rank()));
  return Rows(ctx.in(0).dims(), std::span(&axis, 1));
}

template <typename T>
T MaxOf(const Reals<T>& x, const Rows& rows, int64_t start) {
  T m = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < rows.length(); ++i) m = Larger(m, x[start + rows.offset(i)]);
  return m;
}

Status EvalSoftmax(EvalContext& ctx) {
  NN_ASSIGN(const Rows rows, RowsOf<SoftmaxAttrs>(ctx));
  if (ctx.in_type(0).quantized()) return QuantizedSoftmax(ctx, rows);
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto beta = static_cast<T>(ctx.attrs<SoftmaxAttrs>().beta);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    rows.ForEach([&](int64_t, int64_t start) {
      const T m = MaxOf(x, rows, start);
      const auto at = [&](int64_t i) { return start + rows.offset(i); };
      for (int64_t i = 0; i < rows.length(); ++i) y[at(i)] = RealExp((x[at(i)] - m) * beta);
      const auto sum = LaneSum<T>(rows.length(), [&](int64_t i) { return y[at(i)]; });
      for (int64_t i = 0; i < rows.length(); ++i) y[at(i)] = y[at(i)] / sum;
    });
    y.Finish();
    return {};
  });
}

Status EvalLogSoftmax(EvalContext& ctx) {
  NN_ASSIGN(const Rows rows, RowsOf<AlongAxisAttrs>(ctx));
  if (ctx.in_type(0).quantized()) return QuantizedLogSoftmax(ctx, rows);
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    rows.ForEach([&](int64_t, int64_t start) {
      const T m = MaxOf(x, rows, start);
      const auto shifted = [&](int64_t i) { return x[start + rows.offset(i)] - m; };
      const T log_sum =
          RealLog(LaneSum<T>(rows.length(), [&](int64_t i) { return RealExp(shifted(i)); }));
      for (int64_t i = 0; i < rows.length(); ++i) y[start + rows.offset(i)] = shifted(i) - log_sum;
    });
    y.Finish();
    return {};
  });
}

Status EvalHardmax(EvalContext& ctx) {
  NN_ASSIGN(const Rows rows, RowsOf<AlongAxisAttrs>(ctx));
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    rows.ForEach([&](int64_t, int64_t start) {
      const T m = MaxOf(x, rows, start);
      bool found = false;
      for (int64_t i = 0; i < rows.length(); ++i) {
        const T v = x[start + rows.offset(i)];
        const bool hit = !found && (v == m || v != v);
        found |= hit;
        y[start + rows.offset(i)] = hit ? T(1) : T(0);
      }
    });
    y.Finish();
    return {};
  });
}

template <typename A>
std::optional<AxesChange> ChangeSoftmaxAxes(const Node& node, Operand changed, const AxisMap& map) {
  A a = node.attrs<A>();
  const auto axis = MapAxis(a.axis, node.input(0)->type().rank(), map);
  if (!axis) return std::nullopt;
  a.axis = *axis;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

template <typename A>
OpDef AlongAxis(std::string_view name, std::string_view summary, Status (*eval)(EvalContext&)) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kActivation;
  op.attrs = AttrsInfoOf<A>();
  op.inputs = {{"x"}};
  op.infer = InferSoftmax<A>;
  op.eval = eval;
  op.change_axes = ChangeSoftmaxAxes<A>;
  return op;
}

// Lowers a softmax with a beta other than 1, by the steps of its evaluation: a product x * beta can
// overflow where (x - max) * beta does not.
Result<bool> DecomposeSoftmax(Graph& graph, Node& node) {
  SoftmaxAttrs a = node.attrs<SoftmaxAttrs>();
  Value* x = node.input(0);
  if (a.beta == 1.0f || x->type().quantized() || x->dtype() != DType::kF32) return false;
  const ReduceAttrs along{{a.axis}, true};
  NN_ASSIGN(Node* const largest, graph.Append("reduce_max", {x}, along, 1, &node));
  NN_ASSIGN(Node* const shifted, graph.Append("sub", {x, largest->output()}, {}, 1, &node));
  Value* beta = graph.AddConstant(Tensor::Scalar(a.beta), "beta");
  NN_ASSIGN(Node* const scaled, graph.Append("mul", {shifted->output(), beta}, {}, 1, &node));
  if (a.beta >= 0) {
    // The largest element is 0, so that softmax changes none when it subtracts it.
    a.beta = 1.0f;
    graph.SetInput(&node, 0, scaled->output());
    node.set_attrs(a);
    return true;
  }
  // The smallest element is 0, and the exponentials of others may overflow.
  NN_ASSIGN(Node* const e, graph.Append("exp", {scaled->output()}, {}, 1, &node));
  NN_ASSIGN(Node* const sum, graph.Append("reduce_sum", {e->output()}, along, 1, &node));
  // The sum is at least 1. Targets that must bound a divisor see this by the clip only.
  const ClipAttrs bounds{1.0f, std::numeric_limits<float>::infinity()};
  NN_ASSIGN(Node* const divisor, graph.Append("clip", {sum->output()}, bounds, 1, &node));
  NN_ASSIGN(Node* const y, graph.Append("div", {e->output(), divisor->output()}, {}, 1, &node));
  graph.Replace(&node, y->output());
  return true;
}

bool HasQuantizedSoftmax(const Node& node, const Type& x, const Type& y) {
  const float beta = node.attrs<SoftmaxAttrs>().beta;
  if (y.quantized() && !HasSoftmaxRange(x.dtype, y)) return false;
  if (!(beta > 0) || !x.quantized() || x.quant->per_axis()) return false;
  return x.dtype == DType::kI16 || SoftmaxExponentials8(x.quant->scale(), beta).has_value();
}
bool HasQuantizedLogSoftmax(const Node&, const Type& x, const Type& y) {
  return !y.quantized() || HasFixedQuant(LogSoftmaxQuants(), x.dtype, y);
}

Interval ProbabilityRange(RangeContext&, size_t) {
  return {0, 1};
}
Interval LogProbabilityRange(RangeContext&, size_t) {
  return {.max = 0};
}

}  // namespace

void RegisterSoftmaxOps(OpRegistry& ops) {
  OpDef softmax = AlongAxis<SoftmaxAttrs>(
      "softmax", "exponentials along an axis, divided by their sum", EvalSoftmax);
  softmax.quant_rule = QuantRule::kFree;
  softmax.range = ProbabilityRange;
  softmax.fixed_quants = SoftmaxQuants();
  softmax.has_quantized_form = HasQuantizedSoftmax;
  softmax.decompose = DecomposeSoftmax;
  ops.Add(std::move(softmax));
  OpDef log_softmax = AlongAxis<AlongAxisAttrs>("log_softmax", "logarithm of softmax along an axis",
                                                EvalLogSoftmax);
  log_softmax.quant_rule = QuantRule::kFree;
  log_softmax.range = LogProbabilityRange;
  log_softmax.fixed_quants = LogSoftmaxQuants();
  log_softmax.has_quantized_form = HasQuantizedLogSoftmax;
  ops.Add(std::move(log_softmax));
  ops.Add(AlongAxis<AlongAxisAttrs>(
      "hardmax", "1 for the first largest element along an axis, 0 for the others", EvalHardmax));
}

}  // namespace nn

// lrn, l2_normalization, lp_normalization, mean_variance_normalization.
#include <algorithm>
#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "numeric/double_functions.h"
#include "numeric/scalar_functions.h"
#include "ops/families.h"
#include "ops/nn/moments.h"
#include "ops/nn/norm.h"
#include "ops/quant/fixed_point.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduction.h"
#include "ops/support/composition.h"
#include "ops/support/reals.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> LrnAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&LrnAttrs::size>("size"),     Field<&LrnAttrs::alpha>("alpha"),
      Field<&LrnAttrs::beta>("beta"),     Field<&LrnAttrs::bias>("bias"),
      Field<&LrnAttrs::layout>("layout"),
  };
  return fields;
}
std::span<const AttrField> L2NormalizationAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&L2NormalizationAttrs::axes>("axes"),
      Field<&L2NormalizationAttrs::epsilon>("epsilon"),
      Field<&L2NormalizationAttrs::epsilon_rule>("epsilon_rule"),
  };
  return fields;
}
std::span<const AttrField> LpNormalizationAttrs::Fields() {
  static const AttrField fields[] = {Field<&LpNormalizationAttrs::axis>("axis"),
                                     Field<&LpNormalizationAttrs::p>("p")};
  return fields;
}
std::span<const AttrField> MeanVarianceNormalizationAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&MeanVarianceNormalizationAttrs::axes>("axes"),
      Field<&MeanVarianceNormalizationAttrs::normalize_variance>("normalize_variance"),
      Field<&MeanVarianceNormalizationAttrs::epsilon>("epsilon"),
      Field<&MeanVarianceNormalizationAttrs::epsilon_rule>("epsilon_rule"),
  };
  return fields;
}

namespace {

template <typename T>
T RootOf(T v, float epsilon, EpsilonRule rule) {
  const T e = static_cast<T>(epsilon);
  if (rule == EpsilonRule::kInside) return std::sqrt(v + e);
  const T root = std::sqrt(v);
  return rule == EpsilonRule::kOutside ? root + e : e > root ? e : root;
}

Status InferSame(InferContext& ctx) {
  ctx.set_out(0, Type(ctx.in(0).dtype, *ctx.in(0).dims));
  return {};
}

// The divisor of a row from the sum or mean under its root.
Term RootTerm(Graph& graph, const Term& v, float epsilon, EpsilonRule rule) {
  const Term e = graph.AddConstant(Tensor::Scalar(epsilon), "epsilon");
  if (rule == EpsilonRule::kInside) return Apply("sqrt", {v + e});
  const Term root = Apply("sqrt", {v});
  return rule == EpsilonRule::kOutside ? root + e : Maximum(e, root);
}

// ---- lrn

Status InferLrn(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  if (ctx.attrs<LrnAttrs>().size < 1)
    return ModelError("size is {}; must be at least 1", ctx.attrs<LrnAttrs>().size);
  return InferSame(ctx);
}

float PowOf(float x, float y) {
  return ScalarFunctions::Pow(x, y);
}
double PowOf(double x, double y) {
  return float64::Pow(x, y);
}

Status EvalLrn(EvalContext& ctx) {
  const auto& a = ctx.attrs<LrnAttrs>();
  const Tensor& x = ctx.in(0);
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> values(x);
    const int axis = ChannelAxis(a.layout, x.rank());
    const int64_t step = Strides(x.dims())[static_cast<size_t>(axis)];
    const int64_t channels = x.dims()[static_cast<size_t>(axis)];
    const int64_t before = std::min((a.size - 1) / 2, channels);
    const int64_t after = std::min(a.size - 1 - (a.size - 1) / 2, channels);
    const T alpha = static_cast<T>(a.alpha) / static_cast<T>(a.size);
    const T bias = a.bias, beta = a.beta;
    const Rows rows(x.dims(), std::span(&axis, 1));
    rows.ForEach([&](int64_t, int64_t start) {
      for (int64_t c = 0; c < channels; ++c) {
        T sum = 0;
        for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(channels - 1, c + after);
             ++k) {
          const T v = values[start + k * step];
          sum = sum + v * v;
        }
        y[start + c * step] = values[start + c * step] / PowOf(Fma(alpha, sum, bias), beta);
      }
    });
    y.Finish();
    return {};
  });
}

// One operation for every channel in the window of an element.
std::optional<int64_t> LrnMultiplyAdds(const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  auto factors = node.input(0)->type().const_dims();
  if (!factors) return std::nullopt;
  const auto channels =
      (*factors)[static_cast<size_t>(ChannelAxis(a.layout, static_cast<int>(factors->size())))];
  factors->push_back(std::min(a.size, channels));
  return CheckedElements(*factors);
}

std::optional<AxesChange> ChangeLrnAxes(const Node& node, Operand changed, const AxisMap& map) {
  LrnAttrs a = node.attrs<LrnAttrs>();
  const auto layout = FlipLayout(a.layout, node.input(0)->type().rank(), map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

// ---- Normalization over any axes ----------------------------------------------------------------

template <typename A>
Status InferOverAxes(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  NN_RETURN_IF_ERROR(ReducedAxes(ctx.attrs<A>().axes, ctx.in(0).rank()));
  return InferSame(ctx);
}

// A reduced axis of size 1 can be dropped if another one remains.
template <typename A>
std::optional<AxesChange> ChangeOverAxes(const Node& node, Operand changed, const AxisMap& map) {
  A a = node.attrs<A>();
  const auto axes = ReducedAxes(a.axes, node.input(0)->type().rank());
  if (!axes) return std::nullopt;
  a.axes.clear();
  for (const int axis : *axes)
    if (const auto to = map.ResultAxis(axis)) a.axes.push_back(*to);
  if (a.axes.empty()) return std::nullopt;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

// The integer arithmetic has no epsilon. The one that TensorFlow Lite's floats have is too small to
// matter for it.
Status InferL2(InferContext& ctx) {
  constexpr float kMaxEpsilon = 1e-6f;
  const float epsilon = ctx.attrs<L2NormalizationAttrs>().epsilon;
  if (ctx.in(0).quantized() && ctx.node().arithmetic() != Arithmetic::kDefault &&
      !(epsilon <= kMaxEpsilon))
    return ModelError("epsilon is {}; the integer arithmetic has none above {}", epsilon,
                      kMaxEpsilon);
  return InferOverAxes<L2NormalizationAttrs>(ctx);
}

constexpr FixedQuant kL2Quants[] = {{DType::kU8, DType::kU8, 1.0f / 128, 128},
                                    {DType::kI8, DType::kI8, 1.0f / 128, 0}};

// Source: tflite/kernels/l2norm.cc with internal/reference/l2normalization.h and
// integer_ops/l2normalization.h. The output's scale is 1/128.
Status QuantizedL2(EvalContext& ctx, const Rows& rows) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const Tensor& x = ctx.in(0);
  const bool is_unsigned = x.dtype() == DType::kU8;
  if (!is_unsigned && x.dtype() != DType::kI8)
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  const int64_t y_zero = is_unsigned ? 128 : 0;
  if (!HasFixedQuant(kL2Quants, x.dtype(), ctx.out_type()))
    return ModelError("the scale of {} must be 1/128 and the zero point {}",
                      ctx.out_type().ToString(), y_zero);
  const int64_t x_zero = ctx.in_type(0).quant->zero_point();
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  rows.ForEach([&](int64_t, int64_t start) {
    const auto at = [&](int64_t i) {
      return static_cast<int32_t>(x.GetInt(start + rows.offset(i)) - x_zero);
    };
    uint32_t sum = 0;
    for (int64_t i = 0; i < rows.length(); ++i)
      sum += static_cast<uint32_t>(at(i)) * static_cast<uint32_t>(at(i));
    const FixedInvSqrtResult root = FixedInvSqrt(static_cast<int32_t>(sum));
    for (int64_t i = 0; i < rows.length(); ++i) {
      // The unsigned form multiplies by 128 before it rescales, the signed one through its shift.
      const int64_t v = is_unsigned ? Rescale(128 * at(i), {root.multiplier, root.shift})
                                    : Rescale(at(i), {root.multiplier, root.shift + 7});
      y.SetInt(start + rows.offset(i), ClampTo(x.dtype(), v + y_zero));
    }
  });
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalL2(EvalContext& ctx) {
  const auto& a = ctx.attrs<L2NormalizationAttrs>();
  NN_ASSIGN(const auto axes, ReducedAxes(a.axes, ctx.in(0).rank()));
  const Rows rows(ctx.in(0).dims(), axes);
  if (ctx.in_type(0).quantized()) return QuantizedL2(ctx, rows);
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    rows.ForEach([&](int64_t, int64_t start) {
      const auto at = [&](int64_t i) { return x[start + rows.offset(i)]; };
      const T sum = LaneSum<T>(rows.length(), [&](int64_t i) { return at(i) * at(i); });
      const T root = RootOf(sum, a.epsilon, a.epsilon_rule);
      for (int64_t i = 0; i < rows.length(); ++i) y[start + rows.offset(i)] = at(i) / root;
    });
    y.Finish();
    return {};
  });
}

// l2_normalization -> reduce_sum_square, the root, div.
Result<bool> DecomposeL2(Graph& graph, Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  Value* const x = node.input(0);
  if (x->dtype() != DType::kF32) return false;
  const Term sum = Apply("reduce_sum_square", {x}, ReduceAttrs{a.axes, true});
  return Composition(graph, node)
      .Replace(Term(x) / RootTerm(graph, sum, a.epsilon, a.epsilon_rule));
}

// ---- lp_normalization

Status InferLp(InferContext& ctx) {
  const auto& a = ctx.attrs<LpNormalizationAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  NN_RETURN_IF_ERROR(NormalizeAxis(a.axis, ctx.in(0).rank()));
  if (a.p != 1 && a.p != 2) return ModelError("p is {}; must be 1 or 2", a.p);
  return InferSame(ctx);
}

Status EvalLp(EvalContext& ctx) {
  const auto& a = ctx.attrs<LpNormalizationAttrs>();
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, ctx.in(0).rank()));
  const Rows rows(ctx.in(0).dims(), std::span(&axis, 1));
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    rows.ForEach([&](int64_t, int64_t start) {
      const auto at = [&](int64_t i) { return x[start + rows.offset(i)]; };
      const T sum = LaneSum<T>(
          rows.length(), [&](int64_t i) { return a.p == 1 ? std::fabs(at(i)) : at(i) * at(i); });
      const T norm = a.p == 1 ? sum : std::sqrt(sum);
      for (int64_t i = 0; i < rows.length(); ++i)
        y[start + rows.offset(i)] = norm == T(0) ? T(0) : at(i) / norm;
    });
    y.Finish();
    return {};
  });
}

std::optional<AxesChange> ChangeLpAxes(const Node& node, Operand changed, const AxisMap& map) {
  LpNormalizationAttrs a = node.attrs<LpNormalizationAttrs>();
  const auto axis = MapAxis(a.axis, node.input(0)->type().rank(), map);
  if (!axis) return std::nullopt;
  a.axis = *axis;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

// lp_normalization -> reduce_l1 or reduce_l2, div, and a selection where the norm is 0.
Result<bool> DecomposeLp(Graph& graph, Node& node) {
  const auto& a = node.attrs<LpNormalizationAttrs>();
  const Term x = node.input(0);
  if (node.input(0)->dtype() != DType::kF32) return false;
  const Term norm = Apply(a.p == 1 ? "reduce_l1" : "reduce_l2", {x}, ReduceAttrs{{a.axis}, true});
  const Term zero = Tensor::Scalar(0.0f);
  return Composition(graph, node).Replace(Select(Equal(norm, zero), zero, x / norm));
}

// ---- mean_variance_normalization ----------------------------------------------------------------

Status EvalMeanVariance(EvalContext& ctx) {
  const auto& a = ctx.attrs<MeanVarianceNormalizationAttrs>();
  NN_ASSIGN(const auto axes, ReducedAxes(a.axes, ctx.in(0).rank()));
  const Rows rows(ctx.in(0).dims(), axes);
  if (ctx.in_type(0).quantized())
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    rows.ForEach([&](int64_t, int64_t start) {
      const auto at = [&](int64_t i) { return x[start + rows.offset(i)]; };
      const Moments<T> m = MomentsOf<T>(rows.length(), at, 0.0f);
      const T root = RootOf(m.variance, a.epsilon, a.epsilon_rule);
      for (int64_t i = 0; i < rows.length(); ++i) {
        const T d = at(i) - m.mean;
        y[start + rows.offset(i)] = a.normalize_variance ? d / root : d;
      }
    });
    y.Finish();
    return {};
  });
}

// mean_variance_normalization -> reduce_mean, sub, mul, reduce_mean, the root, div.
Result<bool> DecomposeMeanVariance(Graph& graph, Node& node) {
  const auto& a = node.attrs<MeanVarianceNormalizationAttrs>();
  const Term x = node.input(0);
  if (node.input(0)->dtype() != DType::kF32) return false;
  const ReduceAttrs over{a.axes, true};
  const Term d = x - Apply("reduce_mean", {x}, over);
  Composition c(graph, node);
  if (!a.normalize_variance) return c.Replace(d);
  const Term variance = Apply("reduce_mean", {d * d}, over);
  return c.Replace(d / RootTerm(graph, variance, a.epsilon, a.epsilon_rule));
}

// Single channels are divided by a power of a sum, so that rewrites compute powers by lrn. The
// quotient rises and falls at most once.
Interval LrnRange(RangeContext& ctx, size_t) {
  const auto& a = ctx.attrs<LrnAttrs>();
  const Interval x = ctx.in(0);
  if (a.size != 1 || a.alpha <= 0 || a.bias <= 0 || x.min < 0) return {};
  if (std::isinf(x.max)) return {.min = 0};
  const auto f = [&](double v) {
    return v / std::pow(static_cast<double>(a.alpha) * v * v + static_cast<double>(a.bias),
                        static_cast<double>(a.beta));
  };
  return {.min = std::min(f(x.min), f(x.max))};
}

}  // namespace

void RegisterNormAxesOps(OpRegistry& ops) {
  OpDef lrn;
  lrn.name = "lrn";
  lrn.summary = "local response normalization over neighboring channels";
  lrn.category = Category::kNormalization;
  lrn.range = LrnRange;
  lrn.takes_unit_axes = true;
  lrn.attrs = AttrsInfoOf<LrnAttrs>();
  lrn.inputs = {{"x"}};
  lrn.infer = InferLrn;
  lrn.eval = EvalLrn;
  lrn.change_axes = ChangeLrnAxes;
  lrn.multiply_adds = LrnMultiplyAdds;
  ops.Add(std::move(lrn));

  OpDef l2;
  l2.name = "l2_normalization";
  l2.summary = "division by the 2-norm over axes";
  l2.category = Category::kNormalization;
  l2.fixed_quants = kL2Quants;
  l2.attrs = AttrsInfoOf<L2NormalizationAttrs>();
  l2.inputs = {{"x"}};
  l2.infer = InferL2;
  l2.eval = EvalL2;
  l2.change_axes = ChangeOverAxes<L2NormalizationAttrs>;
  l2.decompose = DecomposeL2;
  ops.Add(std::move(l2));

  OpDef lp;
  lp.name = "lp_normalization";
  lp.summary = "division by the 1- or 2-norm along an axis, or 0 if the norm is 0";
  lp.category = Category::kNormalization;
  lp.attrs = AttrsInfoOf<LpNormalizationAttrs>();
  lp.inputs = {{"x"}};
  lp.infer = InferLp;
  lp.eval = EvalLp;
  lp.change_axes = ChangeLpAxes;
  lp.decompose = DecomposeLp;
  ops.Add(std::move(lp));

  OpDef mvn;
  mvn.name = "mean_variance_normalization";
  mvn.summary = "normalization over axes by their own mean and variance";
  mvn.category = Category::kNormalization;
  mvn.attrs = AttrsInfoOf<MeanVarianceNormalizationAttrs>();
  mvn.inputs = {{"x"}};
  mvn.infer = InferOverAxes<MeanVarianceNormalizationAttrs>;
  mvn.eval = EvalMeanVariance;
  mvn.change_axes = ChangeOverAxes<MeanVarianceNormalizationAttrs>;
  mvn.decompose = DecomposeMeanVariance;
  ops.Add(std::move(mvn));
}

}  // namespace nn

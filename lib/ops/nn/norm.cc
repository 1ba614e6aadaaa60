// batch_norm, instance_norm, group_norm, layer_norm, rms_norm.
#include "ops/nn/norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/arith.h"
#include "ir/op_def.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/nn/moments.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduction.h"
#include "ops/support/domain.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> BatchNormAttrs::Fields() {
  static const AttrField fields[] = {Field<&BatchNormAttrs::epsilon>("epsilon"),
                                     Field<&BatchNormAttrs::layout>("layout")};
  return fields;
}
std::span<const AttrField> InstanceNormAttrs::Fields() {
  static const AttrField fields[] = {Field<&InstanceNormAttrs::epsilon>("epsilon"),
                                     Field<&InstanceNormAttrs::layout>("layout")};
  return fields;
}
std::span<const AttrField> GroupNormAttrs::Fields() {
  static const AttrField fields[] = {Field<&GroupNormAttrs::groups>("groups"),
                                     Field<&GroupNormAttrs::epsilon>("epsilon"),
                                     Field<&GroupNormAttrs::layout>("layout")};
  return fields;
}
std::span<const AttrField> LayerNormAttrs::Fields() {
  static const AttrField fields[] = {Field<&LayerNormAttrs::axis>("axis"),
                                     Field<&LayerNormAttrs::epsilon>("epsilon")};
  return fields;
}
std::span<const AttrField> RmsNormAttrs::Fields() {
  static const AttrField fields[] = {Field<&RmsNormAttrs::axis>("axis"),
                                     Field<&RmsNormAttrs::epsilon>("epsilon")};
  return fields;
}

namespace {

template <typename T>
std::pair<T, T> Factors(T scale, T bias, T mean, T variance, float epsilon) {
  const T s = scale / std::sqrt(variance + static_cast<T>(epsilon));
  return {s, Fma(-mean, s, bias)};
}

// kModel for a parameter of a real x that is not real.
Status CheckReal(const InferContext& ctx, size_t i) {
  const Type& type = ctx.in(i);
  const bool is_real = IsFloat(type.dtype) || type.dtype == DType::kUnknown || type.quantized();
  if (is_real || !IsFloat(ctx.in(0).dtype)) return {};
  return ModelError("input {} is {}; must be real", i, type.ToString());
}

// Inputs `from` to `to` must have one element per channel of x, or `also` elements.
Status CheckPerChannel(const InferContext& ctx, Dim channels, size_t from, size_t to,
                       int64_t also = -1) {
  for (size_t i = from; i <= to; ++i) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 1, 1));
    const Dim& n = ctx.in(i).dim(0);
    if (n.is_const() && channels.is_const() && n != channels && !(n == also))
      return ModelError("input {} has {} elements for {} channels", i, n.ToString(),
                        channels.ToString());
    // The parameters must agree where x leaves the number open.
    if (!channels.is_const() && !(n == also)) channels = n;
  }
  return {};
}

template <typename A>
Status InferChannelNorm(InferContext& ctx, size_t parameters, int64_t groups = -1) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  const Type& x = ctx.in(0);
  const Dim& channels = x.dim(ChannelAxis(ctx.attrs<A>().layout, x.rank()));
  NN_RETURN_IF_ERROR(CheckPerChannel(ctx, channels, 1, parameters, groups));
  for (size_t i = 1; i <= parameters; ++i) NN_RETURN_IF_ERROR(CheckReal(ctx, i));
  if (groups > 0 && channels.is_const() && channels.value() % groups != 0)
    return ModelError("{} channels are not divisible by {} groups", channels.ToString(), groups);
  ctx.set_out(0, Type(x.dtype, *x.dims));
  return {};
}

template <typename A>
std::optional<AxesChange> ChangeLayout(const Node& node, Operand changed, const AxisMap& map) {
  if (!changed.is_output && changed.index != 0) return std::nullopt;
  A a = node.attrs<A>();
  const auto layout = FlipLayout(a.layout, node.input(0)->type().rank(), map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

// ---- batch_norm

Status InferBatchNorm(InferContext& ctx) {
  return InferChannelNorm<BatchNormAttrs>(ctx, 4);
}

Status EvalBatchNorm(EvalContext& ctx) {
  const auto& a = ctx.attrs<BatchNormAttrs>();
  const Tensor& x = ctx.in(0);
  if (ctx.in_type(0).quantized())
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto axis = static_cast<size_t>(ChannelAxis(a.layout, x.rank()));
    const int64_t channels = x.dims()[axis];
    const int64_t inner = Strides(x.dims())[axis];
    const Reals<T> scale(ctx.in(1)), bias(ctx.in(2)), mean(ctx.in(3)), variance(ctx.in(4));
    std::vector<std::pair<T, T>> factors;
    for (int64_t c = 0; c < channels; ++c)
      factors.push_back(Factors(scale[c], bias[c], mean[c], variance[c], a.epsilon));
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> values(x);
    for (int64_t i = 0; i < y.size(); ++i) {
      const auto& [s, t] = factors[static_cast<size_t>(i / inner % channels)];
      y[i] = values[i] * s + t;
    }
    y.Finish();
    return {};
  });
}

// ---- instance_norm, group_norm -----------------------------------------------------------------

Status InferInstanceNorm(InferContext& ctx) {
  return InferChannelNorm<InstanceNormAttrs>(ctx, 2);
}

Status InferGroupNorm(InferContext& ctx) {
  const int64_t groups = ctx.attrs<GroupNormAttrs>().groups;
  if (groups < 1) return ModelError("groups is {}; must be at least 1", groups);
  return InferChannelNorm<GroupNormAttrs>(ctx, 2, groups);
}

// Rows are (batch, group); their elements are ordered by channel of the group, then by spatial
// position.
Rows GroupRows(const std::vector<int64_t>& dims, Layout layout, int64_t groups) {
  const int rank = static_cast<int>(dims.size());
  const int channel = ChannelAxis(layout, rank);
  std::vector<int64_t> split = dims;
  split[static_cast<size_t>(channel)] = groups;
  split.insert(split.begin() + channel + 1, dims[static_cast<size_t>(channel)] / groups);
  std::vector<int> axes = {channel + 1};
  for (int a = 1; a <= rank; ++a)
    if (a != channel && a != channel + 1) axes.push_back(a);
  return Rows(split, axes);
}

Status EvalGroups(EvalContext& ctx, Layout layout, int64_t groups, float epsilon) {
  const Tensor& x = ctx.in(0);
  if (ctx.in_type(0).quantized())
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const int64_t channels = x.dims()[static_cast<size_t>(ChannelAxis(layout, x.rank()))];
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    if (y.size() == 0) {
      y.Finish();
      return {};
    }
    const Reals<T> values(x), scale(ctx.in(1)), bias(ctx.in(2));
    const int64_t per_group = channels / groups;
    const Rows rows = GroupRows(x.dims(), layout, groups);
    const int64_t spatial = rows.length() / per_group;
    const bool by_channel = static_cast<int64_t>(scale.size()) == channels;
    const bool bias_by_channel = static_cast<int64_t>(bias.size()) == channels;
    rows.ForEach([&](int64_t row, int64_t start) {
      const auto at = [&](int64_t i) { return values[start + rows.offset(i)]; };
      const Moments<T> m = MomentsOf<T>(rows.length(), at, epsilon);
      const int64_t group = row % groups;
      for (int64_t i = 0; i < rows.length(); ++i) {
        const int64_t c = group * per_group + i / spatial;
        y[start + rows.offset(i)] =
            Fma((at(i) - m.mean) * m.inverse_deviation, scale[by_channel ? c : group],
                bias[bias_by_channel ? c : group]);
      }
    });
    y.Finish();
    return {};
  });
}

Status EvalInstanceNorm(EvalContext& ctx) {
  const auto& a = ctx.attrs<InstanceNormAttrs>();
  const Tensor& x = ctx.in(0);
  const int64_t channels = x.dims()[static_cast<size_t>(ChannelAxis(a.layout, x.rank()))];
  return EvalGroups(ctx, a.layout, std::max<int64_t>(1, channels), a.epsilon);
}

Status EvalGroupNorm(EvalContext& ctx) {
  const auto& a = ctx.attrs<GroupNormAttrs>();
  return EvalGroups(ctx, a.layout, a.groups, a.epsilon);
}

// group_norm -> instance_norm of [N, groups, rest], then scale and bias per channel unless both are
// per group.
Result<bool> DecomposeGroupNorm(Graph& graph, Node& node) {
  const auto& a = node.attrs<GroupNormAttrs>();
  if (node.input(0)->dtype() != DType::kF32 || !node.input(0)->type().ranked()) return false;
  const int rank = node.input(0)->type().rank();
  const bool channels_last = a.layout == Layout::kNxc && rank > 2;
  if (!node.input(0)->type().dim(channels_last ? rank - 1 : 1).is_const()) return false;
  Value* first = node.input(0);
  if (channels_last) {
    TransposeAttrs to_front{{0, rank - 1}};
    for (int axis = 1; axis < rank - 1; ++axis) to_front.perm.push_back(axis);
    NN_ASSIGN(Node* const moved, graph.Append("transpose", {first}, to_front, 1, &node));
    first = moved->output();
  }
  const Type x = first->type();
  const Dims& dims = *x.dims;
  Dim rest = Dim(x.dim(1).value() / a.groups);
  for (size_t i = 2; i < dims.size(); ++i) rest = rest * dims[i];
  if (!rest.is_valid()) return false;
  Value* scale = node.input(1);
  Value* bias = node.input(2);
  // An open size may be either that of the groups or that of the channels.
  const auto is_open = [&](const Value* v) { return !v->type().dim(0).is_const(); };
  if ((is_open(scale) || is_open(bias)) && !(x.dim(1) == a.groups)) return false;
  const auto per_group = [&](const Value* v) { return is_open(v) || v->type().dim(0) == a.groups; };
  const bool by_group = per_group(scale) && per_group(bias);
  const std::vector<float> ones(static_cast<size_t>(a.groups), 1.0f);
  const std::vector<float> zeros(static_cast<size_t>(a.groups), 0.0f);
  NN_ASSIGN(Node* const grouped,
            graph.Append("reshape", {first}, ReshapeAttrs{{dims[0], Dim(a.groups), rest}, false}, 1,
                         &node));
  NN_ASSIGN(Node* const normal,
            graph.Append("instance_norm",
                         {grouped->output(),
                          by_group ? scale : graph.AddConstant(Tensor::Of({a.groups}, ones)),
                          by_group ? bias : graph.AddConstant(Tensor::Of({a.groups}, zeros))},
                         InstanceNormAttrs{a.epsilon, Layout::kNcx}, 1, &node));
  Value* y = normal->output();
  const auto reshape = [&](Value* v, Dims to) -> Result<Value*> {
    NN_ASSIGN(Node* const n,
              graph.Append("reshape", {v}, ReshapeAttrs{std::move(to), false}, 1, &node));
    return n->output();
  };
  NN_ASSIGN(y, reshape(y, dims));
  if (!by_group) {
    Dims per_channel(dims.size() - 1, Dim(1));
    per_channel[0] = dims[1];
    const Dim channels_of_group(dims[1].value() / a.groups);
    for (const auto& [op, parameter] : {std::pair("mul", scale), std::pair("add", bias)}) {
      Value* p = parameter;
      if (per_group(p) && !(channels_of_group == 1)) {
        NN_ASSIGN(p, reshape(p, {Dim(a.groups), Dim(1)}));
        NN_ASSIGN(
            Node* const repeated,
            graph.Append("expand", {p}, ExpandAttrs{{Dim(a.groups), channels_of_group}}, 1, &node));
        p = repeated->output();
      }
      NN_ASSIGN(p, reshape(p, per_channel));
      NN_ASSIGN(Node* const n, graph.Append(op, {y, p}, {}, 1, &node));
      y = n->output();
    }
  }
  if (channels_last) {
    TransposeAttrs to_back{{0}};
    for (int axis = 2; axis < rank; ++axis) to_back.perm.push_back(axis);
    to_back.perm.push_back(1);
    NN_ASSIGN(Node* const moved, graph.Append("transpose", {y}, to_back, 1, &node));
    y = moved->output();
  }
  graph.Replace(&node, y);
  return true;
}

// ---- layer_norm, rms_norm

// The axes starting at `axis`.
Result<std::vector<int>> TrailingAxes(int64_t axis, int rank) {
  NN_ASSIGN(const int first, NormalizeAxis(axis, rank));
  std::vector<int> axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Status CheckBroadcasts(const InferContext& ctx, size_t i) {
  if (!ctx.has(i)) return {};
  NN_RETURN_IF_ERROR(RequireRank(ctx, i, 0));
  NN_RETURN_IF_ERROR(CheckReal(ctx, i));
  const Dims& to = *ctx.in(0).dims;
  const Dims& dims = *ctx.in(i).dims;
  const auto fits = [&](size_t k) {
    const Dim& a = dims[dims.size() - 1 - k];
    const Dim& b = to[to.size() - 1 - k];
    return !a.is_const() || !b.is_const() || a == b || a == 1;
  };
  bool ok = dims.size() <= to.size();
  for (size_t k = 0; ok && k < dims.size(); ++k) ok = fits(k);
  if (!ok)
    return ModelError("input {} {} does not broadcast to {}", i, ctx.in(i).ToString(),
                      ctx.in(0).ToString());
  return {};
}

Status InferLayerNorm(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  const Type& x = ctx.in(0);
  NN_ASSIGN(const auto axes, TrailingAxes(ctx.attrs<LayerNormAttrs>().axis, x.rank()));
  for (const size_t i : {1, 2}) NN_RETURN_IF_ERROR(CheckBroadcasts(ctx, i));
  ctx.set_out(0, Type(x.dtype, *x.dims));
  const DType statistics = x.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  for (size_t i = 1; i < ctx.output_count(); ++i)
    ctx.set_out(i, Type(statistics, ReducedDims(*x.dims, axes, true)));
  return {};
}

Status InferRmsNorm(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs<RmsNormAttrs>().axis, x.rank()));
  NN_RETURN_IF_ERROR(CheckBroadcasts(ctx, 1));
  ctx.set_out(0, Type(x.dtype, *x.dims));
  return {};
}

// A tensor expanded to the shape that it broadcasts to.
template <typename T>
std::vector<T> Spread(const Tensor& t, const std::vector<int64_t>& to) {
  const Reals<T> values(t);
  const auto strides = Strides(t.dims());
  std::vector<int64_t> steps(to.size(), 0);
  for (size_t i = 0; i < t.dims().size(); ++i)
    steps[to.size() - t.dims().size() + i] = t.dims()[i] == 1 ? 0 : strides[i];
  std::vector<T> out;
  ForEachOffset(to, steps, [&](int64_t, int64_t offset) { out.push_back(values[offset]); });
  return out;
}

Status EvalLayerNorm(EvalContext& ctx) {
  const auto& a = ctx.attrs<LayerNormAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const auto axes, TrailingAxes(a.axis, x.rank()));
  const Rows rows(x.dims(), axes);
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    std::vector<RealOutput<T>> statistics;
    for (size_t i = 1; i < ctx.output_count(); ++i) {
      NN_ASSIGN(auto s, RealOutput<T>::Create(ctx, i));
      statistics.push_back(std::move(s));
    }
    const Reals<T> values(x);
    const auto scale = ctx.has(1) ? Spread<T>(ctx.in(1), x.dims()) : std::vector<T>();
    const auto bias = ctx.has(2) ? Spread<T>(ctx.in(2), x.dims()) : std::vector<T>();
    rows.ForEach([&](int64_t row, int64_t start) {
      const auto at = [&](int64_t i) { return values[start + rows.offset(i)]; };
      const Moments<T> m = MomentsOf<T>(rows.length(), at, a.epsilon);
      if (!statistics.empty()) statistics[0][row] = m.mean;
      if (statistics.size() > 1) statistics[1][row] = m.inverse_deviation;
      for (int64_t i = 0; i < rows.length(); ++i) {
        const auto place = static_cast<size_t>(start + rows.offset(i));
        const T v = (at(i) - m.mean) * m.inverse_deviation;
        const T s = scale.empty() ? T(1) : scale[place];
        y[static_cast<int64_t>(place)] = bias.empty() ? v * s : Fma(v, s, bias[place]);
      }
    });
    y.Finish();
    for (RealOutput<T>& s : statistics) s.Finish();
    return {};
  });
}

Status EvalRmsNorm(EvalContext& ctx) {
  const auto& a = ctx.attrs<RmsNormAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const auto axes, TrailingAxes(a.axis, x.rank()));
  const Rows rows(x.dims(), axes);
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> values(x);
    const auto scale = ctx.has(1) ? Spread<T>(ctx.in(1), x.dims()) : std::vector<T>();
    rows.ForEach([&](int64_t, int64_t start) {
      const auto at = [&](int64_t i) { return values[start + rows.offset(i)]; };
      const T squares = LaneSum<T>(rows.length(), [&](int64_t i) { return at(i) * at(i); });
      const T mean = squares / static_cast<T>(rows.length());
      const T inverse = T(1) / std::sqrt(mean + static_cast<T>(a.epsilon));
      for (int64_t i = 0; i < rows.length(); ++i) {
        const int64_t place = start + rows.offset(i);
        y[place] = at(i) * inverse * (scale.empty() ? T(1) : scale[static_cast<size_t>(place)]);
      }
    });
    y.Finish();
    return {};
  });
}

// The axes of a row stay last and in order; the leading axes can be permuted freely if no parameter
// reaches beyond the row.
template <typename A>
std::optional<AxesChange> ChangeTrailingNorm(const Node& node, Operand changed,
                                             const AxisMap& map) {
  if (!changed.is_output && changed.index != 0) return std::nullopt;
  A a = node.attrs<A>();
  const int rank = node.input(0)->type().rank();
  const auto axes = TrailingAxes(a.axis, rank);
  if (!axes || map.source_rank() != rank) return std::nullopt;
  const int length = static_cast<int>(axes->size());
  const int first = map.result_rank() - length;
  if (first < 0) return std::nullopt;
  if (!std::equal(axes->begin(), axes->end(), map.from().begin() + first)) return std::nullopt;
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr && node.input(i)->type().rank() > length) return std::nullopt;
  a.axis = first;
  AxesChange change{a, {}};
  for (size_t i = 0; i <= node.outputs().size(); ++i) {
    const Operand other = i == 0 ? Operand{false, 0} : Operand{true, i - 1};
    if (!(other == changed)) change.others.emplace_back(other, map);
  }
  return change;
}

// rms_norm -> mul, reduce_mean, add, sqrt, div, mul.
Result<bool> DecomposeRmsNorm(Graph& graph, Node& node) {
  const auto& a = node.attrs<RmsNormAttrs>();
  Value* x = node.input(0);
  if (x->dtype() != DType::kF32) return false;
  NN_ASSIGN(const auto axes, TrailingAxes(a.axis, x->type().rank()));
  const auto add = [&](std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) {
    return graph.Append(op, std::move(inputs), std::move(attrs), 1, &node);
  };
  NN_ASSIGN(Node* const squares, add("mul", {x, x}));
  NN_ASSIGN(Node* const mean,
            add("reduce_mean", {squares->output()}, ReduceAttrs{{axes.begin(), axes.end()}, true}));
  NN_ASSIGN(Node* const sum,
            add("add", {mean->output(), graph.AddConstant(Tensor::Scalar(a.epsilon), "epsilon")}));
  NN_ASSIGN(Node* const root, add("sqrt", {sum->output()}));
  NN_ASSIGN(Node * y, add("div", {x, root->output()}));
  if (Value* scale = node.input(1)) {
    NN_ASSIGN(y, add("mul", {y->output(), scale}));
  }
  graph.Replace(&node, y->output());
  return true;
}

Domain BatchNormDomain(const Node&, size_t input, std::span<const Domain>) {
  Domain variance;
  variance.min = kDomainMargin;
  return input == 4 ? variance : Domain();
}

}  // namespace

ScaleShift BatchNormFactor(float scale, float bias, float mean, float variance, float epsilon) {
  const auto [s, t] = Factors(scale, bias, mean, variance, epsilon);
  return {s, t};
}

std::optional<std::vector<ScaleShift>> BatchNormFactors(const Node& batch_norm) {
  for (size_t i = 1; i <= 4; ++i)
    if (!batch_norm.input(i)->is_constant()) return std::nullopt;
  const auto at = [&](size_t i, int64_t c) {
    return static_cast<float>(batch_norm.input(i)->constant().GetDouble(c));
  };
  const float epsilon = batch_norm.attrs<BatchNormAttrs>().epsilon;
  std::vector<ScaleShift> factors(static_cast<size_t>(batch_norm.input(1)->constant().elements()));
  int64_t c = 0;
  for (ScaleShift& f : factors) {
    f = BatchNormFactor(at(1, c), at(2, c), at(3, c), at(4, c), epsilon);
    ++c;
  }
  return factors;
}

void RegisterNormOps(OpRegistry& ops) {
  OpDef batch;
  batch.name = "batch_norm";
  batch.summary = "normalization by a given mean and variance per channel";
  batch.category = Category::kNormalization;
  batch.takes_unit_axes = true;
  batch.attrs = AttrsInfoOf<BatchNormAttrs>();
  batch.inputs = {{"x"}, {"scale"}, {"bias"}, {"mean"}, {"variance"}};
  batch.infer = InferBatchNorm;
  batch.eval = EvalBatchNorm;
  batch.change_axes = ChangeLayout<BatchNormAttrs>;
  ops.Add(std::move(batch));

  OpDef instance;
  instance.name = "instance_norm";
  instance.summary = "normalization of each channel by its own mean and variance";
  instance.category = Category::kNormalization;
  instance.takes_unit_axes = true;
  instance.attrs = AttrsInfoOf<InstanceNormAttrs>();
  instance.inputs = {{"x"}, {"scale"}, {"bias"}};
  instance.infer = InferInstanceNorm;
  instance.eval = EvalInstanceNorm;
  instance.change_axes = ChangeLayout<InstanceNormAttrs>;
  ops.Add(std::move(instance));

  OpDef group;
  group.name = "group_norm";
  group.summary = "normalization of groups of channels by their own mean and variance";
  group.category = Category::kNormalization;
  group.takes_unit_axes = true;
  group.attrs = AttrsInfoOf<GroupNormAttrs>();
  group.inputs = {{"x"}, {"scale"}, {"bias"}};
  group.infer = InferGroupNorm;
  group.eval = EvalGroupNorm;
  group.change_axes = ChangeLayout<GroupNormAttrs>;
  group.decompose = DecomposeGroupNorm;
  ops.Add(std::move(group));

  OpDef layer;
  layer.name = "layer_norm";
  layer.summary = "normalization of the last axes by their own mean and variance";
  layer.category = Category::kNormalization;
  layer.attrs = AttrsInfoOf<LayerNormAttrs>();
  layer.inputs = {{"x"}, {"scale", Arity::kOptional}, {"bias", Arity::kOptional}};
  layer.outputs = {{"y"}, {"mean"}, {"inv_std_dev"}};
  layer.infer = InferLayerNorm;
  layer.eval = EvalLayerNorm;
  layer.change_axes = ChangeTrailingNorm<LayerNormAttrs>;
  ops.Add(std::move(layer));

  OpDef rms;
  rms.name = "rms_norm";
  rms.summary = "division by the root mean square over the last axes";
  rms.category = Category::kNormalization;
  rms.attrs = AttrsInfoOf<RmsNormAttrs>();
  rms.inputs = {{"x"}, {"scale", Arity::kOptional}};
  rms.infer = InferRmsNorm;
  rms.eval = EvalRmsNorm;
  rms.change_axes = ChangeTrailingNorm<RmsNormAttrs>;
  rms.decompose = DecomposeRmsNorm;
  ops.Add(std::move(rms));
}

void AddNormDomains(DomainTable& domains) {
  domains["batch_norm"] = BatchNormDomain;
}

}  // namespace nn

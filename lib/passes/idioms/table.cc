#include "passes/idioms/table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"
#include "passes/idioms/idioms.h"

namespace nn {
namespace {

Value* ValueOf(const Pattern::Match& m, std::string_view name) {
  const auto it = m.values.find(name);
  return it == m.values.end() ? nullptr : it->second;
}

// x / max(norm, epsilon), the maximum as a clip
std::optional<Fused> L2NormalizationOfClip(const Pattern::Match& m) {
  const auto& clip = ValueOf(m, "floor")->def()->attrs<ClipAttrs>();
  const Node& norm = *ValueOf(m, "norm")->def();
  const auto& a = norm.attrs<ReduceAttrs>();
  if (!a.keep_dims || norm.input(1) != nullptr || !(clip.min > 0) || std::isfinite(clip.max))
    return std::nullopt;
  return Fused{{ValueOf(m, "x")}, L2NormalizationAttrs{a.axes, clip.min, EpsilonRule::kFloor}};
}

// ---- Normalization ------------------------------------------------------------------------------

float Epsilon(const Pattern::Match& m) {
  return static_cast<float>(m.numbers.at("epsilon"));
}

// The axes over which a node reduces, ascending; nullopt if it does not keep them.
std::optional<std::vector<int64_t>> ReducedAxes(const Node& reduction) {
  const auto& a = reduction.attrs<ReduceAttrs>();
  const Type& x = reduction.input(0)->type();
  if (!a.keep_dims || reduction.input(1) != nullptr || !x.ranked()) return std::nullopt;
  const auto axes = NormalizeAxes(a.axes, x.rank());
  if (!axes || axes->empty()) return std::nullopt;
  std::vector<int64_t> sorted(axes->begin(), axes->end());
  std::ranges::sort(sorted);
  return sorted;
}

// The axes of all of the named reductions.
std::optional<std::vector<int64_t>> CommonAxes(const Pattern::Match& m,
                                               std::initializer_list<std::string_view> reductions) {
  std::optional<std::vector<int64_t>> common;
  for (const std::string_view name : reductions) {
    auto axes = ReducedAxes(*ValueOf(m, name)->def());
    if (!axes || (common && *axes != *common)) return std::nullopt;
    common = std::move(axes);
  }
  return common;
}

// The axes first, first + 1, ..., last.
std::vector<int64_t> AxesBetween(int first, int last) {
  std::vector<int64_t> out(static_cast<size_t>(std::max(0, last - first + 1)));
  std::iota(out.begin(), out.end(), first);
  return out;
}

// The first of the named reductions' axes, if all others of x follow it.
std::optional<int64_t> CommonAxis(const Pattern::Match& m,
                                  std::initializer_list<std::string_view> reductions) {
  const auto axes = CommonAxes(m, reductions);
  const int rank = ValueOf(m, "x")->type().rank();
  if (!axes || *axes != AxesBetween(static_cast<int>(axes->front()), rank - 1)) return std::nullopt;
  return axes->front();
}

std::optional<Fused> LayerNorm(const Pattern::Match& m) {
  const auto axis = CommonAxis(m, {"mean", "variance"});
  if (!axis) return std::nullopt;
  return Fused{{ValueOf(m, "x"), ValueOf(m, "scale"), ValueOf(m, "bias")},
               LayerNormAttrs{*axis, Epsilon(m)}};
}

std::optional<Fused> RmsNorm(const Pattern::Match& m) {
  const auto axis = CommonAxis(m, {"mean"});
  if (!axis) return std::nullopt;
  return Fused{{ValueOf(m, "x"), ValueOf(m, "scale")}, RmsNormAttrs{*axis, Epsilon(m)}};
}

template <EpsilonRule rule>
std::optional<Fused> L2Normalization(const Pattern::Match& m) {
  const Node& norm = *ValueOf(m, "norm")->def();
  const auto& a = norm.attrs<ReduceAttrs>();
  if (!a.keep_dims || norm.input(1) != nullptr) return std::nullopt;
  return Fused{{ValueOf(m, "x")}, L2NormalizationAttrs{a.axes, Epsilon(m), rule}};
}

// ---- Normalization of channels

// Multiplies or adds a constant to the channels. False if it does not have one element each: its
// sizes, right-aligned with those of x, are 1 except for those of the axes `from` to `to`, which
// are `sizes`.
template <typename Operation>
bool ApplyToChannels(std::vector<float>& channels, const Value* parameter, int rank, int from,
                     const std::vector<int64_t>& sizes, Operation operation) {
  if (parameter == nullptr) return true;
  const Tensor& t = parameter->constant();
  const int missing = rank - t.rank();
  if (t.elements() != std::ssize(channels) || missing < 0 || missing > from) return false;
  for (int k = 0; k < t.rank(); ++k) {
    const int part = k + missing - from;
    const bool inside = part >= 0 && part < static_cast<int>(sizes.size());
    if (t.dim(k) != (inside ? sizes[static_cast<size_t>(part)] : 1)) return false;
  }
  for (size_t c = 0; c < channels.size(); ++c)
    channels[c] = operation(channels[c], static_cast<float>(t.GetDouble(static_cast<int64_t>(c))));
  return true;
}

// Applies the scale and bias of a pattern to those of the channels.
bool ApplyParameters(const Pattern::Match& m, int rank, int from, const std::vector<int64_t>& sizes,
                     std::vector<float>& scale, std::vector<float>& bias) {
  // A bias of 0 stays 0, whatever the scale is.
  const auto scaled = [](float b, float s) { return b == 0 ? b : b * s; };
  return ApplyToChannels(scale, ValueOf(m, "scale"), rank, from, sizes, std::multiplies<>()) &&
         ApplyToChannels(bias, ValueOf(m, "scale"), rank, from, sizes, scaled) &&
         ApplyToChannels(bias, ValueOf(m, "bias"), rank, from, sizes, std::plus<>());
}

std::vector<float> FloatsOf(const Pattern::Match& m, std::string_view name) {
  const std::vector<double> values = ValueOf(m, name)->constant().ToDoubles();
  std::vector<float> out(values.size());
  std::ranges::transform(values, out.begin(), [](double v) { return static_cast<float>(v); });
  return out;
}

Tensor Vector(const std::vector<float>& values) {
  return Tensor::Of({std::ssize(values)}, values);
}

// The number of channels; nullopt if it is not known.
std::optional<int64_t> ChannelsOf(const Type& x, Layout layout) {
  if (x.rank() < 2) return std::nullopt;
  const Dim& d = x.dim(ChannelAxis(layout, x.rank()));
  return d.is_const() ? std::optional(d.value()) : std::nullopt;
}

// A normalization of the channels by their mean and variance over the spatial axes. Without
// parameters, that over the last axes is a layer_norm.
std::optional<Fused> InstanceNorm(const Pattern::Match& m) {
  Value* const x = ValueOf(m, "x");
  const int rank = x->type().rank();
  const auto axes = CommonAxes(m, {"mean", "variance"});
  if (!axes || rank < 3) return std::nullopt;
  const bool first = *axes == AxesBetween(2, rank - 1) && ValueOf(m, "scale") != nullptr;
  if (!first && *axes != AxesBetween(1, rank - 2)) return std::nullopt;
  const Layout layout = first ? Layout::kNcx : Layout::kNxc;
  const auto channels = ChannelsOf(x->type(), layout);
  if (!channels) return std::nullopt;
  std::vector<float> scale(static_cast<size_t>(*channels), 1.0f);
  std::vector<float> bias(static_cast<size_t>(*channels), 0.0f);
  if (!ApplyParameters(m, rank, ChannelAxis(layout, rank), {*channels}, scale, bias))
    return std::nullopt;
  return Fused{{x, Vector(scale), Vector(bias)}, InstanceNormAttrs{Epsilon(m), layout}};
}

// Parameters after an instance_norm that has its own.
std::optional<Fused> InstanceNormOfParameters(const Pattern::Match& m) {
  Value* const x = ValueOf(m, "x");
  const auto& a = ValueOf(m, "norm")->def()->attrs<InstanceNormAttrs>();
  const int rank = x->type().rank();
  std::vector<float> scale = FloatsOf(m, "s");
  std::vector<float> bias = FloatsOf(m, "b");
  if (!ApplyParameters(m, rank, ChannelAxis(a.layout, rank), {std::ssize(scale)}, scale, bias))
    return std::nullopt;
  return Fused{{x, Vector(scale), Vector(bias)}, a};
}

// The value in one axis.
Derived Flattened(Value* v) {
  return {v, {{"reshape", ReshapeAttrs{{Product(*v->type().dims)}, false}}}};
}

// A normalization of the channels by their mean and variance over the batch, as in training:
// batch_norm with computed statistics.
std::optional<Fused> BatchNorm(const Pattern::Match& m) {
  Value* const x = ValueOf(m, "x");
  const int rank = x->type().rank();
  const auto axes = CommonAxes(m, {"mean", "variance"});
  if (!axes || rank < 2) return std::nullopt;
  for (const Layout layout : {Layout::kNcx, Layout::kNxc}) {
    const int axis = ChannelAxis(layout, rank);
    std::vector<int64_t> others = AxesBetween(0, rank - 1);
    others.erase(others.begin() + axis);
    const auto channels = ChannelsOf(x->type(), layout);
    if (*axes != others || !channels) continue;
    std::vector<float> scale(static_cast<size_t>(*channels), 1.0f);
    std::vector<float> bias(static_cast<size_t>(*channels), 0.0f);
    if (!ApplyParameters(m, rank, axis, {*channels}, scale, bias)) return std::nullopt;
    return Fused{{x, Vector(scale), Vector(bias), Flattened(ValueOf(m, "mean")),
                  Flattened(ValueOf(m, "variance"))},
                 BatchNormAttrs{Epsilon(m), layout}};
  }
  return std::nullopt;
}

// group_norm; instance_norm if the groups are single channels.
Fused NormOfGroups(Value* x, const ChannelGroups& groups, float epsilon,
                   const std::vector<float>& scale, const std::vector<float>& bias) {
  Fused out{{x, Vector(scale), Vector(bias)}, GroupNormAttrs{groups.count, epsilon, groups.layout}};
  if (groups.count == std::ssize(scale) && x->type().rank() > 2) {
    out.attrs = InstanceNormAttrs{epsilon, groups.layout};
    out.op = "instance_norm";
  }
  return out;
}

// An instance_norm between reshapes, then parameters for each channel.
std::optional<Fused> GroupNormOfInstances(const Pattern::Match& m) {
  Value* const x = ValueOf(m, "x");
  const Node& norm = *ValueOf(m, "norm")->def();
  const auto groups = GroupsOf(norm, x->type(), ValueOf(m, "whole")->type());
  const auto channels = groups ? ChannelsOf(x->type(), groups->layout) : std::nullopt;
  if (!channels) return std::nullopt;
  const std::vector<float> group_scale = FloatsOf(m, "s");
  const std::vector<float> group_bias = FloatsOf(m, "b");
  std::vector<float> scale, bias;
  for (int64_t c = 0; c < *channels; ++c) {
    const auto group = static_cast<size_t>(c / (*channels / groups->count));
    scale.push_back(group_scale[group]);
    bias.push_back(group_bias[group]);
  }
  const int rank = x->type().rank();
  if (!ApplyParameters(m, rank, ChannelAxis(groups->layout, rank), {*channels}, scale, bias))
    return std::nullopt;
  return NormOfGroups(x, *groups, norm.attrs<InstanceNormAttrs>().epsilon, scale, bias);
}

// Mean and variance between reshapes. Parameters are after the second one, one for each channel,
// or before it, one for each channel of each group in its own axes.
template <bool inside>
std::optional<Fused> GroupNorm(const Pattern::Match& m) {
  Value* const x = ValueOf(m, "x");
  const Type& grouped = ValueOf(m, "grouped")->type();
  const auto axes = CommonAxes(m, {"mean", "variance"});
  const auto groups =
      axes ? GroupsOf(x->type(), grouped, *axes, ValueOf(m, "whole")->type()) : std::nullopt;
  const auto channels = groups ? ChannelsOf(x->type(), groups->layout) : std::nullopt;
  if (!channels) return std::nullopt;
  std::vector<float> scale(static_cast<size_t>(*channels), 1.0f);
  std::vector<float> bias(static_cast<size_t>(*channels), 0.0f);
  const std::vector<int64_t> parts =
      inside ? std::vector{groups->count, *channels / groups->count} : std::vector{*channels};
  const int rank = inside ? grouped.rank() : x->type().rank();
  const int from = groups->layout == Layout::kNcx ? 1 : rank - static_cast<int>(parts.size());
  if (!ApplyParameters(m, rank, from, parts, scale, bias)) return std::nullopt;
  return NormOfGroups(x, *groups, Epsilon(m), scale, bias);
}

// ---- Moves --------------------------------------------------------------------------------------

std::optional<Fused> DepthOfTranspose(const Pattern::Match& m) {
  const Type& x = ValueOf(m, "x")->type();
  const Type& split = ValueOf(m, "split")->type();
  const Type& y = ValueOf(m, "y")->type();
  if (!x.ranked() || !split.ranked() || !y.ranked()) return std::nullopt;
  const Node& transpose = *ValueOf(m, "moved")->def();
  const auto move =
      DepthMoveOf(*x.dims, *split.dims, transpose.attrs<TransposeAttrs>().perm, *y.dims);
  if (!move) return std::nullopt;
  return Fused{{ValueOf(m, "x")}, move->attrs, move->op};
}

// ---- The table ----------------------------------------------------------------------------------

// The forms are those of
// - PyTorch's ONNX exporters: layer_norm, functional.normalize, group_norm before operator set 21,
//   pixel_shuffle, pixel_unshuffle;
// - LLaMA's RMSNorm;
// - TensorFlow: tf.nn.batch_normalization with tf.nn.moments, from which Keras builds its layers
//   that normalize; tf2onnx.
// Those of elementwise functions are rules (rewrite/rules/rules.h).
constexpr Idiom kIdioms[] = {
    {"group_norm", "reduce_mean",
     "add(product(whole:reshape(product(d:sub(grouped:reshape(x), mean:reduce_mean(grouped)), "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon))))), #scale), #bias)",
     GroupNorm<false>},
    {"group_norm", "reduce_mean",
     "whole:reshape(product(d:sub(grouped:reshape(x), mean:reduce_mean(grouped)), "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon)))))",
     GroupNorm<false>},
    {"group_norm", "sub",
     "whole:reshape(add(product(grouped:reshape(x), #scale, inverse(sqrt(sum:add("
     "variance:reduce_mean(square(sub(grouped, mean:reduce_mean(grouped)))), $epsilon)))), "
     "sub(#bias, product(mean, #scale, inverse(sqrt(sum))))))",
     GroupNorm<true>},
    {"group_norm", "instance_norm",
     "add(product(whole:reshape(norm:instance_norm(reshape(x), #s, #b)), #scale), #bias)",
     GroupNormOfInstances},
    {"group_norm", "instance_norm", "whole:reshape(norm:instance_norm(reshape(x), #s, #b))",
     GroupNormOfInstances},
    {"instance_norm", "instance_norm", "add(product(norm:instance_norm(x, #s, #b), #scale), #bias)",
     InstanceNormOfParameters},
    {"instance_norm", "reduce_mean",
     "add(product(d:sub(x, mean:reduce_mean(x)), #scale, "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon)))), #bias)",
     InstanceNorm},
    {"instance_norm", "reduce_mean",
     "product(d:sub(x, mean:reduce_mean(x)), "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon))))",
     InstanceNorm},
    {"instance_norm", "sub",
     "add(product(x, #scale, inverse(sqrt(sum:add(variance:reduce_mean(square(sub(x, "
     "mean:reduce_mean(x)))), $epsilon)))), "
     "sub(#bias, product(mean, #scale, inverse(sqrt(sum)))))",
     InstanceNorm},

    {"batch_norm", "reduce_mean",
     "add(product(d:sub(x, mean:reduce_mean(x)), #scale, "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon)))), #bias)",
     BatchNorm},
    {"batch_norm", "sub",
     "add(product(x, #scale, inverse(sqrt(sum:add(variance:reduce_mean(square(sub(x, "
     "mean:reduce_mean(x)))), $epsilon)))), "
     "sub(#bias, product(mean, #scale, inverse(sqrt(sum)))))",
     BatchNorm},

    {"layer_norm", "reduce_mean",
     "add(product(d:sub(x, mean:reduce_mean(x)), #scale, "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon)))), #bias)",
     LayerNorm},
    {"layer_norm", "reduce_mean",
     "product(d:sub(x, mean:reduce_mean(x)), #scale, "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon))))",
     LayerNorm},
    {"layer_norm", "reduce_mean",
     "product(d:sub(x, mean:reduce_mean(x)), "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon))))",
     LayerNorm},
    {"layer_norm", "sub",
     "add(product(x, #scale, inverse(sqrt(sum:add(variance:reduce_mean(square(sub(x, "
     "mean:reduce_mean(x)))), $epsilon)))), "
     "sub(#bias, product(mean, #scale, inverse(sqrt(sum)))))",
     LayerNorm},
    {"rms_norm", "reduce_mean",
     "product(x, #scale, inverse(sqrt(add(mean:reduce_mean(square(x)), $epsilon))))", RmsNorm},
    {"rms_norm", "reduce_mean",
     "product(x, inverse(sqrt(add(mean:reduce_mean(square(x)), $epsilon))))", RmsNorm},
    {"l2_normalization", "reduce_l2", "product(x, inverse(maximum(norm:reduce_l2(x), $epsilon)))",
     L2Normalization<EpsilonRule::kFloor>},
    {"l2_normalization", "reduce_l2", "product(x, inverse(floor:clip(norm:reduce_l2(x))))",
     L2NormalizationOfClip},
    {"l2_normalization", "reduce_l2", "product(x, inverse(add(norm:reduce_l2(x), $epsilon)))",
     L2Normalization<EpsilonRule::kOutside>},
    {"l2_normalization", "reduce_sum_square",
     "product(x, inverse(sqrt(add(norm:reduce_sum_square(x), $epsilon))))",
     L2Normalization<EpsilonRule::kInside>},
    {"l2_normalization", "reduce_sum",
     "product(x, inverse(sqrt(add(norm:reduce_sum(square(x)), $epsilon))))",
     L2Normalization<EpsilonRule::kInside>},

    // Or space_to_depth.
    {"depth_to_space", "transpose", "y:reshape(moved:transpose(split:reshape(x)))",
     DepthOfTranspose, true},
};

}  // namespace

std::span<const Idiom> Idioms() {
  return kIdioms;
}

// ---- Groups of channels -------------------------------------------------------------------------

std::optional<ChannelGroups> GroupsOf(const Type& x, const Type& grouped,
                                      const std::vector<int64_t>& axes, const Type& y) {
  if (!x.ranked() || !grouped.ranked() || x.rank() < 2 || grouped.rank() < 2 || x.dims != y.dims ||
      !(x.dim(0) == grouped.dim(0)))
    return std::nullopt;
  const int rank = grouped.rank();
  if (axes == AxesBetween(2, rank - 1)) {
    const Dim& count = grouped.dim(1);
    const Dim& channels = x.dim(1);
    if (!count.is_const() || !channels.is_const() || count.value() < 1 ||
        channels.value() % count.value() != 0)
      return std::nullopt;
    return ChannelGroups{count.value(), Layout::kNcx};
  }
  // The channels of a group are the last axis, before which the groups are.
  std::vector<int64_t> others = AxesBetween(1, rank - 3);
  others.push_back(rank - 1);
  if (rank != x.rank() + 1 || axes != others) return std::nullopt;
  for (int k = 1; k < x.rank() - 1; ++k)
    if (!(x.dim(k) == grouped.dim(k))) return std::nullopt;
  const Dim& count = grouped.dim(rank - 2);
  if (!count.is_const() || count.value() < 1 || !x.dim(x.rank() - 1).is_const())
    return std::nullopt;
  return ChannelGroups{count.value(), Layout::kNxc};
}

std::optional<ChannelGroups> GroupsOf(const Node& instance_norm, const Type& x, const Type& y) {
  const Type& grouped = instance_norm.input(0)->type();
  if (instance_norm.attrs<InstanceNormAttrs>().layout != Layout::kNcx || !grouped.ranked())
    return std::nullopt;
  return GroupsOf(x, grouped, AxesBetween(2, grouped.rank() - 1), y);
}

}  // namespace nn

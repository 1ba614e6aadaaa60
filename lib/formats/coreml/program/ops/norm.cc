// Normalization.
#include "ops/nn/norm.h"

#include <algorithm>

#include <span>
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/values.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// A factor or summand of each channel; a number for all that `like` has if it is absent.
Result<Term> OfEachChannel(ImportContext& ctx, std::string_view name, const Value* like,
                           float number) {
  NN_ASSIGN(Value* const given, ctx.Optional(name));
  if (given != nullptr) return Term(given);
  const auto dims = like->type().const_dims();
  if (!dims || dims->size() != 1)
    return UnsupportedError("input {} is absent, and the number of channels is unknown", name);
  NN_ASSIGN(Tensor numbers, UniformTensor(DType::kF32, *dims, static_cast<double>(number)));
  return Term(std::move(numbers));
}

Status ImportBatchNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(Value* const mean, ctx.In("mean"));
  NN_ASSIGN(Value* const variance, ctx.In("variance"));
  NN_ASSIGN(const Term gamma, OfEachChannel(ctx, "gamma", mean, 1));
  NN_ASSIGN(const Term beta, OfEachChannel(ctx, "beta", mean, 0));
  NN_ASSIGN(const float epsilon, ctx.Float("epsilon"));
  return ctx.EmitCast(
      Apply("batch_norm", {x, gamma, beta, mean, variance}, BatchNormAttrs{epsilon}));
}

Status ImportInstanceNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const float epsilon, ctx.Float("epsilon"));
  NN_ASSIGN(Value* const given, ctx.Optional(ctx.Has("gamma") ? "gamma" : "beta"));
  if (given == nullptr) {
    MeanVarianceNormalizationAttrs a;
    for (int64_t axis = 2; axis < x->type().rank(); ++axis) a.axes.push_back(axis);
    a.epsilon = epsilon;
    return ctx.EmitCast(Apply("mean_variance_normalization", {x}, std::move(a)));
  }
  NN_ASSIGN(const Term gamma, OfEachChannel(ctx, "gamma", given, 1));
  NN_ASSIGN(const Term beta, OfEachChannel(ctx, "beta", given, 0));
  return ctx.EmitCast(Apply("instance_norm", {x, gamma, beta}, InstanceNormAttrs{epsilon}));
}

// The operator normalizes the last axes, so others are moved there and back.
Status ImportLayerNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  const int rank = x->type().rank();
  NN_ASSIGN(std::vector<int64_t> axes, ctx.Axes("axes", rank));
  NN_ASSIGN(Value* const gamma, ctx.Optional("gamma"));
  NN_ASSIGN(Value* const beta, ctx.Optional("beta"));
  NN_ASSIGN(const float epsilon, ctx.Float("epsilon"));
  if (axes.empty()) return UnsupportedError("a normalization of no axes is unsupported");
  std::vector<int64_t> order;
  std::ranges::sort(axes);
  axes.erase(std::ranges::unique(axes).begin(), axes.end());
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!std::ranges::binary_search(axes, axis)) order.push_back(axis);
  order.insert(order.end(), axes.begin(), axes.end());
  const LayerNormAttrs a{-static_cast<int64_t>(axes.size()), epsilon};
  if (std::ranges::is_sorted(order)) return ctx.EmitCast(Apply("layer_norm", {x, gamma, beta}, a));
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return ctx.EmitCast(
      Transpose(Apply("layer_norm", {Transpose(x, order), gamma, beta}, a), std::move(back)));
}

Status ImportL2Norm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const float epsilon, ctx.Float("epsilon"));
  return ctx.EmitCast(Apply("l2_normalization", {x},
                            L2NormalizationAttrs{{-3, -2, -1}, epsilon, EpsilonRule::kInside}));
}

// The channels are the third axis from the end, also of three axes.
Status ImportLocalResponseNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  LrnAttrs a;
  NN_ASSIGN(a.size, ctx.Int("size"));
  NN_ASSIGN(a.alpha, ctx.Float("alpha"));
  NN_ASSIGN(a.beta, ctx.Float("beta"));
  NN_ASSIGN(a.bias, ctx.Float("k"));
  if (x->type().rank() != 3) return ctx.EmitCast(Apply("lrn", {x}, a));
  return ctx.EmitCast(Squeeze(Apply("lrn", {ExpandDims(x, {0})}, a), {0}));
}

// ---- Export -------------------------------------------------------------------------------------

// Axes from 0 to `rank` - 1, in order.
std::vector<int64_t> SortedAxes(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::ranges::sort(axes);
  return axes;
}

std::vector<int64_t> LastAxes(int rank, int64_t count) {
  std::vector<int64_t> axes;
  for (int64_t axis = rank - count; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Status WriteBatchNorm(ExportContext& ctx, const Node& node) {
  return ctx.Add("batch_norm")
      .In("x", node.input(0))
      .In("mean", node.input(3))
      .In("variance", node.input(4))
      .In("gamma", node.input(1))
      .In("beta", node.input(2))
      .Number("epsilon", node.attrs<BatchNormAttrs>().epsilon)
      .To(node);
}

template <typename A>
std::optional<std::string> WhyNotChannelsFirst(const Node& node) {
  if (node.attrs<A>().layout != Layout::kNcx)
    return "ML Programs have channels before the spatial axes";
  return std::nullopt;
}

Status WriteInstanceNorm(ExportContext& ctx, const Node& node) {
  return ctx.Add("instance_norm")
      .In("x", node.input(0))
      .In("gamma", node.input(1))
      .In("beta", node.input(2))
      .Number("epsilon", node.attrs<InstanceNormAttrs>().epsilon)
      .To(node);
}

// Of the spatial axes, without gamma and beta.
Status WriteNormalization(ExportContext& ctx, const Node& node) {
  return ctx.Add("instance_norm")
      .In("x", node.input(0))
      .Number("epsilon", node.attrs<MeanVarianceNormalizationAttrs>().epsilon)
      .To(node);
}

std::optional<std::string> WhyNotNormalization(const Node& node) {
  const auto& a = node.attrs<MeanVarianceNormalizationAttrs>();
  const int rank = node.input(0)->type().rank();
  if (SortedAxes(a.axes, rank) != LastAxes(rank, rank - 2))
    return "ML Programs normalize the axes after the channels";
  if (!a.normalize_variance) return "ML Programs have no normalization of the mean alone";
  if (a.epsilon_rule != EpsilonRule::kInside) return "ML Programs add epsilon to the variance";
  return std::nullopt;
}

// The sizes of the axes that are normalized.
bool HasNormalizedShape(const Node& node, size_t input) {
  const Value* const v = node.input(input);
  if (v == nullptr) return true;
  const Dims& x = *node.input(0)->type().dims;
  const int64_t axis = node.attrs<LayerNormAttrs>().axis;
  const auto first = x.begin() + (axis < 0 ? axis + std::ssize(x) : axis);
  return v->is_constant() && std::ranges::equal(*v->type().dims, std::span(first, x.end()));
}

Status WriteLayerNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LayerNormAttrs>();
  const int rank = node.input(0)->type().rank();
  return ctx.Add("layer_norm")
      .In("x", node.input(0))
      .Ints("axes", LastAxes(rank, a.axis < 0 ? -a.axis : rank - a.axis))
      .In("gamma", node.input(1))
      .In("beta", node.input(2))
      .Number("epsilon", a.epsilon)
      .To(node, 1);
}

std::optional<std::string> WhyNotLayerNorm(const Node& node) {
  if (node.outputs().size() > 1) return "ML Programs have layer_norm with one result";
  if (!HasNormalizedShape(node, 1) || !HasNormalizedShape(node, 2))
    return "scale and bias must be constants with the shape of the normalized axes";
  return std::nullopt;
}

Status WriteL2Norm(ExportContext& ctx, const Node& node) {
  return ctx.Add("l2_norm")
      .In("x", node.input(0))
      .Number("epsilon", node.attrs<L2NormalizationAttrs>().epsilon)
      .To(node);
}

std::optional<std::string> WhyNotL2Norm(const Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  const int rank = node.input(0)->type().rank();
  if (SortedAxes(a.axes, rank) != LastAxes(rank, 3))
    return "ML Programs normalize the last three axes";
  if (a.epsilon_rule != EpsilonRule::kInside)
    return "ML Programs add epsilon to the sum of squares";
  return std::nullopt;
}

Status WriteLocalResponseNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  return ctx.Add("local_response_norm")
      .In("x", node.input(0))
      .Int("size", a.size)
      .Number("alpha", a.alpha)
      .Number("beta", a.beta)
      .Number("k", a.bias)
      .To(node);
}

std::optional<std::string> WhyNotLocalResponseNorm(const Node& node) {
  if (node.input(0)->type().rank() != 4) return "ML Programs have lrn of four axes";
  return WhyNotChannelsFirst<LrnAttrs>(node);
}

}  // namespace

Family NormFamily() {
  static constexpr ImportRow kImports[] = {
      {"batch_norm", ImportBatchNorm},
      {"instance_norm", ImportInstanceNorm},
      {"l2_norm", ImportL2Norm},
      {"layer_norm", ImportLayerNorm},
      {"local_response_norm", ImportLocalResponseNorm},
  };
  static constexpr ExportRow kExports[] = {
      {"batch_norm", WriteBatchNorm, WhyNotChannelsFirst<BatchNormAttrs>},
      {"instance_norm", WriteInstanceNorm, WhyNotChannelsFirst<InstanceNormAttrs>},
      {"l2_normalization", WriteL2Norm, WhyNotL2Norm},
      {"layer_norm", WriteLayerNorm, WhyNotLayerNorm},
      {"lrn", WriteLocalResponseNorm, WhyNotLocalResponseNorm},
      {"mean_variance_normalization", WriteNormalization, WhyNotNormalization},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

#include <algorithm>
#include <limits>
#include <utility>

#include "formats/tflite/family.h"
#include "ops/nn/pool.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

template <typename A>
Status ImportPool(ImportContext& ctx, std::string_view op, A a) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::Pool2DOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  if (x->type().rank() != 4)
    return ModelError("the input must have rank 4; it is {}", x->type().ToString());
  a.layout = Layout::kNxc;
  a.kernel = {o->filter_height(), o->filter_width()};
  a.strides = {o->stride_h(), o->stride_w()};
  if (o->padding() != fb::Padding::SAME && o->padding() != fb::Padding::VALID)
    return ModelError("unknown padding {}", static_cast<int>(o->padding()));
  a.padding = o->padding() == fb::Padding::SAME ? Padding::kSameUpper : Padding::kValid;
  return ctx.EmitActivated(o->fused_activation_function(), op, {x}, std::move(a));
}

Status ImportMaxPool(ImportContext& ctx) {
  return ImportPool(ctx, "max_pool", MaxPoolAttrs());
}

Status ImportAveragePool(ImportContext& ctx) {
  return ImportPool(ctx, "average_pool", AveragePoolAttrs());
}

Status ImportL2Pool(ImportContext& ctx) {
  LpPoolAttrs a;
  a.average = true;
  return ImportPool(ctx, "lp_pool", a);
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

template <fb::BuiltinOperator op, typename A>
Status WritePool(ExportContext& ctx, const Node& node) {
  const PoolAttrs& a = node.attrs<A>();
  const auto stride = [&](size_t i) {
    return a.strides.empty() ? 1 : static_cast<int32_t>(a.strides[i]);
  };
  ctx.AddOperator(
      op, {ctx.ResultsOf(node), ctx.InputsOf(node)},
      fb::CreatePool2DOptions(
          ctx.builder(), a.padding == Padding::kSameUpper ? fb::Padding::SAME : fb::Padding::VALID,
          stride(1), stride(0), static_cast<int32_t>(a.kernel[1]),
          static_cast<int32_t>(a.kernel[0]), ctx.ActivationOf(node)));
  return {};
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (node.outputs().size() > 1) return "MAX_POOL_2D has no output for the indices";
  if (a.kernel.size() != 2)
    return fmt::format("{} spatial axes are unsupported; TensorFlow Lite pools over 2",
                       a.kernel.size());
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (const int64_t size = *std::ranges::max_element(a.kernel); size > kMax)
    return fmt::format("its window is {}, but TensorFlow Lite limits dimensions to {}", size, kMax);
  if (std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; }))
    return "TensorFlow Lite has no dilated pooling; the windows must have constant sizes";
  if (a.padding != Padding::kSameUpper && a.padding != Padding::kValid)
    return "the padding must be SAME or VALID, or the sizes constant";
  if (a.ceil_mode) return "ceil_mode must be 0, or the sizes constant";
  // Last, because illegal nodes may get back the layout of their neighbors.
  if (a.layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  if (auto reason = WhyNotFirst<Op::MAX_POOL_2D>(node)) return reason;
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}

std::optional<std::string> WhyNotAveragePool(const Node& node) {
  if (auto reason = WhyNotFirst<Op::AVERAGE_POOL_2D>(node)) return reason;
  const auto& a = node.attrs<AveragePoolAttrs>();
  if (a.count_include_pad && a.padding == Padding::kSameUpper) return "count_include_pad must be 0";
  return WhyNotPool(node, a);
}

std::optional<std::string> WhyNotLpPool(const Node& node) {
  if (auto reason = WhyNotFirst<Op::L2_POOL_2D>(node)) return reason;
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.p != 2.0f || !a.average) return "L2_POOL_2D computes the root of the mean of squares only";
  return WhyNotPool(node, a);
}

}  // namespace

namespace {

constexpr ImportRow kPoolImports[] = {
    {.op = Op::MAX_POOL_2D, .import = ImportMaxPool},
    {.op = Op::AVERAGE_POOL_2D, .import = ImportAveragePool},
    {.op = Op::L2_POOL_2D, .import = ImportL2Pool},
};

constexpr ExportRow kPoolExports[] = {
    {.op = "max_pool",
     .write = WritePool<Op::MAX_POOL_2D, MaxPoolAttrs>,
     .why_not = WhyNotMaxPool,
     .fuses = Always},
    {.op = "average_pool",
     .write = WritePool<Op::AVERAGE_POOL_2D, AveragePoolAttrs>,
     .why_not = WhyNotAveragePool,
     .fuses = Always},
    {.op = "lp_pool",
     .write = WritePool<Op::L2_POOL_2D, LpPoolAttrs>,
     .why_not = WhyNotLpPool,
     .fuses = Always},
};

}  // namespace

Family PoolFamily() {
  return {.imports = kPoolImports, .exports = kPoolExports};
}

}  // namespace nn::tflite

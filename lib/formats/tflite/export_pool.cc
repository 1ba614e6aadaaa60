#include <algorithm>

#include "formats/tflite/export.h"
#include "ops/pool.h"

namespace nn::tflite {
namespace {

template <fb::BuiltinOperator op, typename A>
Status WritePool(ExportContext& ctx, const Node& node) {
  const PoolAttrs& a = node.attrs<A>();
  const auto stride = [&](size_t i) {
    return a.strides.empty() ? 1 : static_cast<int32_t>(a.strides[i]);
  };
  ctx.AddOperator(
      op, ctx.InputsOf(node), ctx.ResultsOf(node),
      fb::CreatePool2DOptions(
          ctx.builder(), a.padding == Padding::kSameUpper ? fb::Padding::SAME : fb::Padding::VALID,
          stride(1), stride(0), static_cast<int32_t>(a.kernel[1]),
          static_cast<int32_t>(a.kernel[0]), ctx.ActivationOf(node)));
  return {};
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (auto reason = WhyNotReal(node)) return reason;
  if (node.outputs().size() > 1) return "the places of the maxima";
  if (a.kernel.size() != 2) return fmt::format("{} spatial axes", a.kernel.size());
  if (a.layout != Layout::kNxc) return "channels are not last";
  if (std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; }))
    return "dilation of a pool";
  if (a.padding != Padding::kSameUpper && a.padding != Padding::kValid)
    return "the padding is neither SAME nor VALID";
  if (a.ceil_mode) return "its size is rounded up";
  return std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}

std::optional<std::string> WhyNotAveragePool(const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  if (a.count_include_pad && a.padding == Padding::kSameUpper) return "padding counts";
  return WhyNotPool(node, a);
}

std::optional<std::string> WhyNotLpPool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.p != 2.0f || !a.average) return "only the root of the mean of squares";
  if (node.output()->type().quantised()) return "quantised L2 pooling";
  return WhyNotPool(node, a);
}

}  // namespace

void AddPoolExports(std::vector<ExportRow>& rows) {
  using Op = fb::BuiltinOperator;
  rows.push_back({"max_pool", WritePool<Op::MAX_POOL_2D, MaxPoolAttrs>, WhyNotMaxPool, Always});
  rows.push_back({"average_pool", WritePool<Op::AVERAGE_POOL_2D, AveragePoolAttrs>,
                  WhyNotAveragePool, Always});
  rows.push_back({"lp_pool", WritePool<Op::L2_POOL_2D, LpPoolAttrs>, WhyNotLpPool, Always});
}

}  // namespace nn::tflite

// Pooling.
#include "ops/nn/pool.h"
#include <algorithm>
#include "formats/coreml/import/window.h"

#include "formats/coreml/program/export/window.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/window.h"

namespace nn::coreml::program {
namespace {

// Reads what all pools have, and emits the operator.
template <typename A>
Status EmitPool(ImportContext& ctx, std::string_view op, A a) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(a.kernel, ctx.Ints("kernel_sizes"));
  NN_RETURN_IF_ERROR(ReadWindow(ctx, x->type().rank() - 2, a));
  NN_ASSIGN(a.ceil_mode, ctx.Bool("ceil_mode"));
  if (a.ceil_mode) NN_RETURN_IF_ERROR(CheckLastWindow(a, *x->type().dims, "ceil_mode"));
  return ctx.Emit(op, {x}, std::move(a));
}

Status ImportAvgPool(ImportContext& ctx) {
  NN_ASSIGN(const bool exclude_padding, ctx.Bool("exclude_padding_from_average"));
  AveragePoolAttrs a;
  a.count_include_pad = !exclude_padding;
  return EmitPool(ctx, "average_pool", std::move(a));
}

Status ImportL2Pool(ImportContext& ctx) {
  return EmitPool(ctx, "lp_pool", LpPoolAttrs());
}

Status ImportMaxPool(ImportContext& ctx) {
  return EmitPool(ctx, "max_pool", MaxPoolAttrs());
}

// ---- Export -------------------------------------------------------------------------------------

template <typename A>
OperationWriter BeginPool(ExportContext& ctx, const Node& node, std::string_view type) {
  const auto& a = node.attrs<A>();
  OperationWriter op = ctx.Add(type);
  op.In("x", node.input(0)).Ints("kernel_sizes", a.kernel);
  WriteWindow(op, a, node.input(0)->type().rank() - 2);
  op.Bool("ceil_mode", a.ceil_mode);
  return op;
}

Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  return BeginPool<MaxPoolAttrs>(ctx, node, "max_pool").To(node, 1);
}

Status WriteAvgPool(ExportContext& ctx, const Node& node) {
  return BeginPool<AveragePoolAttrs>(ctx, node, "avg_pool")
      .Bool("exclude_padding_from_average", !node.attrs<AveragePoolAttrs>().count_include_pad)
      .To(node);
}

Status WriteL2Pool(ExportContext& ctx, const Node& node) {
  return BeginPool<LpPoolAttrs>(ctx, node, "l2_pool").To(node);
}

template <typename A>
std::optional<std::string> WhyNotPool(const Node& node) {
  const auto& a = node.attrs<A>();
  if (a.layout != Layout::kNcx) return "ML Programs have channels before the spatial axes";
  if (std::ranges::any_of(a.dilations, [](int64_t d) { return d != 1; }))
    return "ML Programs have no pools with dilations";
  if (std::ranges::any_of(a.pads, [](int64_t p) { return p < 0; }))
    return "ML Programs have no negative padding";
  if (!a.ceil_mode) return std::nullopt;
  const Status fits = CheckLastWindow(a, *node.input(0)->type().dims, "ceil_mode");
  return fits ? std::nullopt : std::optional(fits.error().message());
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  if (node.outputs().size() > 1) return "ML Programs have no max_pool with indices";
  return WhyNotPool<MaxPoolAttrs>(node);
}

std::optional<std::string> WhyNotL2Pool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.p != 2 || a.average) return "ML Programs have lp_pool as the root of the sum of squares";
  return WhyNotPool<LpPoolAttrs>(node);
}

}  // namespace

Family PoolFamily() {
  static constexpr ImportRow kImports[] = {
      {"avg_pool", ImportAvgPool},
      {"l2_pool", ImportL2Pool},
      {"max_pool", ImportMaxPool},
  };
  static constexpr ExportRow kExports[] = {
      {"average_pool", WriteAvgPool, WhyNotPool<AveragePoolAttrs>},
      {"lp_pool", WriteL2Pool, WhyNotL2Pool},
      {"max_pool", WriteMaxPool, WhyNotMaxPool},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

// Pooling.
#include "ops/nn/pool.h"
#include "formats/coreml/import/window.h"
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

}  // namespace

Family PoolFamily() {
  static constexpr ImportRow kImports[] = {
      {"avg_pool", ImportAvgPool},
      {"l2_pool", ImportL2Pool},
      {"max_pool", ImportMaxPool},
  };
  return {kImports};
}

}  // namespace nn::coreml::program

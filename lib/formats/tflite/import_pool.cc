#include <utility>

#include "formats/tflite/import.h"
#include "ops/pool.h"

namespace nn::tflite {
namespace {

template <typename A>
Status ImportPool(ImportContext& ctx, std::string_view op, A a) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::Pool2DOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  if (x->type().rank() != 4) return ModelError("pooling of {}", x->type().ToString());
  a.layout = Layout::kNxc;
  a.kernel = {o->filter_height(), o->filter_width()};
  a.strides = {o->stride_h(), o->stride_w()};
  if (o->padding() != fb::Padding::SAME && o->padding() != fb::Padding::VALID)
    return ModelError("padding is {}", static_cast<int>(o->padding()));
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

void AddPoolImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::MAX_POOL_2D, ImportMaxPool);
  t.Add(Op::AVERAGE_POOL_2D, ImportAveragePool);
  t.Add(Op::L2_POOL_2D, ImportL2Pool);
}

}  // namespace nn::tflite

#include "formats/nnapi/import.h"
#include "ops/pool.h"

namespace nn::nnapi {
namespace {

template <typename A>
Status EmitPool(ImportContext& ctx, std::string_view op, A a) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (x->type().ranked() && x->type().rank() != 4)
    return ModelError("input 0 is {}, not of rank 4", x->type().ToString());
  NN_ASSIGN(WindowArguments w, ReadWindow(ctx, 1, ctx.input_count() == 7));
  NN_ASSIGN(const int64_t width, ctx.Int(w.next));
  NN_ASSIGN(const int64_t height, ctx.Int(w.next + 1));
  a.layout = Layout::kNxc;
  a.kernel = {height, width};
  a.strides = std::move(w.strides);
  a.pads = std::move(w.pads);
  a.padding = w.padding;
  return ctx.EmitFused(op, {x}, std::move(a), w.next + 2);
}

Status ImportAveragePool(ImportContext& ctx) {
  return EmitPool(ctx, "average_pool", AveragePoolAttrs{});
}

Status ImportMaxPool(ImportContext& ctx) {
  return EmitPool(ctx, "max_pool", MaxPoolAttrs{});
}

Status ImportL2Pool(ImportContext& ctx) {
  LpPoolAttrs a;
  a.p = 2.0f;
  a.average = true;
  return EmitPool(ctx, "lp_pool", std::move(a));
}

}  // namespace

void AddPoolImports(ImportTable& t) {
  t[OperationType::kAveragePool2d] = ImportAveragePool;
  t[OperationType::kMaxPool2d] = ImportMaxPool;
  t[OperationType::kL2Pool2d] = ImportL2Pool;
}

}  // namespace nn::nnapi

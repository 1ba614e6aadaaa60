#include "formats/tflite/complex.h"

#include "ops/array/concat.h"
#include "ops/array/gather.h"
#include "ops/array/shape.h"
#include "ops/math/bit_cast.h"

namespace nn::tflite {

Result<Value*> PartsOf(ImportContext& ctx, Value* x) {
  if (!IsComplex(x->dtype()))
    return ModelError("the operand is {}; must be c64 or c128", x->type().ToString());
  // Not those of other bit_casts: 4 bytes of an integer are not a part.
  const DType real = x->dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  const Node* const def = x->def();
  if (def != nullptr && def->Is("bit_cast") && def->input(0)->dtype() == real) return def->input(0);
  return ctx.Add("bit_cast", {x}, BitCastAttrs{real});
}

Result<Value*> PartOf(ImportContext& ctx, Value* parts, int64_t part) {
  return ctx.Add("gather", {parts, ctx.Constant(Tensor::Scalar(part))}, GatherAttrs{-1});
}

Result<Value*> ComplexProduct(ImportContext& ctx, Value* a, Value* b) {
  NN_ASSIGN(Value* const a_parts, PartsOf(ctx, a));
  NN_ASSIGN(Value* const b_parts, PartsOf(ctx, b));
  // a_i b_j
  const auto product = [&](int64_t i, int64_t j) -> Result<Value*> {
    NN_ASSIGN(Value* const x, PartOf(ctx, a_parts, i));
    NN_ASSIGN(Value* const y, PartOf(ctx, b_parts, j));
    return ctx.Add("mul", {x, y});
  };
  NN_ASSIGN(Value* const reals, product(0, 0));
  NN_ASSIGN(Value* const imaginaries, product(1, 1));
  NN_ASSIGN(Value* const first, product(0, 1));
  NN_ASSIGN(Value* const second, product(1, 0));
  NN_ASSIGN(Value * re, ctx.Add("sub", {reals, imaginaries}));
  NN_ASSIGN(Value * im, ctx.Add("add", {first, second}));
  NN_ASSIGN(re, ctx.Add("expand_dims", {re}, AxesAttrs{{-1}}));
  NN_ASSIGN(im, ctx.Add("expand_dims", {im}, AxesAttrs{{-1}}));
  NN_ASSIGN(Value* const parts, ctx.Add("concat", {re, im}, ConcatAttrs{-1}));
  return ctx.Add("bit_cast", {parts}, BitCastAttrs{a->dtype()});
}

}  // namespace nn::tflite

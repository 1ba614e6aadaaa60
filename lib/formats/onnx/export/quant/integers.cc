#include "formats/onnx/export/quant/integers.h"

#include <algorithm>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {

Result<Value*> Integers::Of(Value* x) {
  NN_ASSIGN(Value* const v, Cast(x, DType::kI64));
  return Plus(v, -x->type().quant->zero_point());
}

Result<Value*> Integers::Cast(Value* v, DType to) {
  return e_.Add("cast", {v}, CastAttrs{.to = to});
}

Result<Value*> Integers::Plus(Value* v, int64_t n) {
  if (n == 0) return v;
  return e_.Add("add", {v, Number(n)});
}

Result<Value*> Integers::Times(Value* v, int64_t n) {
  if (n == 1) return v;
  return e_.Add("mul", {v, Number(n)});
}

Result<Value*> Integers::Shifted(Value* v, int64_t plus, int bits) {
  // Div rounds toward zero, so the dividend is made positive.
  NN_ASSIGN(v, Plus(v, kLargest + plus));
  NN_ASSIGN(v, e_.Add("div", {v, Number(int64_t{1} << bits)}));
  return Plus(v, -(kLargest >> bits));
}

Result<Value*> Integers::Floor(Value* v, int bits) {
  return Shifted(v, 0, bits);
}

Result<Value*> Integers::Round(Value* v, int bits) {
  return Shifted(v, int64_t{1} << (bits - 1), bits);
}

Result<Value*> Integers::Clamp(Value* v, int64_t least, int64_t most) {
  NN_ASSIGN(v, e_.Add("maximum", {v, Number(least)}));
  return e_.Add("minimum", {v, Number(most)});
}

Result<Value*> Integers::Wrap32(Value* v) {
  NN_ASSIGN(v, Cast(v, DType::kI32));
  return Cast(v, DType::kI64);
}

Result<Value*> Integers::HighMul(Value* v, int32_t multiplier) {
  NN_ASSIGN(v, Times(v, multiplier));
  return Round(v, 31);
}

Result<Value*> Integers::ShiftRight(Value* v, int bits) {
  if (bits == 0) return v;
  // Half a step more, less 1 for negative integers.
  NN_ASSIGN(Value* const sign, Floor(v, 31));
  NN_ASSIGN(v, e_.Add("add", {v, sign}));
  return Round(v, bits);
}

Result<Value*> Integers::Rescale(Value* v, FixedMultiplier m) {
  if (m.shift > 0) {
    NN_ASSIGN(v, Times(v, int64_t{1} << m.shift));
    NN_ASSIGN(v, Wrap32(v));
  }
  NN_ASSIGN(v, HighMul(v, m.multiplier));
  return ShiftRight(v, std::max(-m.shift, 0));
}

Result<Value*> Integers::Rescale64(Value* v, FixedMultiplier m) {
  const ReducedMultiplier r = Reduced(m);
  NN_ASSIGN(v, Times(v, r.multiplier));
  NN_ASSIGN(v, Round(v, r.shift));
  return Wrap32(v);
}

Result<Value*> Integers::Stored(Value* v, const Type& type) {
  NN_ASSIGN(v, Plus(v, type.quant->zero_point()));
  // Without a zero point, 32 bits hold what was rounded to 32 bits.
  if (type.dtype != DType::kI32 || type.quant->zero_point() != 0) {
    NN_ASSIGN(v, Clamp(v, MinInteger(type.dtype), MaxInteger(type.dtype)));
  }
  if (type.ranked() && *v->type().dims != *type.dims) {
    NN_ASSIGN(v, e_.Add("reshape", {v}, ReshapeAttrs{*type.dims}));
  }
  NN_ASSIGN(Node* const cast, e_.AddNode("cast", {v}, CastAttrs{.to = type.dtype}, 1));
  cast->output()->set_type(type);
  NN_RETURN_IF_ERROR(InferNode(*cast));
  return cast->output();
}

Result<bool> Integers::Finish(Value* v) {
  NN_ASSIGN(v, Stored(v, Type(node_.output()->type())));
  return e_.Replace(v);
}

}  // namespace nn::onnx

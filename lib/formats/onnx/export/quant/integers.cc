#include "formats/onnx/export/quant/integers.h"

#include <algorithm>
#include <utility>

#include "ir/op_def.h"
#include "ops/support/term_ops.h"

namespace nn::onnx::i64 {
namespace {

constexpr int64_t kLargest = int64_t{1} << 62;

// (v + plus) / 2^bits, rounded down.
Term Shifted(Term v, int64_t plus, int bits) {
  // Div rounds toward zero, so the dividend is made positive.
  const Term quotient = Plus(std::move(v), kLargest + plus) / Number(int64_t{1} << bits);
  return Plus(quotient, -(kLargest >> bits));
}

}  // namespace

Term Number(int64_t n) {
  return Tensor::Scalar(n);
}

Term Of(Value* x) {
  return Plus(Cast(x, DType::kI64), -x->type().quant->zero_point());
}

Term Plus(Term v, int64_t n) {
  return n == 0 ? std::move(v) : std::move(v) + Number(n);
}

Term Times(Term v, int64_t n) {
  return n == 1 ? std::move(v) : std::move(v) * Number(n);
}

Term Floor(Term v, int bits) {
  return Shifted(std::move(v), 0, bits);
}

Term Round(Term v, int bits) {
  return Shifted(std::move(v), int64_t{1} << (bits - 1), bits);
}

Term Clamp(Term v, int64_t least, int64_t most) {
  return Minimum(Maximum(std::move(v), Number(least)), Number(most));
}

Term Wrap32(Term v) {
  return Cast(Cast(std::move(v), DType::kI32), DType::kI64);
}

Term HighMul(Term v, int32_t multiplier) {
  return Round(Times(std::move(v), multiplier), 31);
}

Term ShiftRight(Term v, int bits) {
  // Half a step more, less 1 for negative integers.
  return bits == 0 ? std::move(v) : Round(v + Floor(v, 31), bits);
}

Term Rescale(Term v, FixedMultiplier m) {
  if (m.shift > 0) v = Wrap32(Times(std::move(v), int64_t{1} << m.shift));
  return ShiftRight(HighMul(std::move(v), m.multiplier), std::max(-m.shift, 0));
}

Term Rescale64(Term v, FixedMultiplier m) {
  const ReducedMultiplier r = Reduced(m);
  return Wrap32(Round(Times(std::move(v), r.multiplier), r.shift));
}

Result<Value*> Stored(NodeInserter& inserter, const Term& v, const Type& type) {
  const int64_t zero = type.quant->zero_point();
  Term sum = Plus(v, zero);
  // Without a zero point, 32 bits hold what was rounded to 32 bits.
  if (type.dtype != DType::kI32 || zero != 0)
    sum = Clamp(sum, MinInteger(type.dtype), MaxInteger(type.dtype));
  NN_ASSIGN(Value* const built, inserter.Build(sum));
  const bool is_reshaped = type.ranked() && *built->type().dims != *type.dims;
  NN_ASSIGN(Value* const y,
            inserter.Build(Cast(is_reshaped ? Reshape(built, *type.dims) : built, type.dtype)));
  y->set_type(type);
  NN_RETURN_IF_ERROR(InferNode(*y->def()));
  return y;
}

Result<bool> Replace(Expansion& e, const Term& v, const Type& type) {
  NN_ASSIGN(Value* const y, Stored(e, v, Type(type)));
  return e.Replace(y);
}

}  // namespace nn::onnx::i64

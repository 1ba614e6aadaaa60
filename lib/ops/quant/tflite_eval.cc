// Reference evaluation of elementwise operators on quantized types.
#include "ops/math/elementwise/impl.h"
#include "ops/quant/tflite_elementwise.h"
#include "ops/support/broadcast.h"

namespace nn {
namespace {

Status RequireArithmetic(const EvalContext& ctx) {
  if (ctx.node().arithmetic() == Arithmetic::kTflite ||
      ctx.node().arithmetic() == Arithmetic::kTfliteFixed)
    return {};
  return UnsupportedError("{} is not supported, because the node has no integer arithmetic",
                          ctx.in_type(0).ToString());
}

// Clamping to the same scale and zero point needs no rounding, so the node needs no integer
// arithmetic.
bool IsClamp(const EvalContext& ctx) {
  const Type& x = ctx.in_type(0);
  const Type& y = ctx.out_type();
  return ctx.node().op().clamp != nullptr && x.quantized() && y.quantized() &&
         x.quant->SameMapping(*y.quant);
}

}  // namespace

Status EvalQuantizedUnary(EvalContext& ctx) {
  if (!IsClamp(ctx)) NN_RETURN_IF_ERROR(RequireArithmetic(ctx));
  NN_ASSIGN(const QuantizedUnary fn, TfliteUnary(ctx.node(), ctx.in_type(0), ctx.out_type()));
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  for (int64_t i = 0; i < y.elements(); ++i) {
    const auto q = static_cast<int32_t>(x.GetInt(i));
    if (q < fn.smallest)
      return ModelError("{} of a negative number: element {} is {}, the zero point is {}",
                        ctx.node().op_name(), i, q, fn.smallest);
    y.SetInt(i, fn.run(q));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalQuantizedBinary(EvalContext& ctx) {
  NN_RETURN_IF_ERROR(RequireArithmetic(ctx));
  NN_ASSIGN(const QuantizedBinary fn,
            TfliteBinary(ctx.node(), ctx.in_type(0), ctx.in_type(1), ctx.out_type()));
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  if (fn.divides) {
    const int64_t zero = ctx.in_type(1).quant->zero_point();
    for (int64_t i = 0; i < b.elements(); ++i)
      if (b.GetInt(i) == zero) return ModelError("division by zero: element {} of the divisor", i);
  }
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  ForEachBroadcast<2>(y.dims(), {a.dims(), b.dims()}, [&](int64_t i, const auto& at) {
    y.SetInt(i,
             fn.run(static_cast<int32_t>(a.GetInt(at[0])), static_cast<int32_t>(b.GetInt(at[1]))));
  });
  ctx.set_out(0, y.Finish());
  return {};
}

}  // namespace nn

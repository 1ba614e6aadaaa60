#include "ops/quantised.h"

#include <algorithm>
#include <cmath>

namespace nn {

Status RequireTflite(const EvalContext& ctx) {
  if (ctx.node().arithmetic() != Arithmetic::kTflite &&
      ctx.node().arithmetic() != Arithmetic::kTfliteFixed)
    return UnsupportedError("{} of {} without the name of an integer algorithm",
                            ctx.node().op_name(), ctx.in_type(0).ToString());
  const Type& y = ctx.out_type();
  if (!y.quantised()) return ModelError("the output is not quantised");
  if (y.quant->per_axis() || ctx.in_type(0).quant->per_axis())
    return UnsupportedError("{} of {} into {}", ctx.node().op_name(), ctx.in_type(0).ToString(),
                            y.ToString());
  return {};
}

Status RequireSameQuant(const EvalContext& ctx) {
  const Type& x = ctx.in_type(0);
  const Type& y = ctx.out_type();
  constexpr float kTolerance = 1e-6f;
  if (!y.quantised() || y.quant->per_axis() || x.quant->per_axis() ||
      !(std::fabs(y.quant->scale() - x.quant->scale()) <= kTolerance) ||
      y.quant->zero_point() != x.quant->zero_point())
    return ModelError("{} of {} into {}: scale and zero point must stay", ctx.node().op_name(),
                      x.ToString(), y.ToString());
  return {};
}

int64_t ClampTo(DType dtype, int64_t v) {
  return std::clamp(v, MinInteger(dtype), MaxInteger(dtype));
}

}  // namespace nn

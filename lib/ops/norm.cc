#include "ops/norm.h"

#include <cmath>

#include "base/arith.h"
#include "ir/op_def.h"
#include "ops/ops.h"
#include "ops/types.h"

namespace nn {

std::span<const AttrField> BatchNormAttrs::Fields() {
  static const AttrField fields[] = {Field<&BatchNormAttrs::epsilon>("epsilon"),
                                     Field<&BatchNormAttrs::layout>("layout")};
  return fields;
}

ScaleShift BatchNormFactors(float scale, float bias, float mean, float variance, float epsilon) {
  const float s = scale / std::sqrt(variance + epsilon);
  return {s, Fma(-mean, s, bias)};
}

namespace {

Status InferBatchNorm(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  const Type& x = ctx.in(0);
  const Dim& channels = x.dim(ChannelAxis(ctx.attrs<BatchNormAttrs>().layout, x.rank()));
  for (size_t i = 1; i < 5; ++i) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 1, 1));
    const Dim& n = ctx.in(i).dim(0);
    if (n.is_const() && channels.is_const() && n != channels)
      return ModelError("input {} has {} elements for {} channels", i, n.ToString(),
                        channels.ToString());
  }
  ctx.set_out(0, Type(x.dtype, *x.dims));
  return {};
}

Status EvalBatchNorm(EvalContext& ctx) {
  const auto& a = ctx.attrs<BatchNormAttrs>();
  const Tensor& x = ctx.in(0);
  if (!IsFloat(x.dtype()) || x.dtype() == DType::kF64)
    return UnsupportedError("batch_norm of {}", DTypeName(x.dtype()));
  const auto axis = static_cast<size_t>(ChannelAxis(a.layout, x.rank()));
  const auto channels = static_cast<size_t>(x.dims()[axis]);
  const int64_t inner = Strides(x.dims())[axis];
  const auto param = [&](size_t i, size_t c) {
    return static_cast<float>(ctx.in(i).GetDouble(static_cast<int64_t>(c)));
  };
  std::vector<ScaleShift> factors;
  for (size_t c = 0; c < channels; ++c)
    factors.push_back(
        BatchNormFactors(param(1, c), param(2, c), param(3, c), param(4, c), a.epsilon));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int64_t n = out.elements();
  for (int64_t i = 0; i < n; ++i) {
    const ScaleShift& f = factors[static_cast<size_t>(i / inner) % channels];
    if (x.dtype() == DType::kF32) {
      const auto at = static_cast<size_t>(i);
      out.As<float>()[at] = Fma(x.As<float>()[at], f.scale, f.shift);
    } else {
      out.SetDouble(i, Fma(static_cast<float>(x.GetDouble(i)), f.scale, f.shift));
    }
  }
  ctx.set_out(0, out.Finish());
  return {};
}

std::optional<AxesChange> ChangeBatchNormAxes(const Node& node, Operand changed,
                                              const AxisMap& map) {
  if (!changed.is_output && changed.index != 0) return std::nullopt;
  BatchNormAttrs a = node.attrs<BatchNormAttrs>();
  const auto layout = FlipLayout(a.layout, node.input(0)->type().rank(), map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

}  // namespace

void RegisterNormOps(OpRegistry& ops) {
  OpDef bn;
  bn.name = "batch_norm";
  bn.summary = "normalisation by given mean and variance per channel";
  bn.attrs = AttrsInfoOf<BatchNormAttrs>();
  bn.inputs = {{"x"}, {"scale"}, {"bias"}, {"mean"}, {"variance"}};
  bn.infer = InferBatchNorm;
  bn.eval = EvalBatchNorm;
  bn.change_axes = ChangeBatchNormAxes;
  ops.Add(std::move(bn));
}

}  // namespace nn

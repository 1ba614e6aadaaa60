#include <algorithm>

#include "formats/onnx/import.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/types.h"

namespace nn::onnx {
namespace {

struct ReduceName {
  std::string_view onnx;
  std::string_view ours;
  // Whether reducing over no axis leaves x as it is.
  bool identity;
};
constexpr ReduceName kNames[] = {
    {"ReduceSum", "reduce_sum", true},
    {"ReduceMean", "reduce_mean", true},
    {"ReduceMax", "reduce_max", true},
    {"ReduceMin", "reduce_min", true},
    {"ReduceProd", "reduce_prod", true},
    {"ReduceL1", "reduce_l1", false},
    {"ReduceL2", "reduce_l2", false},
    {"ReduceLogSum", "reduce_log_sum", false},
    {"ReduceLogSumExp", "reduce_log_sum_exp", false},
    {"ReduceSumSquare", "reduce_sum_square", false},
};

// Reducing over no axis is reducing over a new one of size 1.
Status EmitOverNothing(ImportContext& ctx, Value* x, const ReduceName& name) {
  if (name.identity) {
    ctx.SetOutput(0, x);
    return {};
  }
  if (!x->type().ranked()) return UnsupportedError("{} of unknown rank", name.onnx);
  const int64_t axis = x->type().rank();
  NN_ASSIGN(Value* const expanded, ctx.Add("expand_dims", {x}, AxesAttrs{{axis}}));
  return ctx.Emit(name.ours, {expanded}, ReduceAttrs{{axis}, false});
}

// The axes are an attribute up to operator set 12 (ReduceSum) or 17 (the others), then an input.
Status ImportReduce(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const auto name = std::find_if(std::begin(kNames), std::end(kNames), [&](const ReduceName& n) {
    return n.onnx == ctx.node().op_type();
  });
  ReduceAttrs a{ctx.Ints("axes"), ctx.Int("keepdims", 1) == 1};
  const bool noop = ctx.Int("noop_with_empty_axes", 0) != 0;
  if (Value* axes = ctx.input(1)) {
    const Type& type = axes->type();
    const bool known_length = type.ranked() && type.rank() == 1 && type.dim(0).is_const();
    if (const Tensor* constant = ctx.Constant(1)) {
      a.axes = constant->ToInts();
    } else if (known_length ? type.dim(0).value() > 0 : !noop) {
      return ctx.Emit(name->ours, {x, axes}, std::move(a));
    } else if (!known_length) {
      return UnsupportedError("{} with noop_with_empty_axes over an unknown number of axes",
                              name->onnx);
    }
  }
  if (a.axes.empty() && noop) return EmitOverNothing(ctx, x, *name);
  if (x->type().ranked()) {
    NN_ASSIGN(const auto axes, NormalizeAxes(a.axes, x->type().rank()));
    a.axes.assign(axes.begin(), axes.end());
    std::sort(a.axes.begin(), a.axes.end());
  }
  return ctx.Emit(name->ours, {x}, std::move(a));
}

}  // namespace

void AddReduceImports(ImportTable& t) {
  for (const ReduceName& name : kNames) t.Add("", name.onnx, 1, ImportReduce);
}

}  // namespace nn::onnx

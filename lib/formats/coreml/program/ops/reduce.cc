// Reductions, and sums along an axis.
#include "ops/reduce/reduce.h"

#include <algorithm>

#include "formats/coreml/program/family.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

template <const char* kOp>
Status ImportReduction(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  ReduceAttrs a;
  NN_ASSIGN(a.axes, ctx.Axes("axes", x->type().rank()));
  NN_ASSIGN(a.keep_dims, ctx.Bool("keep_dims"));
  if (a.axes.empty()) return UnsupportedError("a reduction of no axes is unsupported");
  std::ranges::sort(a.axes);
  return ctx.Emit(kOp, {x}, std::move(a));
}

// The index of an extremum.
template <const char* kOp>
Status ImportArgReduction(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  ArgAttrs a{.output_type = DType::kI32};
  NN_ASSIGN(a.axis, ctx.Axis("axis", x->type().rank()));
  NN_ASSIGN(a.keep_dims, ctx.Bool("keep_dims"));
  return ctx.EmitCast(Apply(kOp, {x}, std::move(a)));
}

Status ImportCumsum(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  ScanAttrs a;
  NN_ASSIGN(a.axis, ctx.Axis("axis", x->type().rank()));
  NN_ASSIGN(a.exclusive, ctx.Bool("exclusive"));
  NN_ASSIGN(a.reverse, ctx.Bool("reverse"));
  return ctx.Emit("cum_sum", {x}, a);
}

constexpr char kArgMax[] = "arg_max", kArgMin[] = "arg_min", kL1[] = "reduce_l1",
               kL2[] = "reduce_l2", kLogSum[] = "reduce_log_sum",
               kLogSumExp[] = "reduce_log_sum_exp", kMax[] = "reduce_max", kMean[] = "reduce_mean",
               kMin[] = "reduce_min", kProd[] = "reduce_prod", kSum[] = "reduce_sum",
               kSumSquare[] = "reduce_sum_square";

}  // namespace

Family ReduceFamily() {
  static constexpr ImportRow kImports[] = {
      {"cumsum", ImportCumsum},
      {"reduce_argmax", ImportArgReduction<kArgMax>},
      {"reduce_argmin", ImportArgReduction<kArgMin>},
      {"reduce_l1_norm", ImportReduction<kL1>},
      {"reduce_l2_norm", ImportReduction<kL2>},
      {"reduce_log_sum", ImportReduction<kLogSum>},
      {"reduce_log_sum_exp", ImportReduction<kLogSumExp>},
      {"reduce_max", ImportReduction<kMax>},
      {"reduce_mean", ImportReduction<kMean>},
      {"reduce_min", ImportReduction<kMin>},
      {"reduce_prod", ImportReduction<kProd>},
      {"reduce_sum", ImportReduction<kSum>},
      {"reduce_sum_square", ImportReduction<kSumSquare>},
  };
  return {kImports};
}

}  // namespace nn::coreml::program

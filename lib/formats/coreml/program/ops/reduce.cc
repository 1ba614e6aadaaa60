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

// ---- Export -------------------------------------------------------------------------------------

constexpr char kArgMaxName[] = "reduce_argmax", kArgMinName[] = "reduce_argmin",
               kL1Name[] = "reduce_l1_norm", kL2Name[] = "reduce_l2_norm";

template <const char* kName>
Status WriteReduction(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReduceAttrs>();
  std::vector<int64_t> axes = a.axes;
  if (axes.empty())
    for (int64_t axis = 0; axis < node.input(0)->type().rank(); ++axis) axes.push_back(axis);
  return ctx.Add(kName)
      .In("x", node.input(0))
      .Ints("axes", axes)
      .Bool("keep_dims", a.keep_dims)
      .To(node);
}

std::optional<std::string> WhyNotReduction(const Node& node) {
  if (node.inputs().size() > 1) return "the axes of a reduction must be constants";
  if (node.input(0)->type().rank() == 0) return "ML Programs have no reductions of scalars";
  return std::nullopt;
}

template <const char* kName>
Status WriteArgReduction(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  return ctx.Add(kName)
      .In("x", node.input(0))
      .Int("axis", a.axis)
      .Bool("keep_dims", a.keep_dims)
      .To(node);
}

std::optional<std::string> WhyNotArgReduction(const Node& node) {
  if (node.attrs<ArgAttrs>().select_last_index)
    return "ML Programs select the first of equal elements";
  return std::nullopt;
}

Status WriteCumsum(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScanAttrs>();
  const int64_t axis = a.axis < 0 ? a.axis + node.input(0)->type().rank() : a.axis;
  return ctx.Add("cumsum")
      .In("x", node.input(0))
      .Int("axis", axis)
      .Bool("exclusive", a.exclusive)
      .Bool("reverse", a.reverse)
      .To(node);
}

std::optional<std::string> WhyNotCumsum(const Node& node) {
  if (node.inputs().size() > 1) return "the axis of cum_sum must be a constant";
  return std::nullopt;
}

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
  static constexpr ExportRow kExports[] = {
      {"arg_max", WriteArgReduction<kArgMaxName>, WhyNotArgReduction},
      {"arg_min", WriteArgReduction<kArgMinName>, WhyNotArgReduction},
      {"cum_sum", WriteCumsum, WhyNotCumsum},
      {"reduce_l1", WriteReduction<kL1Name>, WhyNotReduction},
      {"reduce_l2", WriteReduction<kL2Name>, WhyNotReduction},
      {"reduce_log_sum", WriteReduction<kLogSum>, WhyNotReduction},
      {"reduce_log_sum_exp", WriteReduction<kLogSumExp>, WhyNotReduction},
      {"reduce_max", WriteReduction<kMax>, WhyNotReduction},
      {"reduce_mean", WriteReduction<kMean>, WhyNotReduction},
      {"reduce_min", WriteReduction<kMin>, WhyNotReduction},
      {"reduce_prod", WriteReduction<kProd>, WhyNotReduction},
      {"reduce_sum", WriteReduction<kSum>, WhyNotReduction},
      {"reduce_sum_square", WriteReduction<kSumSquare>, WhyNotReduction},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

#include <algorithm>

#include "formats/coreml/family.h"
#include "ops/array/shape.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// Non-negative axes in ascending order; all axes if the layer says so.
Result<std::vector<int64_t>> AxesOf(const Fields& p, int rank) {
  std::vector<int64_t> axes = p.Ints("axes");
  if (p.Bool("reduceAll")) {
    axes.resize(static_cast<size_t>(rank));
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
    return axes;
  }
  if (axes.empty()) return ModelError("axes is empty");
  for (int64_t& a : axes) {
    if (a < -rank || a >= rank) return ModelError("axis {} is out of range for rank {}", a, rank);
    if (a < 0) a += rank;
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

// There are no scalars: if no axis stays, the result has one of size 1.
template <const char* kOp>
Status ImportReduce(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(std::vector<int64_t> axes, AxesOf(ctx.params(), x->type().rank()));
  const bool keep = ctx.params().Bool("keepDims");
  const bool scalar = !keep && axes.size() == x->type().dims->size();
  if (!scalar) return ctx.Emit(kOp, {x}, ReduceAttrs{std::move(axes), keep});
  const Term y = Apply(kOp, {x}, ReduceAttrs{std::move(axes), true});
  return ctx.EmitTerm(Reshape(y, {Dim(1)}));
}

// ---- reduce -------------------------------------------------------------------------------------

std::vector<int64_t> OldAxes(std::string_view axis) {
  if (axis == "CHW") return {-3, -2, -1};
  if (axis == "HW") return {-2, -1};
  if (axis == "C") return {-3};
  if (axis == "H") return {-2};
  return {-1};
}

std::string_view OldReduction(std::string_view mode) {
  if (mode == "SUM" || mode == "LOGSUM") return "reduce_sum";
  if (mode == "AVG") return "reduce_mean";
  if (mode == "PROD") return "reduce_prod";
  if (mode == "SUMSQUARE") return "reduce_sum_square";
  if (mode == "L1") return "reduce_l1";
  if (mode == "L2") return "reduce_l2";
  if (mode == "MAX") return "reduce_max";
  if (mode == "MIN") return "reduce_min";
  return {};
}

Status ImportOldReduce(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Term x = ctx.input(0);
  const std::string_view mode = p.Enum("mode"), axis = p.Enum("axis");
  if (const int rank = ctx.input(0)->type().rank(); rank < 3)
    return ModelError("the input must have rank 3 or more, not {}", rank);
  if (axis.empty()) return ModelError("axis is unknown");
  const std::vector<int64_t> axes = OldAxes(axis);
  if (mode == "ARGMAX") {
    if (axes.size() != 1) return ModelError("ARGMAX needs exactly one axis");
    return ctx.Emit("arg_max", {x}, ArgAttrs{axes[0]});
  }
  const std::string_view op = OldReduction(mode);
  if (op.empty()) return ModelError("an unknown reduction");
  if (mode == "LOGSUM") x = Apply("log", {x + p.FloatOr("epsilon", 1e-6f)});
  return ctx.Emit(op, {x}, ReduceAttrs{axes, true});
}

constexpr char kReduceSum[] = "reduce_sum", kReduceMean[] = "reduce_mean",
               kReduceMax[] = "reduce_max", kReduceMin[] = "reduce_min",
               kReduceProd[] = "reduce_prod", kReduceL1[] = "reduce_l1", kReduceL2[] = "reduce_l2",
               kReduceLogSum[] = "reduce_log_sum", kReduceLogSumExp[] = "reduce_log_sum_exp",
               kReduceSumSquare[] = "reduce_sum_square";

}  // namespace

// ==== To Core ML =================================================================================

namespace {

template <const char* kKind>
Status WriteReduce(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReduceAttrs>();
  Writer p = ctx.AddLayer(node, kKind);
  p.Bool("keepDims", a.keep_dims);
  if (a.axes.empty())
    p.Bool("reduceAll", true);
  else
    p.Ints("axes", a.axes);
  return {};
}

std::optional<std::string> WhyNotReduce(const Node& node) {
  if (node.input(1) != nullptr) return "its axes must be constant";
  return std::nullopt;
}

constexpr char kReduceSumLayer[] = "reduceSum", kReduceMeanLayer[] = "reduceMean",
               kReduceMaxLayer[] = "reduceMax", kReduceMinLayer[] = "reduceMin",
               kReduceProdLayer[] = "reduceProd", kReduceL1Layer[] = "reduceL1",
               kReduceL2Layer[] = "reduceL2", kReduceLogSumLayer[] = "reduceLogSum",
               kReduceLogSumExpLayer[] = "reduceLogSumExp",
               kReduceSumSquareLayer[] = "reduceSumSquare";

}  // namespace

namespace {

constexpr ImportRow kReduceImports[] = {
    {.layer = "reduceSum", .import = ImportReduce<kReduceSum>, .inputs = "f"},
    {.layer = "reduceMean", .import = ImportReduce<kReduceMean>, .inputs = "f"},
    {.layer = "reduceMax", .import = ImportReduce<kReduceMax>, .inputs = "f"},
    {.layer = "reduceMin", .import = ImportReduce<kReduceMin>, .inputs = "f"},
    {.layer = "reduceProd", .import = ImportReduce<kReduceProd>, .inputs = "f"},
    {.layer = "reduceL1", .import = ImportReduce<kReduceL1>, .inputs = "f"},
    {.layer = "reduceL2", .import = ImportReduce<kReduceL2>, .inputs = "f"},
    {.layer = "reduceLogSum", .import = ImportReduce<kReduceLogSum>, .inputs = "f"},
    {.layer = "reduceLogSumExp", .import = ImportReduce<kReduceLogSumExp>, .inputs = "f"},
    {.layer = "reduceSumSquare", .import = ImportReduce<kReduceSumSquare>, .inputs = "f"},
    {.layer = "reduce", .import = ImportOldReduce, .inputs = "f"},
};

constexpr ExportRow kReduceExports[] = {
    {.op = "reduce_sum", .write = WriteReduce<kReduceSumLayer>, .why_not = WhyNotReduce},
    {.op = "reduce_mean", .write = WriteReduce<kReduceMeanLayer>, .why_not = WhyNotReduce},
    {.op = "reduce_max", .write = WriteReduce<kReduceMaxLayer>, .why_not = WhyNotReduce},
    {.op = "reduce_min", .write = WriteReduce<kReduceMinLayer>, .why_not = WhyNotReduce},
    {.op = "reduce_prod", .write = WriteReduce<kReduceProdLayer>, .why_not = WhyNotReduce},
    {.op = "reduce_l1", .write = WriteReduce<kReduceL1Layer>, .why_not = WhyNotReduce},
    {.op = "reduce_l2", .write = WriteReduce<kReduceL2Layer>, .why_not = WhyNotReduce},
    {.op = "reduce_log_sum", .write = WriteReduce<kReduceLogSumLayer>, .why_not = WhyNotReduce},
    {.op = "reduce_log_sum_exp",
     .write = WriteReduce<kReduceLogSumExpLayer>,
     .why_not = WhyNotReduce},
    {.op = "reduce_sum_square",
     .write = WriteReduce<kReduceSumSquareLayer>,
     .why_not = WhyNotReduce},
};

}  // namespace

Family ReduceFamily() {
  return {.imports = kReduceImports, .exports = kReduceExports};
}

}  // namespace nn::coreml

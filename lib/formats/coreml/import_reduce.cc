#include <algorithm>

#include "formats/coreml/import.h"
#include "ops/order.h"
#include "ops/reduce.h"
#include "ops/shape.h"

namespace nn::coreml {
namespace {

// Axes in ascending order, counted from the first. All of them if the layer says so.
Result<std::vector<int64_t>> AxesOf(const Fields& p, int rank) {
  std::vector<int64_t> axes = p.Ints("axes");
  if (p.Bool("reduceAll")) {
    axes.resize(static_cast<size_t>(rank));
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
    return axes;
  }
  if (axes.empty()) return ModelError("no axes to reduce");
  for (int64_t& a : axes) {
    if (a < -rank || a >= rank) return ModelError("axis {} of rank {}", a, rank);
    if (a < 0) a += rank;
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

// There are no scalars: where no axis stays, the result has one of size 1.
template <const char* kOp>
Status ImportReduce(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(std::vector<int64_t> axes, AxesOf(ctx.params(), x->type().rank()));
  const bool keep = ctx.params().Bool("keepDims");
  const bool scalar = !keep && axes.size() == x->type().dims->size();
  if (!scalar) return ctx.Emit(kOp, {x}, ReduceAttrs{std::move(axes), keep});
  NN_ASSIGN(Value* const y, ctx.Add(kOp, {x}, ReduceAttrs{std::move(axes), true}));
  NN_ASSIGN(Value* const out, ctx.Reshape(y, {Dim(1)}));
  ctx.SetOutput(0, out);
  return {};
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
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value * x, ctx.Float(0));
  const std::string_view mode = p.Enum("mode"), axis = p.Enum("axis");
  if (x->type().rank() < 3) return ModelError("its input has rank {}", x->type().rank());
  if (axis.empty()) return ModelError("unknown axes");
  const std::vector<int64_t> axes = OldAxes(axis);
  if (mode == "ARGMAX") {
    if (axes.size() != 1) return ModelError("ARGMAX over more than one axis");
    return ctx.Emit("arg_max", {x}, ArgAttrs{axes[0]});
  }
  const std::string_view op = OldReduction(mode);
  if (op.empty()) return ModelError("an unknown reduction");
  if (mode == "LOGSUM") {
    NN_ASSIGN(x, ctx.Add("add", {x, ctx.Scalar(p.FloatOr("epsilon", 1e-6f))}));
    NN_ASSIGN(x, ctx.Add("log", {x}));
  }
  return ctx.Emit(op, {x}, ReduceAttrs{axes, true});
}

// ---- Order --------------------------------------------------------------------------------------

template <const char* kOp>
Status ImportArg(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const bool scalar = ctx.params().Bool("removeDim") && x->type().rank() == 1;
  ArgAttrs a;
  a.axis = ctx.params().Int("axis");
  a.keep_dims = !ctx.params().Bool("removeDim") || scalar;
  return ctx.Emit(kOp, {x}, a);
}

Status ImportTopK(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  Value* k = nullptr;
  if (ctx.input_count() == 2) {
    NN_ASSIGN(k, ctx.Index(1));
  } else {
    NN_ASSIGN(const int64_t count, p.Size("K"));
    k = ctx.Constant(Tensor::Ints({count}));
  }
  if (ctx.output_count() > 2) return ModelError("{} outputs", ctx.output_count());
  NN_ASSIGN(Node* const node,
            ctx.AddNode("top_k", {x, k}, TopKAttrs{p.Int("axis"), !p.Bool("useBottomK")}, 2));
  for (size_t i = 0; i < ctx.output_count(); ++i) ctx.SetOutput(i, node->output(i));
  return {};
}

// The indices of top_k over the whole axis.
Status ImportArgSort(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const int64_t axis = p.Int("axis");
  if (axis < 0 || axis >= x->type().rank())
    return ModelError("axis {} of rank {}", axis, x->type().rank());
  const Dim& size = x->type().dim(static_cast<int>(axis));
  if (!size.is_const()) return UnsupportedError("sorting an axis whose size varies");
  NN_ASSIGN(Node* const node, ctx.AddNode("top_k", {x, ctx.Constant(Tensor::Ints({size.value()}))},
                                          TopKAttrs{axis, p.Bool("descending")}, 2));
  ctx.SetOutput(0, node->output(1));
  return {};
}

Status ImportCumSum(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const CumSumAttrs a{p.Int("axis"), p.Bool("excludeFinalSum"), p.Bool("reverse")};
  if (ctx.input_count() == 1) return ctx.Emit("cum_sum", {x}, a);
  NN_ASSIGN(Value* const axis, ctx.Index(1));
  return ctx.Emit("cum_sum", {x, axis}, a);
}

constexpr char kSum[] = "reduce_sum", kMean[] = "reduce_mean", kMax[] = "reduce_max",
               kMin[] = "reduce_min", kProd[] = "reduce_prod", kL1[] = "reduce_l1",
               kL2[] = "reduce_l2", kLogSum[] = "reduce_log_sum",
               kLogSumExp[] = "reduce_log_sum_exp", kSumSquare[] = "reduce_sum_square",
               kArgMax[] = "arg_max", kArgMin[] = "arg_min";

}  // namespace

void AddReduceImports(ImportTable& t) {
  t["reduceSum"] = ImportReduce<kSum>;
  t["reduceMean"] = ImportReduce<kMean>;
  t["reduceMax"] = ImportReduce<kMax>;
  t["reduceMin"] = ImportReduce<kMin>;
  t["reduceProd"] = ImportReduce<kProd>;
  t["reduceL1"] = ImportReduce<kL1>;
  t["reduceL2"] = ImportReduce<kL2>;
  t["reduceLogSum"] = ImportReduce<kLogSum>;
  t["reduceLogSumExp"] = ImportReduce<kLogSumExp>;
  t["reduceSumSquare"] = ImportReduce<kSumSquare>;
  t["reduce"] = ImportOldReduce;
  t["argMax"] = ImportArg<kArgMax>;
  t["argMin"] = ImportArg<kArgMin>;
  t["topK"] = ImportTopK;
  t["argSort"] = ImportArgSort;
  t["cumSum"] = ImportCumSum;
}

}  // namespace nn::coreml

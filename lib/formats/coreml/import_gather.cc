#include "formats/coreml/import.h"
#include "ops/gather.h"
#include "ops/generate.h"
#include "ops/scatter.h"
#include "ops/select.h"
#include "ops/shape.h"

namespace nn::coreml {
namespace {

// ---- Gather -------------------------------------------------------------------------------------

template <typename A>
Status EmitGather(ImportContext& ctx, std::string_view op, A attrs) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(Value* const indices, ctx.Index(1));
  return ctx.Emit(op, {x, indices}, attrs);
}

Status ImportGather(ImportContext& ctx) {
  return EmitGather(ctx, "gather", GatherAttrs{ctx.params().Int("axis")});
}
Status ImportGatherNd(ImportContext& ctx) {
  return EmitGather(ctx, "gather_nd", GatherNdAttrs{});
}
Status ImportGatherAlongAxis(ImportContext& ctx) {
  return EmitGather(ctx, "gather_elements", GatherElementsAttrs{ctx.params().Int("axis")});
}

// ---- Scatter ------------------------------------------------------------------------------------

struct Updates {
  Value* values;
  Reduction reduction;
};

// What is written, and how: to subtract is to add the negative.
Result<Updates> UpdatesOf(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(3, 3));
  NN_ASSIGN(Value * values, ctx.Float(2));
  const std::string_view mode = ctx.params().Enum("mode");
  if (mode == "SCATTER_UPDATE") return Updates{values, Reduction::kNone};
  if (mode == "SCATTER_ADD") return Updates{values, Reduction::kAdd};
  if (mode == "SCATTER_MUL") return Updates{values, Reduction::kMul};
  if (mode == "SCATTER_MAX") return Updates{values, Reduction::kMax};
  if (mode == "SCATTER_MIN") return Updates{values, Reduction::kMin};
  if (mode != "SCATTER_SUB") return UnsupportedError("the scatter mode {}", mode);
  NN_ASSIGN(values, ctx.Add("neg", {values}));
  return Updates{values, Reduction::kAdd};
}

// Whole slices along an axis; along the first one they are addressed by one coordinate.
Status ImportScatter(ImportContext& ctx) {
  NN_ASSIGN(const Updates u, UpdatesOf(ctx));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value * indices, ctx.Index(1));
  const int64_t axis = ctx.params().Int("axis");
  if (axis != 0 && axis != -x->type().rank())
    return UnsupportedError("a scatter along another axis than the first");
  NN_ASSIGN(indices, ctx.Add("expand_dims", {indices}, AxesAttrs{{-1}}));
  return ctx.Emit("scatter_nd", {x, indices, u.values}, ScatterNdAttrs{u.reduction});
}

Status ImportScatterNd(ImportContext& ctx) {
  NN_ASSIGN(const Updates u, UpdatesOf(ctx));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const indices, ctx.Index(1));
  return ctx.Emit("scatter_nd", {x, indices, u.values}, ScatterNdAttrs{u.reduction});
}

Status ImportScatterAlongAxis(ImportContext& ctx) {
  NN_ASSIGN(const Updates u, UpdatesOf(ctx));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const indices, ctx.Index(1));
  return ctx.Emit("scatter_elements", {x, indices, u.values},
                  ScatterElementsAttrs{ctx.params().Int("axis"), u.reduction});
}

// ---- Places and masks ---------------------------------------------------------------------------

// A row for each element that is not 0.
Status ImportWhereNonZero(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  NN_ASSIGN(Value* const columns, ctx.Add("non_zero", {x}));
  return ctx.Emit("transpose", {columns}, TransposeAttrs{{1, 0}});
}

Status ImportMatrixBandPart(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value * y, ctx.Float(0));
  if (const int64_t lower = ctx.params().Int("numLower"); lower >= 0) {
    NN_ASSIGN(y, ctx.Add("trilu", {y}, TriluAttrs{true, -lower}));
  }
  if (const int64_t upper = ctx.params().Int("numUpper"); upper >= 0) {
    NN_ASSIGN(y, ctx.Add("trilu", {y}, TriluAttrs{false, upper}));
  }
  ctx.SetOutput(0, y);
  return {};
}

template <bool upper>
Status ImportTriangular(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  return ctx.Emit("trilu", {x}, TriluAttrs{upper, ctx.params().Int("k")});
}

Status ImportOneHot(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const indices, ctx.Index(0));
  Value* depth = nullptr;
  if (ctx.input_count() == 2) {
    NN_ASSIGN(depth, ctx.Index(1));
  } else {
    NN_ASSIGN(const int64_t size, p.Size("oneHotVectorSize"));
    depth = ctx.Constant(Tensor::Ints({size}));
  }
  Value* const values =
      ctx.Constant(Tensor::Of<float>({2}, {p.Float("offValue"), p.Float("onValue")}));
  return ctx.Emit("one_hot", {indices, depth, values}, OneHotAttrs{p.Int("axis"), false});
}

}  // namespace

void AddGatherImports(ImportTable& t) {
  t["gather"] = ImportGather;
  t["gatherND"] = ImportGatherNd;
  t["gatherAlongAxis"] = ImportGatherAlongAxis;
  t["scatter"] = ImportScatter;
  t["scatterND"] = ImportScatterNd;
  t["scatterAlongAxis"] = ImportScatterAlongAxis;
  t["whereNonZero"] = ImportWhereNonZero;
  t["matrixBandPart"] = ImportMatrixBandPart;
  t["lowerTriangular"] = ImportTriangular<false>;
  t["upperTriangular"] = ImportTriangular<true>;
  t["oneHot"] = ImportOneHot;
}

}  // namespace nn::coreml

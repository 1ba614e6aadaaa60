// Gathering and scattering. Indices out of range are errors of a run.
#include <algorithm>
#include <functional>
#include <numeric>

#include "formats/coreml/program/family.h"
#include "ir/text/number.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// ---- Gather -------------------------------------------------------------------------------------

// Since iOS16.
Result<int64_t> BatchDimsOf(const ImportContext& ctx) {
  if (ctx.definition().Input("batch_dims") == nullptr) return 0;
  return ctx.Int("batch_dims");
}

// Those of 8 and 16 bits are widened, which other formats do not have.
Result<Term> IndicesOf(ImportContext& ctx) {
  NN_ASSIGN(Value* const indices, ctx.In("indices"));
  return DTypeBits(indices->dtype()) < 32 ? Cast(indices, DType::kI32) : Term(indices);
}

Status ImportGather(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const Term indices, IndicesOf(ctx));
  GatherAttrs a;
  NN_ASSIGN(a.axis, ctx.Axis("axis", x->type().rank()));
  NN_ASSIGN(a.batch_dims, BatchDimsOf(ctx));
  return ctx.Emit("gather", {x, indices}, a);
}

Status ImportGatherNd(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const Term indices, IndicesOf(ctx));
  NN_ASSIGN(const int64_t batch_dims, BatchDimsOf(ctx));
  return ctx.Emit("gather_nd", {x, indices}, GatherNdAttrs{batch_dims});
}

Status ImportGatherAlongAxis(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const Term indices, IndicesOf(ctx));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", x->type().rank()));
  return ctx.Emit("gather_elements", {x, indices}, GatherElementsAttrs{axis});
}

// ---- Scatter ------------------------------------------------------------------------------------

// Combines data with updates.
using Scatter = std::function<Term(const Term& data, const Term& updates, Reduction reduction)>;

// Quotients are of the data and products of updates, and are rounded once.
Status EmitQuotients(ImportContext& ctx, const Scatter& scatter) {
  NN_ASSIGN(Value* const data, ctx.In("data"));
  NN_ASSIGN(Value* const updates, ctx.In("updates"));
  const DType wide = data->dtype() == DType::kF16 ? DType::kF32 : data->dtype();
  NN_ASSIGN(const Term one, nn::Number(wide, 1));
  const Term ones =
      Apply("expand", {one, Apply("shape_of", {data}, ShapeOfAttrs{})}, ExpandAttrs{});
  return ctx.EmitCast(Cast(data, wide) / scatter(ones, Cast(updates, wide), Reduction::kMul));
}

Status EmitScatter(ImportContext& ctx, const Scatter& scatter) {
  NN_ASSIGN(Value* const data, ctx.In("data"));
  NN_ASSIGN(Value* const updates, ctx.In("updates"));
  NN_ASSIGN(const std::string mode, ctx.String("mode"));
  if (mode == "update") return ctx.EmitTerm(scatter(data, updates, Reduction::kNone));
  if (mode == "add") return ctx.EmitTerm(scatter(data, updates, Reduction::kAdd));
  if (mode == "sub") return ctx.EmitTerm(scatter(data, -Term(updates), Reduction::kAdd));
  if (mode == "mul") return ctx.EmitTerm(scatter(data, updates, Reduction::kMul));
  if (mode == "div") return EmitQuotients(ctx, scatter);
  if (mode == "min") return ctx.EmitTerm(scatter(data, updates, Reduction::kMin));
  if (mode == "max") return ctx.EmitTerm(scatter(data, updates, Reduction::kMax));
  return ModelError("mode {} is unknown", mode);
}

// x of a rank, with `count` axes from `begin` on before the others.
Term MovedToFront(const Term& x, int64_t rank, int64_t begin, int64_t count) {
  if (begin == 0 || count == 0) return x;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + begin, perm.begin() + begin + count);
  return Transpose(x, std::move(perm));
}

// Whole slices along an axis: of the first axis, one coordinate each.
Status ImportScatter(ImportContext& ctx) {
  NN_ASSIGN(const Value* const data, ctx.Ranked("data"));
  NN_ASSIGN(Value* const indices, ctx.Ranked("indices"));
  NN_ASSIGN(const Value* const updates, ctx.Ranked("updates"));
  const int64_t rank = data->type().rank(), count = indices->type().rank();
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", static_cast<int>(rank)));
  if (updates->type().rank() != rank - 1 + count)
    return ModelError("the updates are {} for {} indices in {}", updates->type().ToString(),
                      indices->type().ToString(), data->type().ToString());
  return EmitScatter(ctx, [&](const Term& to, const Term& values, Reduction reduction) {
    const Term y = Apply("scatter_nd",
                         {MovedToFront(to, rank, axis, 1), ExpandDims(indices, {-1}),
                          MovedToFront(values, rank - 1 + count, axis, count)},
                         ScatterNdAttrs{reduction});
    return MovedToFront(y, rank, 1, axis);
  });
}

Status ImportScatterAlongAxis(ImportContext& ctx) {
  NN_ASSIGN(const Value* const data, ctx.Ranked("data"));
  NN_ASSIGN(Value* const indices, ctx.In("indices"));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", data->type().rank()));
  return EmitScatter(ctx, [&](const Term& to, const Term& values, Reduction reduction) {
    return Apply("scatter_elements", {to, indices, values}, ScatterElementsAttrs{axis, reduction});
  });
}

Status ImportScatterNd(ImportContext& ctx) {
  NN_ASSIGN(Value* const indices, ctx.In("indices"));
  return EmitScatter(ctx, [&](const Term& to, const Term& values, Reduction reduction) {
    return Apply("scatter_nd", {to, indices, values}, ScatterNdAttrs{reduction});
  });
}

}  // namespace

Family IndexFamily() {
  static constexpr ImportRow kImports[] = {
      {"gather", ImportGather},
      {"gather_along_axis", ImportGatherAlongAxis},
      {"gather_nd", ImportGatherNd},
      {"scatter", ImportScatter},
      {"scatter_along_axis", ImportScatterAlongAxis},
      {"scatter_nd", ImportScatterNd},
  };
  return {kImports};
}

}  // namespace nn::coreml::program

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

// ---- Export -------------------------------------------------------------------------------------

// Integers of the same shape.
Type AsIntegers(const Value* v) {
  return {DType::kI32, *v->type().dims};
}

// An operation with the operands of the node under these names. No operation moves booleans to or
// from places, so that integers stand for them.
class IndexedWriter {
 public:
  IndexedWriter(ExportContext& ctx, const Node& node, std::string_view type)
      : ctx_(ctx), node_(node), op_(ctx.Add(type)) {}

  OperationWriter& op() { return op_; }
  Status Bind(std::initializer_list<std::string_view> names) {
    size_t i = 0;
    for (const std::string_view name : names) {
      const Value* const v = node_.input(i++);
      if (v->dtype() != DType::kBool) {
        op_.In(name, v);
        continue;
      }
      NN_ASSIGN(const std::string integers,
                ctx_.Add("cast").In("x", v).Text("dtype", "int32").Helper(AsIntegers(v), node_));
      op_.In(name, integers);
    }
    return {};
  }
  Status Finish() {
    const Value* const y = node_.output();
    if (y->dtype() != DType::kBool) return op_.To(node_);
    NN_ASSIGN(const std::string integers, op_.Helper(AsIntegers(y), node_));
    return ctx_.Add("cast").In("x", integers).Text("dtype", "bool").To(node_);
  }

 private:
  ExportContext& ctx_;
  const Node& node_;
  OperationWriter op_;
};

// The batch_dims, counted from the front, unless they are 0: the first operation set has none.
void SetBatchDims(OperationWriter& op, const Node& node, int64_t batch_dims) {
  if (batch_dims < 0) batch_dims += node.input(1)->type().rank();
  if (batch_dims != 0) op.Int("batch_dims", batch_dims);
}

Status WriteGather(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GatherAttrs>();
  IndexedWriter gather(ctx, node, "gather");
  NN_RETURN_IF_ERROR(gather.Bind({"x", "indices"}));
  gather.op().Int("axis", a.axis);
  SetBatchDims(gather.op(), node, a.batch_dims);
  return gather.Finish();
}

Status WriteGatherElements(ExportContext& ctx, const Node& node) {
  IndexedWriter gather(ctx, node, "gather_along_axis");
  NN_RETURN_IF_ERROR(gather.Bind({"x", "indices"}));
  gather.op().Int("axis", node.attrs<GatherElementsAttrs>().axis);
  return gather.Finish();
}

Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  IndexedWriter gather(ctx, node, "gather_nd");
  NN_RETURN_IF_ERROR(gather.Bind({"x", "indices"}));
  SetBatchDims(gather.op(), node, node.attrs<GatherNdAttrs>().batch_dims);
  return gather.Finish();
}

std::string_view ScatterModeOf(Reduction reduction) {
  return reduction == Reduction::kNone ? "update" : EnumName(reduction);
}

Status WriteScatterElements(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScatterElementsAttrs>();
  IndexedWriter scatter(ctx, node, "scatter_along_axis");
  NN_RETURN_IF_ERROR(scatter.Bind({"data", "indices", "updates"}));
  scatter.op().Int("axis", a.axis).Text("mode", ScatterModeOf(a.reduction));
  return scatter.Finish();
}

Status WriteScatterNd(ExportContext& ctx, const Node& node) {
  IndexedWriter scatter(ctx, node, "scatter_nd");
  NN_RETURN_IF_ERROR(scatter.Bind({"data", "indices", "updates"}));
  scatter.op().Text("mode", ScatterModeOf(node.attrs<ScatterNdAttrs>().reduction));
  return scatter.Finish();
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
  static constexpr ExportRow kExports[] = {
      {"gather", WriteGather},        {"gather_elements", WriteGatherElements},
      {"gather_nd", WriteGatherNd},   {"scatter_elements", WriteScatterElements},
      {"scatter_nd", WriteScatterNd},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program

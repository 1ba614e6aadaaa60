#include "formats/tflite/import.h"
#include "ops/concat.h"
#include "ops/gather.h"
#include "ops/generate.h"
#include "ops/movement.h"
#include "ops/scatter.h"
#include "ops/select.h"
#include "ops/shape.h"
#include "ops/tile.h"

namespace nn::tflite {
namespace {

Status ImportGather(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::GatherOptions>());
  return ctx.Emit("gather", ctx.inputs(), GatherAttrs{o->axis(), o->batch_dims()});
}

Status ImportGatherNd(ImportContext& ctx) {
  return ctx.Emit("gather_nd", ctx.inputs(), GatherNdAttrs{});
}

// Rows of a table. kUnsupported for tables of integers that the kernels turn into floats.
Status ImportEmbeddingLookup(ImportContext& ctx) {
  NN_ASSIGN(Value* const ids, ctx.Required(0));
  NN_ASSIGN(Value* const table, ctx.Required(1));
  if (table->dtype() != ctx.output_type().dtype)
    return UnsupportedError("a table {} for {} output", table->type().ToString(),
                            DTypeName(ctx.output_type().dtype));
  return ctx.Emit("gather", {table, ids}, GatherAttrs{});
}

// Updates to one place are added up, beginning with zero.
Status ImportScatterNd(ImportContext& ctx) {
  NN_ASSIGN(Value* const indices, ctx.Required(0));
  NN_ASSIGN(Value* const updates, ctx.Required(1));
  NN_ASSIGN(Value* const shape, ctx.Required(2));
  NN_ASSIGN(Tensor zero, ZeroElement(Type(updates->dtype(), {})));
  NN_ASSIGN(zero, zero.Reshaped({}));
  NN_ASSIGN(Value* const zeros, ctx.Add("expand", {ctx.Constant(zero), shape}, ExpandAttrs{}));
  const Reduction reduction = updates->dtype() == DType::kBool ? Reduction::kNone : Reduction::kAdd;
  return ctx.Emit("scatter_nd", {zeros, indices, updates}, ScatterNdAttrs{reduction});
}

Status ImportOneHot(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::OneHotOptions>());
  NN_ASSIGN(Value* const indices, ctx.Required(0));
  NN_ASSIGN(Value* const depth, ctx.Required(1));
  std::vector<Value*> values;
  for (const size_t i : {3, 2}) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    NN_ASSIGN(Value* const element,
              ctx.Add("reshape", {v}, ReshapeAttrs{{Dim(1)}, false}, v->type().quant));
    values.push_back(element);
  }
  NN_ASSIGN(Value* const pair, ctx.Add("concat", values, ConcatAttrs{0}, values[0]->type().quant));
  return ctx.Emit("one_hot", {indices, depth, pair}, OneHotAttrs{o->axis(), false});
}

// Positions as rows, where the graph has them as columns.
Status ImportWhere(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const columns, ctx.Add("non_zero", {x}));
  return ctx.Emit("transpose", {columns}, TransposeAttrs{{1, 0}});
}

Status ImportUnique(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::UniqueOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  UniqueAttrs a;
  a.sorted = false;
  a.index_type = o->idx_out_type() == fb::TensorType::INT64 ? DType::kI64 : DType::kI32;
  NN_ASSIGN(Node* const node, ctx.graph().Append("unique", {x}, a, 3));
  ctx.SetOutput(0, node->output(0));
  if (ctx.output_count() > 1) ctx.SetOutput(1, node->output(2));
  return {};
}

Status ImportReverseSequence(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ReverseSequenceOptions>());
  return ctx.Emit("reverse_sequence", ctx.inputs(),
                  ReverseSequenceAttrs{o->batch_dim(), o->seq_dim()});
}

}  // namespace

void AddGatherImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::GATHER, ImportGather);
  t.Add(Op::GATHER_ND, ImportGatherNd);
  t.Add(Op::EMBEDDING_LOOKUP, ImportEmbeddingLookup);
  t.Add(Op::SCATTER_ND, ImportScatterNd);
  t.Add(Op::ONE_HOT, ImportOneHot);
  t.Add(Op::WHERE, ImportWhere);
  t.Add(Op::UNIQUE, ImportUnique);
  t.Add(Op::REVERSE_SEQUENCE, ImportReverseSequence);
}

}  // namespace nn::tflite

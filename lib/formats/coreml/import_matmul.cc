#include "formats/coreml/import.h"
#include "formats/coreml/weights.h"
#include "ops/gather.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "ops/reduce.h"
#include "ops/shape.h"

namespace nn::coreml {
namespace {

// Rank 1 to 3: over the last axis. Rank 4 and 5: over C, H and W, of which the result has C.
Status ImportInnerProduct(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t inputs, p.Size("inputChannels"));
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  if (p.Bool("int8DynamicQuantize"))
    return UnsupportedError("an inner product that quantises its input (int8DynamicQuantize)");
  NN_ASSIGN(Value * x, ctx.Float(0));
  const Dims dims = *x->type().dims;
  if (dims.size() > 5) return ModelError("its input has rank {}", dims.size());
  Dims out;
  if (dims.size() >= 4) {
    out.assign(dims.begin(), dims.end() - 3);
    Dims flat = out;
    flat.push_back(Product(Dims(dims.end() - 3, dims.end())));
    NN_ASSIGN(x, ctx.Reshape(x, std::move(flat)));
    out.insert(out.end(), {Dim(outputs), Dim(1), Dim(1)});
  }
  NN_ASSIGN(Value* const w, ctx.Weights("weights", {outputs, inputs}));
  NN_ASSIGN(auto operands, ctx.WithBias({x, w}, outputs));
  NN_ASSIGN(Value * y, ctx.Add("matmul", std::move(operands), MatmulAttrs{false, true}));
  if (!out.empty()) {
    NN_ASSIGN(y, ctx.Reshape(y, std::move(out)));
  }
  ctx.SetOutput(0, y);
  return {};
}

// With one input the right-hand matrix [X1, X2] is stored in columns, so as [X2, X1] in rows.
Status ImportBatchedMatmul(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  if (p.Bool("int8DynamicQuantize"))
    return UnsupportedError("a product that quantises its input (int8DynamicQuantize)");
  NN_ASSIGN(Value* const a, ctx.Float(0));
  if (ctx.input_count() == 2) {
    NN_ASSIGN(Value* const b, ctx.Float(1));
    return ctx.Emit("matmul", {a, b}, MatmulAttrs{p.Bool("transposeA"), p.Bool("transposeB")});
  }
  NN_ASSIGN(const int64_t rows, p.Size("weightMatrixFirstDimension"));
  NN_ASSIGN(const int64_t columns, p.Size("weightMatrixSecondDimension"));
  NN_ASSIGN(Value* const b, ctx.Weights("weights", {columns, rows}));
  NN_ASSIGN(auto operands, ctx.WithBias({a, b}, columns));
  return ctx.Emit("matmul", std::move(operands), MatmulAttrs{false, true});
}

// Indices [..., 1]; the vectors take the place of the last axis.
Status ImportEmbeddingNd(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t vocabulary, p.Size("vocabSize"));
  NN_ASSIGN(const int64_t size, p.Size("embeddingSize"));
  NN_ASSIGN(Value * indices, ctx.Index(0));
  const int rank = indices->type().rank();
  if (rank < 1 || !(indices->type().dim(rank - 1) == 1))
    return ModelError("the indices are {}", indices->type().ToString());
  NN_ASSIGN(indices, Rearrange(ctx.graph(), indices, AxisMap::Remove(rank, rank - 1)));
  NN_ASSIGN(const Value* const w, ctx.Weights("weights", {size, vocabulary}));
  NN_ASSIGN(Tensor rows, RearrangeTensor(w->constant(), AxisMap::Permutation({1, 0})));
  NN_ASSIGN(Value * y, ctx.Add("gather", {ctx.Constant(std::move(rows)), indices}, GatherAttrs{}));
  if (p.Bool("hasBias")) {
    NN_ASSIGN(Value* const bias, ctx.Weights("bias", {size}));
    NN_ASSIGN(y, ctx.Add("add", {y, bias}));
  }
  ctx.SetOutput(0, y);
  return {};
}

// Indices [..., 1, 1, 1]; the vectors take the place of C.
Status ImportEmbedding(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t entries, p.Size("inputDim"));
  NN_ASSIGN(const int64_t size, p.Size("outputChannels"));
  NN_ASSIGN(Value * indices, ctx.Index(0));
  const Dims dims = *indices->type().dims;
  if (dims.size() < 4) return ModelError("its input has rank {}", dims.size());
  Dims lead(dims.begin(), dims.end() - 3);
  for (auto d = dims.end() - 3; d != dims.end(); ++d)
    if (!(*d == 1)) return ModelError("the indices are {}", indices->type().ToString());
  NN_ASSIGN(indices, ctx.Reshape(indices, lead));
  NN_ASSIGN(const Value* const w, ctx.Weights("weights", {size, entries}));
  NN_ASSIGN(Tensor rows, RearrangeTensor(w->constant(), AxisMap::Permutation({1, 0})));
  NN_ASSIGN(Value * y, ctx.Add("gather", {ctx.Constant(std::move(rows)), indices}, GatherAttrs{}));
  if (p.Bool("hasBias")) {
    NN_ASSIGN(Value* const bias, ctx.Weights("bias", {size}));
    NN_ASSIGN(y, ctx.Add("add", {y, bias}));
  }
  lead.insert(lead.end(), {Dim(size), Dim(1), Dim(1)});
  NN_ASSIGN(y, ctx.Reshape(y, std::move(lead)));
  ctx.SetOutput(0, y);
  return {};
}

// Over C; the operands are [..., C, 1, 1].
Status ImportDot(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(2, 2));
  NN_ASSIGN(Value * a, ctx.Float(0));
  NN_ASSIGN(Value * b, ctx.Float(1));
  if (a->type().rank() < 3 || b->type().rank() < 3)
    return ModelError("operands of rank {} and {}", a->type().rank(), b->type().rank());
  if (ctx.params().Bool("cosineSimilarity")) {
    const LpNormalizationAttrs unit{-3, 2};
    NN_ASSIGN(a, ctx.Add("lp_normalization", {a}, unit));
    NN_ASSIGN(b, ctx.Add("lp_normalization", {b}, unit));
  }
  NN_ASSIGN(Value* const products, ctx.Add("mul", {a, b}));
  return ctx.Emit("reduce_sum", {products}, ReduceAttrs{{-3}, true});
}

}  // namespace

void AddMatmulImports(ImportTable& t) {
  t["innerProduct"] = ImportInnerProduct;
  t["batchedMatmul"] = ImportBatchedMatmul;
  t["embedding"] = ImportEmbedding;
  t["embeddingND"] = ImportEmbeddingNd;
  t["dot"] = ImportDot;
}

}  // namespace nn::coreml

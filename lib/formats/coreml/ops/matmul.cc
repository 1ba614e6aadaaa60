#include "ops/math/matmul.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/shape.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// A layer with int8DynamicQuantize multiplies its int8 weights by an input that it quantizes in
// each run, in a way that is not published. It is imported as the float product that it
// approximates.

// Rank 1 to 3: over the last axis. Rank 4 and 5: over C, H and W, of which the result has C.
Status ImportInnerProduct(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t inputs, p.Size("inputChannels"));
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  NN_ASSIGN(Value * x, ctx.Float(0));
  const Dims dims = *x->type().dims;
  if (dims.size() > 5)
    return ModelError("the rank of the input must be at most 5, not {}", dims.size());
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

// With one input, the right-hand matrix [X1, X2] is stored column-major, i.e. as [X2, X1]
// row-major.
Status ImportBatchedMatmul(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
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

// Indices [..., 1]; the vectors replace the last axis.
Status ImportEmbeddingNd(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t vocabulary, p.Size("vocabSize"));
  NN_ASSIGN(const int64_t size, p.Size("embeddingSize"));
  NN_ASSIGN(Value * indices, ctx.Index(0));
  const int rank = indices->type().rank();
  if (rank < 1 || !(indices->type().dim(rank - 1) == 1))
    return ModelError("the indices are {}; the last size must be 1", indices->type().ToString());
  NN_ASSIGN(indices, Rearrange(ctx.graph(), indices, AxisMap::Remove(rank, rank - 1)));
  NN_ASSIGN(const Value* const w, ctx.Weights("weights", {size, vocabulary}));
  NN_ASSIGN(Tensor rows, RearrangeConstant(w->constant(), AxisMap::Permutation({1, 0})));
  NN_ASSIGN(Value * y, ctx.Add("gather", {ctx.Constant(std::move(rows)), indices}, GatherAttrs{}));
  if (p.Bool("hasBias")) {
    NN_ASSIGN(Value* const bias, ctx.Weights("bias", {size}));
    NN_ASSIGN(y, ctx.Add("add", {y, bias}));
  }
  ctx.SetOutput(0, y);
  return {};
}

// Indices [..., 1, 1, 1]; the vectors replace C.
Status ImportEmbedding(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t entries, p.Size("inputDim"));
  NN_ASSIGN(const int64_t size, p.Size("outputChannels"));
  NN_ASSIGN(Value * indices, ctx.Index(0));
  const Dims dims = *indices->type().dims;
  if (dims.size() < 4)
    return ModelError("the rank of the input must be 4 or more, not {}", dims.size());
  Dims lead(dims.begin(), dims.end() - 3);
  for (auto d = dims.end() - 3; d != dims.end(); ++d)
    if (!(*d == 1))
      return ModelError("the indices are {}; the last size must be 1", indices->type().ToString());
  NN_ASSIGN(indices, ctx.Reshape(indices, lead));
  NN_ASSIGN(const Value* const w, ctx.Weights("weights", {size, entries}));
  NN_ASSIGN(Tensor rows, RearrangeConstant(w->constant(), AxisMap::Permutation({1, 0})));
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
    return ModelError("the operands have ranks {} and {}; expected 3 or more", a->type().rank(),
                      b->type().rank());
  if (ctx.params().Bool("cosineSimilarity")) {
    const LpNormalizationAttrs unit{-3, 2};
    NN_ASSIGN(a, ctx.Add("lp_normalization", {a}, unit));
    NN_ASSIGN(b, ctx.Add("lp_normalization", {b}, unit));
  }
  NN_ASSIGN(Value* const products, ctx.Add("mul", {a, b}));
  return ctx.Emit("reduce_sum", {products}, ReduceAttrs{{-3}, true});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// A product with a constant matrix, up to rank 3 as an inner product.
bool HasWeights(const Node& node) {
  return ConstantOf(node, 1) != nullptr && node.input(1)->type().rank() == 2 &&
         !node.input(0)->is_constant();
}

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (!HasWeights(node)) {
    Writer p = ctx.AddLayer(node, "batchedMatmul");
    p.Bool("transposeA", a.transpose_a);
    p.Bool("transposeB", a.transpose_b);
    return {};
  }
  const Tensor& w = *ConstantOf(node, 1);
  const bool inner = node.input(0)->type().rank() <= 3;
  Writer p = ctx.AddLayer(node, inner ? "innerProduct" : "batchedMatmul", 1);
  p.Int(inner ? "inputChannels" : "weightMatrixFirstDimension", w.dim(1));
  p.Int(inner ? "outputChannels" : "weightMatrixSecondDimension", w.dim(0));
  WriteLayerWeights(p.Sub("weights"), w, ctx.trial());
  WriteBias(p, node);
  return {};
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (!HasWeights(node))
    return node.input(2) == nullptr
               ? std::nullopt
               : std::optional<std::string>("batchedMatmul of two blobs has no bias");
  if (a.transpose_a || !a.transpose_b)
    return "the weights must be transposed, with one row per output";
  if (node.input(2) != nullptr &&
      (ConstantOf(node, 2) == nullptr || ConstantOf(node, 2)->rank() != 1))
    return "the bias must be a constant vector";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kMatmulImports[] = {
    {.layer = "innerProduct", .import = ImportInnerProduct},
    {.layer = "batchedMatmul", .import = ImportBatchedMatmul},
    {.layer = "embedding", .import = ImportEmbedding},
    {.layer = "embeddingND", .import = ImportEmbeddingNd},
    {.layer = "dot", .import = ImportDot},
};

constexpr ExportRow kMatmulExports[] = {
    {.op = "matmul", .write = WriteMatmul, .why_not = WhyNotMatmul},
};

}  // namespace

Family MatmulFamily() {
  return {.imports = kMatmulImports, .exports = kMatmulExports};
}

}  // namespace nn::coreml

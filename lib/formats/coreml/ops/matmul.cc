#include "ops/math/matmul.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/shape.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// A layer with int8DynamicQuantize multiplies its int8 weights by an input that it quantizes in
// each run, in a way that is not published. It is imported as the float product that it
// approximates.

// Rank 1 to 3: over the last axis. Rank 4 and 5: over C, H and W, of which the result has C.
Status ImportInnerProduct(ImportContext& ctx) {
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t inputs, p.Size("inputChannels"));
  NN_ASSIGN(const int64_t outputs, p.Size("outputChannels"));
  Term x = ctx.input(0);
  const Dims dims = *ctx.input(0)->type().dims;
  if (dims.size() > 5)
    return ModelError("the rank of the input must be at most 5, not {}", dims.size());
  Dims out;
  if (dims.size() >= 4) {
    out.assign(dims.begin(), dims.end() - 3);
    Dims flat = out;
    flat.push_back(Product(Dims(dims.end() - 3, dims.end())));
    x = Reshape(x, std::move(flat));
    out.insert(out.end(), {Dim(outputs), Dim(1), Dim(1)});
  }
  NN_ASSIGN(Terms operands, ctx.Weighted(x, {outputs, inputs}, outputs));
  const Term y = Apply("matmul", std::move(operands), MatmulAttrs{false, true});
  return ctx.EmitTerm(out.empty() ? y : Reshape(y, std::move(out)));
}

// With one input, the right-hand matrix [X1, X2] is stored column-major, i.e. as [X2, X1]
// row-major.
Status ImportBatchedMatmul(ImportContext& ctx) {
  const Fields& p = ctx.params();
  if (ctx.input_count() == 2)
    return ctx.Emit("matmul", ctx.inputs(),
                    MatmulAttrs{p.Bool("transposeA"), p.Bool("transposeB")});
  NN_ASSIGN(const int64_t rows, p.Size("weightMatrixFirstDimension"));
  NN_ASSIGN(const int64_t columns, p.Size("weightMatrixSecondDimension"));
  NN_ASSIGN(const Terms operands, ctx.Weighted(ctx.input(0), {columns, rows}, columns));
  return ctx.Emit("matmul", operands, MatmulAttrs{false, true});
}

// The vectors at the indices, from `count` vectors of `size` elements, which are columns.
Result<Term> Embed(ImportContext& ctx, const Term& indices, int64_t count, int64_t size) {
  NN_ASSIGN(const Value* const w, ctx.Weights("weights", {size, count}));
  NN_ASSIGN(Tensor rows, RearrangeConstant(w->constant(), AxisMap::Permutation({1, 0})));
  const Term y = Gather(std::move(rows), indices, 0);
  if (!ctx.params().Bool("hasBias")) return y;
  NN_ASSIGN(Value* const bias, ctx.Weights("bias", {size}));
  return y + bias;
}

// Indices [..., 1]; the vectors replace the last axis.
Status ImportEmbeddingNd(ImportContext& ctx) {
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t vocabulary, p.Size("vocabSize"));
  NN_ASSIGN(const int64_t size, p.Size("embeddingSize"));
  Value* indices = ctx.input(0);
  const int rank = indices->type().rank();
  if (rank < 1 || !(indices->type().dim(rank - 1) == 1))
    return ModelError("the indices are {}; the last size must be 1", indices->type().ToString());
  NN_ASSIGN(indices, Rearrange(ctx.graph(), indices, AxisMap::Remove(rank, rank - 1)));
  NN_ASSIGN(const Term y, Embed(ctx, indices, vocabulary, size));
  return ctx.EmitTerm(y);
}

// Indices [..., 1, 1, 1]; the vectors replace C.
Status ImportEmbedding(ImportContext& ctx) {
  const Fields& p = ctx.params();
  NN_ASSIGN(const int64_t entries, p.Size("inputDim"));
  NN_ASSIGN(const int64_t size, p.Size("outputChannels"));
  Value* const indices = ctx.input(0);
  const Dims dims = *indices->type().dims;
  if (dims.size() < 4)
    return ModelError("the rank of the input must be 4 or more, not {}", dims.size());
  Dims lead(dims.begin(), dims.end() - 3);
  for (auto d = dims.end() - 3; d != dims.end(); ++d)
    if (!(*d == 1))
      return ModelError("the indices are {}; the last size must be 1", indices->type().ToString());
  NN_ASSIGN(const Term y, Embed(ctx, Reshape(indices, lead), entries, size));
  lead.insert(lead.end(), {Dim(size), Dim(1), Dim(1)});
  return ctx.EmitTerm(Reshape(y, std::move(lead)));
}

// Over C; the operands are [..., C, 1, 1].
Status ImportDot(ImportContext& ctx) {
  const int ranks[] = {ctx.input(0)->type().rank(), ctx.input(1)->type().rank()};
  if (ranks[0] < 3 || ranks[1] < 3)
    return ModelError("the operands have ranks {} and {}; expected 3 or more", ranks[0], ranks[1]);
  Term a = ctx.input(0), b = ctx.input(1);
  if (ctx.params().Bool("cosineSimilarity")) {
    const LpNormalizationAttrs unit{-3, 2};
    a = Apply("lp_normalization", {a}, unit);
    b = Apply("lp_normalization", {b}, unit);
  }
  return ctx.EmitTerm(ReduceSum(a * b, {-3}, true));
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
    {.layer = "innerProduct", .import = ImportInnerProduct, .inputs = "f"},
    {.layer = "batchedMatmul", .import = ImportBatchedMatmul, .inputs = "f?f"},
    {.layer = "embedding", .import = ImportEmbedding, .inputs = "i"},
    {.layer = "embeddingND", .import = ImportEmbeddingNd, .inputs = "i"},
    {.layer = "dot", .import = ImportDot, .inputs = "ff"},
};

constexpr ExportRow kMatmulExports[] = {
    {.op = "matmul", .write = WriteMatmul, .why_not = WhyNotMatmul},
};

}  // namespace

Family MatmulFamily() {
  return {.imports = kMatmulImports, .exports = kMatmulExports};
}

}  // namespace nn::coreml

// Normalizations that ONNX Runtime adds: of com.microsoft, and SimplifiedLayerNormalization, which
// it also has in the domain of ONNX.
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "formats/onnx/import/trailing_norm.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/norm.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// ---- Sums that are normalized

// The sum of the inputs that are present. ONNX Runtime adds and normalizes 16-bit floats in
// float32.
Term SumOf(const ImportContext& ctx, std::initializer_list<size_t> inputs) {
  Term sum;
  for (const size_t i : inputs)
    if (Value* const v = ctx.input(i)) sum = sum.is_absent() ? InFloat(v) : sum + InFloat(v);
  return sum;
}

Status ImportSimplifiedLayerNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const scale = ctx.input(1);
  const RmsNormAttrs a{ctx.Int("axis", -1), ctx.Float("epsilon", 1e-5f)};
  NN_ASSIGN(const auto results, AddTrailingNorm(ctx, "rms_norm", {x, scale}, a));
  ctx.SetOutput(0, results[0]);
  if (!ctx.WantsOutput(1)) return {};
  NN_ASSIGN(const Term inverse, InverseRootMeanSquare(ctx, x, a.axis, a.epsilon));
  return ctx.EmitTerm(inverse, 1);
}

// Outputs: the result, the mean and the inverse standard deviation, the sum of inputs.
Status ImportSkipLayerNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Value* const sum, ctx.Build(SumOf(ctx, {0, 1, 4})));
  std::vector<Term> inputs = {sum};
  for (const size_t i : {2, 3})
    if (Value* const v = ctx.input(i)) inputs.push_back(InFloat(v));
  const std::vector<Term> results =
      ApplyAll("layer_norm", std::move(inputs), LayerNormAttrs{-1, ctx.Float("epsilon", 1e-12f)},
               ctx.WantsOutput(1) || ctx.WantsOutput(2) ? 3 : 1);
  NN_ASSIGN(Value* const y, ctx.Build(results[0]));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(As(y, x->dtype())));
  for (size_t i = 1; i < results.size(); ++i) NN_RETURN_IF_ERROR(ctx.EmitTerm(results[i], i));
  return ctx.EmitTerm(As(sum, x->dtype()), 3);
}

// The same by the root mean square, which has no mean.
Status ImportSkipSimplifiedLayerNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const scale = ctx.input(2);
  if (ctx.WantsOutput(1)) return UnsupportedError("{} with a mean", ctx.node().op_type());
  NN_ASSIGN(Value* const sum, ctx.Build(SumOf(ctx, {0, 1, 3})));
  NN_ASSIGN(Value* const gamma, ctx.Build(InFloat(scale)));
  const float epsilon = ctx.Float("epsilon", 1e-12f);
  NN_ASSIGN(const auto results,
            AddTrailingNorm(ctx, "rms_norm", {sum, gamma}, RmsNormAttrs{-1, epsilon}));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(As(results[0], x->dtype())));
  if (ctx.WantsOutput(2)) {
    NN_ASSIGN(const Term inverse, InverseRootMeanSquare(ctx, sum, -1, epsilon));
    NN_RETURN_IF_ERROR(ctx.EmitTerm(inverse, 2));
  }
  return ctx.EmitTerm(As(sum, x->dtype()), 3);
}

// ---- EmbedLayerNormalization

// The rows of the table, input `table`, that input `ids` selects.
Result<Value*> Embedded(ImportContext& ctx, const Term& ids, size_t table) {
  NN_ASSIGN(Value* const rows, ctx.Required(table));
  return ctx.Build(Gather(rows, ids, 0));
}

// The number of ones in each row of the mask; without a mask, zeros.
Term MaskCounts(const ImportContext& ctx, Value* ids) {
  Value* const mask = ctx.input(7);
  const Term is_one = mask != nullptr ? Equal(mask, 1) : Apply("not_equal", {ids, ids});
  return ReduceSum(Cast(is_one, DType::kI32), {1}, false);
}

Status ImportEmbedLayerNorm(ImportContext& ctx) {
  Value* const ids = ctx.input(0);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, ids, "input_ids", 2, 2));
  NN_ASSIGN(Value* const words, Embedded(ctx, ids, 2));
  const DType type = words->dtype();
  Term positions = ctx.input(8);
  if (positions.is_absent()) {
    positions = AxisPositions(ids, 1);
  }
  Term all = InFloat(words);
  for (const auto& [table, index] : {std::pair(3, positions), std::pair(4, Term(ctx.input(1)))}) {
    if (index.is_absent()) continue;
    NN_ASSIGN(Value* const rows, Embedded(ctx, index, static_cast<size_t>(table)));
    all = all + InFloat(rows);
  }
  NN_ASSIGN(Value* const sum, ctx.Build(all));
  std::vector<Value*> inputs = {sum};
  for (const size_t i : {5, 6}) {
    NN_ASSIGN(Value* const given, ctx.Required(i));
    NN_ASSIGN(inputs.emplace_back(), ctx.Build(InFloat(given)));
  }
  NN_ASSIGN(const auto results, AddTrailingNorm(ctx, "layer_norm", std::move(inputs),
                                                LayerNormAttrs{-1, ctx.Float("epsilon", 1e-12f)}));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(As(results[0], type)));
  if (ctx.WantsOutput(1)) {
    if (const int64_t kind = ctx.Int("mask_index_type", 0); kind != 0)
      return UnsupportedError("EmbedLayerNormalization with mask_index_type = {}", kind);
    NN_RETURN_IF_ERROR(ctx.EmitTerm(MaskCounts(ctx, ids), 1));
  }
  return ctx.EmitTerm(As(sum, type), 2);
}

// ---- GroupNorm, SkipGroupNorm

// The normalization of x and, if `activation` is 1, x * sigmoid(x).
Status EmitGroupNorm(ImportContext& ctx, Value* x, DType type) {
  NN_ASSIGN(const int64_t groups, ctx.RequiredInt("groups"));
  NN_ASSIGN(const int64_t activation, ctx.RequiredInt("activation"));
  if (activation != 0 && activation != 1)
    return UnsupportedError("{} with activation = {}", ctx.node().op_type(), activation);
  std::vector<Term> inputs = {x};
  for (const size_t i : {1, 2}) {
    NN_ASSIGN(Value* const given, ctx.Required(i));
    inputs.push_back(As(given, x->dtype()));
  }
  const Layout layout = ctx.Int("channels_last", 1) != 0 ? Layout::kNxc : Layout::kNcx;
  Term y = Apply("group_norm", std::move(inputs),
                 GroupNormAttrs{groups, ctx.Float("epsilon", 1e-5f), layout});
  if (activation == 1) y = Apply("silu", {y});
  return ctx.EmitTerm(As(y, x->dtype(), type));
}

Status ImportContribGroupNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Value* const wide, ctx.Build(InFloat(x)));
  return EmitGroupNorm(ctx, wide, x->dtype());
}

// X + skip + bias, normalized; the sum is the second output.
Status ImportSkipGroupNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Value* const skip, ctx.Required(3));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, x, "X", 4, 4));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, skip, "skip", 4, 4));
  if (ctx.Int("channels_last", 1) == 0)
    return UnsupportedError("SkipGroupNorm with the channels as axis 1");
  NN_ASSIGN(Value* const sum, ctx.Build(SumOf(ctx, {0, 3, 4})));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(As(sum, x->dtype()), 1));
  return EmitGroupNorm(ctx, sum, x->dtype());
}

constexpr ImportRow kContribNormImports[] = {
    {.op = "EmbedLayerNormalization",
     .import = ImportEmbedLayerNorm,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "GroupNorm", .import = ImportContribGroupNorm, .inputs = 1, .domain = kMicrosoft},
    {.op = "SimplifiedLayerNormalization", .import = ImportSimplifiedLayerNorm, .inputs = 2},
    {.op = "SimplifiedLayerNormalization",
     .import = ImportSimplifiedLayerNorm,
     .inputs = 2,
     .domain = kMicrosoft},
    {.op = "SkipGroupNorm", .import = ImportSkipGroupNorm, .inputs = 1, .domain = kMicrosoft},
    {.op = "SkipLayerNormalization",
     .import = ImportSkipLayerNorm,
     .inputs = 3,
     .domain = kMicrosoft},
    {.op = "SkipSimplifiedLayerNormalization",
     .import = ImportSkipSimplifiedLayerNorm,
     .inputs = 3,
     .domain = kMicrosoft},
};

}  // namespace

Family ContribNormFamily() {
  return {.imports = kContribNormImports};
}

}  // namespace nn::onnx

// Normalizations that ONNX Runtime adds: of com.microsoft, and SimplifiedLayerNormalization, which
// it also has in the domain of ONNX.
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "formats/onnx/import/trailing_norm.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {
namespace {

// ---- Sums that are normalized

// The sum of the inputs that are present. ONNX Runtime adds and normalizes 16-bit floats in
// float32.
Result<Value*> SumOf(ImportContext& ctx, std::initializer_list<size_t> inputs) {
  Value* sum = nullptr;
  for (const size_t i : inputs) {
    Value* v = ctx.input(i);
    if (v == nullptr) continue;
    NN_ASSIGN(v, InFloat(ctx, v));
    if (sum == nullptr) {
      sum = v;
    } else {
      NN_ASSIGN(sum, ctx.Add("add", {sum, v}));
    }
  }
  return sum;
}

// The input as a scale or bias of float32 statistics; null if it is absent.
Result<Value*> Parameter(ImportContext& ctx, size_t i) {
  Value* const v = ctx.input(i);
  return v == nullptr ? Result<Value*>(v) : InFloat(ctx, v);
}

Status ImportSimplifiedLayerNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const scale, ctx.Required(1));
  const RmsNormAttrs a{ctx.Int("axis", -1), ctx.Float("epsilon", 1e-5f)};
  NN_ASSIGN(const auto results, AddTrailingNorm(ctx, "rms_norm", {x, scale}, a));
  ctx.SetOutput(0, results[0]);
  if (ctx.WantsOutput(1)) {
    NN_ASSIGN(Value* const inverse, InverseRootMeanSquare(ctx, x, a.axis, a.epsilon));
    ctx.SetOutput(1, inverse);
  }
  return {};
}

// Outputs: the result, the mean and the inverse standard deviation, the sum of inputs.
Status ImportSkipLayerNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN([[maybe_unused]] Value* const skip, ctx.Required(1));
  NN_ASSIGN([[maybe_unused]] Value* const gamma, ctx.Required(2));
  NN_ASSIGN(Value* const sum, SumOf(ctx, {0, 1, 4}));
  std::vector<Value*> inputs = {sum};
  for (const size_t i : {2, 3}) {
    NN_ASSIGN(Value* const v, Parameter(ctx, i));
    if (v != nullptr) inputs.push_back(v);
  }
  NN_ASSIGN(Node* const node, ctx.AddNode("layer_norm", std::move(inputs),
                                          LayerNormAttrs{-1, ctx.Float("epsilon", 1e-12f)},
                                          ctx.WantsOutput(1) || ctx.WantsOutput(2) ? 3 : 1));
  NN_ASSIGN(Value* const y, AddCast(ctx, node->output(0), x->dtype()));
  ctx.SetOutput(0, y);
  for (size_t i = 1; i < node->outputs().size(); ++i) ctx.SetOutput(i, node->output(i));
  NN_ASSIGN(Value* const total, AddCast(ctx, sum, x->dtype()));
  ctx.SetOutput(3, total);
  return {};
}

// The same by the root mean square, which has no mean.
Status ImportSkipSimplifiedLayerNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN([[maybe_unused]] Value* const skip, ctx.Required(1));
  NN_ASSIGN([[maybe_unused]] Value* const given, ctx.Required(2));
  if (ctx.WantsOutput(1)) return UnsupportedError("{} with a mean", ctx.node().op_type());
  NN_ASSIGN(Value* const sum, SumOf(ctx, {0, 1, 3}));
  NN_ASSIGN(Value* const gamma, Parameter(ctx, 2));
  const float epsilon = ctx.Float("epsilon", 1e-12f);
  NN_ASSIGN(const auto results,
            AddTrailingNorm(ctx, "rms_norm", {sum, gamma}, RmsNormAttrs{-1, epsilon}));
  NN_ASSIGN(Value* const y, AddCast(ctx, results[0], x->dtype()));
  ctx.SetOutput(0, y);
  if (ctx.WantsOutput(2)) {
    NN_ASSIGN(Value* const inverse, InverseRootMeanSquare(ctx, sum, -1, epsilon));
    ctx.SetOutput(2, inverse);
  }
  NN_ASSIGN(Value* const total, AddCast(ctx, sum, x->dtype()));
  ctx.SetOutput(3, total);
  return {};
}

// ---- EmbedLayerNormalization

// The rows of the table, input `table`, that input `ids` selects.
Result<Value*> Embedded(ImportContext& ctx, Value* ids, size_t table) {
  NN_ASSIGN(Value* const rows, ctx.Required(table));
  return ctx.Add("gather", {rows, ids}, GatherAttrs{0, 0});
}

// The number of ones in each row of the mask; without a mask, zeros.
Result<Value*> MaskCounts(ImportContext& ctx, Value* ids) {
  Value* mask = ctx.input(7);
  Value* is_one = nullptr;
  if (mask != nullptr) {
    NN_ASSIGN(Value* const one, ctx.Number(mask->dtype(), 1));
    NN_ASSIGN(is_one, ctx.Add("equal", {mask, one}));
  } else {
    NN_ASSIGN(is_one, ctx.Add("not_equal", {ids, ids}));
  }
  NN_ASSIGN(is_one, AddCast(ctx, is_one, DType::kI32));
  return ctx.Add("reduce_sum", {is_one}, ReduceAttrs{{1}, false});
}

Status ImportEmbedLayerNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const ids, ctx.Required(0));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, ids, "input_ids", 2, 2));
  NN_ASSIGN(Value * sum, Embedded(ctx, ids, 2));
  const DType type = sum->dtype();
  Value* positions = ctx.input(8);
  if (positions == nullptr) {
    const AddOperator add = [&](std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
      return ctx.Add(op, std::move(inputs), std::move(attrs));
    };
    NN_ASSIGN(positions, AxisPositions(ctx.graph(), add, ids, 1));
  }
  NN_ASSIGN(sum, InFloat(ctx, sum));
  for (const auto& [table, index] : {std::pair(3, positions), std::pair(4, ctx.input(1))}) {
    if (index == nullptr) continue;
    NN_ASSIGN(Value * rows, Embedded(ctx, index, static_cast<size_t>(table)));
    NN_ASSIGN(rows, InFloat(ctx, rows));
    NN_ASSIGN(sum, ctx.Add("add", {sum, rows}));
  }
  std::vector<Value*> inputs = {sum};
  for (const size_t i : {5, 6}) {
    NN_ASSIGN([[maybe_unused]] Value* const given, ctx.Required(i));
    NN_ASSIGN(inputs.emplace_back(), Parameter(ctx, i));
  }
  NN_ASSIGN(const auto results, AddTrailingNorm(ctx, "layer_norm", std::move(inputs),
                                                LayerNormAttrs{-1, ctx.Float("epsilon", 1e-12f)}));
  NN_ASSIGN(Value* const y, AddCast(ctx, results[0], type));
  ctx.SetOutput(0, y);
  if (ctx.WantsOutput(1)) {
    if (const int64_t kind = ctx.Int("mask_index_type", 0); kind != 0)
      return UnsupportedError("EmbedLayerNormalization with mask_index_type = {}", kind);
    NN_ASSIGN(Value* const counts, MaskCounts(ctx, ids));
    ctx.SetOutput(1, counts);
  }
  NN_ASSIGN(Value* const total, AddCast(ctx, sum, type));
  ctx.SetOutput(2, total);
  return {};
}

// ---- GroupNorm, SkipGroupNorm

// The normalization of x and, if `activation` is 1, x * sigmoid(x).
Status EmitGroupNorm(ImportContext& ctx, Value* x, DType type) {
  NN_ASSIGN(const int64_t groups, ctx.RequiredInt("groups"));
  NN_ASSIGN(const int64_t activation, ctx.RequiredInt("activation"));
  if (activation != 0 && activation != 1)
    return UnsupportedError("{} with activation = {}", ctx.node().op_type(), activation);
  std::vector<Value*> inputs = {x};
  for (const size_t i : {1, 2}) {
    NN_ASSIGN([[maybe_unused]] Value* const given, ctx.Required(i));
    NN_ASSIGN(inputs.emplace_back(), AddCast(ctx, given, x->dtype()));
  }
  const Layout layout = ctx.Int("channels_last", 1) != 0 ? Layout::kNxc : Layout::kNcx;
  NN_ASSIGN(Value * y, ctx.Add("group_norm", std::move(inputs),
                               GroupNormAttrs{groups, ctx.Float("epsilon", 1e-5f), layout}));
  if (activation == 1) {
    NN_ASSIGN(y, ctx.Add("silu", {y}));
  }
  NN_ASSIGN(y, AddCast(ctx, y, type));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportContribGroupNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const wide, InFloat(ctx, x));
  return EmitGroupNorm(ctx, wide, x->dtype());
}

// X + skip + bias, normalized; the sum is the second output.
Status ImportSkipGroupNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const skip, ctx.Required(3));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, x, "X", 4, 4));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, skip, "skip", 4, 4));
  if (ctx.Int("channels_last", 1) == 0)
    return UnsupportedError("SkipGroupNorm with the channels as axis 1");
  NN_ASSIGN(Value* const sum, SumOf(ctx, {0, 3, 4}));
  NN_ASSIGN(Value* const total, AddCast(ctx, sum, x->dtype()));
  ctx.SetOutput(1, total);
  return EmitGroupNorm(ctx, sum, x->dtype());
}

constexpr ImportRow kContribNormImports[] = {
    {.op = "EmbedLayerNormalization", .import = ImportEmbedLayerNorm, .domain = kMicrosoft},
    {.op = "GroupNorm", .import = ImportContribGroupNorm, .domain = kMicrosoft},
    {.op = "SimplifiedLayerNormalization", .import = ImportSimplifiedLayerNorm},
    {.op = "SimplifiedLayerNormalization",
     .import = ImportSimplifiedLayerNorm,
     .domain = kMicrosoft},
    {.op = "SkipGroupNorm", .import = ImportSkipGroupNorm, .domain = kMicrosoft},
    {.op = "SkipLayerNormalization", .import = ImportSkipLayerNorm, .domain = kMicrosoft},
    {.op = "SkipSimplifiedLayerNormalization",
     .import = ImportSkipSimplifiedLayerNorm,
     .domain = kMicrosoft},
};

}  // namespace

Family ContribNormFamily() {
  return {.imports = kContribNormImports};
}

}  // namespace nn::onnx

#include <fmt/core.h>

#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "formats/coreml/export/integer_range.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {

namespace {

// Limit of Core ML: elements of rangeStatic, which must have fewer.
constexpr int64_t kMaxRange = int64_t{1} << 24;

Status ImportLoadConstantNd(ImportContext& ctx) {
  NN_ASSIGN(Value* const y, ctx.Weights("data", ctx.params().Ints("shape")));
  return ctx.EmitTerm(y);
}

// [C, H, W], expanded to rank 5.
Status ImportLoadConstant(ImportContext& ctx) {
  auto shape = ctx.params().Ints("shape");
  if (shape.size() != 3) return ModelError("shape has {} entries; expected 3", shape.size());
  shape.insert(shape.begin(), {1, 1});
  NN_ASSIGN(Value* const y, ctx.Weights("data", std::move(shape)));
  return ctx.EmitTerm(y);
}

Status Fill(ImportContext& ctx, Dims dims) {
  return ctx.Emit("expand", {ctx.params().Float("value")}, ExpandAttrs{std::move(dims)});
}

Status ImportFillStatic(ImportContext& ctx) {
  return Fill(ctx, ToDims(ctx.params().Ints("targetShape")));
}

Status ImportFillLike(ImportContext& ctx) {
  return Fill(ctx, *ctx.input(0)->type().dims);
}

Status ImportFillDynamic(ImportContext& ctx) {
  const Term value = Tensor::Scalar(ctx.params().Float("value"));
  return ctx.Emit("expand", {value, ctx.input(0)}, ExpandAttrs{});
}

Status ImportRangeStatic(ImportContext& ctx) {
  const Fields& p = ctx.params();
  const float start = p.Float("startValue"), step = p.Float("stepSizeValue");
  const double count = std::ceil((static_cast<double>(p.Float("endValue")) - start) / step);
  if (step == 0 || !(count < static_cast<double>(kMaxRange)))
    return ModelError("a range of {} elements is out of range", count);
  std::vector<float> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(Fma(static_cast<float>(i), step, start));
  return ctx.EmitTerm(Tensor::Of({static_cast<int64_t>(values.size())}, values));
}

// A scalar from an input of one element, or from a field.
Term NumberOf(const ImportContext& ctx, size_t input, std::string_view field) {
  if (input < ctx.input_count()) return Reshape(ctx.input(input), {});
  return ctx.params().Float(field);
}

// Inputs: end, start, step.
Status ImportRangeDynamic(ImportContext& ctx) {
  return ctx.Emit("range", {NumberOf(ctx, 1, "startValue"), Reshape(ctx.input(0), {}),
                            NumberOf(ctx, 2, "stepSizeValue")});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

Status WriteRange(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "rangeDynamic",
               {ctx.NameOf(node.input(1)), ctx.NameOf(node.input(0)), ctx.NameOf(node.input(2))},
               {ctx.NameOf(node.output())});
  return {};
}

std::optional<std::string> WhyNotRange(const Node& node) {
  const DType dtype = node.output()->dtype();
  if (dtype == DType::kF32 || IsExactArithmetic(node)) return std::nullopt;
  return WhyNotComputed(dtype);
}

constexpr ImportRow kGenerateImports[] = {
    {.layer = "loadConstant", .import = ImportLoadConstant},
    {.layer = "loadConstantND", .import = ImportLoadConstantNd},
    {.layer = "fillStatic", .import = ImportFillStatic},
    {.layer = "fillLike", .import = ImportFillLike, .inputs = "a"},
    {.layer = "fillDynamic", .import = ImportFillDynamic, .inputs = "i"},
    {.layer = "rangeStatic", .import = ImportRangeStatic},
    {.layer = "rangeDynamic", .import = ImportRangeDynamic, .inputs = "f?ff"},
};

constexpr ExportRow kGenerateExports[] = {
    {.op = "range", .write = WriteRange, .why_not = WhyNotRange, .types = Types::kAny},
};

}  // namespace

Family GenerateFamily() {
  return {.imports = kGenerateImports, .exports = kGenerateExports};
}

}  // namespace nn::coreml

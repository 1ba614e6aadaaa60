// LinearRegressor and LinearClassifier of ai.onnx.ml.
#include <algorithm>
#include <optional>

#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"

namespace nn::onnx {
namespace {

// x times the coefficients, of which each of `outputs` results has a row, plus the intercepts; f32.
Result<Value*> LinearScores(ImportContext& ctx, Value* x, const std::vector<float>& coefficients,
                            const std::vector<float>& intercepts, int64_t outputs) {
  const auto count = static_cast<int64_t>(coefficients.size());
  if (outputs < 1 || count == 0 || count % outputs != 0)
    return ModelError("coefficients has {} entries for {} results", count, outputs);
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != outputs)
    return ModelError("intercepts has {} entries for {} results", intercepts.size(), outputs);
  const DType dtype = x->dtype();
  std::vector<Value*> operands = {
      x, RealConstant(ctx, dtype, {outputs, count / outputs}, coefficients)};
  if (!intercepts.empty()) operands.push_back(RealConstant(ctx, dtype, {outputs}, intercepts));
  NN_ASSIGN(Value* const y,
            ctx.Add("matmul", std::move(operands), MatmulAttrs{.transpose_b = true}));
  return Converted(ctx, y, DType::kF32);
}

Status ImportLinearRegressor(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  NN_ASSIGN(Value * y, LinearScores(ctx, x, ctx.Floats("coefficients"), ctx.Floats("intercepts"),
                                    ctx.Int("targets", 1)));
  NN_ASSIGN(y, Transformed(ctx, transform, y));
  ctx.SetOutput(0, y);
  return {};
}

// The label of one score for each row: whether it reaches the threshold.
Status EmitOnlyLabel(ImportContext& ctx, Value* scores, Value* labels, PostTransform transform) {
  NN_ASSIGN(Value* const threshold,
            ctx.Number(DType::kF32, transform == PostTransform::kNone ? 0 : 0.5));
  NN_ASSIGN(Value * index, ctx.Add("greater_equal", {scores, threshold}));
  NN_ASSIGN(index, ctx.Add("cast", {index}, CastAttrs{.to = DType::kI64}));
  NN_ASSIGN(index, ctx.Add("squeeze", {index}, AxesAttrs{{1}}));
  if (labels != nullptr) {
    NN_ASSIGN(labels, OrNoClass(ctx, labels));
  }
  NN_ASSIGN(Value* const label, LabelsAt(ctx, labels, index));
  ctx.SetOutput(0, label);
  return {};
}

Status ImportLinearClassifier(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  NN_ASSIGN(Value* const labels, ClassLabels(ctx, "classlabels_ints"));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  const std::vector<float> coefficients = ctx.Floats("coefficients");
  const std::vector<float> intercepts = ctx.Floats("intercepts");
  const Dim& columns = x->type().dims->back();
  const int64_t classes = LengthOfConstant(labels);
  // Of two classes, only the second may have a row.
  int64_t rows = std::max<int64_t>(classes, 1);
  if (!intercepts.empty())
    rows = static_cast<int64_t>(intercepts.size());
  else if (columns.is_const() && columns.value() > 0)
    rows = static_cast<int64_t>(coefficients.size()) / columns.value();
  if (classes != 0 && rows != classes && !(classes == 2 && rows == 1))
    return ModelError("there are coefficients of {} classes, but {} labels", rows, classes);
  NN_ASSIGN(Value * y, LinearScores(ctx, x, coefficients, intercepts, rows));
  if (classes == 2 && rows == 1) {
    NN_ASSIGN(Value* const other, ctx.Add("neg", {y}));
    NN_ASSIGN(y, Pairs(ctx, other, y));
    rows = 2;
  }
  NN_ASSIGN(y, Transformed(ctx, transform, y));
  ctx.SetOutput(1, y);
  if (rows == 1) return EmitOnlyLabel(ctx, y, labels, transform);
  NN_ASSIGN(Value * winner, Winners(ctx, y));
  NN_ASSIGN(winner, LabelsAt(ctx, labels, winner));
  ctx.SetOutput(0, winner);
  return {};
}

constexpr ImportRow kLinearImports[] = {
    {.op = "LinearRegressor", .import = ImportLinearRegressor, .domain = kMlDomain},
    {.op = "LinearClassifier", .import = ImportLinearClassifier, .domain = kMlDomain}};

}  // namespace

Family MlLinearFamily() {
  return {.imports = kLinearImports};
}

}  // namespace nn::onnx

// LinearRegressor and LinearClassifier of ai.onnx.ml.
#include <algorithm>
#include <optional>

#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "ops/math/matmul.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// x times the coefficients, of which each of `outputs` results has a row, plus the intercepts; f32.
Result<Term> LinearScores(Value* x, const std::vector<float>& coefficients,
                          const std::vector<float>& intercepts, int64_t outputs) {
  const auto count = static_cast<int64_t>(coefficients.size());
  if (outputs < 1 || count == 0 || count % outputs != 0)
    return ModelError("coefficients has {} entries for {} results", count, outputs);
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != outputs)
    return ModelError("intercepts has {} entries for {} results", intercepts.size(), outputs);
  const DType dtype = x->dtype();
  std::vector<Term> operands = {x, RealTensor(dtype, {outputs, count / outputs}, coefficients)};
  if (!intercepts.empty()) operands.push_back(RealTensor(dtype, {outputs}, intercepts));
  const Term y = Apply("matmul", std::move(operands), MatmulAttrs{.transpose_b = true});
  return As(y, dtype, DType::kF32);
}

Status ImportLinearRegressor(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  NN_ASSIGN(const Term y, LinearScores(x, ctx.Floats("coefficients"), ctx.Floats("intercepts"),
                                       ctx.Int("targets", 1)));
  return ctx.EmitTerm(Transformed(transform, y));
}

// The label of one score for each row: whether it reaches the threshold.
Status EmitOnlyLabel(ImportContext& ctx, const Term& scores, Value* labels,
                     PostTransform transform) {
  if (labels != nullptr) {
    NN_ASSIGN(labels, OrNoClass(ctx, labels));
  }
  const Term reaches = GreaterEqual(scores, transform == PostTransform::kNone ? 0 : 0.5);
  return ctx.EmitTerm(LabelsAt(labels, Squeeze(Cast(reaches, DType::kI64), {1})));
}

Status ImportLinearClassifier(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  Value* const labels = ClassLabels(ctx, "classlabels_ints");
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
  NN_ASSIGN(Term y, LinearScores(x, coefficients, intercepts, rows));
  if (classes == 2 && rows == 1) {
    y = Pairs(-y, y);
    rows = 2;
  }
  y = Transformed(transform, y);
  NN_RETURN_IF_ERROR(ctx.EmitTerm(y, 1));
  if (rows == 1) return EmitOnlyLabel(ctx, y, labels, transform);
  return ctx.EmitTerm(LabelsAt(labels, Winners(y)));
}

constexpr ImportRow kLinearImports[] = {
    {.op = "LinearRegressor", .import = ImportLinearRegressor, .domain = kMlDomain},
    {.op = "LinearClassifier", .import = ImportLinearClassifier, .domain = kMlDomain}};

}  // namespace

Family MlLinearFamily() {
  return {.imports = kLinearImports};
}

}  // namespace nn::onnx

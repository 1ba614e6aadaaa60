#include "formats/onnx/import/ml.h"

#include <algorithm>
#include <iterator>
#include <numbers>

#include "base/text/text.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"

namespace nn::onnx {

Result<Value*> Converted(ImportContext& ctx, Value* v, DType dtype) {
  if (v->dtype() == dtype) return v;
  return ctx.Add("cast", {v}, CastAttrs{.to = dtype});
}

Result<Value*> RowsOf(ImportContext& ctx, size_t input) {
  NN_ASSIGN(Value * x, ctx.Required(input));
  if (x->dtype() == DType::kString) return UnsupportedError("strings as features");
  if (!x->type().ranked()) return UnsupportedError("the rank of input {} is not known", input);
  if (x->type().rank() == 1) {
    NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{0}}));
  }
  if (x->type().rank() != 2)
    return ModelError("input {} is {}; expected one or two dimensions", input,
                      x->type().ToString());
  return IsFloat(x->dtype()) ? x : Converted(ctx, x, DType::kF32);
}

Result<Tensor> IntegerTensor(DType dtype, std::vector<int64_t> dims,
                             const std::vector<int64_t>& values) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, std::move(dims)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < MinInteger(dtype) || values[i] > MaxInteger(dtype))
      return ModelError("{} is out of the range of {}", values[i], DTypeName(dtype));
    b.SetInt(static_cast<int64_t>(i), values[i]);
  }
  return b.Finish();
}

// ==== Scores =====================================================================================

Result<PostTransform> PostTransformOf(const ImportContext& ctx) {
  static constexpr std::string_view kNames[kPostTransforms] = {"NONE", "SOFTMAX", "LOGISTIC",
                                                               "SOFTMAX_ZERO", "PROBIT"};
  const std::string name = ctx.String("post_transform", kNames[0]);
  const auto known = std::ranges::find(kNames, name);
  if (known == std::end(kNames))
    return ModelError("post_transform is {}, which is unknown", Quote(name));
  return static_cast<PostTransform>(known - std::begin(kNames));
}

namespace {

// A softmax in which scores of 0 remain 0; rows without other scores become 0.5.
Result<Value*> SoftmaxZero(ImportContext& ctx, Value* scores) {
  const auto number = [&](double v) { return ctx.Number(DType::kF32, v); };
  const ReduceAttrs rows = {.axes = {1}};
  NN_ASSIGN(Value* const one, number(1));
  NN_ASSIGN(Value* const zero, number(0));
  NN_ASSIGN(Value* const largest, ctx.Add("reduce_max", {scores}, rows));
  NN_ASSIGN(Value * below, ctx.Add("sub", {scores, largest}));
  NN_ASSIGN(below, ctx.Add("exp", {below}));
  NN_ASSIGN(Value * scaled, ctx.Add("neg", {largest}));
  NN_ASSIGN(scaled, ctx.Add("exp", {scaled}));
  NN_ASSIGN(scaled, ctx.Add("mul", {scores, scaled}));
  NN_ASSIGN(Value* const size, ctx.Add("abs", {scores}));
  NN_ASSIGN(Value* const least, number(1e-7));
  NN_ASSIGN(Value* const counts, ctx.Add("greater", {size, least}));
  NN_ASSIGN(Value* const terms, ctx.Add("select", {counts, below, scaled}));
  NN_ASSIGN(Value * sum, ctx.Add("reduce_sum", {terms}, rows));
  NN_ASSIGN(Value* const empty, ctx.Add("equal", {sum, zero}));
  NN_ASSIGN(sum, ctx.Add("select", {empty, one, sum}));
  NN_ASSIGN(Value* const shares, ctx.Add("div", {terms, sum}));
  NN_ASSIGN(Value* const half, number(0.5));
  return ctx.Add("select", {empty, half, shares});
}

// The quantile of the standard normal distribution: sqrt(2) erfinv(2 p - 1), with Winitzki's
// approximation of the inverse. With l = log(1 - x^2) and v = 2 / (pi a) + l / 2, |erfinv(x)| is
// sqrt(sqrt(v^2 - l / a) - v).
Result<Value*> Probit(ImportContext& ctx, Value* p) {
  constexpr double kA = 0.147;
  const auto number = [&](double v) { return ctx.Number(DType::kF32, v); };
  NN_ASSIGN(Value* const zero, number(0));
  NN_ASSIGN(Value* const one, number(1));
  NN_ASSIGN(Value * x, ctx.Add("add", {p, p}));
  NN_ASSIGN(x, ctx.Add("sub", {x, one}));
  NN_ASSIGN(Value * rest, ctx.Add("sub", {one, x}));
  NN_ASSIGN(Value* const sum, ctx.Add("add", {one, x}));
  NN_ASSIGN(rest, ctx.Add("mul", {rest, sum}));
  // The result of 0 and of 1 is 0.
  NN_ASSIGN(Value* const at_end, ctx.Add("equal", {rest, zero}));
  NN_ASSIGN(rest, ctx.Add("select", {at_end, one, rest}));
  NN_ASSIGN(Value* const log, ctx.Add("log", {rest}));
  NN_ASSIGN(Value * v, number(0.5));
  NN_ASSIGN(v, ctx.Add("mul", {log, v}));
  NN_ASSIGN(Value* const offset, number(2 / (std::numbers::pi * kA)));
  NN_ASSIGN(v, ctx.Add("add", {v, offset}));
  NN_ASSIGN(Value * w, number(1 / kA));
  NN_ASSIGN(w, ctx.Add("mul", {log, w}));
  NN_ASSIGN(Value * y, ctx.Add("mul", {v, v}));
  NN_ASSIGN(y, ctx.Add("sub", {y, w}));
  NN_ASSIGN(y, ctx.Add("sqrt", {y}));
  NN_ASSIGN(y, ctx.Add("sub", {y, v}));
  NN_ASSIGN(y, ctx.Add("maximum", {zero, y}));
  NN_ASSIGN(y, ctx.Add("sqrt", {y}));
  NN_ASSIGN(Value* const negative, ctx.Add("less", {x, zero}));
  NN_ASSIGN(Value* const minus, ctx.Add("neg", {y}));
  NN_ASSIGN(y, ctx.Add("select", {negative, minus, y}));
  NN_ASSIGN(Value* const scale, number(1.41421356));
  return ctx.Add("mul", {y, scale});
}

}  // namespace

Result<Value*> Transformed(ImportContext& ctx, PostTransform transform, Value* scores) {
  switch (transform) {
    case PostTransform::kNone:
      return scores;
    case PostTransform::kSoftmax:
      return ctx.Add("softmax", {scores}, SoftmaxAttrs{.axis = 1});
    case PostTransform::kLogistic:
      return ctx.Add("sigmoid", {scores});
    case PostTransform::kSoftmaxZero:
      return SoftmaxZero(ctx, scores);
    case PostTransform::kProbit:
      return Probit(ctx, scores);
  }
  return InternalError("unknown transform");
}

// ==== Labels =====================================================================================

Result<Value*> ClassLabels(ImportContext& ctx, std::string_view integers) {
  const pb::AttributeProto* const strings = ctx.FindAttr("classlabels_strings");
  if (strings != nullptr && strings->strings_size() > 0)
    return ctx.Constant(
        Tensor({strings->strings_size()}, {strings->strings().begin(), strings->strings().end()}));
  const std::vector<int64_t> labels = ctx.Ints(integers);
  return labels.empty() ? nullptr : ctx.Constant(Tensor::Ints(labels));
}

int64_t LengthOfConstant(const Value* v) {
  return v == nullptr ? 0 : v->constant().elements();
}

Result<Value*> OrNoClass(ImportContext& ctx, Value* label) {
  if (label->dtype() != DType::kI64)
    return UnsupportedError(
        "a single string label is unsupported: the negative class has no label");
  return ctx.Constant(Tensor::Ints({0, label->constant().GetInt(0)}));
}

Result<Value*> LabelsAt(ImportContext& ctx, Value* labels, Value* indexes) {
  if (labels == nullptr) return indexes;
  return ctx.Add("gather", {labels, indexes}, GatherAttrs{});
}

Result<Value*> Winners(ImportContext& ctx, Value* scores) {
  return ctx.Add("arg_max", {scores}, ArgAttrs{.axis = 1, .keep_dims = false});
}

Result<Value*> Pairs(ImportContext& ctx, Value* first, Value* second) {
  return ctx.Add("concat", {first, second}, ConcatAttrs{.axis = 1});
}

}  // namespace nn::onnx

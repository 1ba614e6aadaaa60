#include "formats/onnx/import/ml.h"

#include <algorithm>
#include <iterator>
#include <numbers>
#include <utility>

#include "base/text/text.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {

Result<Value*> RowsOf(ImportContext& ctx, size_t input) {
  NN_ASSIGN(Value * x, ctx.Required(input));
  if (x->dtype() == DType::kString) return UnsupportedError("strings as features");
  if (!x->type().ranked()) return UnsupportedError("the rank of input {} is not known", input);
  if (x->type().rank() == 1) {
    NN_ASSIGN(x, ctx.Build(ExpandDims(x, {0})));
  }
  if (x->type().rank() != 2)
    return ModelError("input {} is {}; expected one or two dimensions", input,
                      x->type().ToString());
  return ctx.Build(IsFloat(x->dtype()) ? Term(x) : As(x, DType::kF32));
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
Term SoftmaxZero(const Term& scores) {
  const ReduceAttrs rows = {.axes = {1}};
  const Term largest = Apply("reduce_max", {scores}, rows);
  const Term below = Apply("exp", {scores - largest});
  const Term scaled = scores * Apply("exp", {-largest});
  const Term terms = Select(Greater(Apply("abs", {scores}), 1e-7), below, scaled);
  const Term sum = Apply("reduce_sum", {terms}, rows);
  const Term empty = Equal(sum, 0);
  return Select(empty, 0.5, terms / Select(empty, 1, sum));
}

// The quantile of the standard normal distribution: sqrt(2) erfinv(2 p - 1), with Winitzki's
// approximation of the inverse. With l = log(1 - x^2) and v = 2 / (pi a) + l / 2, |erfinv(x)| is
// sqrt(sqrt(v^2 - l / a) - v).
Term Probit(const Term& p) {
  constexpr double kA = 0.147;
  const Term x = p + p - 1;
  const Term rest = (1 - x) * (1 + x);
  // The result of 0 and of 1 is 0.
  const Term log = Apply("log", {Select(Equal(rest, 0), 1, rest)});
  const Term v = log * 0.5 + 2 / (std::numbers::pi * kA);
  const Term square = Apply("sqrt", {v * v - log * (1 / kA)}) - v;
  const Term y = Apply("sqrt", {Maximum(0, square)});
  return Select(Less(x, 0), -y, y) * 1.41421356;
}

}  // namespace

Term Transformed(PostTransform transform, const Term& scores) {
  switch (transform) {
    case PostTransform::kNone:
      break;
    case PostTransform::kSoftmax:
      return Apply("softmax", {scores}, SoftmaxAttrs{.axis = 1});
    case PostTransform::kLogistic:
      return Apply("sigmoid", {scores});
    case PostTransform::kSoftmaxZero:
      return SoftmaxZero(scores);
    case PostTransform::kProbit:
      return Probit(scores);
  }
  return scores;
}

// ==== Labels =====================================================================================

Value* ClassLabels(ImportContext& ctx, std::string_view integers) {
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

Term LabelsAt(Value* labels, Term indexes) {
  return labels == nullptr ? std::move(indexes) : Gather(labels, std::move(indexes), 0);
}

Term Winners(Term scores) {
  return Apply("arg_max", {std::move(scores)}, ArgAttrs{.axis = 1, .keep_dims = false});
}

Term Pairs(Term first, Term second) {
  return Concat({std::move(first), std::move(second)}, 1);
}

}  // namespace nn::onnx

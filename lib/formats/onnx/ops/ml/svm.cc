// SVMRegressor and SVMClassifier of ai.onnx.ml, in f32.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/onnx/export/pairwise.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {
namespace {

enum class SvmKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };
constexpr std::string_view kSvmKernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

Result<Value*> Product(ImportContext& ctx, Value* a, Value* rows) {
  return ctx.Add("matmul", {a, rows}, MatmulAttrs{.transpose_b = true});
}

// The kernel function of each row of x and each support vector.
class SvmKernels {
 public:
  static Result<SvmKernels> Read(ImportContext& ctx, int64_t vectors) {
    SvmKernels k;
    const std::string kernel = ctx.String("kernel_type", kSvmKernels[0]);
    const auto known = std::ranges::find(kSvmKernels, kernel);
    if (known == std::end(kSvmKernels))
      return ModelError("kernel_type is {}, which is unknown", Quote(kernel));
    k.kernel_ = static_cast<SvmKernel>(known - std::begin(kSvmKernels));
    const std::vector<float> params = ctx.Floats("kernel_params");
    if (!params.empty() && params.size() != 3)
      return ModelError("kernel_params has {} entries; expected 3", params.size());
    std::ranges::copy(params, k.params_);
    const std::vector<float> elements = ctx.Floats("support_vectors");
    const auto count = static_cast<int64_t>(elements.size());
    if (count == 0 || count % vectors != 0)
      return ModelError("support_vectors has {} entries for {} vectors", count, vectors);
    k.vectors_ = RealConstant(ctx, DType::kF32, {vectors, count / vectors}, elements);
    return k;
  }

  // [N, vectors]
  Result<Value*> Of(ImportContext& ctx, Value* x) const {
    const auto number = [&](double v) { return ctx.Number(DType::kF32, v); };
    NN_ASSIGN(Value* const gamma,
              number(kernel_ == SvmKernel::kRbf ? -double{params_[0]} : double{params_[0]}));
    if (kernel_ == SvmKernel::kRbf) {
      NN_ASSIGN(Value * distance, ctx.Add("expand_dims", {x}, AxesAttrs{{1}}));
      NN_ASSIGN(distance, ctx.Add("sub", {distance, vectors_}));
      NN_ASSIGN(distance, ctx.Add("reduce_sum_square", {distance},
                                  ReduceAttrs{.axes = {2}, .keep_dims = false}));
      NN_ASSIGN(distance, ctx.Add("mul", {distance, gamma}));
      return ctx.Add("exp", {distance});
    }
    NN_ASSIGN(Value * y, Product(ctx, x, vectors_));
    if (kernel_ == SvmKernel::kLinear) return y;
    NN_ASSIGN(Value* const offset, number(double{params_[1]}));
    NN_ASSIGN(y, ctx.Add("mul", {y, gamma}));
    NN_ASSIGN(y, ctx.Add("add", {y, offset}));
    if (kernel_ == SvmKernel::kSigmoid) return ctx.Add("tanh", {y});
    NN_ASSIGN(Value* const degree, number(std::trunc(double{params_[2]})));
    return ctx.Add("pow", {y, degree});
  }

 private:
  SvmKernel kernel_ = SvmKernel::kLinear;
  float params_[3] = {};  // gamma, coef0, degree
  Value* vectors_ = nullptr;
};

Result<Value*> FloatRows(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  return Converted(ctx, x, DType::kF32);
}

Result<std::vector<float>> RequiredFloats(const ImportContext& ctx, std::string_view name) {
  std::vector<float> list = ctx.Floats(name);
  if (list.empty()) return ModelError("attribute {} is missing", name);
  return list;
}

// ==== Regression =================================================================================

Status ImportSvmRegressor(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, FloatRows(ctx));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  NN_ASSIGN(const std::vector<float> coefficients, RequiredFloats(ctx, "coefficients"));
  NN_ASSIGN(const std::vector<float> rho, RequiredFloats(ctx, "rho"));
  const int64_t vectors = ctx.Int("n_supports", 0);
  const auto count = static_cast<int64_t>(coefficients.size());
  Value* terms = x;
  if (vectors > 0) {
    if (count != vectors)
      return ModelError("coefficients has {} entries for {} vectors", count, vectors);
    NN_ASSIGN(const SvmKernels kernels, SvmKernels::Read(ctx, vectors));
    NN_ASSIGN(terms, kernels.Of(ctx, x));
  }
  NN_ASSIGN(Value * y,
            Product(ctx, terms, RealConstant(ctx, DType::kF32, {1, count}, coefficients)));
  NN_ASSIGN(Value* const offset, ctx.Number(DType::kF32, double{rho[0]}));
  NN_ASSIGN(y, ctx.Add("add", {y, offset}));
  if (ctx.Int("one_class", 0) != 0) {
    NN_ASSIGN(Value* const zero, ctx.Number(DType::kF32, 0));
    NN_ASSIGN(Value* const inside, ctx.Number(DType::kF32, 1));
    NN_ASSIGN(Value* const outside, ctx.Number(DType::kF32, -1));
    NN_ASSIGN(y, ctx.Add("greater", {y, zero}));
    NN_ASSIGN(y, ctx.Add("select", {y, inside, outside}));
  }
  NN_ASSIGN(y, Transformed(ctx, transform, y));
  ctx.SetOutput(0, y);
  return {};
}

// ==== Classification =============================================================================

class SvmClassifier {
 public:
  explicit SvmClassifier(ImportContext& ctx) : ctx_(ctx) {}

  Status Import() {
    NN_ASSIGN(x_, FloatRows(ctx_));
    NN_ASSIGN(labels_, ClassLabels(ctx_, "classlabels_ints"));
    classes_ = LengthOfConstant(labels_);
    if (classes_ == 0) return ModelError("there are no labels");
    NN_ASSIGN(transform_, PostTransformOf(ctx_));
    NN_ASSIGN(coefficients_, RequiredFloats(ctx_, "coefficients"));
    NN_ASSIGN(rho_, RequiredFloats(ctx_, "rho"));
    all_positive_ = std::ranges::min(coefficients_) >= 0;
    per_class_ = ctx_.Ints("vectors_per_class");
    if (std::ranges::any_of(per_class_, [](int64_t n) { return n < 0 || n > kMaxVectors; }))
      return ModelError("vectors_per_class has a negative entry");
    vectors_ = std::accumulate(per_class_.begin(), per_class_.end(), int64_t{0});
    return vectors_ > 0 ? ImportPairs() : ImportLinear();
  }

 private:
  static constexpr int64_t kMaxVectors = int64_t{1} << 31;

  Result<Value*> Number(double v) { return ctx_.Number(DType::kF32, v); }

  Status Finish(Value* index, Value* scores) {
    NN_ASSIGN(Value* const label, LabelsAt(ctx_, labels_, index));
    ctx_.SetOutput(0, label);
    ctx_.SetOutput(1, scores);
    return {};
  }

  // ---- A score for each class ----

  Status ImportLinear() {
    const auto count = static_cast<int64_t>(coefficients_.size());
    if (count % classes_ != 0)
      return ModelError("coefficients has {} entries for {} classes", count, classes_);
    NN_ASSIGN(Value * scores, Product(ctx_, x_,
                                      RealConstant(ctx_, DType::kF32, {classes_, count / classes_},
                                                   coefficients_)));
    NN_ASSIGN(Value* const offset, Number(double{rho_[0]}));
    NN_ASSIGN(scores, ctx_.Add("add", {scores, offset}));
    NN_ASSIGN(Value * index, LinearIndex(scores));
    if (classes_ > 1 || transform_ == PostTransform::kProbit) {
      NN_ASSIGN(scores, Transformed(ctx_, transform_, scores));
    }
    return Finish(index, scores);
  }

  // The position of the label. With a single rho, a threshold decides about it in some cases; then
  // the labels of other than two classes are 0 and 1.
  Result<Value*> LinearIndex(Value* scores) {
    const bool single = rho_.size() == 1;
    if (!single || (classes_ == 2 && !all_positive_)) return Winners(ctx_, scores);
    NN_ASSIGN(Value* const largest,
              ctx_.Add("reduce_max", {scores}, ReduceAttrs{.axes = {1}, .keep_dims = false}));
    NN_ASSIGN(Value* const threshold, Number(classes_ == 2 ? 0.5 : 0));
    NN_ASSIGN(Value* const reached,
              ctx_.Add(classes_ == 2 ? "greater_equal" : "greater", {largest, threshold}));
    if (classes_ != 2) {
      if (labels_->dtype() == DType::kString)
        return UnsupportedError(
            "classlabels_strings with a single rho, which have no labels 0 and 1");
      labels_ = nullptr;
      return ctx_.Add("cast", {reached}, CastAttrs{.to = DType::kI64});
    }
    NN_ASSIGN(Value* const winner, Winners(ctx_, scores));
    NN_ASSIGN(Value* const second, ctx_.Number(DType::kI64, 1));
    return ctx_.Add("select", {reached, second, winner});
  }

  // ---- A score for each pair of classes ----

  Status ImportPairs() {
    NN_RETURN_IF_ERROR(CheckPairs());
    NN_ASSIGN(const SvmKernels kernels, SvmKernels::Read(ctx_, vectors_));
    NN_ASSIGN(Value* const values, kernels.Of(ctx_, x_));
    NN_ASSIGN(Value * scores, ctx_.Add("matmul",
                                       {values, PairCoefficients(),
                                        RealConstant(ctx_, DType::kF32, {pairs_}, rho_)},
                                       MatmulAttrs{}));
    NN_ASSIGN(Value * index, MostVotes(scores));
    const std::vector<float> a = ctx_.Floats("prob_a"), b = ctx_.Floats("prob_b");
    if (!a.empty()) {
      NN_ASSIGN(scores, Probabilities(scores, a, b));
      NN_ASSIGN(scores, Transformed(ctx_, transform_, scores));
      return Finish(index, scores);
    }
    if (pairs_ == 1 && all_positive_) {
      // ONNX's rule without negative coefficients: always the second label.
      NN_ASSIGN(Value* const second, ctx_.Number(DType::kI64, 1));
      NN_ASSIGN(index, ctx_.Add("maximum", {index, second}));
    }
    if (pairs_ == 1 && transform_ != PostTransform::kProbit) {
      NN_ASSIGN(Value* const other, ctx_.Add("neg", {scores}));
      NN_ASSIGN(scores, Pairs(ctx_, other, scores));
    }
    NN_ASSIGN(scores, Transformed(ctx_, transform_, scores));
    return Finish(index, scores);
  }

  Status CheckPairs() {
    if (static_cast<int64_t>(per_class_.size()) != classes_)
      return ModelError("vectors_per_class has {} entries for {} labels", per_class_.size(),
                        classes_);
    if (classes_ < 2) return ModelError("there is one label; expected at least 2");
    // Tables have an element for each pair and vector, or class.
    const auto pairs = CheckedElements(std::vector<int64_t>{classes_, classes_ - 1});
    const auto table =
        !pairs ? std::nullopt
               : CheckedElements(std::vector<int64_t>{*pairs / 2, std::max(vectors_, classes_)});
    if (!table || *table > kMaxCoefficients)
      return LimitError("{} classes and {} vectors are too many", classes_, vectors_);
    pairs_ = *pairs / 2;
    if (static_cast<int64_t>(rho_.size()) != pairs_)
      return ModelError("rho has {} entries for {} pairs of classes", rho_.size(), pairs_);
    if (static_cast<int64_t>(coefficients_.size()) != (classes_ - 1) * vectors_)
      return ModelError("coefficients has {} entries for {} vectors of {} classes",
                        coefficients_.size(), vectors_, classes_);
    return {};
  }

  // [vectors, pairs]. A vector of class i has a coefficient for each other class j: entry j - 1 for
  // the pair (i, j), and entry j for the pair (j, i).
  Value* PairCoefficients() {
    std::vector<float> table(static_cast<size_t>(vectors_ * pairs_), 0.0f);
    std::vector<int64_t> starts(per_class_.size());
    std::exclusive_scan(per_class_.begin(), per_class_.end(), starts.begin(), int64_t{0});
    const auto copy = [&](int64_t of_class, int64_t row, int64_t pair) {
      const int64_t first = starts[static_cast<size_t>(of_class)];
      for (int64_t v = first; v < first + per_class_[static_cast<size_t>(of_class)]; ++v)
        table[static_cast<size_t>(v * pairs_ + pair)] =
            coefficients_[static_cast<size_t>(row * vectors_ + v)];
    };
    for (int64_t i = 0, pair = 0; i < classes_; ++i)
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        copy(i, j - 1, pair);
        copy(j, i, pair);
      }
    return RealConstant(ctx_, DType::kF32, {vectors_, pairs_}, table);
  }

  // A positive score is a vote for the first class of the pair, any other one for the second class.
  Result<Value*> MostVotes(Value* scores) {
    std::vector<double> gain(static_cast<size_t>(pairs_ * classes_), 0);
    std::vector<double> second(static_cast<size_t>(classes_), 0);
    for (int64_t i = 0, pair = 0; i < classes_; ++i)
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        gain[static_cast<size_t>(pair * classes_ + i)] = 1;
        gain[static_cast<size_t>(pair * classes_ + j)] = -1;
        second[static_cast<size_t>(j)] += 1;
      }
    NN_ASSIGN(Value* const zero, Number(0));
    NN_ASSIGN(Value * first, ctx_.Add("greater", {scores, zero}));
    NN_ASSIGN(first, ctx_.Add("cast", {first}, CastAttrs{.to = DType::kF32}));
    NN_ASSIGN(Value* const votes,
              ctx_.Add("matmul",
                       {first, RealConstant(ctx_, DType::kF32, {pairs_, classes_}, gain),
                        RealConstant(ctx_, DType::kF32, {classes_}, second)},
                       MatmulAttrs{}));
    return Winners(ctx_, votes);
  }

  // A sigmoid of each score, and the probabilities that fit all pairs best.
  Result<Value*> Probabilities(Value* scores, const std::vector<float>& a,
                               const std::vector<float>& b) {
    if (static_cast<int64_t>(a.size()) != pairs_ || b.size() != a.size())
      return ModelError("prob_a has {} entries and prob_b {}; expected {}", a.size(), b.size(),
                        pairs_);
    NN_ASSIGN(Value * y, ctx_.Add("mul", {scores, RealConstant(ctx_, DType::kF32, {pairs_}, a)}));
    NN_ASSIGN(y, ctx_.Add("add", {y, RealConstant(ctx_, DType::kF32, {pairs_}, b)}));
    NN_ASSIGN(y, ctx_.Add("neg", {y}));
    NN_ASSIGN(y, ctx_.Add("sigmoid", {y}));
    NN_ASSIGN(y, ctx_.Add("clip", {y}, ClipAttrs{.min = 1e-7f, .max = 1 - 1e-7f}));
    return CoupledProbabilities(ctx_, y, classes_);
  }

  static constexpr int64_t kMaxCoefficients = int64_t{1} << 25;

  ImportContext& ctx_;
  Value* x_ = nullptr;
  Value* labels_ = nullptr;
  int64_t classes_ = 0, vectors_ = 0, pairs_ = 0;
  PostTransform transform_ = PostTransform::kNone;
  std::vector<float> coefficients_, rho_;
  std::vector<int64_t> per_class_;
  bool all_positive_ = false;
};

Status ImportSvmClassifier(ImportContext& ctx) {
  return SvmClassifier(ctx).Import();
}

constexpr ImportRow kSvmImports[] = {
    {.op = "SVMRegressor", .import = ImportSvmRegressor, .domain = kMlDomain},
    {.op = "SVMClassifier", .import = ImportSvmClassifier, .domain = kMlDomain}};

}  // namespace

Family SvmFamily() {
  return {.imports = kSvmImports};
}

}  // namespace nn::onnx

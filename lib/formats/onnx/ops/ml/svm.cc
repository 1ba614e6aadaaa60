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
#include "ops/math/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

enum class SvmKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };
constexpr std::string_view kSvmKernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

Term Product(Term a, Term rows) {
  return Apply("matmul", {std::move(a), std::move(rows)}, MatmulAttrs{.transpose_b = true});
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
    k.vectors_ = RealTensor(DType::kF32, {vectors, count / vectors}, elements);
    return k;
  }

  // [N, vectors]
  Term Of(const Term& x) const {
    const auto gamma = double{params_[0]};
    if (kernel_ == SvmKernel::kRbf) {
      const Term distance = Apply("reduce_sum_square", {ExpandDims(x, {1}) - vectors_},
                                  ReduceAttrs{.axes = {2}, .keep_dims = false});
      return Apply("exp", {distance * -gamma});
    }
    const Term y = Product(x, vectors_);
    if (kernel_ == SvmKernel::kLinear) return y;
    const Term scaled = y * gamma + params_[1];
    if (kernel_ == SvmKernel::kSigmoid) return Apply("tanh", {scaled});
    return Apply("pow", {scaled, std::trunc(params_[2])});
  }

 private:
  SvmKernel kernel_ = SvmKernel::kLinear;
  float params_[3] = {};  // gamma, coef0, degree
  Term vectors_;
};

Result<Term> FloatRows(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  return As(x, DType::kF32);
}

Result<std::vector<float>> RequiredFloats(const ImportContext& ctx, std::string_view name) {
  std::vector<float> list = ctx.Floats(name);
  if (list.empty()) return ModelError("attribute {} is missing", name);
  return list;
}

// ==== Regression =================================================================================

Status ImportSvmRegressor(ImportContext& ctx) {
  NN_ASSIGN(const Term x, FloatRows(ctx));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  NN_ASSIGN(const std::vector<float> coefficients, RequiredFloats(ctx, "coefficients"));
  NN_ASSIGN(const std::vector<float> rho, RequiredFloats(ctx, "rho"));
  const int64_t vectors = ctx.Int("n_supports", 0);
  const auto count = static_cast<int64_t>(coefficients.size());
  Term terms = x;
  if (vectors > 0) {
    if (count != vectors)
      return ModelError("coefficients has {} entries for {} vectors", count, vectors);
    NN_ASSIGN(const SvmKernels kernels, SvmKernels::Read(ctx, vectors));
    terms = kernels.Of(x);
  }
  Term y = Product(terms, RealTensor(DType::kF32, {1, count}, coefficients)) + rho[0];
  if (ctx.Int("one_class", 0) != 0) y = Select(Greater(y, 0), 1, -1);
  return ctx.EmitTerm(Transformed(transform, y));
}

// ==== Classification =============================================================================

class SvmClassifier {
 public:
  explicit SvmClassifier(ImportContext& ctx) : ctx_(ctx) {}

  Status Import() {
    NN_ASSIGN(x_, FloatRows(ctx_));
    labels_ = ClassLabels(ctx_, "classlabels_ints");
    classes_ = LengthOfConstant(labels_);
    if (classes_ == 0) return ModelError("there are no labels");
    NN_ASSIGN(transform_, PostTransformOf(ctx_));
    NN_ASSIGN(coefficients_, RequiredFloats(ctx_, "coefficients"));
    NN_ASSIGN(rho_, RequiredFloats(ctx_, "rho"));
    all_positive_ = std::ranges::min(coefficients_) >= 0;
    per_class_ = ctx_.Ints("vectors_per_class");
    for (const int64_t n : per_class_)
      if (n < 0 || n > kMaxVectors)
        return ModelError("vectors_per_class has the entry {}; expected 0 to {}", n, kMaxVectors);
    vectors_ = std::accumulate(per_class_.begin(), per_class_.end(), int64_t{0});
    return vectors_ > 0 ? ImportPairs() : ImportLinear();
  }

 private:
  // Limit of ONNX: vectors of a class of SVMClassifier.
  static constexpr int64_t kMaxVectors = int64_t{1} << 31;

  Status Finish(const Term& index, const Term& scores) {
    NN_RETURN_IF_ERROR(ctx_.EmitTerm(scores, 1));
    return ctx_.EmitTerm(LabelsAt(labels_, index));
  }

  // ---- A score for each class ----

  Status ImportLinear() {
    const auto count = static_cast<int64_t>(coefficients_.size());
    if (count % classes_ != 0)
      return ModelError("coefficients has {} entries for {} classes", count, classes_);
    Term scores =
        Product(x_, RealTensor(DType::kF32, {classes_, count / classes_}, coefficients_)) + rho_[0];
    NN_ASSIGN(const Term index, LinearIndex(scores));
    if (classes_ > 1 || transform_ == PostTransform::kProbit)
      scores = Transformed(transform_, scores);
    return Finish(index, scores);
  }

  // The position of the label. With a single rho, a threshold decides about it in some cases; then
  // the labels of other than two classes are 0 and 1.
  Result<Term> LinearIndex(const Term& scores) {
    const bool single = rho_.size() == 1;
    if (!single || (classes_ == 2 && !all_positive_)) return Winners(scores);
    const Term largest =
        Apply("reduce_max", {scores}, ReduceAttrs{.axes = {1}, .keep_dims = false});
    if (classes_ == 2) return Select(GreaterEqual(largest, 0.5), 1, Winners(scores));
    if (labels_->dtype() == DType::kString)
      return UnsupportedError(
          "classlabels_strings with a single rho, which have no labels 0 and 1");
    labels_ = nullptr;
    return Cast(Greater(largest, 0), DType::kI64);
  }

  // ---- A score for each pair of classes ----

  Status ImportPairs() {
    NN_RETURN_IF_ERROR(CheckPairs());
    NN_ASSIGN(const SvmKernels kernels, SvmKernels::Read(ctx_, vectors_));
    Term scores = Apply(
        "matmul", {kernels.Of(x_), PairCoefficients(), RealTensor(DType::kF32, {pairs_}, rho_)},
        MatmulAttrs{});
    Term index = MostVotes(scores);
    const std::vector<float> a = ctx_.Floats("prob_a"), b = ctx_.Floats("prob_b");
    if (!a.empty()) {
      NN_ASSIGN(scores, Probabilities(scores, a, b));
    } else if (pairs_ == 1) {
      // ONNX's rule without negative coefficients: always the second label.
      if (all_positive_) index = Maximum(index, 1);
      if (transform_ != PostTransform::kProbit) scores = Pairs(-scores, scores);
    }
    return Finish(index, Transformed(transform_, scores));
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
  Tensor PairCoefficients() {
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
    return RealTensor(DType::kF32, {vectors_, pairs_}, table);
  }

  // A positive score is a vote for the first class of the pair, any other one for the second class.
  Term MostVotes(const Term& scores) const {
    std::vector<double> gain(static_cast<size_t>(pairs_ * classes_), 0);
    std::vector<double> second(static_cast<size_t>(classes_), 0);
    for (int64_t i = 0, pair = 0; i < classes_; ++i)
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        gain[static_cast<size_t>(pair * classes_ + i)] = 1;
        gain[static_cast<size_t>(pair * classes_ + j)] = -1;
        second[static_cast<size_t>(j)] += 1;
      }
    return Winners(Apply(
        "matmul",
        {Cast(Greater(scores, 0), DType::kF32), RealTensor(DType::kF32, {pairs_, classes_}, gain),
         RealTensor(DType::kF32, {classes_}, second)},
        MatmulAttrs{}));
  }

  // A sigmoid of each score, and the probabilities that fit all pairs best.
  Result<Term> Probabilities(const Term& scores, const std::vector<float>& a,
                             const std::vector<float>& b) {
    if (static_cast<int64_t>(a.size()) != pairs_ || b.size() != a.size())
      return ModelError("prob_a has {} entries and prob_b {}; expected {}", a.size(), b.size(),
                        pairs_);
    const Term y =
        scores * RealTensor(DType::kF32, {pairs_}, a) + RealTensor(DType::kF32, {pairs_}, b);
    return CoupledProbabilities(ctx_, Clip(Apply("sigmoid", {-y}), 1e-7f, 1 - 1e-7f), classes_);
  }

  // Limit of ONNX: pairs of classes times vectors, or times classes, of SVMClassifier.
  static constexpr int64_t kMaxCoefficients = int64_t{1} << 25;

  ImportContext& ctx_;
  Term x_;
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

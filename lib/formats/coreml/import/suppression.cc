#include "formats/coreml/import/suppression.h"

#include <limits>

#include "formats/common/padded_list.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/generate.h"
#include "ops/array/shape_of.h"
#include "ops/nn/detect/non_max_suppression.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// Limit of Core ML: batches of NonMaximumSuppression.
constexpr int64_t kMaxBatches = 64;

// One batch after the other.
class Suppression {
 public:
  // `classes`: 0 if they do not matter.
  Suppression(NodeInserter& to, const SuppressionLimits& limits, int64_t classes)
      : to_(to), limits_(limits), classes_(classes) {}

  Status Add(const Term& boxes, const Term& scores) {
    const Term best = Apply("reduce_max", {scores}, ReduceAttrs{{2}, false});
    const Term selected = OneAtLeast(Selected(boxes, scores, best), best);
    const Term filler = Tensor::Scalar<int64_t>(-1);
    NN_ASSIGN(const Term filled, PaddedList(to_, selected, filler, limits_.most));
    const Term safe = Maximum(filled, 0);
    const Term valid = ExpandDims(Apply("greater_equal", {filled, 0}), {1});
    // Rows of [1, N, K], zeros where there is no box: [1, M, K].
    results_[0].push_back(Select(valid, Gather(boxes, safe, 1), 0));
    results_[1].push_back(Select(valid, Gather(scores, safe, 1), 0));
    results_[2].push_back(ExpandDims(filled, {0}));
    results_[3].push_back(Apply("shape_of", {selected}, ShapeOfAttrs{}));
    return {};
  }

  std::vector<Term> Results() {
    std::vector<Term> out;
    for (std::vector<Term>& batches : results_) out.push_back(Concat(std::move(batches), 0));
    return out;
  }

 private:
  // Scores [1, C, N]: the best score of each box [1, N] in the row of its class, and -infinity in
  // the others.
  Term ByClass(const Term& scores, const Term& best) const {
    const Term of_class = Apply("arg_max", {scores}, ArgAttrs{.axis = 2, .keep_dims = false});
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    const Term values = Tensor::Of<float>({2}, {kNever, 0});
    const Term mask =
        Apply("one_hot", {of_class, Vector({classes_}), values}, OneHotAttrs{1, false});
    return mask + ExpandDims(best, {1});
  }

  // The indices [n] of the selected boxes in descending order of their scores, at most `most`.
  // `best`: the greatest score of each box [1, N].
  Term Selected(const Term& boxes, const Term& scores, const Term& best) const {
    const Term rows = classes_ > 0 ? ByClass(scores, best) : ExpandDims(best, {1});
    const Term all =
        Apply("non_max_suppression", {boxes, rows, limits_.most, limits_.iou, limits_.score},
              NonMaxSuppressionAttrs{.center_point_box = true});
    const Term indices = Squeeze(Slice(all, 1, 2, 3), {1});
    if (classes_ == 0) return indices;
    // The rows follow one another: sorted again, as one list.
    const Term list = Gather(Squeeze(best, {0}), indices, 0);
    const Term count = Minimum(Apply("shape_of", {indices}, ShapeOfAttrs{}), limits_.most);
    const auto order = ApplyAll("top_k", {list, count}, TopKAttrs{.axis = 0, .largest = true}, 2);
    return Gather(indices, order[1], 0);
  }

  // The list, or if it is empty, the index of the box with the best score.
  static Term OneAtLeast(const Term& list, const Term& best) {
    const Term top = Apply("arg_max", {best}, ArgAttrs{.axis = 1, .keep_dims = false});
    const Term count = Maximum(Apply("shape_of", {list}, ShapeOfAttrs{}), Vector({1}));
    return Apply("slice", {Concat({list, top}, 0), Vector({0}), count}, SliceAttrs{});
  }

  NodeInserter& to_;
  const SuppressionLimits& limits_;
  int64_t classes_;
  std::vector<Term> results_[4];
};

Term BatchOf(Value* v, int64_t b) {
  return v->type().dim(0) == 1 ? v : Slice(v, 0, b, b + 1);
}

}  // namespace

Result<std::vector<Term>> Suppress(NodeInserter& to, Value* boxes, Value* scores,
                                   const SuppressionLimits& limits) {
  if (boxes->type().rank() != 3 || scores->type().rank() != 3)
    return ModelError("the boxes are {} and the scores {}; both must have rank 3",
                      boxes->type().ToString(), scores->type().ToString());
  const Dim& batch = boxes->type().dim(0);
  if (!batch.is_const() || batch.value() < 1 || batch.value() > kMaxBatches)
    return UnsupportedError(
        "non-maximum suppression of {} batches is unsupported; expected 1 to {}", batch.ToString(),
        kMaxBatches);
  const Dim& classes = scores->type().dim(2);
  if (limits.by_class && !classes.is_const())
    return UnsupportedError("suppression by class needs a constant number of classes");
  const bool by_class = limits.by_class && !(classes == 1);
  Suppression suppression(to, limits, by_class ? classes.value() : 0);
  for (int64_t b = 0; b < batch.value(); ++b)
    NN_RETURN_IF_ERROR(suppression.Add(BatchOf(boxes, b), BatchOf(scores, b)));
  return suppression.Results();
}

}  // namespace nn::coreml

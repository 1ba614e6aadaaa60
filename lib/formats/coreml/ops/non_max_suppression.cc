#include "ops/nn/detect/non_max_suppression.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "formats/common/padded_list.h"
#include "formats/common/suppression.h"
#include "formats/coreml/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// The layer has lists of maxBoxes results, filled up with zeros and the index -1; the graph's
// operator returns as many as there are. If no score passes, the layer selects the box with the
// best one, and the operator selects none. Each box competes with its greatest score, in one row of
// scores, or with perClassSuppression in the row of the class of that score.
class NonMaximumSuppression {
 public:
  explicit NonMaximumSuppression(ImportContext& ctx) : ctx_(ctx), p_(ctx.params()) {}

  Status Emit() {
    Value *const boxes = ctx_.input(0), *const scores = ctx_.input(1);
    if (boxes->type().rank() != 3 || scores->type().rank() != 3)
      return ModelError("the boxes are {} and the scores {}; both must have rank 3",
                        boxes->type().ToString(), scores->type().ToString());
    if (ctx_.output_count() > 4)
      return ModelError("there are {} outputs; expected at most 4", ctx_.output_count());
    NN_RETURN_IF_ERROR(ReadLimits());
    const Dim batch = boxes->type().dim(0);
    if (!batch.is_const() || batch.value() < 1 || batch.value() > kMaxBatches)
      return UnsupportedError(
          "non-maximum suppression of {} batches is unsupported; expected 1 to {}",
          batch.ToString(), kMaxBatches);
    const Dim& classes = scores->type().dim(2);
    if (p_.Bool("perClassSuppression") && !classes.is_const())
      return UnsupportedError("suppression by class needs a constant number of classes");
    const bool by_class = p_.Bool("perClassSuppression") && !(classes == 1);
    classes_ = by_class ? classes.value() : 0;
    std::vector<std::vector<Term>> results(4);
    for (int64_t b = 0; b < batch.value(); ++b)
      NN_RETURN_IF_ERROR(AddResults(Batch(boxes, b), Batch(scores, b), results));
    for (size_t i = 0; i < ctx_.output_count(); ++i) {
      NN_ASSIGN(Value* const y, ctx_.Build(Concat(results[i], 0)));
      ctx_.SetOutput(i, y);
    }
    return {};
  }

 private:
  // Limit of Core ML: batches of NonMaximumSuppression.
  static constexpr int64_t kMaxBatches = 64;

  // The fields, or the inputs that replace them.
  Status ReadLimits() {
    NN_ASSIGN(const int64_t most, p_.Size("maxBoxes"));
    iou_ = ctx_.input_count() > 2 ? ctx_.input(2) : Term(Tensor::Scalar(p_.Float("iouThreshold")));
    score_ =
        ctx_.input_count() > 3 ? ctx_.input(3) : Term(Tensor::Scalar(p_.Float("scoreThreshold")));
    most_ = ctx_.input_count() > 4 ? Reshape(ctx_.input(4), {Dim(1)}) : Vector({most});
    return {};
  }

  static Term Batch(Value* v, int64_t b) {
    return v->type().dim(0) == 1 ? v : Slice(v, 0, b, b + 1);
  }

  // Scores [1, C, N]: the best score of each box [1, N] in the row of its class, and -infinity in
  // the others.
  static Term ByClass(const Term& scores, const Term& best, int64_t classes) {
    const Term of_class = Apply("arg_max", {scores}, ArgAttrs{.axis = 2, .keep_dims = false});
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    const Term values = Tensor::Of<float>({2}, {kNever, 0});
    const Term mask =
        Apply("one_hot", {of_class, Vector({classes}), values}, OneHotAttrs{1, false});
    return mask + ExpandDims(best, {1});
  }

  // The indices [n] of the selected boxes in descending order of their scores, at most maxBoxes.
  // `best`: the greatest score of each box [1, N].
  Term Selected(const Term& boxes, const Term& scores, const Term& best) const {
    const Term rows = classes_ > 0 ? ByClass(scores, best, classes_) : ExpandDims(best, {1});
    const Term all = Apply("non_max_suppression", {boxes, rows, most_, iou_, score_},
                           NonMaxSuppressionAttrs{.center_point_box = true});
    const Term indices = Squeeze(Slice(all, 1, 2, 3), {1});
    if (classes_ == 0) return indices;
    // The rows follow one another: sorted again, as one list.
    const Term list = Gather(Squeeze(best, {0}), indices, 0);
    const Term count = Minimum(Apply("shape_of", {indices}, ShapeOfAttrs{}), most_);
    const auto order = ApplyAll("top_k", {list, count}, TopKAttrs{.axis = 0, .largest = true}, 2);
    return Gather(indices, order[1], 0);
  }

  // The list, or if it is empty, the index of the box with the best score.
  static Term OneAtLeast(const Term& list, const Term& best) {
    const Term top = Apply("arg_max", {best}, ArgAttrs{.axis = 1, .keep_dims = false});
    const Term count = Maximum(Apply("shape_of", {list}, ShapeOfAttrs{}), Vector({1}));
    return Apply("slice", {Concat({list, top}, 0), Vector({0}), count}, SliceAttrs{});
  }

  Status AddResults(const Term& boxes, const Term& scores,
                    std::vector<std::vector<Term>>& results) {
    const Term best = Apply("reduce_max", {scores}, ReduceAttrs{{2}, false});
    const Term selected = OneAtLeast(Selected(boxes, scores, best), best);
    const Term filler = Tensor::Scalar<int64_t>(-1);
    NN_ASSIGN(const Term filled, PaddedList(ctx_, selected, filler, most_));
    const Term safe = Maximum(filled, 0);
    const Term valid = ExpandDims(Apply("greater_equal", {filled, 0}), {1});
    // Rows of [1, N, K], zeros where there is no box: [1, M, K].
    results[0].push_back(Select(valid, Gather(boxes, safe, 1), 0));
    results[1].push_back(Select(valid, Gather(scores, safe, 1), 0));
    results[2].push_back(ExpandDims(filled, {0}));
    results[3].push_back(Apply("shape_of", {selected}, ShapeOfAttrs{}));
    return {};
  }

  ImportContext& ctx_;
  const Fields& p_;
  Term iou_, score_;
  Term most_;            // [1]
  int64_t classes_ = 0;  // 0: not by class
};

Status ImportNonMaximumSuppression(ImportContext& ctx) {
  return NonMaximumSuppression(ctx).Emit();
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

enum SuppressionInput : size_t { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold };

float NumberOr(const Node& node, size_t i, float otherwise) {
  const Tensor* t = ConstantOf(node, i);
  return t == nullptr ? otherwise : static_cast<float>(t->GetDouble(0));
}

std::optional<std::string> WhyNotNonMaxSuppression(const Node& node) {
  if (auto reason = WhyNotOneList(node)) return reason;
  for (const size_t i : {size_t{kMaxBoxes}, size_t{kIouThreshold}, size_t{kScoreThreshold}})
    if (node.input(i) != nullptr && !node.input(i)->is_constant())
      return "its limits must be constant";
  if (node.input(kBoxes)->type().dim(1).value() < 1 || !(NumberOr(node, kMaxBoxes, 0) >= 1))
    return "it selects no boxes";
  if (!node.attrs<NonMaxSuppressionAttrs>().center_point_box)
    return "NonMaximumSuppression needs the centers of boxes";
  return std::nullopt;
}

// The layer's list of indices, as rows of batch 0 and class 0: without the entries that fill it up,
// and without a box whose score does not pass, which is in the list if no score passes.
Status WriteNonMaxSuppression(ExportContext& ctx, const Node& node) {
  const int64_t boxes = node.input(kBoxes)->type().dim(1).value();
  const std::string scores = ctx.NewName("scores"), some = ctx.NewName("boxes"),
                    their = ctx.NewName("scores"), list = ctx.NewName("indices"),
                    count = ctx.NewName("count"), valid = ctx.NewName("valid"),
                    places = ctx.NewName("places"), selected = ctx.NewName("selected"),
                    column = ctx.NewName("column");
  const std::string all = ctx.NameOf(node.input(kBoxes)), rows = ctx.NameOf(node.input(kScores));
  ctx.AddHelper("transpose", {rows}, {scores}).Ints("axes", {0, 2, 1});
  Writer p = ctx.AddHelper("NonMaximumSuppression", {all, scores}, {some, their, list, count});
  p.Float("iouThreshold", NumberOr(node, kIouThreshold, 0));
  p.Float("scoreThreshold",
          NumberOr(node, kScoreThreshold, -std::numeric_limits<float>::infinity()));
  p.Int("maxBoxes", std::min(boxes, ConstantOf(node, kMaxBoxes)->GetInt(0)));
  p.Bool("perClassSuppression", false);
  if (const Tensor* threshold = ConstantOf(node, kScoreThreshold)) {
    const std::string column_scores = ctx.NewName("scores"), passes = ctx.NewName("passes"),
                      filled = ctx.NewName("valid");
    ctx.AddHelper("squeeze", {their}, {column_scores}).Ints("axes", {2});
    ctx.AddHelper("greaterThan", {column_scores}, {passes})
        .Float("alpha", static_cast<float>(threshold->GetDouble(0)));
    ctx.AddHelper("greaterEqual", {list}, {filled}).Float("alpha", 0);
    ctx.AddHelper("logicalAnd", {filled, passes}, {valid});
  } else {
    ctx.AddHelper("greaterEqual", {list}, {valid}).Float("alpha", 0);
  }
  ctx.AddHelper("whereNonZero", {valid}, {places});
  ctx.AddHelper("gatherND", {list, places}, {selected});
  ctx.AddHelper("expandDims", {selected}, {column}).Ints("axes", {1});
  Writer pad = ctx.AddLayer(node, "constantPad", {column}, {ctx.NameOf(node.output())});
  pad.Float("value", 0);
  pad.Ints("padAmounts", {0, 0, 2, 0});
  return {};
}

constexpr ImportRow kNonMaxSuppressionImports[] = {
    {.layer = "NonMaximumSuppression", .import = ImportNonMaximumSuppression, .inputs = "ff?ffi"},
};

constexpr ExportRow kNonMaxSuppressionExports[] = {
    {.op = "non_max_suppression",
     .write = WriteNonMaxSuppression,
     .why_not = WhyNotNonMaxSuppression,
     .types = Types::kAny},
};

}  // namespace

Family NonMaxSuppressionFamily() {
  return {.imports = kNonMaxSuppressionImports, .exports = kNonMaxSuppressionExports};
}

}  // namespace nn::coreml

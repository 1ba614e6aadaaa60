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
    NN_RETURN_IF_ERROR(ctx_.ExpectInputs(2, 5));
    NN_ASSIGN(Value* const boxes, ctx_.Float(0));
    NN_ASSIGN(Value* const scores, ctx_.Float(1));
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
    std::vector<std::vector<Value*>> results(4);
    for (int64_t b = 0; b < batch.value(); ++b) {
      NN_ASSIGN(Value* const some, Batch(boxes, b));
      NN_ASSIGN(Value* const their, Batch(scores, b));
      NN_RETURN_IF_ERROR(AddResults(some, their, results));
    }
    for (size_t i = 0; i < ctx_.output_count(); ++i) {
      Value* y = results[i][0];
      if (results[i].size() > 1) {
        NN_ASSIGN(y, ctx_.Add("concat", results[i], ConcatAttrs{0}));
      }
      ctx_.SetOutput(i, y);
    }
    return {};
  }

 private:
  static constexpr int64_t kMaxBatches = 64;

  // The fields, or the inputs that replace them.
  Status ReadLimits() {
    iou_ = ctx_.Scalar(p_.Float("iouThreshold"));
    score_ = ctx_.Scalar(p_.Float("scoreThreshold"));
    NN_ASSIGN(const int64_t most, p_.Size("maxBoxes"));
    most_ = ctx_.Constant(Tensor::Ints({most}));
    if (ctx_.input_count() > 2) {
      NN_ASSIGN(iou_, ctx_.Float(2));
    }
    if (ctx_.input_count() > 3) {
      NN_ASSIGN(score_, ctx_.Float(3));
    }
    if (ctx_.input_count() > 4) {
      NN_ASSIGN(most_, ctx_.Index(4));
      NN_ASSIGN(most_, ctx_.Reshape(most_, {Dim(1)}));
    }
    return {};
  }

  Result<Value*> Batch(Value* v, int64_t b) {
    if (v->type().dim(0) == 1) return v;
    return ctx_.Add("slice", {v}, SliceAttrs{{0}, {b}, {b + 1}, {}});
  }

  // Scores [1, C, N]: the best score of each box [1, N] in the row of its class, and -infinity in
  // the others.
  Result<Value*> ByClass(Value* scores, Value* best, int64_t classes) {
    NN_ASSIGN(Value* const of_class,
              ctx_.Add("arg_max", {scores}, ArgAttrs{.axis = 2, .keep_dims = false}));
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    Value* const values = ctx_.Constant(Tensor::Of<float>({2}, {kNever, 0}));
    Value* const depth = ctx_.Constant(Tensor::Ints({classes}));
    NN_ASSIGN(Value* const mask,
              ctx_.Add("one_hot", {of_class, depth, values}, OneHotAttrs{1, false}));
    NN_ASSIGN(best, ctx_.Add("expand_dims", {best}, AxesAttrs{{1}}));
    return ctx_.Add("add", {mask, best});
  }

  // The indices [n] of the selected boxes in descending order of their scores, at most maxBoxes.
  // `best`: the greatest score of each box [1, N].
  Result<Value*> Selected(Value* boxes, Value* scores, Value* best) {
    const Dim& classes = scores->type().dim(2);
    const bool by_class = p_.Bool("perClassSuppression") && !(classes == 1);
    Value* rows = nullptr;
    if (by_class) {
      if (!classes.is_const())
        return UnsupportedError("suppression by class needs a constant number of classes");
      NN_ASSIGN(rows, ByClass(scores, best, classes.value()));
    } else {
      NN_ASSIGN(rows, ctx_.Add("expand_dims", {best}, AxesAttrs{{1}}));
    }
    NN_ASSIGN(Value* const all, ctx_.Add("non_max_suppression", {boxes, rows, most_, iou_, score_},
                                         NonMaxSuppressionAttrs{.center_point_box = true}));
    NN_ASSIGN(Value * indices, ctx_.Add("slice", {all}, SliceAttrs{{1}, {2}, {3}, {}}));
    NN_ASSIGN(indices, ctx_.Add("squeeze", {indices}, AxesAttrs{{1}}));
    if (!by_class) return indices;
    // The rows follow one another: sorted again, as one list.
    NN_ASSIGN(Value * list, ctx_.Add("squeeze", {best}, AxesAttrs{{0}}));
    NN_ASSIGN(list, ctx_.Add("gather", {list, indices}, GatherAttrs{}));
    NN_ASSIGN(Value * count, ctx_.Add("shape_of", {indices}, ShapeOfAttrs{}));
    NN_ASSIGN(count, ctx_.Add("minimum", {count, most_}));
    NN_ASSIGN(Node* const order,
              ctx_.AddNode("top_k", {list, count}, TopKAttrs{.axis = 0, .largest = true}, 2));
    return ctx_.Add("gather", {indices, order->output(1)}, GatherAttrs{});
  }

  // The list, or if it is empty, the index of the box with the best score.
  Result<Value*> OneAtLeast(Value* list, Value* best) {
    NN_ASSIGN(Value* const top,
              ctx_.Add("arg_max", {best}, ArgAttrs{.axis = 1, .keep_dims = false}));
    NN_ASSIGN(Value* const longer, ctx_.Add("concat", {list, top}, ConcatAttrs{0}));
    NN_ASSIGN(Value * count, ctx_.Add("shape_of", {list}, ShapeOfAttrs{}));
    NN_ASSIGN(count, ctx_.Add("maximum", {count, ctx_.Constant(Tensor::Ints({1}))}));
    return ctx_.Add("slice", {longer, ctx_.Constant(Tensor::Ints({0})), count}, SliceAttrs{});
  }

  // Rows of [1, N, K] by indices [M], zeros where they are -1: [1, M, K].
  Result<Value*> Rows(Value* from, Value* safe, Value* valid) {
    NN_ASSIGN(Value* const rows, ctx_.Add("gather", {from, safe}, GatherAttrs{1}));
    return ctx_.Add("select", {valid, rows, ctx_.Scalar(0)});
  }

  Status AddResults(Value* boxes, Value* scores, std::vector<std::vector<Value*>>& results) {
    const auto number = [&](int64_t v) { return ctx_.Constant(Tensor::Scalar(v)); };
    NN_ASSIGN(Value* const best, ctx_.Add("reduce_max", {scores}, ReduceAttrs{{2}, false}));
    NN_ASSIGN(Value* const passing, Selected(boxes, scores, best));
    NN_ASSIGN(Value* const selected, OneAtLeast(passing, best));
    NN_ASSIGN(Value* const count, ctx_.Add("shape_of", {selected}, ShapeOfAttrs{}));
    NN_ASSIGN(Value* const filled, PaddedList(ctx_, selected, number(-1), most_));
    NN_ASSIGN(Value* const safe, ctx_.Add("maximum", {filled, number(0)}));
    NN_ASSIGN(Value * valid, ctx_.Add("greater_equal", {filled, number(0)}));
    NN_ASSIGN(valid, ctx_.Add("expand_dims", {valid}, AxesAttrs{{1}}));
    NN_ASSIGN(Value* const some, Rows(boxes, safe, valid));
    NN_ASSIGN(Value* const their, Rows(scores, safe, valid));
    NN_ASSIGN(Value* const indices, ctx_.Add("expand_dims", {filled}, AxesAttrs{{0}}));
    for (const auto& [i, v] : {std::pair(0, some), {1, their}, {2, indices}, {3, count}})
      results[static_cast<size_t>(i)].push_back(v);
    return {};
  }

  ImportContext& ctx_;
  const Fields& p_;
  Value* iou_ = nullptr;
  Value* score_ = nullptr;
  Value* most_ = nullptr;  // [1]
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
    {.layer = "NonMaximumSuppression", .import = ImportNonMaximumSuppression},
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

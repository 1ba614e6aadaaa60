#include "ops/nn/detect/soft_non_max_suppression.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "numeric/functions-inl.h"
#include "numeric/scalar.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/types.h"

namespace nn {
namespace {

Status InferSoftNms(InferContext& ctx) {
  for (size_t i = 0; i <= kSoftNmsSigma; ++i) {
    const DType want = i == kSoftNmsMaxBoxes ? DType::kI64 : DType::kF32;
    const DType dtype = ctx.in(i).dtype;
    if (dtype != want && dtype != DType::kUnknown)
      return UnsupportedError("input {} is {}; must be {}", i, DTypeName(dtype), DTypeName(want));
    if (i >= kSoftNmsMaxBoxes) NN_RETURN_IF_ERROR(RequireOneNumber(ctx, i));
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, kSoftNmsBoxes, 2, 2));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kSoftNmsScores, 1, 1));
  const Dim &columns = ctx.in(kSoftNmsBoxes).dim(1), &boxes = ctx.in(kSoftNmsBoxes).dim(0),
            &scores = ctx.in(kSoftNmsScores).dim(0);
  if ((columns.is_const() && columns != 4) ||
      (boxes.is_const() && scores.is_const() && boxes != scores))
    return ModelError("the boxes are {} and the scores {}; must be [N, 4] and [N]",
                      ctx.in(kSoftNmsBoxes).ToString(), ctx.in(kSoftNmsScores).ToString());
  const Dim n = ctx.NewSymbol();
  ctx.set_out(0, Type(DType::kI64, {n}));
  ctx.set_out(1, Type(DType::kF32, {n}));
  return {};
}

struct Candidate {
  float score;
  int64_t index;
  size_t compared;  // the number of selected boxes that it was compared with

  bool operator<(const Candidate& o) const {
    return score != o.score ? score < o.score : index > o.index;
  }
};

struct Selected {
  std::vector<int64_t> boxes;
  std::vector<float> scores;
};

class SoftSelection {
 public:
  explicit SoftSelection(const EvalContext& ctx)
      : boxes_(ctx.in(kSoftNmsBoxes).As<float>()),
        iou_(ctx.in(kSoftNmsIouThreshold).As<float>()[0]),
        least_(ctx.in(kSoftNmsScoreThreshold).As<float>()[0]),
        sigma_(ctx.in(kSoftNmsSigma).As<float>()[0]) {}

  Selected Run(std::span<const float> scores, int64_t most) const {
    std::priority_queue<Candidate> queue;
    for (size_t i = 0; i < scores.size(); ++i)
      if (scores[i] > least_) queue.push({scores[i], static_cast<int64_t>(i), 0});
    Selected out;
    while (!queue.empty() && static_cast<int64_t>(out.boxes.size()) < most) {
      Candidate next = queue.top();
      queue.pop();
      const float before = next.score;
      if (!Compare(out, next)) continue;
      if (next.score == before) {
        out.boxes.push_back(next.index);
        out.scores.push_back(next.score);
      } else if (next.score > least_) {
        queue.push(next);
      }
    }
    return out;
  }

 private:
  // Lowers the score; false if the box is dropped.
  bool Compare(const Selected& selected, Candidate& c) const {
    const float factor = sigma_ > 0 ? -0.5f / sigma_ : 0;
    for (size_t j = selected.boxes.size(); j > c.compared; --j) {
      const float iou = Overlap(c.index, selected.boxes[j - 1]);
      if (iou >= iou_) return false;
      if (sigma_ > 0) c.score *= scalar::ExpFn<ScalarMachine>::Run(factor * iou * iou, {});
      if (c.score <= least_) break;
    }
    c.compared = selected.boxes.size();
    return true;
  }

  float Overlap(int64_t a, int64_t b) const {
    const auto corner = [&](int64_t box, size_t axis, bool high) {
      const float p = boxes_[static_cast<size_t>(box) * 4 + axis];
      const float q = boxes_[static_cast<size_t>(box) * 4 + axis + 2];
      return high ? std::max(p, q) : std::min(p, q);
    };
    float area_a = 1, area_b = 1, both = 1;
    for (size_t axis = 0; axis < 2; ++axis) {
      area_a *= corner(a, axis, true) - corner(a, axis, false);
      area_b *= corner(b, axis, true) - corner(b, axis, false);
      both *= std::max(0.0f, std::min(corner(a, axis, true), corner(b, axis, true)) -
                                 std::max(corner(a, axis, false), corner(b, axis, false)));
    }
    if (!(area_a > 0) || !(area_b > 0)) return 0;
    return both / (area_a + area_b - both);
  }

  std::span<const float> boxes_;
  float iou_, least_, sigma_;
};

Status EvalSoftNms(EvalContext& ctx) {
  const Selected selected = SoftSelection(ctx).Run(ctx.in(kSoftNmsScores).As<float>(),
                                                   ctx.in(kSoftNmsMaxBoxes).GetInt(0));
  const auto n = static_cast<int64_t>(selected.boxes.size());
  ctx.set_out(0, Tensor::Of<int64_t>({n}, selected.boxes));
  ctx.set_out(1, Tensor::Of<float>({n}, selected.scores));
  return {};
}

// Comparisons of boxes: of each with each, or with as many as may be selected.
std::optional<int64_t> SoftComparisons(const Node& node) {
  const auto scores = node.input(kSoftNmsScores)->type().const_dims();
  if (!scores) return std::nullopt;
  int64_t most = (*scores)[0];
  if (const Value* v = node.input(kSoftNmsMaxBoxes); v->is_constant())
    most = std::clamp<int64_t>(v->constant().GetInt(0), 0, most);
  return CheckedElements(std::vector<int64_t>{(*scores)[0], most})
      .value_or(std::numeric_limits<int64_t>::max());
}

Domain SoftNmsDomain(const Node&, size_t input, std::span<const Domain>) {
  if (input == kSoftNmsMaxBoxes) return Between(0, 16);
  return input >= kSoftNmsIouThreshold ? Between(0, 1) : Domain();
}

}  // namespace

void RegisterSoftNonMaxSuppressionOps(OpRegistry& ops) {
  OpDef op;
  op.name = "soft_non_max_suppression";
  op.summary = "selects boxes by scores that overlaps lower";
  op.category = Category::kOther;
  op.inputs = {{"boxes"},         {"scores"},          {"max_boxes"},
               {"iou_threshold"}, {"score_threshold"}, {"sigma"}};
  op.outputs = {{"y"}, {"y_scores"}};
  op.infer = InferSoftNms;
  op.eval = EvalSoftNms;
  op.multiply_adds = SoftComparisons;
  ops.Add(std::move(op));
}

void AddSoftNonMaxSuppressionDomains(DomainTable& domains) {
  domains["soft_non_max_suppression"] = SoftNmsDomain;
}

}  // namespace nn

#include "ops/nn/non_max_suppression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/checked_math.h"
#include "ops/support/domain.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> NonMaxSuppressionAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&NonMaxSuppressionAttrs::center_point_box>("center_point_box"),
  };
  return fields;
}

namespace {

enum NmsInput : size_t { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold };

Status RequireType(const InferContext& ctx, size_t input, DType want, std::string_view name) {
  if (!ctx.has(input)) return {};
  const DType dtype = ctx.in(input).dtype;
  if (dtype == want || dtype == DType::kUnknown) return {};
  return UnsupportedError("{} is {}; must be {}", name, DTypeName(dtype), DTypeName(want));
}

// kModel unless the sizes can be equal.
Status RequireSize(const Dim& size, const Dim& want, std::string_view what) {
  if (!size.is_const() || !want.is_const() || size == want) return {};
  return ModelError("{} is {}; must be {}", what, size.ToString(), want.ToString());
}

Status InferNonMaxSuppression(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireType(ctx, kBoxes, DType::kF32, "boxes"));
  NN_RETURN_IF_ERROR(RequireType(ctx, kScores, DType::kF32, "scores"));
  NN_RETURN_IF_ERROR(RequireType(ctx, kMaxBoxes, DType::kI64, "max_boxes"));
  NN_RETURN_IF_ERROR(RequireType(ctx, kIouThreshold, DType::kF32, "iou_threshold"));
  NN_RETURN_IF_ERROR(RequireType(ctx, kScoreThreshold, DType::kF32, "score_threshold"));
  for (const size_t i : {size_t{kMaxBoxes}, size_t{kIouThreshold}, size_t{kScoreThreshold}})
    NN_RETURN_IF_ERROR(RequireOneNumber(ctx, i));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kBoxes, 3, 3));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kScores, 3, 3));
  const Type& boxes = ctx.in(kBoxes);
  const Type& scores = ctx.in(kScores);
  NN_RETURN_IF_ERROR(RequireSize(boxes.dim(2), Dim(4), "the last size of boxes"));
  NN_RETURN_IF_ERROR(RequireSize(scores.dim(0), boxes.dim(0), "the first size of scores"));
  NN_RETURN_IF_ERROR(RequireSize(scores.dim(2), boxes.dim(1), "the last size of scores"));
  ctx.set_out(0, Type(DType::kI64, {ctx.NewSymbol(), Dim(3)}));
  return {};
}

struct Box {
  float y1, x1, y2, x2;
  float area() const { return (y2 - y1) * (x2 - x1); }
};

Box BoxAt(const float* p, bool center) {
  if (center) {
    const float half_w = p[2] / 2, half_h = p[3] / 2;
    return {p[1] - half_h, p[0] - half_w, p[1] + half_h, p[0] + half_w};
  }
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

// 0 if a box is empty.
float IntersectionOverUnion(const Box& a, const Box& b) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const float area_a = a.area(), area_b = b.area();
  if (!(height > 0) || !(width > 0) || !(area_a > 0) || !(area_b > 0)) return 0;
  const float both = height * width;
  return both / (area_a + area_b - both);
}

// Shared by all rows.
struct Limits {
  int64_t boxes;
  float iou;
  std::optional<float> score;
};

// The indices that one row of scores selects.
std::vector<int64_t> Select(std::span<const Box> boxes, const float* scores, const Limits& limits) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (!limits.score || scores[i] > *limits.score) order.push_back(static_cast<int64_t>(i));
  const auto key = [&](int64_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<float>::infinity() : scores[i];
  };
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return key(a) > key(b); });
  std::vector<int64_t> selected;
  for (const int64_t i : order) {
    if (static_cast<int64_t>(selected.size()) >= limits.boxes) break;
    const Box& box = boxes[static_cast<size_t>(i)];
    const bool free = std::ranges::none_of(selected, [&](int64_t k) {
      return IntersectionOverUnion(boxes[static_cast<size_t>(k)], box) > limits.iou;
    });
    if (free) selected.push_back(i);
  }
  return selected;
}

Status EvalNonMaxSuppression(EvalContext& ctx) {
  const Tensor& boxes = ctx.in(kBoxes);
  const Tensor& scores = ctx.in(kScores);
  const int64_t batch = boxes.dim(0), count = boxes.dim(1), rows = scores.dim(1);
  const bool center = ctx.attrs<NonMaxSuppressionAttrs>().center_point_box;
  Limits limits{};
  limits.boxes = ctx.has(kMaxBoxes) ? ctx.in(kMaxBoxes).GetInt(0) : 0;
  limits.iou = ctx.has(kIouThreshold) ? ctx.in(kIouThreshold).As<float>()[0] : 0.0f;
  if (ctx.has(kScoreThreshold)) limits.score = ctx.in(kScoreThreshold).As<float>()[0];
  std::vector<std::array<int64_t, 3>> selected;
  std::vector<Box> of_batch(static_cast<size_t>(count));
  for (int64_t b = 0; b < batch; ++b) {
    const float* from = boxes.As<float>().data() + b * count * 4;
    for (size_t i = 0; i < of_batch.size(); ++i) of_batch[i] = BoxAt(from + i * 4, center);
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = scores.As<float>().data() + (b * rows + r) * count;
      for (const int64_t i : Select(of_batch, row, limits)) selected.push_back({b, r, i});
    }
  }
  NN_ASSIGN(TensorBuilder out,
            TensorBuilder::Create(DType::kI64, {static_cast<int64_t>(selected.size()), 3}));
  for (size_t i = 0; i < selected.size(); ++i)
    std::ranges::copy(selected[i], out.As<int64_t>().begin() + static_cast<ptrdiff_t>(3 * i));
  ctx.set_out(0, out.Finish());
  return {};
}

// Comparisons of boxes: of each with each, or with as many as may be selected.
std::optional<int64_t> BoxComparisons(const Node& node) {
  const auto scores = node.input(kScores)->type().const_dims();
  if (!scores) return std::nullopt;
  int64_t most = (*scores)[2];
  if (const Value* v = node.input(kMaxBoxes); v != nullptr && v->is_constant())
    most = std::clamp<int64_t>(v->constant().GetInt(0), 0, most);
  return CheckedElements(std::vector<int64_t>{(*scores)[0], (*scores)[1], (*scores)[2], most})
      .value_or(std::numeric_limits<int64_t>::max());
}

Domain NonMaxSuppressionDomain(const Node&, size_t input, std::span<const Domain>) {
  if (input == kMaxBoxes) return Between(0, 16);
  return input >= kIouThreshold ? Between(0, 1) : Domain();
}

}  // namespace

void RegisterNonMaxSuppressionOps(OpRegistry& ops) {
  OpDef op;
  op.name = "non_max_suppression";
  op.summary = "selects boxes of high scores that overlap little";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<NonMaxSuppressionAttrs>();
  op.inputs = {{"boxes"},
               {"scores"},
               {"max_boxes", Arity::kOptional},
               {"iou_threshold", Arity::kOptional},
               {"score_threshold", Arity::kOptional}};
  op.infer = InferNonMaxSuppression;
  op.eval = EvalNonMaxSuppression;
  op.multiply_adds = BoxComparisons;
  op.formats = {{"onnx", "NonMaxSuppression", 10, {{"center_point_box", "center_point_box"}}}};
  ops.Add(std::move(op));
}

void AddNonMaxSuppressionDomains(DomainTable& domains) {
  domains["non_max_suppression"] = NonMaxSuppressionDomain;
}

}  // namespace nn

#include "ops/nn/detect/non_max_suppression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "ops/families.h"
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
  float area;  // of a box that is empty or has NaN: not positive
};

Box BoxAt(const float* p, bool center) {
  Box b{};
  if (center) {
    const float half_w = p[2] / 2, half_h = p[3] / 2;
    b = {p[1] - half_h, p[0] - half_w, p[1] + half_h, p[0] + half_w, 0};
  } else {
    b = {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3]), 0};
  }
  b.area = (b.y2 - b.y1) * (b.x2 - b.x1);
  return b;
}

// 0 if a box is empty.
float IntersectionOverUnion(const Box& a, const Box& b) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0) || !(a.area > 0) || !(b.area > 0)) return 0;
  const float both = height * width;
  return both / (a.area + b.area - both);
}

// Shared by all rows.
struct Limits {
  int64_t boxes;
  float iou;
  std::optional<float> score;
};

// A score and the index of its box as a number: ascending numbers are descending scores, NaN as the
// least one, and ascending indices of equal ones.
uint64_t KeyOf(float score, size_t index) {
  if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // zeros are equal
  const uint32_t ascending = (bits >> 31) != 0 ? bits : ~(bits | 0x80000000u);
  return uint64_t{ascending} << 32 | index;
}

// Boxes in the cells of a grid that they touch: boxes that overlap have a common cell.
class BoxGrid {
 public:
  explicit BoxGrid(std::span<const Box> boxes) {
    constexpr float kMax = std::numeric_limits<float>::max();
    float low = kMax, high = -kMax;
    for (const Box& b : boxes)
      for (const float v : {b.y1, b.x1, b.y2, b.x2}) {
        if (!std::isfinite(v)) continue;
        low = std::min(low, v);
        high = std::max(high, v);
      }
    if (!(high > low)) return;
    low_ = low;
    scale_ = static_cast<float>(kSide) / (high - low);
  }

  void Clear() {
    for (std::vector<Box>& cell : cells_) cell.clear();
  }
  void Add(const Box& box) {
    ForEachCell(box, [&](size_t cell) {
      cells_[cell].push_back(box);
      return false;
    });
  }
  // Whether the overlap of the box with one in its cells is more than `limit`.
  bool Overlaps(const Box& box, float limit) const {
    return ForEachCell(box, [&](size_t cell) {
      for (const Box& other : cells_[cell])
        if (IntersectionOverUnion(other, box) > limit) return true;
      return false;
    });
  }

 private:
  static constexpr size_t kSide = 16;

  // Ascending in v; 0 for NaN, which no box with an area has.
  size_t Position(float v) const {
    const float at = (v - low_) * scale_;
    if (!(at > 0)) return 0;
    return at < static_cast<float>(kSide) ? static_cast<size_t>(at) : kSide - 1;
  }
  // Until fn returns true; whether it does.
  template <typename Fn>
  bool ForEachCell(const Box& box, const Fn& fn) const {
    const size_t y2 = Position(box.y2), x1 = Position(box.x1), x2 = Position(box.x2);
    for (size_t y = Position(box.y1); y <= y2; ++y)
      for (size_t x = x1; x <= x2; ++x)
        if (fn(y * kSide + x)) return true;
    return false;
  }

  float low_ = 0, scale_ = 0;
  std::array<std::vector<Box>, kSide * kSide> cells_;
};

// The indices that one row of scores selects. Few of many boxes are selected in general, so only
// the keys that are looked at are sorted: twice as many each time as before.
class RowSelection {
 public:
  explicit RowSelection(std::span<const Box> boxes) : boxes_(boxes), grid_(boxes) {}

  std::span<const uint32_t> Run(const float* scores, const Limits& limits) {
    keys_.clear();
    selected_.clear();
    grid_.Clear();
    for (size_t i = 0; i < boxes_.size(); ++i)
      if (!limits.score || scores[i] > *limits.score) keys_.push_back(KeyOf(scores[i], i));
    size_t sorted = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (static_cast<int64_t>(selected_.size()) >= limits.boxes) break;
      if (i == sorted) sorted = SortMore(sorted);
      const auto index = static_cast<uint32_t>(keys_[i]);
      const Box& box = boxes_[index];
      if (limits.iou < 0 ? IsBeyond(box, limits.iou) : grid_.Overlaps(box, limits.iou)) continue;
      selected_.push_back(index);
      grid_.Add(box);
    }
    return selected_;
  }

 private:
  // For negative limits, which boxes that do not touch exceed, too.
  bool IsBeyond(const Box& box, float limit) const {
    return std::ranges::any_of(selected_, [&](uint32_t other) {
      return IntersectionOverUnion(boxes_[other], box) > limit;
    });
  }
  size_t SortMore(size_t sorted) {
    constexpr size_t kFirst = 256;
    const size_t end = std::min(keys_.size(), std::max(2 * sorted, kFirst));
    const auto begin = keys_.begin() + static_cast<ptrdiff_t>(sorted);
    const auto middle = keys_.begin() + static_cast<ptrdiff_t>(end);
    if (end < keys_.size()) std::nth_element(begin, middle, keys_.end());
    std::sort(begin, middle);
    return end;
  }

  std::span<const Box> boxes_;
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> selected_;
  BoxGrid grid_;  // of those that are selected
};

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
  if (count > std::numeric_limits<uint32_t>::max())
    return UnsupportedError("non_max_suppression of {} boxes; at most 2^32 - 1 are supported",
                            count);
  std::vector<Box> of_batch(static_cast<size_t>(count));
  for (int64_t b = 0; b < batch; ++b) {
    const float* from = boxes.As<float>().data() + b * count * 4;
    for (size_t i = 0; i < of_batch.size(); ++i) of_batch[i] = BoxAt(from + i * 4, center);
    RowSelection selection(of_batch);
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = scores.As<float>().data() + (b * rows + r) * count;
      for (const uint32_t i : selection.Run(row, limits)) selected.push_back({b, r, i});
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

// Batches, classes and boxes.
Interval SelectedRange(RangeContext& ctx, size_t) {
  return IndexRange(ctx.node().input(1)->type());
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
  op.range = SelectedRange;
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

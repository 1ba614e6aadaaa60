#include "formats/common/suppression.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "formats/common/control_flow.h"
#include "ops/array/arrange/slice.h"
#include "ops/nn/detect/non_max_suppression.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

constexpr size_t kBoxes = 0, kScores = 1;

// Corners from centers and sizes [B, N, 4]. Boxes of negative sizes overlap nothing, nor do those
// of size 0.
Term CornersOf(const Term& boxes) {
  std::vector<Term> first, last;
  for (const int64_t k : {1, 0}) {  // y before x
    const Term center = Slice(boxes, 2, k, k + 1);
    const Term half = Maximum(Slice(boxes, 2, k + 2, k + 3), 0) * 0.5;
    first.push_back(center - half);
    last.push_back(center + half);
  }
  first.insert(first.end(), last.begin(), last.end());
  return Concat(std::move(first), 2);
}

// Centers and sizes from corners [B, N, 4].
Result<Term> CentersOf(Expansion& e, const Term& boxes) {
  NN_ASSIGN(Value* const half, e.Number(DType::kF32, 0.5));
  std::vector<Term> centers, sizes;
  for (const int64_t k : {1, 0}) {  // x before y
    const Term one = Slice(boxes, 2, k, k + 1), other = Slice(boxes, 2, k + 2, k + 3);
    NN_ASSIGN(Value* const center, e.Build((one + other) * half));
    centers.push_back(center);
    NN_ASSIGN(Value* const size, e.Build(Apply("abs", {other - one})));
    sizes.push_back(size);
  }
  centers.insert(centers.end(), sizes.begin(), sizes.end());
  return Concat(std::move(centers), 2);
}

}  // namespace

Result<bool> OneListEach(Graph& graph, Node& node, bool centers) {
  const auto scores = node.input(kScores)->type().const_dims();
  NonMaxSuppressionAttrs a = node.attrs<NonMaxSuppressionAttrs>();
  if (!scores) return false;
  const int64_t batches = (*scores)[0], classes = (*scores)[1];
  if (batches < 1 || classes < 1 || batches > kMaxSuppressions / classes) return false;
  if (batches == 1 && classes == 1 && a.center_point_box == centers) return false;
  Expansion e(graph, node);
  std::vector<Term> inputs(node.inputs().begin(), node.inputs().end());
  const Term scores_of_all = inputs[kScores];
  Term boxes = inputs[kBoxes];
  if (a.center_point_box != centers) {
    NN_ASSIGN(boxes, centers ? CentersOf(e, boxes) : CornersOf(boxes));
    a.center_point_box = centers;
  }
  std::vector<Term> parts;
  for (int64_t b = 0; b < batches; ++b) {
    inputs[kBoxes] = batches > 1 ? Slice(boxes, 0, b, b + 1) : boxes;
    for (int64_t c = 0; c < classes; ++c) {
      inputs[kScores] =
          Apply("slice", {scores_of_all}, SliceAttrs{{0, 1}, {b, c}, {b + 1, c + 1}, {}});
      const Term rows = Apply("non_max_suppression", inputs, a);
      const bool is_first = b == 0 && c == 0;
      parts.push_back(is_first ? rows : rows + Tensor::Of<int64_t>({1, 3}, {b, c, 0}));
    }
  }
  return e.Replace(Concat(std::move(parts), 0));
}

std::optional<std::string> WhyNotOneList(const Node& node) {
  for (const size_t i : {kBoxes, kScores}) {
    const Type& type = node.input(i)->type();
    if (!type.ranked()) return "the ranks of its boxes and scores must be known";
    for (const Dim& d : *type.dims)
      if (!d.is_const())
        return fmt::format(
            "the numbers of batches, classes and boxes must be constant, and one of them {}",
            WhyUnknown(d));
  }
  const auto scores = node.input(kScores)->type().const_dims();
  if ((*scores)[0] == 1 && (*scores)[1] == 1) return std::nullopt;
  return fmt::format("{} batches of {} classes are not 1 to {} lists", (*scores)[0], (*scores)[1],
                     kMaxSuppressions);
}

}  // namespace nn

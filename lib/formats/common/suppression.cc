#include "formats/common/suppression.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "formats/common/control_flow.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/nn/detect/non_max_suppression.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

constexpr size_t kBoxes = 0, kScores = 1;

Result<Value*> Columns(Expansion& e, Value* v, int64_t axis, int64_t begin, int64_t end) {
  return e.Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {}});
}

// Corners from centers and sizes [B, N, 4]. Boxes of negative sizes overlap nothing, nor do those
// of size 0.
Result<Value*> CornersOf(Expansion& e, Value* boxes) {
  NN_ASSIGN(Value* const zero, e.Number(DType::kF32, 0));
  NN_ASSIGN(Value* const half, e.Number(DType::kF32, 0.5));
  std::vector<Value*> first, last;
  for (const int64_t k : {1, 0}) {  // y before x
    NN_ASSIGN(Value* const center, Columns(e, boxes, 2, k, k + 1));
    NN_ASSIGN(Value * size, Columns(e, boxes, 2, k + 2, k + 3));
    NN_ASSIGN(size, e.Add("maximum", {size, zero}));
    NN_ASSIGN(size, e.Add("mul", {size, half}));
    NN_ASSIGN(Value* const low, e.Add("sub", {center, size}));
    NN_ASSIGN(Value* const high, e.Add("add", {center, size}));
    first.push_back(low);
    last.push_back(high);
  }
  first.insert(first.end(), last.begin(), last.end());
  return e.Add("concat", std::move(first), ConcatAttrs{2});
}

// Centers and sizes from corners [B, N, 4].
Result<Value*> CentersOf(Expansion& e, Value* boxes) {
  NN_ASSIGN(Value* const half, e.Number(DType::kF32, 0.5));
  std::vector<Value*> centers, sizes;
  for (const int64_t k : {1, 0}) {  // x before y
    NN_ASSIGN(Value* const one, Columns(e, boxes, 2, k, k + 1));
    NN_ASSIGN(Value* const other, Columns(e, boxes, 2, k + 2, k + 3));
    NN_ASSIGN(Value * center, e.Add("add", {one, other}));
    NN_ASSIGN(center, e.Add("mul", {center, half}));
    NN_ASSIGN(Value * size, e.Add("sub", {other, one}));
    NN_ASSIGN(size, e.Add("abs", {size}));
    centers.push_back(center);
    sizes.push_back(size);
  }
  centers.insert(centers.end(), sizes.begin(), sizes.end());
  return e.Add("concat", std::move(centers), ConcatAttrs{2});
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
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  if (a.center_point_box != centers) {
    NN_ASSIGN(inputs[kBoxes],
              centers ? CentersOf(e, inputs[kBoxes]) : CornersOf(e, inputs[kBoxes]));
    a.center_point_box = centers;
  }
  std::vector<Value*> parts;
  const std::vector<Value*> all = inputs;
  for (int64_t b = 0; b < batches; ++b) {
    if (batches > 1) {
      NN_ASSIGN(inputs[kBoxes], Columns(e, all[kBoxes], 0, b, b + 1));
    }
    for (int64_t c = 0; c < classes; ++c) {
      NN_ASSIGN(inputs[kScores],
                e.Add("slice", {all[kScores]}, SliceAttrs{{0, 1}, {b, c}, {b + 1, c + 1}, {}}));
      NN_ASSIGN(Value * rows, e.Add("non_max_suppression", inputs, a));
      if (b != 0 || c != 0) {
        NN_ASSIGN(Tensor row, Tensor::Ints({b, c, 0}).Reshaped({1, 3}));
        NN_ASSIGN(rows, e.Add("add", {rows, e.Constant(std::move(row))}));
      }
      parts.push_back(rows);
    }
  }
  if (parts.size() == 1) return e.Replace(parts[0]);
  NN_ASSIGN(Value* const y, e.Add("concat", std::move(parts), ConcatAttrs{0}));
  return e.Replace(y);
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

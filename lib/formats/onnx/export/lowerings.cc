#include "formats/onnx/export/lowerings.h"

#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/rewrite.h"

namespace nn::onnx {
namespace {

// A reversal -> a gather along each axis.
Result<bool> GatherReversed(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.ranked()) return false;
  NN_ASSIGN(const std::vector<int> axes, NormalizeAxes(node.attrs<ReverseAttrs>().axes, x.rank()));
  for (const int axis : axes)
    if (!x.dim(axis).is_const()) return false;
  Expansion e(graph, node);
  Term y = node.input(0);
  for (const int axis : axes) {
    std::vector<int64_t> indices(static_cast<size_t>(x.dim(axis).value()));
    std::iota(indices.rbegin(), indices.rend(), 0);
    y = Gather(y, Vector(indices), axis);
  }
  return e.Replace(y);
}

bool IsNarrowInteger(const Value* v) {
  return IsInteger(v->dtype()) && DTypeBits(v->dtype()) < 32 && !v->type().quantized();
}

// Integers of 8 and 16 bits -> of 32 bits, between casts.
Result<bool> WidenIntegers(Graph& graph, Node& node) {
  return ComputeIn(DType::kI32, graph, node, IsNarrowInteger, nullptr);
}
Result<bool> WidenWrapping(Graph& graph, Node& node) {
  return node.op().wraps_integers ? WidenIntegers(graph, node) : Result<bool>(false);
}

// A slice with steps -> a gather along each axis that has one.
Result<bool> GatherSteps(Graph& graph, Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Type& x = node.input(0)->type();
  if (node.input(1) != nullptr || !x.ranked()) return false;
  Expansion e(graph, node);
  Term y = node.input(0);
  for (size_t i = 0; i < a.starts.size(); ++i) {
    NN_ASSIGN(const int axis,
              NormalizeAxis(a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i], x.rank()));
    if (!x.dim(axis).is_const()) return false;
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    NN_ASSIGN(const SliceRange r, RangeOf(a.starts[i], a.ends[i], step, x.dim(axis).value()));
    std::vector<int64_t> indices;
    for (int64_t k = 0; k < r.count; ++k) indices.push_back(r.start + k * r.step);
    y = Gather(y, Vector(indices), axis);
  }
  return e.Replace(y);
}

}  // namespace

std::span<const Rewrite> Lowerings() {
  static constexpr Rewrite kLowerings[] = {
      // Up to operator set 12, it works on all axes from `axis` on, as softmax does.
      {"hardmax", "last axis", AlongLastAxis},
      {"reverse", "gathers", GatherReversed},
      kForms,
      {"slice", "gathers", GatherSteps},
      kSharedFunctions,
      {"div", "wider integers", WidenIntegers},
      {"", "wider integers", WidenWrapping},
      kSharedRules,
  };
  return kLowerings;
}

}  // namespace nn::onnx

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
#include "rewrite/recurrent_layout.h"
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

// maximum and minimum of integers -> a selection by a comparison.
template <const char* takes_a>
Result<bool> SelectExtreme(Graph& graph, Node& node) {
  Value* const a = node.input(0);
  Value* const b = node.input(1);
  if (!IsInteger(a->dtype()) || a->type().quantized()) return false;
  Expansion e(graph, node);
  return e.Replace(Select(Apply(takes_a, {a, b}), a, b));
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

// reduce_max and reduce_min of bool -> reduce_any and reduce_all.
template <const char* op>
Result<bool> ReduceLogically(Graph& graph, Node& node) {
  if (node.input(0)->dtype() != DType::kBool) return false;
  Expansion e(graph, node);
  return e.Replace(Apply(op, node.inputs(), node.attrs()));
}

constexpr char kGreater[] = "greater", kLess[] = "less", kReduceAny[] = "reduce_any",
               kReduceAll[] = "reduce_all";

}  // namespace

std::span<const Rewrite> Lowerings() {
  static constexpr Rewrite kLowerings[] = {
      // Up to operator set 12, it works on all axes from `axis` on, as softmax does.
      {"hardmax", "last axis", AlongLastAxis},
      {"reverse", "gathers", GatherReversed},
      {"maximum", "selection", SelectExtreme<kGreater>},
      {"minimum", "selection", SelectExtreme<kLess>},
      {"lstm", "time first", PutTimeFirst},
      {"gru", "time first", PutTimeFirst},
      {"rnn", "time first", PutTimeFirst},
      {"reduce_max", "logic", ReduceLogically<kReduceAny>},
      {"reduce_min", "logic", ReduceLogically<kReduceAll>},
      {"slice", "gathers", GatherSteps},
      kSharedFunctions,
      {"div", "wider integers", WidenIntegers},
      {"", "wider integers", WidenWrapping},
      kSharedRules,
  };
  return kLowerings;
}

}  // namespace nn::onnx

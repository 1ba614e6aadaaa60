// slice by axes and steps that only a run knows.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

constexpr int64_t kMaxDistance = std::numeric_limits<int32_t>::max();

// The operands of a slice as lists of i64 with a number for each axis.
class ComputedSlice {
 public:
  ComputedSlice(const Node& node, int64_t count) : node_(node) {
    std::vector<int64_t> first(static_cast<size_t>(count));
    std::iota(first.begin(), first.end(), 0);
    axes_ = operand(3) != nullptr ? Cast(operand(3), DType::kI64) : Vector(first);
  }

  // As RangeOf() of the operator, in the same steps.
  Term Result() const {
    Value* const x = node_.input(0);
    const int64_t rank = x->type().rank();
    const Term sizes = Apply("shape_of", {x}, ShapeOfAttrs{.end = rank});
    const Term zeros = Vector(std::vector<int64_t>(static_cast<size_t>(rank), 0));
    const Term step = OfAllAxes(Vector(std::vector<int64_t>(static_cast<size_t>(rank), 1)), 4);
    const Term ascends = Greater(step, 0);
    const Term low = Select(ascends, zeros, zeros - 1);
    const Term high = Select(ascends, sizes, sizes - 1);
    const auto position = [&](const Term& bound) {
      return Minimum(Select(Less(bound, 0), bound + sizes, bound), high);
    };
    const Term start = Maximum(position(OfAllAxes(zeros, 1)), zeros);
    const Term end = Maximum(position(OfAllAxes(sizes, 2)), low);
    const Term distance = Select(ascends, end - start, start - end);
    // No distance is longer than an axis, so the quotient is that of 32 bits, which more targets
    // have.
    const Term length = Cast(Maximum(distance, 1) - 1, DType::kI32);
    const Term width = Cast(Minimum(Apply("abs", {step}), kMaxDistance), DType::kI32);
    const Term steps = Cast(Apply("floor_div", {length, width}), DType::kI64);
    const Term taken = Select(Greater(distance, 0), steps + 1, zeros);
    Term y = x;
    for (int64_t axis = 0; axis < rank; ++axis) {
      const auto of_axis = [&](const Term& list) { return Slice(list, 0, axis, axis + 1); };
      const Term numbers = Apply("range", {0, Squeeze(of_axis(taken), {0}), 1});
      y = Gather(y, of_axis(start) + of_axis(step) * numbers, axis);
    }
    return y;
  }

 private:
  Value* operand(size_t i) const { return i < node_.inputs().size() ? node_.input(i) : nullptr; }
  // The numbers of an operand at its axes, and `others` elsewhere.
  Term OfAllAxes(const Term& others, size_t i) const {
    if (operand(i) == nullptr) return others;
    return Apply("scatter_elements", {others, axes_, Cast(operand(i), DType::kI64)},
                 ScatterElementsAttrs{});
  }

  const Node& node_;
  Term axes_;
};

}  // namespace

Result<bool> ExpandComputedSteps(Graph& graph, Node& node) {
  const int64_t rank = node.input(0)->type().rank();
  if (node.inputs().size() < 3 || node.input(1) == nullptr || rank == 0) return false;
  const auto count = KnownLength(node.input(1)->type());
  const auto is_list = [](const Value* v) {
    return v == nullptr || v->dtype() == DType::kI32 || v->dtype() == DType::kI64;
  };
  if (!count || *count > rank || !std::ranges::all_of(node.inputs().subspan(1), is_list))
    return false;
  return Expansion(graph, node).Replace(ComputedSlice(node, *count).Result());
}

}  // namespace nn

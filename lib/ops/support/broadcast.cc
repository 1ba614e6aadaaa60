#include "ops/support/broadcast.h"

#include "ops/support/types.h"

namespace nn {

std::vector<int64_t> BroadcastSteps(std::span<const int64_t> result,
                                    std::span<const int64_t> operand) {
  std::vector<int64_t> steps = Strides(operand);
  for (size_t i = 0; i < operand.size(); ++i)
    if (operand[i] == 1) steps[i] = 0;
  steps.insert(steps.begin(), result.size() - operand.size(), 0);
  return steps;
}

std::optional<AxesChange> ChangeBroadcastAxes(const Node& node, Operand changed,
                                              const AxisMap& map) {
  // The map refers to the output's axes; an operand of lower rank has only the last of them.
  for (const Value* v : node.inputs())
    if (!v->type().ranked()) return std::nullopt;
  const Type& y = node.output()->type();
  if (!y.ranked() || map.source_rank() != y.rank()) return std::nullopt;
  const int rank = y.rank();
  // A unit axis of one operand can be dropped only if the result has size 1 there.
  for (int axis = 0; axis < rank; ++axis)
    if (!map.ResultAxis(axis) && !(y.dim(axis) == 1)) return std::nullopt;
  AxesChange change{node.attrs(), {}};
  if (!changed.is_output) change.others.push_back({Operand{true, 0}, map});
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (changed == Operand{false, i}) continue;
    const int input_rank = node.input(i)->type().rank();
    if (input_rank == 0 && rank != 0) continue;  // another input has the axes of the result
    change.others.push_back(
        {Operand{false, i}, input_rank == rank ? map : map.ForTrailing(input_rank)});
  }
  return change;
}

Result<std::optional<Dims>> BroadcastInputs(const InferContext& ctx) {
  Dims dims;
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    if (!ctx.in(i).ranked()) return std::optional<Dims>();
    const Dims& next = *ctx.in(i).dims;
    if (i == 0) {
      dims = next;
    } else if (dims != next) {
      NN_ASSIGN(dims, BroadcastDims(dims, next));
    }
  }
  return std::optional(std::move(dims));
}

}  // namespace nn

// Broadcasting of any number of operands, aligned at their last axes (NumPy's rules).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"

namespace nn {

// For each axis of the result: the step of an operand, in elements.
std::vector<int64_t> BroadcastSteps(std::span<const int64_t> result,
                                    std::span<const int64_t> operand);

// Calls fn(result index, index into each operand) for every element of the result, in order.
template <size_t N, typename Fn>
void ForEachBroadcast(std::span<const int64_t> result,
                      const std::array<std::span<const int64_t>, N>& operands, Fn fn) {
  std::array<std::vector<int64_t>, N> steps;
  for (size_t k = 0; k < N; ++k) steps[k] = BroadcastSteps(result, operands[k]);
  std::vector<int64_t> index(result.size(), 0);
  std::array<int64_t, N> at{};
  int64_t count = 1;
  for (const int64_t d : result) count *= d;
  for (int64_t i = 0; i < count; ++i) {
    fn(i, at);
    for (size_t d = result.size(); d-- > 0;) {
      for (size_t k = 0; k < N; ++k) at[k] += steps[k][d];
      if (++index[d] < result[d]) break;
      for (size_t k = 0; k < N; ++k) at[k] -= steps[k][d] * result[d];
      index[d] = 0;
    }
  }
}

// OpDef::change_axes of operators that broadcast all inputs to the output's shape.
std::optional<AxesChange> ChangeBroadcastAxes(const Node& node, Operand changed,
                                              const AxisMap& map);

// The shape of the broadcast of all inputs; nullopt if the rank of one of them is not known.
Result<std::optional<Dims>> BroadcastInputs(const InferContext& ctx);

}  // namespace nn

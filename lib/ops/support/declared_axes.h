// Axes that follow from the shape of the result, for operators whose axes are an operand.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nn {

// The axes of size 1 of `longer` that `shorter` has not: what expand_dims adds and squeeze drops.
// Any other choice results in the same shape. nullopt if there is none.
std::optional<std::vector<int64_t>> AxesBetween(const std::vector<int64_t>& shorter,
                                                const std::vector<int64_t>& longer);

// All choices of `count` axes whose reduction makes the shape `y` of the shape `x`; none if x has
// more than 16 axes.
std::vector<std::vector<int64_t>> AxesThatReduce(const std::vector<int64_t>& x,
                                                 const std::vector<int64_t>& y, int64_t count,
                                                 bool keep_dims);

}  // namespace nn

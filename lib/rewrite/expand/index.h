// Index arithmetic of expansions. See expand.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/types/type.h"
#include "rewrite/expand.h"

namespace nn {

// Limit of expansions: elements of a constant that an expansion adds.
constexpr int64_t kMaxElements = int64_t{1} << 24;

// The number of elements, if it is positive and at most `most`.
std::optional<int64_t> ElementsWithin(const std::vector<int64_t>& dims, int64_t most);

// The numbers 0, 1, ..., n - 1 in i32.
Tensor Ascending(int64_t n);

// Converts indices that may count from the end of axes of the given sizes, one size for all or one
// for each entry of the last axis (of i32 or i64), to indices that do not. Returns those that are
// not negative.
Term NonNegative(Value* indices, const std::vector<int64_t>& sizes);
// The same for `count` axes of x, whose sizes may be open.
Term NonNegative(Value* indices, Value* x, int64_t first, int64_t count);

// The row-major positions of elements in a tensor of shape `x`: `indices` replaces the index of
// each element on `axis`. Absent if there are too many or none, or if a constant index is out of
// range.
Result<Term> FlatPositions(Value* indices, const std::vector<int64_t>& x, int axis);

}  // namespace nn

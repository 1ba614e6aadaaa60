// Checks on operand types, shared by many operators.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kModel unless all present inputs in `indices` have one element type (an unknown type matches
// any).
Result<DType> SameDType(const InferContext& ctx, std::initializer_list<size_t> indices);

// kUnsupported unless the input's rank is known; kModel unless it is in the given range.
Status RequireRank(const InferContext& ctx, size_t input, int at_least, int at_most = kMaxRank);

// kModel if the input, which holds `what`, is present and its elements are no integers (an unknown
// type is accepted).
Status RequireIntegers(const InferContext& ctx, size_t input, std::string_view what);

// kModel if the input is present and cannot be a scalar or a vector of one element.
Status RequireOneNumber(const InferContext& ctx, size_t input);

// The number of entries of a list; nullopt if it is not a vector or its length is not known.
std::optional<int64_t> KnownLength(const Type& list);

// kModel if the input is present and cannot be a vector of `count` elements.
Status RequireList(const InferContext& ctx, size_t input, size_t count);

// The broadcast of two shapes, aligned at the last axis (NumPy's rules); kModel if two numbers
// conflict. A symbol and 1 give the symbol.
Result<Dims> BroadcastDims(const Dims& a, const Dims& b);

// Whether no symbol in the dims is from InferContext::NewSymbol, whose values are known only at run
// time.
bool KnownBeforeRun(const Dims& dims);

// Axes and tensors do not have more elements.
inline constexpr double kLargestSize = std::numeric_limits<int32_t>::max();

// The bounds of positions along any axis of a tensor.
Interval IndexRange(const Type& type);

// Normalizes an axis in [-rank, rank) to [0, rank); kModel if it is out of range.
Result<int> NormalizeAxis(int64_t axis, int rank);
Result<std::vector<int>> NormalizeAxes(std::span<const int64_t> axes, int rank);

}  // namespace nn

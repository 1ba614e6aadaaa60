// Checks on operand types that many operators share.
#pragma once

#include <initializer_list>
#include <span>

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kModel unless all present inputs in `indices` have one element type (unknown matches any).
Result<DType> SameDType(const InferContext& ctx, std::initializer_list<size_t> indices);

// kModel unless the input's rank is known and at least / exactly as given.
Status RequireRank(const InferContext& ctx, size_t input, int at_least, int at_most = kMaxRank);

// kModel if the input is there and cannot be one number, or a list of one.
Status RequireOneNumber(const InferContext& ctx, size_t input);

// The number of entries of a list; nullopt if it is no list, or it is not known.
std::optional<int64_t> KnownLength(const Type& list);

// kModel if the input is there and cannot be a list of `count` numbers.
Status RequireList(const InferContext& ctx, size_t input, size_t count);

// The shape of a broadcast of two shapes, aligned at the last axis (numpy rules). A symbol meets 1:
// the symbol; two different symbols: an error only if both are numbers.
Result<Dims> BroadcastDims(const Dims& a, const Dims& b);

// Whether all symbols in the dims are those of inputs: none is of InferContext::NewSymbol, whose
// value only a run can tell.
bool KnownBeforeRun(const Dims& dims);

// Normalises an axis in [-rank, rank) to [0, rank); kModel outside.
Result<int> NormalizeAxis(int64_t axis, int rank);
Result<std::vector<int>> NormalizeAxes(std::span<const int64_t> axes, int rank);

}  // namespace nn

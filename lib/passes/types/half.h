// Weights and arithmetic in floating-point types of 16 bits.
// Design: docs/design/026-float-types.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/dtype.h"
#include "nnsuite/convert.h"

namespace nn {

// With `weights_only`, only the constants are stored in the type; a dequantize node widens each of
// them.
struct HalfOptions : nnsuite::HalfOptions {
  // Smaller constants stay in float32 if only weights change: by default, those whose node takes
  // more bytes than it saves.
  int64_t least_elements = 64;
  // The last inputs and outputs, which are of the type in any case.
  size_t states = 0;
  // Whether an operator stays in float32, with its weights. Null: none.
  std::function<bool(const Node&)> keeps = nullptr;
  // Whether the consumer has an operator on the type. Null: it has all.
  std::function<bool(const Node&)> accepts = nullptr;
};

struct HalfSummary {
  int64_t weights = 0;     // constants of the type
  int64_t operators = 0;   // computed in the type
  int64_t kept = 0;        // that stay in float32 by HalfOptions::keeps
  int64_t unaccepted = 0;  // that stay because of HalfOptions::accepts
  // Constants with numbers that the type does not hold: too large, or all of them too small, so
  // that only zeros would be left, as with the epsilon of a division.
  int64_t out_of_range = 0;

  void Add(const HalfSummary& other);
};

// The least magnitude that is rounded to infinity.
double LargestHalf(DType type);
// The largest magnitude that is rounded to 0.
double SmallestHalf(DType type);
// The smallest number with all bits of precision.
double SmallestNormalHalf(DType type);

// Makes float32 constants and, unless `weights_only`, operators those of the type, with casts
// between them and what stays in float32: operators on constants that are out of range, and those
// on the results that a small one keeps from being 0. Does the same in regions, whose inputs and
// outputs stay in float32. Numbers are rounded to nearest even.
Result<HalfSummary> ComputeInHalf(Graph& graph, const HalfOptions& options);

}  // namespace nn

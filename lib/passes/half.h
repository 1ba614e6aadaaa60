// Weights and arithmetic in floating-point types of 16 bits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "ir/dtype.h"
#include "ir/graph.h"

namespace nn {

struct HalfOptions {
  DType type = DType::kF16;  // or kBF16
  // Only the constants are stored in the type; a dequantize node widens each of them.
  bool weights_only = false;
  // Smaller constants stay in float32 if only weights change: by default, those whose node takes
  // more bytes than it saves.
  int64_t least_elements = 64;
  // Also the inputs and outputs of the graph.
  bool interface = false;
  // Whether an operator stays in float32, with its weights. Null: none.
  std::function<bool(const Node&)> keeps;
  // Whether the consumer has an operator on the type. Null: it has all.
  std::function<bool(const Node&)> accepts;
};

struct HalfSummary {
  int64_t weights = 0;       // constants of the type
  int64_t operators = 0;     // computed in the type
  int64_t kept = 0;          // that stay in float32 by HalfOptions::keeps
  int64_t unaccepted = 0;    // that stay because of HalfOptions::accepts
  int64_t out_of_range = 0;  // constants with numbers that the type does not hold

  void Add(const HalfSummary& other);
};

// The largest magnitude that is rounded to a finite number of the type.
double LargestHalf(DType type);

// Makes float32 constants and, unless `weights_only`, operators those of the type, with casts
// between them and what stays in float32. Does the same in regions, whose inputs and outputs stay
// in float32. Numbers are rounded to nearest even.
Result<HalfSummary> ComputeInHalf(Graph& graph, const HalfOptions& options);

}  // namespace nn

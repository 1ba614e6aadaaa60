// Bounds of computed float32 values, by interval arithmetic over the operators that compute them.
#pragma once

#include <limits>

#include "ir/graph.h"

namespace nn::nnapi {

// Every element that is not NaN is in [lo, hi]. An unknown value has infinite bounds.
struct ValueRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  // Whether the value is bounded away from zero by more than rounding errors.
  bool positive() const;
  bool negative() const;
};

// Visits a limited number of operators.
ValueRange RangeOf(const Value* value);

}  // namespace nn::nnapi

// Statistics of the elements of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json/json.h"
#include "ir/tensor.h"

namespace nn::inspect {

// How many elements are in each of some parts of equal width between two numbers.
struct Histogram {
  static constexpr size_t kBins = 32;

  double low = 0;
  double high = 0;
  std::vector<uint64_t> counts;  // a part for each integer if there are at most kBins
};

struct TensorStatistics {
  // The limit of `distinct`.
  static constexpr size_t kMaxDistinct = 8;

  uint64_t count = 0;
  uint64_t zeros = 0;
  uint64_t nans = 0;
  uint64_t infinities = 0;
  // Of the finite elements, like the members down to `histogram`; null if there are none, or for
  // non-numeric types. For complex numbers, of both parts.
  Json min, max;
  std::optional<double> mean;
  std::optional<double> deviation;  // population standard deviation
  std::optional<Histogram> histogram;
  // All distinct values, ascending, NaN last; nullopt if there are too many.
  std::optional<std::vector<Json>> distinct;
};

// One pass for the sums, one for the deviation and the histogram; the order of additions is fixed.
TensorStatistics StatisticsOf(const Tensor& tensor);

}  // namespace nn::inspect

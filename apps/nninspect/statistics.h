// Statistics of the elements of a tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ir/tensor.h"

namespace nn::app {

struct TensorStatistics {
  // The limit of `distinct`.
  static constexpr size_t kMaxDistinct = 8;

  uint64_t count = 0;
  uint64_t zeros = 0;
  uint64_t nans = 0;
  uint64_t infinities = 0;
  // Of the finite elements; null if there are none, or for non-numeric types. For complex numbers,
  // of both parts.
  Json min, max;
  std::optional<double> mean;
  std::optional<double> deviation;  // population standard deviation
  // All distinct values, ascending, NaN last; nullopt if there are too many.
  std::optional<std::vector<Json>> distinct;
};

// One pass for the sums, one for the deviation; the order of additions is fixed.
TensorStatistics StatisticsOf(const Tensor& tensor);

// "min -0.5, max 0.5, mean 0.01, deviation 0.1, 3 zeros, values 0, 1".
std::string StatisticsText(const TensorStatistics& s);
Json StatisticsJson(const TensorStatistics& s);

}  // namespace nn::app

// Mean and variance of a row, as ops/nn/norm.h defines them.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/reduce/reduction.h"

namespace nn {

template <typename T>
struct Moments {
  T mean;
  T variance;
  T inverse_deviation;  // 1 / sqrt(variance + epsilon)
};

template <typename T, typename Element>
Moments<T> MomentsOf(int64_t n, Element x, float epsilon) {
  Moments<T> m;
  m.mean = LaneSum<T>(n, x) / static_cast<T>(n);
  m.variance = LaneSum<T>(n,
                          [&](int64_t i) {
                            const T d = x(i) - m.mean;
                            return d * d;
                          }) /
               static_cast<T>(n);
  m.inverse_deviation = T(1) / std::sqrt(m.variance + static_cast<T>(epsilon));
  return m;
}

}  // namespace nn

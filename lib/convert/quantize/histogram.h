// The distribution of a value's numbers, and the range that a quantized type should have for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convert/quantize/calibrate.h"
#include "passes/quantize/quantize.h"

namespace nn {

// Equal bins between the smallest and the largest number.
class Histogram {
 public:
  Histogram(const ValueRange& range, size_t bins);

  // Numbers that are not finite are ignored.
  void Add(std::span<const float> numbers);
  // The part of the range that the method chooses; symmetric: both ends have the same magnitude.
  ValueRange Choose(RangeMethod method, double percentile, bool symmetric) const;

 private:
  double Center(size_t bin) const { return low_ + (static_cast<double>(bin) + 0.5) * width_; }
  size_t BinOf(double x) const;
  ValueRange Percentile(double percentile) const;
  // Sums over the bins before each one.
  struct Sums {
    std::vector<double> count, linear, square;
  };
  Sums SumsOf() const;
  double SquaredError(const Sums& sums, const ValueRange& range, double step) const;
  double Divergence(const ValueRange& range, double step) const;

  double low_, width_;
  std::vector<uint64_t> counts_;  // without zeros, which every range represents
  uint64_t zeros_ = 0;
};

}  // namespace nn

// The positions at which roi_align samples, for the reference evaluation and for the kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/status.h"
#include "ops/nn/detect/roi.h"

namespace nn {

// Coordinates and numbers of samples beyond this are cut off.
inline constexpr double kFarthestRoi = 0x1p30;

// kModel unless there is an image of this number, which is that of region `roi`.
Status CheckRoiImage(int64_t roi, double image, int64_t count);

// A sample on one axis: two elements, as offsets, and their weights.
template <typename T>
struct RoiSample {
  std::array<int64_t, 2> at;
  std::array<T, 2> weight;
};

// The samples of a bin on one axis.
template <typename T>
struct RoiBin {
  std::vector<RoiSample<T>> samples;  // without those outside
  bool any_outside = false;
};

// The bins of a region on one axis.
template <typename T>
class RoiAxis {
 public:
  RoiAxis(const RoiAlignAttrs& a, T c1, T c2, int64_t bins, int64_t size, int64_t step)
      : size_(size), step_(step) {
    const auto scale = static_cast<T>(a.spatial_scale);
    const T offset = a.half_pixel ? T(0.5) : T(0);
    start_ = c1 * scale - offset;
    T length = (c2 * scale - offset) - start_;
    if (!a.half_pixel && !(length >= 1)) length = 1;
    bin_ = length / static_cast<T>(bins);
    count_ = a.sampling_ratio;
    if (count_ == 0 && bin_ > 0)
      count_ = static_cast<int64_t>(std::min(std::ceil(bin_), static_cast<T>(kFarthestRoi)));
    for (int64_t b = 0; b < bins; ++b) bins_.push_back(Bin(b, a.sampling_ratio == 0));
  }

  int64_t count() const { return count_; }  // samples of each bin
  const std::vector<RoiBin<T>>& bins() const { return bins_; }

 private:
  T Position(int64_t bin, int64_t i) const {
    return (start_ + static_cast<T>(bin) * bin_) +
           ((static_cast<T>(i) + T(0.5)) * bin_) / static_cast<T>(count_);
  }

  RoiBin<T> Bin(int64_t bin, bool ascending) const {
    RoiBin<T> result;
    int64_t first = 0, last = count_;
    if (ascending) {
      // A bin may have many samples, but it has few in the image.
      first = FirstNot(bin, [](T p) { return p < -1; });
      last = FirstNot(bin, [&](T p) { return p <= static_cast<T>(size_); });
      result.any_outside = first > 0 || last < count_;
    }
    for (int64_t i = first; i < last; ++i) {
      const T p = Position(bin, i);
      if (p >= -1 && p <= static_cast<T>(size_) && size_ > 0)
        result.samples.push_back(Sample(p));
      else
        result.any_outside = true;
    }
    return result;
  }

  // The first sample of an ascending sequence for which the condition is false.
  template <typename Fn>
  int64_t FirstNot(int64_t bin, Fn holds) const {
    int64_t low = 0, high = count_;
    while (low < high) {
      const int64_t middle = std::midpoint(low, high);
      if (holds(Position(bin, middle)))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  RoiSample<T> Sample(T p) const {
    p = std::clamp(p, T(0), static_cast<T>(size_ - 1));
    const T floor = std::floor(p);
    const auto low = static_cast<int64_t>(floor);
    const T d = p - floor;
    return {{low * step_, std::min(low + 1, size_ - 1) * step_}, {1 - d, d}};
  }

  int64_t size_, step_;
  T start_, bin_;
  int64_t count_;
  std::vector<RoiBin<T>> bins_;
};

}  // namespace nn

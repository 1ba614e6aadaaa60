// Where the sequences of dft and stft are, for the reference evaluation and for the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/math/dft.h"
#include "ops/math/fourier.h"

namespace nn {

// Transforms of n elements, numbered from 0. Distances are in numbers.
struct FourierRows {
  int64_t n = 0, count = 0;
  // The position of transform i is i / inner * outer_step + i % inner * inner_step.
  int64_t inner = 1;
  // x: the first `given` elements; zeros follow, or the conjugates if it is half a spectrum.
  int64_t x_outer = 0, x_inner = 0, x_step = 0, x_parts = 1, given = 0;
  bool is_half = false;
  // y: `kept` elements.
  int64_t y_outer = 0, y_inner = 0, y_step = 0, y_parts = 2, kept = 0;

  // Reads transform `row` as sequence `lane`. Each element is multiplied by that of the window, if
  // there is one. A part that is NaN makes the other one NaN, as a product by a root of unity does,
  // so that all results are NaN whatever products are left out.
  template <typename T>
  void Read(const T* x, const T* window, int64_t row, const FourierArrays& to, size_t lane) const {
    const T* from = x + row / inner * x_outer + row % inner * x_inner;
    double* re = to.x_re + lane;
    double* im = to.x_im + lane;
    for (int64_t i = 0; i < given; ++i, from += x_step, re += to.width, im += to.width) {
      const bool is_real = x_parts == 1 || (is_half && (i == 0 || 2 * i == n));
      *re = static_cast<double>(from[0]);
      *im = is_real ? 0.0 : static_cast<double>(from[1]);
      if (window != nullptr) {
        *re = *re * static_cast<double>(window[i]);
        *im = *im * static_cast<double>(window[i]);
      }
      if (*re != *re || *im != *im) *re = *im = std::numeric_limits<double>::quiet_NaN();
    }
    for (int64_t i = given; i < n; ++i, re += to.width, im += to.width) *re = *im = 0;
    if (is_half) Mirror(to, lane);
  }

  template <typename T>
  void Write(const FourierArrays& from, size_t lane, int64_t row, T* y) const {
    T* to = y + row / inner * y_outer + row % inner * y_inner;
    const double* re = from.x_re + lane;
    const double* im = from.x_im + lane;
    for (int64_t i = 0; i < kept; ++i, to += y_step, re += from.width, im += from.width) {
      to[0] = static_cast<T>(*re);
      if (y_parts == 2) to[1] = static_cast<T>(*im);
    }
  }

 private:
  void Mirror(const FourierArrays& to, size_t lane) const {
    const auto at = [&](int64_t i) { return static_cast<size_t>(i) * to.width + lane; };
    for (int64_t i = n / 2 + 1; i < n; ++i) {
      to.x_re[at(i)] = to.x_re[at(n - i)];
      to.x_im[at(i)] = -to.x_im[at(n - i)];
    }
  }
};

// dft along `axis` with a size of n.
FourierRows DftRows(const DftAttrs& a, const std::vector<int64_t>& x, const std::vector<int64_t>& y,
                    int axis, int64_t n);
// The size of a transform of dft of x without `length`.
int64_t DftSize(const DftAttrs& a, const std::vector<int64_t>& x, int axis);

// stft of frames of n elements at a distance of `step`.
FourierRows StftRows(const std::vector<int64_t>& signal, const std::vector<int64_t>& y, int64_t n,
                     int64_t step);

}  // namespace nn

// Geometry that the convolution steps of all element types share.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "ir/tensor.h"
#include "ops/conv.h"

namespace nn {

// Three spatial axes, outermost first; those that a convolution lacks are trivial.
using Spatial3 = std::array<ConstWindow, 3>;

inline Spatial3 ToThree(const std::vector<ConstWindow>& windows) {
  Spatial3 s;
  s.fill(ConstWindow{1, 1, 1, 1, 0, 0, 1});
  std::copy(windows.begin(), windows.end(), s.end() - static_cast<std::ptrdiff_t>(windows.size()));
  return s;
}

inline int64_t InPositions(const Spatial3& s) {
  return s[0].input * s[1].input * s[2].input;
}
inline int64_t OutPositions(const Spatial3& s) {
  return s[0].output * s[1].output * s[2].output;
}
inline int64_t Taps(const Spatial3& s) {
  return s[0].kernel * s[1].kernel * s[2].kernel;
}

// Where tap k of output position p reads along one axis; -1 in padding.
inline int64_t SourceOf(const ConstWindow& w, int64_t p, int64_t k) {
  const int64_t at = p * w.stride + k * w.dilation - w.pad_begin;
  return at >= 0 && at < w.input ? at : -1;
}

// pointers[tap * tap_step + r * row_step]: the channels that kernel position `tap` of output
// position first + r reads; `padding` where that is outside. Positions of `x` are `stride` elements
// apart.
template <typename T>
void FillTapPointers(const Spatial3& s, const T* x, size_t stride, const T* padding, size_t first,
                     size_t rows, size_t tap_step, size_t row_step, const T** pointers) {
  const auto& [d, h, w] = s;
  const auto step = static_cast<int64_t>(stride);
  const auto at = static_cast<int64_t>(first);
  std::array<int64_t, 3> p = {at / w.output / h.output, at / w.output % h.output, at % w.output};
  for (size_t r = 0; r < rows; ++r) {
    const T** to = pointers + r * row_step;
    for (int64_t kd = 0; kd < d.kernel; ++kd) {
      const int64_t id = SourceOf(d, p[0], kd);
      for (int64_t kh = 0; kh < h.kernel; ++kh) {
        const int64_t ih = SourceOf(h, p[1], kh);
        const bool inside = id >= 0 && ih >= 0;
        const T* line = inside ? x + (id * h.input + ih) * w.input * step : x;
        for (int64_t kw = 0; kw < w.kernel; ++kw, to += tap_step) {
          const int64_t iw = SourceOf(w, p[2], kw);
          *to = inside && iw >= 0 ? line + iw * step : padding;
        }
      }
    }
    for (size_t i = 3; i-- > 0;) {
      if (++p[i] < s[i].output) break;
      p[i] = 0;
    }
  }
}

// Element strides of a filter whose layout may be any.
struct FilterStrides {
  size_t output, input, tap;

  FilterStrides(const Tensor& filter, FilterLayout layout) {
    const auto strides = Strides(filter.dims());
    const int rank = filter.rank();
    const FilterAxes axes = AxesOf(layout, rank);
    const auto at = [&](int axis) {
      return static_cast<size_t>(strides[static_cast<size_t>(axis)]);
    };
    output = at(axes.output);
    input = at(axes.input);
    tap = at(axes.spatial + rank - 3);  // the spatial axes are neighbours
  }
};

// How the output positions of a convolution are cut into items of nearly equal size.
struct RowBlocks {
  size_t block = 1;  // positions of an item
  size_t items = 1;

  RowBlocks() = default;
  // At most `largest` positions each; an even number of items where there are several.
  RowBlocks(size_t positions, size_t largest) {
    items = std::max<size_t>(1, (positions + largest - 1) / largest);
    if (items > 1 && items % 2 == 1) ++items;
    block = std::max<size_t>(1, (positions + items - 1) / items);
    items = std::max<size_t>(1, (positions + block - 1) / block);
  }
};

}  // namespace nn

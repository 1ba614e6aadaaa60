// Geometry shared by the convolution steps of all element types.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "ir/tensor.h"
#include "ops/nn/conv.h"

namespace nn {

// Three spatial axes, outermost first; missing ones are trivial.
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

// The input position of tap k for output position p along one axis; -1 in padding.
inline int64_t SourceOf(const ConstWindow& w, int64_t p, int64_t k) {
  const int64_t at = p * w.stride + k * w.dilation - w.pad_begin;
  return at >= 0 && at < w.input ? at : -1;
}

// The output positions [first, second) along one axis for which tap k is not in padding.
inline std::pair<int64_t, int64_t> Inside(const ConstWindow& w, int64_t k) {
  const int64_t offset = k * w.dilation - w.pad_begin;
  const int64_t first = offset >= 0 ? 0 : (-offset + w.stride - 1) / w.stride;
  const int64_t end = offset >= w.input ? 0 : (w.input - 1 - offset) / w.stride + 1;
  return {first, std::max(first, end)};
}

// A step's pointers to rows and taps live on the stack; what has more taps has no such step.
inline constexpr size_t kMaxTapPointers = 4096;

// pointers[tap * tap_step + r * row_step]: the channels that kernel position `tap` of output
// position first + r reads; `padding` if that is outside. Positions of `x` are `stride` elements
// apart. Lines of output positions are filled tap by tap, without a check of each position.
template <typename T>
void FillTapPointers(const Spatial3& s, const T* x, size_t stride, const T* padding, size_t first,
                     size_t rows, size_t tap_step, size_t row_step, const T** pointers) {
  const auto& [d, h, w] = s;
  const auto step = static_cast<int64_t>(stride);
  const auto end = static_cast<int64_t>(first + rows);
  for (auto at = static_cast<int64_t>(first); at < end;) {
    const int64_t line = at / w.output;
    const int64_t column = at % w.output;
    const int64_t count = std::min(end - at, w.output - column);
    const T** to = pointers + static_cast<size_t>(at) * row_step - first * row_step;
    for (int64_t kd = 0; kd < d.kernel; ++kd) {
      const int64_t id = SourceOf(d, line / h.output, kd);
      for (int64_t kh = 0; kh < h.kernel; ++kh) {
        const int64_t ih = SourceOf(h, line % h.output, kh);
        for (int64_t kw = 0; kw < w.kernel; ++kw, to += tap_step) {
          int64_t from = 0, until = 0;
          if (id >= 0 && ih >= 0) {
            const auto [inside, outside] = Inside(w, kw);
            from = std::clamp<int64_t>(inside - column, 0, count);
            until = std::clamp<int64_t>(outside - column, from, count);
          }
          const T** p = to;
          for (int64_t i = 0; i < from; ++i, p += row_step) *p = padding;
          if (from < until) {
            const T* source = x + ((id * h.input + ih) * w.input + (column + from) * w.stride +
                                   kw * w.dilation - w.pad_begin) *
                                      step;
            for (int64_t i = from;; p += row_step, source += w.stride * step) {
              *p = source;
              if (++i == until) break;
            }
            p += row_step;
          }
          for (int64_t i = until; i < count; ++i, p += row_step) *p = padding;
        }
      }
    }
    at += count;
  }
}

// Element strides of a filter of any layout.
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
    tap = at(axes.spatial + rank - 3);  // the spatial axes are adjacent
  }
};

}  // namespace nn

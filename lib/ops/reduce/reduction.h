// Building blocks of reductions: the order in which elements are added (docs/spec/arithmetic.md,
// rule 2), rows of elements over any set of axes, and how axes follow a permutation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/op_def.h"
#include "ops/support/index.h"

namespace nn {

// Combines element(0) .. element(n - 1) in 16 lanes: element i goes to lane i mod 16 in order of i,
// each lane starting at `initial`; then halves are combined: 8, 4, 2 and 1 lanes.
template <typename T, typename Element, typename Combine>
T LaneReduce(int64_t n, T initial, Element element, Combine combine) {
  constexpr size_t kLanes = 16;
  std::array<T, kLanes> lane;
  lane.fill(initial);
  for (int64_t i = 0; i < n; ++i) {
    T& l = lane[static_cast<size_t>(i) % kLanes];
    l = combine(l, element(i));
  }
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half; ++j) lane[j] = combine(lane[j], lane[j + half]);
  return lane[0];
}

template <typename T, typename Element>
T LaneSum(int64_t n, Element element) {
  return LaneReduce(n, T(0), element, [](T a, T b) { return a + b; });
}

// Larger: NaN if either is NaN, a if they are equal. Smaller likewise. The maximum over elements in
// order is therefore the first of the largest.
template <typename T>
T Larger(T a, T b) {
  return b != b ? b : b > a ? b : a;
}
template <typename T>
T Smaller(T a, T b) {
  return b != b ? b : b < a ? b : a;
}

// The elements of a tensor in rows: one row for each index of the kept axes, in row-major order.
// The elements of a row are in row-major order over the reduced axes, in the order in which those
// are listed.
class Rows {
 public:
  // `axes` must be distinct and in [0, rank).
  Rows(const std::vector<int64_t>& dims, std::span<const int> axes);

  int64_t length() const { return length_; }
  // The offset of element i of a row from the start of the row.
  int64_t offset(int64_t i) const { return offsets_[static_cast<size_t>(i)]; }
  // fn(row, start)
  template <typename Fn>
  void ForEach(Fn fn) const {
    ForEachOffset(kept_sizes_, kept_steps_, fn);
  }

 private:
  std::vector<int64_t> kept_sizes_, kept_steps_;
  int64_t length_ = 1;
  std::vector<int64_t> offsets_;
};

// `axes` with negative ones counted from the end; all axes in order if the list is empty.
// kModel for an axis that is out of range or repeated.
Result<std::vector<int>> ReducedAxes(std::span<const int64_t> axes, int rank);

// The shape after a reduction.
Dims ReducedDims(const Dims& dims, std::span<const int> axes, bool keep_dims);

// How a reduction of input 0 to output 0 follows a permutation of either: its axes, listed in the
// same logical order so that results keep their bits, and the map of the other value.
struct ReductionChange {
  std::vector<int64_t> axes;
  bool keep_dims;
  std::vector<std::pair<Operand, AxisMap>> others;
};
std::optional<ReductionChange> FollowReduction(int rank, std::span<const int> axes, bool keep_dims,
                                               Operand changed, const AxisMap& map);

// The axes after a permutation; nullopt if one of them is dropped.
std::optional<std::vector<int64_t>> MapAxes(std::span<const int> axes, const AxisMap& map);

// change_axes of an operator along `axis` with one input and one output of the same shape: the new
// axis; nullopt if it is dropped.
std::optional<int64_t> MapAxis(int64_t axis, int rank, const AxisMap& map);

}  // namespace nn

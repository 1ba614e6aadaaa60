// A mapping of a tensor's axes that keeps the order of elements along each axis: a permutation
// together with inserted and removed unit axes. Transpose, ExpandDims and Squeeze are such
// mappings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/types/dim.h"

namespace nn {

class AxisMap {
 public:
  static constexpr int kNew = -1;

  AxisMap() = default;
  // Result axis k is source axis from[k], or a new axis of size 1 if from[k] is kNew. Source axes
  // that do not occur are removed; they must have size 1.
  AxisMap(int source_rank, std::vector<int> from)
      : source_rank_(source_rank), from_(std::move(from)) {}

  static AxisMap Identity(int rank);
  static AxisMap Permutation(const std::vector<int64_t>& perm);
  // Moves channels from second to last, [N, C, spatial...] -> [N, spatial..., C]; rank >= 2.
  static AxisMap ChannelsLast(int rank);
  static AxisMap ChannelsFirst(int rank) { return ChannelsLast(rank).Inverse(); }
  // Inserts a unit axis at position `axis` of the result.
  static AxisMap Insert(int source_rank, int axis);
  static AxisMap Remove(int source_rank, int axis) {
    return Insert(source_rank - 1, axis).Inverse();
  }

  int source_rank() const { return source_rank_; }
  int result_rank() const { return static_cast<int>(from_.size()); }
  const std::vector<int>& from() const { return from_; }
  // The position of source axis `axis` in the result; nullopt if it is removed.
  std::optional<int> ResultAxis(int axis) const;
  bool IsPermutation() const;
  bool IsIdentity() const;
  // Whether, for a tensor of this shape, only unit axes move, so that the data needs no copy.
  bool KeepsOrder(const Dims& source) const;

  AxisMap Inverse() const;
  // The composition: first this, then `next`.
  AxisMap Then(const AxisMap& next) const;
  // The map for a value that is broadcast to the mapped one, with axes aligned at the end: missing
  // leading axes are inserted where needed.
  AxisMap ForTrailing(int rank) const;

  template <typename T>
  std::vector<T> Apply(const std::vector<T>& dims) const {
    std::vector<T> out;
    out.reserve(from_.size());
    for (const int f : from_) out.push_back(f == kNew ? T(1) : dims[static_cast<size_t>(f)]);
    return out;
  }

  std::string ToString() const;
  bool operator==(const AxisMap&) const = default;

 private:
  int source_rank_ = 0;
  std::vector<int> from_;
};

}  // namespace nn

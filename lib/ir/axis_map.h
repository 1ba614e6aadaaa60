// A rearrangement of a tensor's axes that moves no element relative to its neighbours along an
// axis: a permutation, together with unit axes that appear or vanish. Transpose, ExpandDims and
// Squeeze are all of this kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/dim.h"

namespace nn {

class AxisMap {
 public:
  static constexpr int kNew = -1;

  AxisMap() = default;
  // Result axis k is source axis from[k], or a new axis of size 1 where from[k] is kNew. Source
  // axes that do not occur are dropped; they must have size 1.
  AxisMap(int source_rank, std::vector<int> from)
      : source_rank_(source_rank), from_(std::move(from)) {}

  static AxisMap Identity(int rank);
  static AxisMap Permutation(const std::vector<int64_t>& perm);
  // Channels from second to last, [N, C, spatial...] -> [N, spatial..., C]; rank >= 2.
  static AxisMap ChannelsLast(int rank);
  static AxisMap ChannelsFirst(int rank) { return ChannelsLast(rank).Inverse(); }
  // Inserts a unit axis so that it stands at `axis` of the result.
  static AxisMap Insert(int source_rank, int axis);
  static AxisMap Remove(int source_rank, int axis) {
    return Insert(source_rank - 1, axis).Inverse();
  }

  int source_rank() const { return source_rank_; }
  int result_rank() const { return static_cast<int>(from_.size()); }
  const std::vector<int>& from() const { return from_; }
  // Where source axis `axis` stands in the result; nullopt if it was dropped.
  std::optional<int> ResultAxis(int axis) const;
  bool IsPermutation() const;
  bool IsIdentity() const;
  // True when, for a tensor of this shape, only unit axes move: the data stay in place.
  bool KeepsOrder(const Dims& source) const;

  AxisMap Inverse() const;
  // First this, then `next`.
  AxisMap Then(const AxisMap& next) const;
  // The map for a value whose axes align with the last axes of the mapped one (broadcasting): its
  // missing leading axes are added where the mapped value needs them.
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

#include "ir/types/axis_map.h"

#include <algorithm>
#include <numeric>

namespace nn {

AxisMap AxisMap::Identity(int rank) {
  std::vector<int> from(static_cast<size_t>(rank));
  std::iota(from.begin(), from.end(), 0);
  return AxisMap(rank, std::move(from));
}

AxisMap AxisMap::Permutation(const std::vector<int64_t>& perm) {
  return AxisMap(static_cast<int>(perm.size()), std::vector<int>(perm.begin(), perm.end()));
}

AxisMap AxisMap::ChannelsLast(int rank) {
  std::vector<int> from = {0};
  for (int i = 2; i < rank; ++i) from.push_back(i);
  from.push_back(1);
  return AxisMap(rank, std::move(from));
}

AxisMap AxisMap::Insert(int source_rank, int axis) {
  std::vector<int> from = Identity(source_rank).from_;
  from.insert(from.begin() + axis, kNew);
  return AxisMap(source_rank, std::move(from));
}

std::optional<int> AxisMap::ResultAxis(int axis) const {
  const auto it = std::find(from_.begin(), from_.end(), axis);
  if (it == from_.end()) return std::nullopt;
  return static_cast<int>(it - from_.begin());
}

bool AxisMap::IsPermutation() const {
  return result_rank() == source_rank_ &&
         std::find(from_.begin(), from_.end(), kNew) == from_.end();
}

bool AxisMap::IsIdentity() const {
  return *this == Identity(source_rank_);
}

bool AxisMap::KeepsOrder(const Dims& source) const {
  int last = -1;
  for (const int f : from_) {
    if (f == kNew || source[static_cast<size_t>(f)] == 1) continue;
    if (f < last) return false;
    last = f;
  }
  return true;
}

AxisMap AxisMap::Inverse() const {
  std::vector<int> from(static_cast<size_t>(source_rank_), kNew);
  for (size_t k = 0; k < from_.size(); ++k)
    if (from_[k] != kNew) from[static_cast<size_t>(from_[k])] = static_cast<int>(k);
  return AxisMap(result_rank(), std::move(from));
}

AxisMap AxisMap::Then(const AxisMap& next) const {
  std::vector<int> from;
  from.reserve(next.from_.size());
  for (const int f : next.from_) from.push_back(f == kNew ? kNew : from_[static_cast<size_t>(f)]);
  // A removed and an inserted unit axis are matched in order, so that a map composed with its
  // inverse is the identity.
  int dropped = 0;
  for (int& f : from) {
    if (f != kNew) continue;
    while (dropped < source_rank_ && std::find(from.begin(), from.end(), dropped) != from.end())
      ++dropped;
    if (dropped == source_rank_) break;
    f = dropped;
  }
  return AxisMap(source_rank_, std::move(from));
}

AxisMap AxisMap::ForTrailing(int rank) const {
  const int missing = source_rank_ - rank;
  std::vector<int> from;
  from.reserve(from_.size());
  for (const int f : from_) from.push_back(f == kNew || f < missing ? kNew : f - missing);
  return AxisMap(rank, std::move(from));
}

std::string AxisMap::ToString() const {
  std::string out = "[";
  for (size_t k = 0; k < from_.size(); ++k) {
    if (k != 0) out += ", ";
    out += from_[k] == kNew ? "new" : std::to_string(from_[k]);
  }
  return out + "]";
}

}  // namespace nn

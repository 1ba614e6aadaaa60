// The evaluation of tree_ensemble, in the type of its arithmetic: float for narrower types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ops/reduce/tree_ensemble.h"

namespace nn {

template <typename T>
class Forest {
 public:
  // The attributes must be valid (CheckTrees). Keeps copies.
  Forest(const TreeEnsembleAttrs& a, std::span<const T> splits, std::span<const T> weights)
      : aggregate_(a.aggregate), targets_(static_cast<size_t>(a.targets)) {
    nodes_.resize(a.nodes());
    for (size_t i = 0; i < nodes_.size(); ++i)
      nodes_[i] = {
          .split = splits[i],
          .feature = static_cast<int32_t>(a.features[i]),
          .children = {static_cast<int32_t>(a.on_false[i]), static_cast<int32_t>(a.on_true[i])},
          .mode = static_cast<SplitMode>(a.mode(i)),
          .nan_true = a.takes_nan(i)};
    leaf_starts_.reserve(a.leaves() + 1);
    for (size_t i = 0; i < a.leaves(); ++i) leaf_starts_.push_back(a.votes_of(i).first);
    leaf_starts_.push_back(a.vote_targets.size());
    for (size_t i = 0; i < weights.size(); ++i)
      votes_.push_back({weights[i], static_cast<int32_t>(a.vote_targets[i])});
    for (const int64_t root : a.roots) roots_.push_back(static_cast<int32_t>(root));
  }

  size_t bytes() const {
    return nodes_.size() * sizeof(Split) + leaf_starts_.size() * sizeof(size_t) +
           votes_.size() * sizeof(Vote) + roots_.size() * sizeof(int32_t);
  }

  // One row: y has a number for each target.
  void Row(const T* x, T* y) const {
    const bool ordered = aggregate_ == VoteSum::kMin || aggregate_ == VoteSum::kMax;
    constexpr T largest = std::numeric_limits<T>::max();
    std::fill_n(y, targets_, !ordered ? T{0} : aggregate_ == VoteSum::kMin ? largest : -largest);
    for (const int32_t root : roots_) {
      const auto leaf = static_cast<size_t>(LeafOf(Descend(x, root)));
      for (size_t i = leaf_starts_[leaf]; i < leaf_starts_[leaf + 1]; ++i) {
        T& sum = y[votes_[i].target];
        const T weight = votes_[i].weight;
        if (!ordered)
          sum += weight;
        else if (aggregate_ == VoteSum::kMin)
          sum = sum < weight ? sum : weight;
        else
          sum = sum > weight ? sum : weight;
      }
    }
    if (aggregate_ == VoteSum::kMean)
      for (size_t i = 0; i < targets_; ++i) y[i] /= static_cast<T>(roots_.size());
  }

 private:
  struct Split {
    T split;
    int32_t feature;
    int32_t children[2];  // if false, if true
    SplitMode mode;
    bool nan_true;
  };
  struct Vote {
    T weight;
    int32_t target;
  };

  static bool Holds(SplitMode mode, T x, T split) {
    switch (mode) {
      case SplitMode::kLessEqual:
        return x <= split;
      case SplitMode::kLess:
        return x < split;
      case SplitMode::kGreaterEqual:
        return x >= split;
      case SplitMode::kGreater:
        return x > split;
      case SplitMode::kEqual:
        return x == split;
      case SplitMode::kNotEqual:
        return x != split;
    }
    return false;
  }

  // The child that is a leaf.
  int32_t Descend(const T* x, int32_t at) const {
    while (at >= 0) {
      const Split& s = nodes_[static_cast<size_t>(at)];
      const T v = x[s.feature];
      at = s.children[v != v ? s.nan_true : Holds(s.mode, v, s.split)];
    }
    return at;
  }

  VoteSum aggregate_;
  size_t targets_;
  std::vector<Split> nodes_;
  std::vector<size_t> leaf_starts_;  // and the end of the last leaf
  std::vector<Vote> votes_;
  std::vector<int32_t> roots_;
};

}  // namespace nn

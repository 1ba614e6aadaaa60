// The evaluation of tree_ensemble, in the type of its arithmetic: float for narrower types.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
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
      : aggregate_(a.aggregate), targets_(static_cast<size_t>(a.targets)), inner_(a.nodes()) {
    splits_.resize(inner_ + a.leaves());
    for (size_t i = 0; i < inner_; ++i)
      splits_[i] = {.split = splits[i],
                    .feature = static_cast<int32_t>(a.features[i]),
                    .children = {IndexOf(a.on_false[i]), IndexOf(a.on_true[i])},
                    .mode = static_cast<SplitMode>(a.mode(i)),
                    .nan_true = a.takes_nan(i)};
    for (size_t i = inner_; i < splits_.size(); ++i) {
      const auto leaf = static_cast<int32_t>(i);
      splits_[i] = {.split = T{0},
                    .feature = 0,
                    .children = {leaf, leaf},
                    .mode = SplitMode::kLessEqual,
                    .nan_true = false};
    }
    for (const int64_t mode : a.modes)
      if (mode != 0) mode_ = static_cast<SplitMode>(mode);
    leaf_starts_.reserve(a.leaves() + 1);
    for (size_t i = 0; i < a.leaves(); ++i) leaf_starts_.push_back(a.votes_of(i).first);
    leaf_starts_.push_back(a.vote_targets.size());
    for (size_t i = 0; i < weights.size(); ++i)
      votes_.push_back({weights[i], static_cast<int32_t>(a.vote_targets[i])});
    for (const int64_t root : a.roots) roots_.push_back(IndexOf(root));
  }

  size_t bytes() const {
    return splits_.size() * sizeof(Split) + leaf_starts_.size() * sizeof(size_t) +
           votes_.size() * sizeof(Vote) + roots_.size() * sizeof(int32_t);
  }

  // `rows` rows of `columns` elements each; y has a number for each row and target. Tree by tree,
  // so that a tree remains in the cache for all rows.
  void Run(const T* x, size_t rows, size_t columns, T* y) const {
    constexpr T largest = std::numeric_limits<T>::max();
    const T first = aggregate_ == VoteSum::kMin   ? largest
                    : aggregate_ == VoteSum::kMax ? -largest
                                                  : T{0};
    std::fill_n(y, rows * targets_, first);
    const bool simple = mode_ == SplitMode::kLessEqual;
    for (const int32_t root : roots_)
      for (size_t r = 0; r < rows; r += kRows) {
        const size_t n = std::min(kRows, rows - r);
        std::array<int32_t, kRows> at;
        at.fill(root);
        // A root that is a leaf needs no features, and there may be none.
        if (root < static_cast<int32_t>(inner_)) {
          if (simple)
            Descend<true>(x + r * columns, n, columns, at);
          else
            Descend<false>(x + r * columns, n, columns, at);
        }
        for (size_t k = 0; k < n; ++k)
          AddVotes(static_cast<size_t>(at[k]) - inner_, y + (r + k) * targets_);
      }
    if (aggregate_ == VoteSum::kMean)
      for (size_t i = 0; i < rows * targets_; ++i) y[i] /= static_cast<T>(roots_.size());
  }

 private:
  // Rows that descend together, so that the processor need not wait for each node.
  static constexpr size_t kRows = 8;

  // A node, or a leaf, whose children are the leaf itself.
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

  // The index in splits_.
  int32_t IndexOf(int64_t child) const {
    return static_cast<int32_t>(child >= 0 ? child : static_cast<int64_t>(inner_) + LeafOf(child));
  }

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

  // From the nodes `at` of `n` rows to the leaves. kLessEqual: all nodes compare so.
  template <bool kLessEqual>
  void Descend(const T* x, size_t n, size_t columns, std::array<int32_t, kRows>& at) const {
    const auto inner = static_cast<int32_t>(inner_);
    for (bool done = false; !done;) {
      done = true;
      for (size_t k = 0; k < n; ++k) {
        const Split& s = splits_[static_cast<size_t>(at[k])];
        const T v = x[k * columns + static_cast<size_t>(s.feature)];
        // Without branches, which nothing predicts.
        const int is_nan = v != v;
        const int holds = kLessEqual ? v <= s.split : Holds(s.mode, v, s.split) && is_nan == 0;
        at[k] = s.children[holds | (is_nan & int{s.nan_true})];
        done &= at[k] >= inner;
      }
    }
  }

  void AddVotes(size_t leaf, T* y) const {
    for (size_t i = leaf_starts_[leaf]; i < leaf_starts_[leaf + 1]; ++i) {
      T& sum = y[votes_[i].target];
      const T weight = votes_[i].weight;
      if (aggregate_ == VoteSum::kMin)
        sum = sum < weight ? sum : weight;
      else if (aggregate_ == VoteSum::kMax)
        sum = sum > weight ? sum : weight;
      else
        sum += weight;
    }
  }

  VoteSum aggregate_;
  SplitMode mode_ = SplitMode::kLessEqual;  // of all nodes, or another one
  size_t targets_;
  size_t inner_;                     // the number of nodes
  std::vector<Split> splits_;        // nodes and leaves
  std::vector<size_t> leaf_starts_;  // and the end of the last leaf
  std::vector<Vote> votes_;
  std::vector<int32_t> roots_;  // as indexes in splits_
};

}  // namespace nn

// tree_ensemble(x, splits, weights): the votes of decision trees on each row of x, [B, F] (ONNX
// TreeEnsemble-5, and TreeEnsembleRegressor without its base values and transform). y is
// [B, targets]. All operands have one element type.
//
// Node i compares element features[i] of the row with splits[i] and continues at on_true[i] or
// on_false[i]: a node if that is not negative, otherwise the leaf -1 - on_true[i]. If the element
// is NaN, it continues at on_true[i] if nan_true[i] is not 0. The comparison is modes[i]:
//   0 x <= split   1 x < split   2 x >= split   3 x > split   4 x == split   5 x != split
// Tree i begins at roots[i], a node or a leaf. Nodes may have several parents, also in several
// trees, but no node may be its own descendant.
//
// Leaf i has the votes from leaf_starts[i] up to leaf_starts[i + 1] or, for the last leaf, all that
// remain; without leaf_starts, vote i only. Vote j is weights[j] for vote_targets[j].
//
//   sum   the votes of all trees for the target, added in order to +0
//   mean  that sum divided by the number of trees
//   min   the smallest vote, and at most the largest finite number
//   max   the largest vote, and at least the smallest finite number
// Those numbers are in the type of the arithmetic; for f16 and bf16 they are rounded to infinities.
//
// Design: docs/design/013-tree-ensembles.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"

namespace nn {

enum class VoteSum : uint8_t { kSum, kMean, kMin, kMax };
template <>
struct EnumNames<VoteSum> {
  static constexpr std::string_view kNames[] = {"sum", "mean", "min", "max"};
};

// The numbers in TreeEnsembleAttrs::modes.
enum class SplitMode : uint8_t {
  kLessEqual,
  kLess,
  kGreaterEqual,
  kGreater,
  kEqual,
  kNotEqual,
};
inline constexpr int64_t kSplitModes = 6;

struct TreeEnsembleAttrs {
  int64_t targets = 1;
  VoteSum aggregate = VoteSum::kSum;
  std::vector<int64_t> roots;
  std::vector<int64_t> features;
  std::vector<int64_t> modes;  // empty: all 0
  std::vector<int64_t> on_true;
  std::vector<int64_t> on_false;
  std::vector<int64_t> nan_true;  // empty: all 0
  std::vector<int64_t> leaf_starts;
  std::vector<int64_t> vote_targets;
  static std::span<const AttrField> Fields();

  size_t nodes() const { return features.size(); }
  size_t leaves() const { return leaf_starts.empty() ? vote_targets.size() : leaf_starts.size(); }
  int64_t mode(size_t node) const { return modes.empty() ? 0 : modes[node]; }
  bool takes_nan(size_t node) const { return !nan_true.empty() && nan_true[node] != 0; }
  // The votes of a leaf: [first, last).
  struct Votes {
    size_t first, last;
  };
  Votes votes_of(size_t leaf) const;
};

// The leaf in an entry of on_true, on_false or roots that is negative, and the reverse.
constexpr int64_t LeafOf(int64_t child) {
  return -1 - child;
}

// The depths of the trees: their sum is the most comparisons of a row.
struct ForestDepth {
  int64_t sum = 0, largest = 0;
};
// kModel with the tree and node if the attributes contradict each other.
Result<ForestDepth> CheckTrees(const TreeEnsembleAttrs& a);

}  // namespace nn

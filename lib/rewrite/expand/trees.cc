// Decision trees as operators on tables of nodes.
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "ops/array/arrange/gather.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/tree_ensemble.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// By SplitMode.
constexpr std::array<std::string_view, kSplitModes - 1> kComparisons = {
    "less_equal", "less", "greater_equal", "greater", "equal"};

// The nodes with their leaves: leaf i is entry i, whose children are the leaf itself, and node i is
// entry `leaves + i`.
class ForestTables {
 public:
  ForestTables(const Node& node, bool along_axis)
      : a_(node.attrs<TreeEnsembleAttrs>()),
        x_(node.input(0)),
        splits_of_(node.input(1)->constant().ToDoubles()),
        weights_(node.input(2)->constant().ToDoubles()),
        along_axis_(along_axis) {
    const size_t leaves = a_.leaves(), size = leaves + a_.nodes();
    features_.resize(size);
    splits_.resize(size);
    // A leaf may compare like any node.
    for (size_t kind = 0; kind < of_kinds_.size(); ++kind)
      of_kinds_[kind].resize(size, kind == KindOf(0) ? 1 : 0);
    nan_true_.resize(size);
    for (auto* list : {&on_true_, &on_false_}) list->resize(size);
    for (size_t i = 0; i < leaves; ++i) on_true_[i] = on_false_[i] = static_cast<int32_t>(i);
    for (size_t i = 0; i < a_.nodes(); ++i) AddNode(i, leaves + i);
  }

  // [B, targets], for trees of this depth.
  Result<Term> Run(Expansion& e, int64_t depth) {
    std::vector<int32_t> roots;
    for (const int64_t root : a_.roots) roots.push_back(EntryOf(root));
    Value* at = nullptr;
    for (int64_t level = 0; level < depth; ++level) {
      NN_ASSIGN(at, e.Build(Descend(at, roots)));
    }
    return Votes(at);
  }

 private:
  int32_t EntryOf(int64_t child) const {
    return static_cast<int32_t>(child < 0 ? LeafOf(child)
                                          : static_cast<int64_t>(a_.leaves()) + child);
  }

  // x != split is the opposite of x == split, with the children swapped.
  bool IsOpposite(size_t node) const {
    return static_cast<SplitMode>(a_.mode(node)) == SplitMode::kNotEqual;
  }
  size_t KindOf(size_t node) const {
    return static_cast<size_t>(IsOpposite(node) ? SplitMode::kEqual
                                                : static_cast<SplitMode>(a_.mode(node)));
  }

  void AddNode(size_t node, size_t entry) {
    const bool opposite = IsOpposite(node);
    features_[entry] = static_cast<int32_t>(a_.features[node]);
    splits_[entry] = static_cast<float>(splits_of_[node]);
    for (size_t kind = 0; kind < of_kinds_.size(); ++kind)
      of_kinds_[kind][entry] = kind == KindOf(node) ? 1 : 0;
    nan_true_[entry] = a_.takes_nan(node) != opposite ? 1 : 0;
    on_true_[entry] = EntryOf(opposite ? a_.on_false[node] : a_.on_true[node]);
    on_false_[entry] = EntryOf(opposite ? a_.on_true[node] : a_.on_false[node]);
  }

  // The entries of a table at `at`, [B, T]; where that is null, at the roots, [T]. All levels share
  // the table.
  template <typename T>
  Term Look(const std::vector<T>& table, Value* at, const std::vector<int32_t>& roots) {
    const auto constant = [&](const std::vector<T>& values) {
      const DType dtype = std::is_same_v<T, uint8_t> ? DType::kBool : kDTypeOf<T>;
      return Tensor(dtype, {static_cast<int64_t>(values.size())}, Blob::CopyOf(values));
    };
    if (at != nullptr) {
      Term& shared = constants_[&table];
      if (shared.is_absent()) shared = constant(table);
      return Gather(shared, at, 0);
    }
    std::vector<T> chosen;
    chosen.reserve(roots.size());
    for (const int32_t root : roots) chosen.push_back(table[static_cast<size_t>(root)]);
    return constant(chosen);
  }

  // The elements of x that nodes compare. At the roots, the features are constant.
  Term Elements(const Term& features, bool at_roots) const {
    if (at_roots) return Gather(x_, features, 1);
    if (along_axis_)
      return Apply("gather_elements", {x_, features}, GatherElementsAttrs{.axis = 1});
    return Apply("gather", {x_, features}, GatherAttrs{1, 1});
  }

  // The next entries, [B, T].
  Term Descend(Value* at, const std::vector<int32_t>& roots) {
    const Term v = Elements(Look(features_, at, roots), at == nullptr);
    const Term split = Look(splits_, at, roots);
    Term yes;
    const auto add_case = [&](const Term& holds) {
      yes = yes.is_absent() ? holds : Or(yes, holds);
    };
    for (size_t kind = 0; kind < kComparisons.size(); ++kind) {
      const std::vector<uint8_t>& of_kind = of_kinds_[kind];
      const auto count = std::ranges::count(of_kind, 1);
      if (count == 0) continue;
      const Term holds = Apply(kComparisons[kind], {v, split});
      const bool all = static_cast<size_t>(count) == of_kind.size();
      add_case(all ? holds : And(holds, Look(of_kind, at, roots)));
    }
    if (std::ranges::count(nan_true_, 1) > 0)
      add_case(And(Apply("not_equal", {v, v}), Look(nan_true_, at, roots)));
    return Select(yes, Look(on_true_, at, roots), Look(on_false_, at, roots));
  }

  // What each leaf adds to each target: [leaves] for one target, otherwise [leaves, targets].
  Tensor LeafVotes() const {
    const auto targets = static_cast<size_t>(a_.targets);
    const auto largest = std::numeric_limits<float>::max();
    const bool least = a_.aggregate == VoteSum::kMin, most = a_.aggregate == VoteSum::kMax;
    std::vector<float> table(a_.leaves() * targets, least ? largest : most ? -largest : 0.0f);
    for (size_t leaf = 0; leaf < a_.leaves(); ++leaf)
      for (size_t i = a_.votes_of(leaf).first; i < a_.votes_of(leaf).last; ++i) {
        float& sum = table[leaf * targets + static_cast<size_t>(a_.vote_targets[i])];
        const auto weight = static_cast<float>(weights_[i]);
        sum = least ? std::min(sum, weight) : most ? std::max(sum, weight) : sum + weight;
      }
    std::vector<int64_t> dims = {static_cast<int64_t>(a_.leaves())};
    if (targets > 1) dims.push_back(a_.targets);
    return Tensor::Of(dims, table);
  }

  Term Votes(Value* at) const {
    static constexpr std::string_view kReductions[] = {"reduce_sum", "reduce_mean", "reduce_min",
                                                       "reduce_max"};
    return Apply(kReductions[static_cast<size_t>(a_.aggregate)], {Gather(LeafVotes(), at, 0)},
                 ReduceAttrs{.axes = {1}, .keep_dims = a_.targets == 1});
  }

  const TreeEnsembleAttrs& a_;
  Value* x_;
  std::vector<double> splits_of_, weights_;
  bool along_axis_;
  std::vector<int32_t> features_, on_true_, on_false_;
  std::vector<float> splits_;
  std::array<std::vector<uint8_t>, kComparisons.size()> of_kinds_;  // whether it compares so
  std::vector<uint8_t> nan_true_;
  std::unordered_map<const void*, Term> constants_;  // by table
};

Result<bool> ExpandForest(Graph& graph, Node& node, bool along_axis) {
  // Limit of expansions: levels of a tree ensemble.
  constexpr int64_t kMaxLevels = 64;
  // Limit of expansions: leaves times targets of a tree ensemble.
  constexpr double kMaxVotes = 0x1p26;
  const Value *splits = node.input(1), *weights = node.input(2);
  if (!IsPlainF32(node) || !splits->is_constant() || !weights->is_constant()) return false;
  const auto& a = node.attrs<TreeEnsembleAttrs>();
  NN_ASSIGN(const ForestDepth depth, CheckTrees(a));
  if (depth.largest < 1 || depth.largest > kMaxLevels || !IsFinite(weights->constant()) ||
      static_cast<double>(a.leaves()) * static_cast<double>(a.targets) > kMaxVotes)
    return false;
  Expansion e(graph, node);
  NN_ASSIGN(const Term y, ForestTables(node, along_axis).Run(e, depth.largest));
  return e.Replace(y);
}

}  // namespace

Result<bool> ExpandTrees(Graph& graph, Node& node) {
  return ExpandForest(graph, node, false);
}

Result<bool> ExpandTreesAlongAxis(Graph& graph, Node& node) {
  return ExpandForest(graph, node, true);
}

}  // namespace nn

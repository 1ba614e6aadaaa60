#include "formats/onnx/import/tree_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "formats/onnx/import/ml.h"

namespace nn::onnx {

Result<RealList> RealsOf(const ImportContext& ctx, std::string_view name) {
  const std::string tensor_name = fmt::format("{}_as_tensor", name);
  RealList list;
  if (ctx.HasAttr(tensor_name)) {
    NN_ASSIGN(const Tensor tensor, ctx.TensorAttr(tensor_name));
    list.values = tensor.ToDoubles();
    list.is_double = tensor.dtype() == DType::kF64;
    return list;
  }
  const std::vector<float> floats = ctx.Floats(name);
  list.values.assign(floats.begin(), floats.end());
  return list;
}

namespace {

constexpr std::string_view kBranchModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                             "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

// A node or leaf in the file's lists.
struct ListedNode {
  int64_t tree, id;
  auto operator<=>(const ListedNode&) const = default;
};

class TreeReader {
 public:
  TreeReader(const ImportContext& ctx, std::string_view votes) : ctx_(ctx), votes_(votes) {}

  Result<TreeTables> Read() {
    NN_RETURN_IF_ERROR(ReadNodes());
    NN_RETURN_IF_ERROR(ReadBranches());
    NN_RETURN_IF_ERROR(FindRoots());
    NN_RETURN_IF_ERROR(ReadVotes());
    return std::move(tables_);
  }

 private:
  // A list of the nodes; empty if it is absent and optional.
  Result<std::vector<int64_t>> NodeInts(std::string_view name, bool required = true) const {
    std::vector<int64_t> list = ctx_.Ints(name);
    if (list.size() == listed_.size() || (list.empty() && !required)) return list;
    return ModelError("{} has {} entries, but there are {} nodes", name, list.size(),
                      listed_.size());
  }

  // The positions of the nodes and leaves in the lists, in order of tree and identifier.
  Status ReadNodes() {
    const std::vector<int64_t> trees = ctx_.Ints("nodes_treeids");
    const std::vector<int64_t> ids = ctx_.Ints("nodes_nodeids");
    if (trees.size() != ids.size() || trees.empty())
      return ModelError("nodes_treeids has {} entries, and nodes_nodeids {}", trees.size(),
                        ids.size());
    for (size_t i = 0; i < ids.size(); ++i) listed_.push_back({trees[i], ids[i]});
    order_.resize(ids.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::ranges::sort(order_, {}, [&](size_t i) { return std::pair(listed_[i], i); });
    for (size_t i = 1; i < order_.size(); ++i)
      if (const ListedNode& n = listed_[order_[i]]; n == listed_[order_[i - 1]])
        return ModelError("tree {}: there are several nodes {}", n.tree, n.id);
    return {};
  }

  std::optional<size_t> Find(const ListedNode& node) const {
    const auto at = std::ranges::lower_bound(
        order_, node, {}, [&](size_t i) -> const auto& { return listed_[i]; });
    if (at == order_.end() || listed_[*at] != node) return std::nullopt;
    return *at;
  }

  // Numbers nodes and leaves, each in the order of the lists.
  Status NumberNodes() {
    const auto* modes = ctx_.FindAttr("nodes_modes");
    const size_t count = modes == nullptr ? 0 : static_cast<size_t>(modes->strings_size());
    if (count != listed_.size())
      return ModelError("nodes_modes has {} entries, but there are {} nodes", count,
                        listed_.size());
    int64_t leaves = 0;
    for (size_t i = 0; i < count; ++i) {
      const std::string& name = modes->strings(static_cast<int>(i));
      if (name == "LEAF") {
        numbers_.push_back(LeafOf(leaves++));
        continue;
      }
      const auto known = std::ranges::find(kBranchModes, name);
      if (known == std::end(kBranchModes))
        return ModelError("tree {}: node {} has the mode {}, which is unknown", listed_[i].tree,
                          listed_[i].id, Quote(name));
      numbers_.push_back(static_cast<int64_t>(branches_.size()));
      branches_.push_back(i);
      tables_.attrs.modes.push_back(known - std::begin(kBranchModes));
    }
    if (std::ranges::all_of(tables_.attrs.modes, [](int64_t m) { return m == 0; }))
      tables_.attrs.modes.clear();
    leaf_votes_.resize(static_cast<size_t>(leaves));
    return {};
  }

  Status ReadBranches() {
    NN_RETURN_IF_ERROR(NumberNodes());
    NN_ASSIGN(const auto features, NodeInts("nodes_featureids"));
    NN_ASSIGN(const auto on_true, NodeInts("nodes_truenodeids"));
    NN_ASSIGN(const auto on_false, NodeInts("nodes_falsenodeids"));
    NN_ASSIGN(const auto nan_true, NodeInts("nodes_missing_value_tracks_true", false));
    NN_ASSIGN(const RealList splits, RealsOf(ctx_, "nodes_values"));
    if (splits.values.size() != listed_.size())
      return ModelError("nodes_values has {} entries, but there are {} nodes", splits.values.size(),
                        listed_.size());
    tables_.is_double = splits.is_double;
    parents_.resize(listed_.size());
    TreeEnsembleAttrs& a = tables_.attrs;
    const bool has_nan = std::ranges::any_of(nan_true, [](int64_t v) { return v != 0; });
    for (const size_t i : branches_) {
      a.features.push_back(features[i]);
      tables_.splits.push_back(splits.values[i]);
      if (has_nan) a.nan_true.push_back(nan_true[i] != 0 ? 1 : 0);
      for (const bool yes : {true, false}) {
        const int64_t id = yes ? on_true[i] : on_false[i];
        const auto child = Find({listed_[i].tree, id});
        if (!child)
          return ModelError("tree {}: node {} has the child {}, which does not exist",
                            listed_[i].tree, listed_[i].id, id);
        ++parents_[*child];
        children_.push_back(*child);
        (yes ? a.on_true : a.on_false).push_back(numbers_[*child]);
      }
    }
    return {};
  }

  // The node of each tree without a parent. Peels off nodes from there; those that remain have an
  // endless line of ancestors.
  Status FindRoots() {
    std::vector<size_t> peeled;
    for (const size_t i : order_) {
      if (parents_[i] != 0) continue;
      if (!peeled.empty() && listed_[peeled.back()].tree == listed_[i].tree)
        return ModelError("tree {}: the nodes {} and {} have no parent; expected one root",
                          listed_[i].tree, listed_[peeled.back()].id, listed_[i].id);
      peeled.push_back(i);
      tables_.attrs.roots.push_back(numbers_[i]);
    }
    for (size_t next = 0; next < peeled.size(); ++next) {
      const int64_t number = numbers_[peeled[next]];
      if (number < 0) continue;
      for (const size_t k : {0, 1}) {
        const size_t child = children_[2 * static_cast<size_t>(number) + k];
        if (--parents_[child] == 0) peeled.push_back(child);
      }
    }
    for (const size_t i : order_)
      if (parents_[i] != 0)
        return ModelError("tree {}: node {} is its own descendant, or that of such a node",
                          listed_[i].tree, listed_[i].id);
    return {};
  }

  // The votes of inner nodes are never reached.
  Status ReadVotes() {
    const auto name = [&](std::string_view of) { return fmt::format("{}_{}", votes_, of); };
    const std::vector<int64_t> trees = ctx_.Ints(name("treeids")), ids = ctx_.Ints(name("nodeids"));
    const std::vector<int64_t> targets = ctx_.Ints(name("ids"));
    NN_ASSIGN(const RealList weights, RealsOf(ctx_, name("weights")));
    if (ids.size() != trees.size() || targets.size() != trees.size() ||
        weights.values.size() != trees.size())
      return ModelError("{} has {} entries, {} {}, {} {}, and {} {}", name("treeids"), trees.size(),
                        name("nodeids"), ids.size(), name("ids"), targets.size(), name("weights"),
                        weights.values.size());
    tables_.is_double = tables_.is_double || weights.is_double;
    for (size_t i = 0; i < trees.size(); ++i) {
      const auto node = Find({trees[i], ids[i]});
      if (!node)
        return ModelError("tree {}: there are votes of node {}, which does not exist", trees[i],
                          ids[i]);
      if (numbers_[*node] < 0)
        leaf_votes_[static_cast<size_t>(LeafOf(numbers_[*node]))].push_back(i);
    }
    TreeEnsembleAttrs& a = tables_.attrs;
    for (const auto& votes : leaf_votes_) {
      a.leaf_starts.push_back(static_cast<int64_t>(a.vote_targets.size()));
      for (const size_t i : votes) {
        a.vote_targets.push_back(targets[i]);
        tables_.weights.push_back(weights.values[i]);
      }
    }
    if (std::ranges::all_of(leaf_votes_, [](const auto& v) { return v.size() == 1; }))
      a.leaf_starts.clear();
    return {};
  }

  const ImportContext& ctx_;
  std::string_view votes_;
  TreeTables tables_;
  std::vector<ListedNode> listed_;
  std::vector<size_t> order_;
  std::vector<int64_t> numbers_;  // of listed nodes; negative for leaves
  std::vector<size_t> branches_;  // positions of nodes in the lists
  std::vector<size_t> children_;  // two of each branch
  std::vector<size_t> parents_;   // how many each has
  std::vector<std::vector<size_t>> leaf_votes_;
};

}  // namespace

Result<TreeTables> ReadTreeTables(const ImportContext& ctx, std::string_view votes) {
  return TreeReader(ctx, votes).Read();
}

Result<Value*> AddTrees(ImportContext& ctx, Value* rows, TreeTables tables) {
  const DType dtype = tables.is_double ? DType::kF64 : rows->dtype();
  const auto list = [&](const std::vector<double>& values) {
    return RealTensor(dtype, {static_cast<int64_t>(values.size())}, values);
  };
  return ctx.Add("tree_ensemble", {As(rows, dtype), list(tables.splits), list(tables.weights)},
                 std::move(tables.attrs));
}

}  // namespace nn::onnx

#include "ops/reduce/tree_ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/reduce/forest.h"
#include "ops/support/domain.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> TreeEnsembleAttrs::Fields() {
  static const AttrField fields[] = {Field<&TreeEnsembleAttrs::targets>("targets"),
                                     Field<&TreeEnsembleAttrs::aggregate>("aggregate"),
                                     Field<&TreeEnsembleAttrs::roots>("roots"),
                                     Field<&TreeEnsembleAttrs::features>("features"),
                                     Field<&TreeEnsembleAttrs::modes>("modes"),
                                     Field<&TreeEnsembleAttrs::on_true>("on_true"),
                                     Field<&TreeEnsembleAttrs::on_false>("on_false"),
                                     Field<&TreeEnsembleAttrs::nan_true>("nan_true"),
                                     Field<&TreeEnsembleAttrs::leaf_starts>("leaf_starts"),
                                     Field<&TreeEnsembleAttrs::vote_targets>("vote_targets")};
  return fields;
}

TreeEnsembleAttrs::Votes TreeEnsembleAttrs::votes_of(size_t leaf) const {
  if (leaf_starts.empty()) return {leaf, leaf + 1};
  const size_t last = leaf + 1 < leaf_starts.size() ? static_cast<size_t>(leaf_starts[leaf + 1])
                                                    : vote_targets.size();
  return {static_cast<size_t>(leaf_starts[leaf]), last};
}

namespace {

// Limit of all formats: nodes, leaves, votes and targets of a tree ensemble. Node tables and leaves
// are indexed by int32_t.
constexpr size_t kMaxEntries = std::numeric_limits<int32_t>::max() / 2;

Status CheckLists(const TreeEnsembleAttrs& a) {
  if (a.targets < 1 || static_cast<uint64_t>(a.targets) > kMaxEntries)
    return ModelError("{} targets; expected 1 to {}", a.targets, kMaxEntries);
  if (a.nodes() > kMaxEntries || a.leaves() > kMaxEntries || a.vote_targets.size() > kMaxEntries)
    return LimitError("{} nodes, {} leaves and {} votes; the limit is {}", a.nodes(), a.leaves(),
                      a.vote_targets.size(), kMaxEntries);
  const std::pair<std::string_view, const std::vector<int64_t>*> lists[] = {
      {"on_true", &a.on_true}, {"on_false", &a.on_false}};
  for (const auto& [name, list] : lists)
    if (list->size() != a.nodes())
      return ModelError("there are {} features but {} entries in {}", a.nodes(), list->size(),
                        name);
  const std::pair<std::string_view, const std::vector<int64_t>*> optional[] = {
      {"modes", &a.modes}, {"nan_true", &a.nan_true}};
  for (const auto& [name, list] : optional)
    if (!list->empty() && list->size() != a.nodes())
      return ModelError("there are {} features but {} entries in {}", a.nodes(), list->size(),
                        name);
  for (size_t i = 0; i < a.nodes(); ++i) {
    if (a.features[i] < 0 || static_cast<uint64_t>(a.features[i]) > kMaxEntries)
      return ModelError("node {} has feature {}", i, a.features[i]);
    if (a.mode(i) < 0 || a.mode(i) >= kSplitModes)
      return ModelError("node {} has mode {}; expected 0 to {}", i, a.mode(i), kSplitModes - 1);
  }
  return {};
}

Status CheckVotes(const TreeEnsembleAttrs& a) {
  for (size_t i = 0; i < a.vote_targets.size(); ++i)
    if (a.vote_targets[i] < 0 || a.vote_targets[i] >= a.targets)
      return ModelError("vote {} is for target {} of {}", i, a.vote_targets[i], a.targets);
  const auto votes = static_cast<int64_t>(a.vote_targets.size());
  for (size_t i = 0; i < a.leaf_starts.size(); ++i) {
    const int64_t end = i + 1 < a.leaf_starts.size() ? a.leaf_starts[i + 1] : votes;
    if (a.leaf_starts[i] < 0 || end < a.leaf_starts[i] || end > votes)
      return ModelError("leaf {} has the votes {} to {} of {}", i, a.leaf_starts[i], end, votes);
  }
  return {};
}

// Depths of the nodes, by a walk that does not recurse.
class TreeDepths {
 public:
  explicit TreeDepths(const TreeEnsembleAttrs& a) : a_(a), depths_(a.nodes(), kUnknown) {}

  // The most comparisons on a path from a root.
  Result<int64_t> Of(size_t tree, int64_t root) {
    NN_RETURN_IF_ERROR(CheckChild(tree, "its root", root));
    if (root < 0) return 0;
    if (depths_[static_cast<size_t>(root)] == kUnknown) path_.push_back({root, 0});
    while (!path_.empty()) NN_RETURN_IF_ERROR(Step(tree));
    return depths_[static_cast<size_t>(root)];
  }

 private:
  static constexpr int32_t kUnknown = -1, kActive = -2;

  Status CheckChild(size_t tree, std::string_view what, int64_t child) const {
    const bool leaf = child < 0;
    const size_t count = leaf ? a_.leaves() : a_.nodes();
    const int64_t index = leaf ? LeafOf(child) : child;
    if (static_cast<uint64_t>(index) < count) return {};
    return ModelError("tree {}: {} is {} {} of {}", tree, what, leaf ? "leaf" : "node", index,
                      count);
  }

  // Visits the next child of the last node on the path.
  Status Step(size_t tree) {
    auto& [node, visited] = path_.back();
    const auto at = static_cast<size_t>(node);
    const int64_t children[] = {a_.on_true[at], a_.on_false[at]};
    if (visited == 2) {
      int32_t depth = 0;
      for (const int64_t c : children)
        if (c >= 0) depth = std::max(depth, depths_[static_cast<size_t>(c)]);
      depths_[at] = depth + 1;
      path_.pop_back();
      return {};
    }
    depths_[at] = kActive;
    const int64_t child = children[visited++];
    NN_RETURN_IF_ERROR(CheckChild(tree, fmt::format("a child of node {}", node), child));
    if (child < 0 || depths_[static_cast<size_t>(child)] >= 0) return {};
    if (depths_[static_cast<size_t>(child)] == kActive)
      return ModelError("tree {}: node {} is its own descendant", tree, child);
    path_.push_back({child, 0});
    return {};
  }

  const TreeEnsembleAttrs& a_;
  std::vector<int32_t> depths_;
  std::vector<std::pair<int64_t, int>> path_;  // nodes, and how many children were visited
};

}  // namespace

Result<ForestDepth> CheckTrees(const TreeEnsembleAttrs& a) {
  NN_RETURN_IF_ERROR(CheckLists(a));
  NN_RETURN_IF_ERROR(CheckVotes(a));
  if (a.roots.empty()) return ModelError("there are no trees");
  TreeDepths depths(a);
  ForestDepth all;
  for (size_t tree = 0; tree < a.roots.size(); ++tree) {
    NN_ASSIGN(const int64_t depth, depths.Of(tree, a.roots[tree]));
    all.sum += depth;
    all.largest = std::max(all.largest, depth);
  }
  return all;
}

namespace {

Status InferTreeEnsemble(InferContext& ctx) {
  const auto& a = ctx.attrs<TreeEnsembleAttrs>();
  NN_RETURN_IF_ERROR(CheckTrees(a).map([](const ForestDepth&) {}));
  NN_ASSIGN(const DType dtype, SameDType(ctx, {0, 1, 2}));
  for (const size_t i : {0, 1, 2})
    if (ctx.in(i).quantized()) return UnsupportedError("{} is not supported", ctx.in(i).ToString());
  if (dtype != DType::kF16 && dtype != DType::kBF16 && dtype != DType::kF32 &&
      dtype != DType::kF64 && dtype != DType::kUnknown)
    return UnsupportedError("{} is not supported", DTypeName(dtype));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2, 2));
  NN_RETURN_IF_ERROR(RequireList(ctx, 1, a.nodes()));
  NN_RETURN_IF_ERROR(RequireList(ctx, 2, a.vote_targets.size()));
  const Dims& x = *ctx.in(0).dims;
  const int64_t features = a.features.empty() ? 0 : std::ranges::max(a.features) + 1;
  if (x[1].is_const() && x[1].value() < features)
    return ModelError("a row has {} elements, but a node has feature {}", x[1].value(),
                      features - 1);
  ctx.set_out(0, Type(dtype, Dims{x[0], a.targets}));
  return {};
}

Status EvalTreeEnsemble(EvalContext& ctx) {
  const auto& a = ctx.attrs<TreeEnsembleAttrs>();
  return WithReals(ctx.in(0).dtype(), [&](auto type) -> Status {
    using T = decltype(type);
    const Reals<T> x(ctx.in(0)), splits(ctx.in(1)), weights(ctx.in(2));
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Forest<T> forest(a, splits.span(), weights.span());
    const std::vector<int64_t>& dims = ctx.in(0).dims();
    forest.Run(x.data(), static_cast<size_t>(dims[0]), static_cast<size_t>(dims[1]), y.data());
    y.Finish();
    return {};
  });
}

// Elements that are compared, and one vote of each tree.
std::optional<int64_t> TreeEnsembleWork(const Node& node) {
  const auto& a = node.attrs<TreeEnsembleAttrs>();
  const auto x = node.input(0)->type().const_dims();
  const auto depth = CheckTrees(a);
  if (!x || x->empty() || !depth) return std::nullopt;
  return CheckedElements(
      std::vector<int64_t>{x->front(), depth->sum + static_cast<int64_t>(a.roots.size())});
}

// Numbers around those with which they are compared.
Domain TreeEnsembleDomain(const Node& node, size_t input, std::span<const Domain>) {
  if (input != 0 || !node.input(1)->is_constant()) return {};
  const std::vector<double> splits = node.input(1)->constant().ToDoubles();
  if (splits.empty()) return {};
  const auto [least, most] = std::ranges::minmax(splits);
  const double margin = std::max(1.0, (most - least) / 4);
  if (!(most - least < 1e30)) return {};
  return Between(least - margin, most + margin);
}

}  // namespace

void RegisterTreeEnsembleOps(OpRegistry& ops) {
  OpDef op;
  op.name = "tree_ensemble";
  op.summary = "the votes of decision trees on each row";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<TreeEnsembleAttrs>();
  op.inputs = {{"x"}, {"splits"}, {"weights"}};
  op.infer = InferTreeEnsemble;
  op.eval = EvalTreeEnsemble;
  op.multiply_adds = TreeEnsembleWork;
  ops.Add(std::move(op));
}

void AddTreeEnsembleDomains(DomainTable& domains) {
  domains["tree_ensemble"] = TreeEnsembleDomain;
}

}  // namespace nn

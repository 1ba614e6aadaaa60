// TreeEnsemble of ai.onnx.ml, and tree_ensemble as that operator or as TreeEnsembleRegressor.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "formats/onnx/import/tree_tables.h"

namespace nn::onnx {
namespace {

// In the order of SplitMode, which is also that of TreeEnsemble's numbers.
constexpr std::string_view kModeNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr int64_t kMember = kSplitModes;
constexpr auto kEqualMode = static_cast<int64_t>(SplitMode::kEqual);
// By the numbers of TreeEnsemble's aggregate_function.
constexpr VoteSum kVoteSums[] = {VoteSum::kMean, VoteSum::kSum, VoteSum::kMin, VoteSum::kMax};
// By VoteSum.
constexpr std::string_view kVoteSumNames[] = {"SUM", "AVERAGE", "MIN", "MAX"};

// ==== From ONNX ==================================================================================

Result<std::vector<double>> NumbersOf(const ImportContext& ctx, std::string_view name) {
  NN_ASSIGN(const Tensor tensor, ctx.TensorAttr(name));
  return tensor.ToDoubles();
}

// The lists of members, separated by NaN; the last may end with one.
std::vector<std::vector<double>> SetsOf(const std::vector<double>& members) {
  std::vector<std::vector<double>> sets;
  bool open = false;
  for (const double v : members) {
    if (!open) sets.emplace_back();
    open = !std::isnan(v);
    if (open) sets.back().push_back(v);
  }
  return sets;
}

// Replaces the test for membership in a set by one test for each member, which share the child for
// members. Nodes are added at the end, so that indexes in messages are those of the file.
Status ExpandMembers(const ImportContext& ctx, TreeTables& tables) {
  TreeEnsembleAttrs& a = tables.attrs;
  const auto count = static_cast<size_t>(std::ranges::count(a.modes, kMember));
  if (count == 0) return {};
  NN_ASSIGN(const std::vector<double> members, NumbersOf(ctx, "membership_values"));
  const auto sets = SetsOf(members);
  if (sets.size() != count)
    return ModelError("membership_values has {} sets for {} nodes", sets.size(), count);
  const size_t nodes = a.nodes();
  for (size_t node = 0, next = 0; node < nodes; ++node) {
    if (a.modes[node] != kMember) continue;
    const std::vector<double>& set = sets[next++];
    a.modes[node] = kEqualMode;
    tables.splits[node] = set.empty() ? std::numeric_limits<double>::quiet_NaN() : set.front();
    size_t last = node;
    for (size_t i = 1; i < set.size(); ++i) {
      const size_t added = a.nodes();
      a.features.push_back(a.features[node]);
      a.modes.push_back(kEqualMode);
      a.on_true.push_back(a.on_true[node]);
      a.on_false.push_back(a.on_false[last]);
      if (!a.nan_true.empty()) a.nan_true.push_back(a.nan_true[node]);
      tables.splits.push_back(set[i]);
      a.on_false[last] = static_cast<int64_t>(added);
      last = added;
    }
  }
  return {};
}

// The children by their indexes and whether they are leaves.
Result<std::vector<int64_t>> ChildrenOf(const ImportContext& ctx, std::string_view nodes,
                                        std::string_view leaves, size_t count) {
  std::vector<int64_t> children = ctx.Ints(nodes);
  const std::vector<int64_t> are_leaves = ctx.Ints(leaves);
  if (children.size() != count || are_leaves.size() != count)
    return ModelError("{} has {} entries and {} {}, but there are {} nodes", nodes, children.size(),
                      leaves, are_leaves.size(), count);
  for (size_t i = 0; i < count; ++i) {
    if (children[i] < 0) return ModelError("node {} has the child {}", i, children[i]);
    if (are_leaves[i] != 0) children[i] = LeafOf(children[i]);
  }
  return children;
}

Result<TreeTables> ReadTrees(const ImportContext& ctx) {
  TreeTables tables;
  TreeEnsembleAttrs& a = tables.attrs;
  a.features = ctx.Ints("nodes_featureids");
  NN_ASSIGN(tables.splits, NumbersOf(ctx, "nodes_splits"));
  NN_ASSIGN(tables.weights, NumbersOf(ctx, "leaf_weights"));
  NN_ASSIGN(const Tensor modes, ctx.TensorAttr("nodes_modes"));
  a.modes = modes.ToInts();
  const size_t count = a.nodes();
  if (tables.splits.size() != count || a.modes.size() != count)
    return ModelError("nodes_featureids has {} entries, nodes_splits {}, and nodes_modes {}", count,
                      tables.splits.size(), a.modes.size());
  for (size_t i = 0; i < count; ++i)
    if (a.modes[i] < 0 || a.modes[i] > kMember)
      return ModelError("node {} has mode {}; expected 0 to {}", i, a.modes[i], kMember);
  NN_ASSIGN(a.on_true, ChildrenOf(ctx, "nodes_truenodeids", "nodes_trueleafs", count));
  NN_ASSIGN(a.on_false, ChildrenOf(ctx, "nodes_falsenodeids", "nodes_falseleafs", count));
  a.nan_true = ctx.Ints("nodes_missing_value_tracks_true");
  a.roots = ctx.Ints("tree_roots");
  for (const int64_t root : a.roots)
    if (root < 0) return ModelError("tree_roots has the entry {}", root);
  a.vote_targets = ctx.Ints("leaf_targetids");
  const int64_t largest = a.vote_targets.empty() ? 0 : std::ranges::max(a.vote_targets);
  a.targets = ctx.Int("n_targets", std::max<int64_t>(largest, 0) + 1);
  const int64_t aggregate = ctx.Int("aggregate_function", 1);
  if (aggregate < 0 || aggregate >= static_cast<int64_t>(std::size(kVoteSums)))
    return ModelError("aggregate_function is {}; expected 0 to 3", aggregate);
  a.aggregate = kVoteSums[aggregate];
  NN_RETURN_IF_ERROR(ExpandMembers(ctx, tables));
  return tables;
}

Status ImportTreeEnsemble(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const int64_t transform = ctx.Int("post_transform", 0);
  if (transform < 0 || transform >= kPostTransforms)
    return ModelError("post_transform is {}; expected 0 to {}", transform, kPostTransforms - 1);
  if (transform != 0 && x->dtype() == DType::kF64)
    return UnsupportedError("post_transform of f64: its functions are supported for f32 only");
  NN_ASSIGN(TreeTables tables, ReadTrees(ctx));
  const auto list = [&](const std::vector<double>& values) {
    return As(RealTensor(DType::kF64, {static_cast<int64_t>(values.size())}, values), DType::kF64,
              x->dtype());
  };
  const Term votes = Apply("tree_ensemble", {x, list(tables.splits), list(tables.weights)},
                           std::move(tables.attrs));
  if (transform == 0) return ctx.EmitTerm(votes);
  const Term scores = As(votes, x->dtype(), DType::kF32);
  return ctx.EmitTerm(
      As(Transformed(static_cast<PostTransform>(transform), scores), DType::kF32, x->dtype()));
}

// ==== To ONNX ====================================================================================

// The votes of the leaf with the most votes.
size_t MostVotes(const TreeEnsembleAttrs& a) {
  size_t most = 0;
  for (size_t leaf = 0; leaf < a.leaves(); ++leaf)
    most = std::max(most, a.votes_of(leaf).last - a.votes_of(leaf).first);
  return most;
}

std::optional<std::string> WhyNotTrees(const Node& node) {
  if (!node.input(1)->is_constant() || !node.input(2)->is_constant())
    return "its splits or weights are computed; those of ONNX are attributes";
  return std::nullopt;
}

// The first version with the node's type. TreeEnsembleRegressor has f32 results and is deprecated
// in version 5, but its leaves may have several votes.
int64_t MlVersion(const Node& node) {
  return node.input(0)->dtype() == DType::kF32 ? 1 : 5;
}

// The nodes and leaves of a tree, numbered in the order in which a walk from the root finds them.
class TreeWriter {
 public:
  // Limit of ONNX: nodes and votes of written trees that share nodes, as trees of their own.
  static constexpr size_t kMaxWritten = size_t{1} << 26;

  explicit TreeWriter(const TreeEnsembleAttrs& a) : a_(a) {}

  Status Add(int64_t tree, int64_t root, const std::vector<float>& splits,
             const std::vector<float>& weights) {
    numbers_.clear();
    found_.clear();
    Number(root);
    for (size_t next = 0; next < found_.size(); ++next) {
      if (treeids.size() + vote_trees.size() > kMaxWritten)
        return LimitError("trees that share nodes; as trees of their own they are too large");
      treeids.push_back(tree);
      nodeids.push_back(static_cast<int64_t>(next));
      if (found_[next] >= 0)
        AddNode(static_cast<size_t>(found_[next]), splits);
      else
        AddLeaf(tree, static_cast<int64_t>(next), static_cast<size_t>(LeafOf(found_[next])),
                weights);
    }
    return {};
  }

  std::vector<int64_t> treeids, nodeids, features, on_true, on_false, nan_true;
  std::vector<std::string> modes;
  std::vector<float> values;
  std::vector<int64_t> vote_trees, vote_nodes, vote_targets;
  std::vector<float> vote_weights;

 private:
  int64_t Number(int64_t child) {
    const auto [at, is_new] = numbers_.try_emplace(child, static_cast<int64_t>(found_.size()));
    if (is_new) found_.push_back(child);
    return at->second;
  }
  void AddNode(size_t node, const std::vector<float>& splits) {
    features.push_back(a_.features[node]);
    modes.emplace_back(kModeNames[a_.mode(node)]);
    values.push_back(splits[node]);
    on_true.push_back(Number(a_.on_true[node]));
    on_false.push_back(Number(a_.on_false[node]));
    nan_true.push_back(a_.takes_nan(node) ? 1 : 0);
  }
  void AddLeaf(int64_t tree, int64_t id, size_t leaf, const std::vector<float>& weights) {
    for (auto* list : {&features, &on_true, &on_false, &nan_true}) list->push_back(0);
    modes.emplace_back("LEAF");
    values.push_back(0);
    const auto votes = a_.votes_of(leaf);
    for (size_t i = votes.first; i < votes.last; ++i) {
      vote_trees.push_back(tree);
      vote_nodes.push_back(id);
      vote_targets.push_back(a_.vote_targets[i]);
      vote_weights.push_back(weights[i]);
    }
  }

  const TreeEnsembleAttrs& a_;
  std::unordered_map<int64_t, int64_t> numbers_;
  std::vector<int64_t> found_;
};

std::vector<float> FloatsIn(const Value* v) {
  const std::vector<double> values = v->constant().ToDoubles();
  return {values.begin(), values.end()};
}

Status WriteTreeRegressor(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TreeEnsembleAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "TreeEnsembleRegressor",
                                   {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0))}});
  out->set_domain(std::string(kMlDomain));
  TreeWriter writer(a);
  const std::vector<float> splits = FloatsIn(node.input(1)), weights = FloatsIn(node.input(2));
  for (size_t tree = 0; tree < a.roots.size(); ++tree)
    NN_RETURN_IF_ERROR(writer.Add(static_cast<int64_t>(tree), a.roots[tree], splits, weights));
  SetInts(out, "nodes_treeids", writer.treeids);
  SetInts(out, "nodes_nodeids", writer.nodeids);
  SetInts(out, "nodes_featureids", writer.features);
  SetStrings(out, "nodes_modes", writer.modes);
  SetFloats(out, "nodes_values", writer.values);
  SetInts(out, "nodes_truenodeids", writer.on_true);
  SetInts(out, "nodes_falsenodeids", writer.on_false);
  if (!a.nan_true.empty()) SetInts(out, "nodes_missing_value_tracks_true", writer.nan_true);
  SetInts(out, "target_treeids", writer.vote_trees);
  SetInts(out, "target_nodeids", writer.vote_nodes);
  SetInts(out, "target_ids", writer.vote_targets);
  SetFloats(out, "target_weights", writer.vote_weights);
  SetInt(out, "n_targets", a.targets);
  SetString(out, "aggregate_function", kVoteSumNames[static_cast<size_t>(a.aggregate)]);
  return {};
}

// The vote of a leaf without one, which changes nothing.
double NeutralVote(VoteSum aggregate, DType dtype) {
  const double largest = dtype == DType::kF64 ? std::numeric_limits<double>::max()
                                              : double{std::numeric_limits<float>::max()};
  if (aggregate == VoteSum::kMin) return largest;
  return aggregate == VoteSum::kMax ? -largest : 0;
}

// A copy of the nodes for vote `copy` of each leaf; a leaf without it has the neutral vote.
void AppendCopy(const TreeTables& from, size_t copy, double neutral, TreeTables& to) {
  const TreeEnsembleAttrs& a = from.attrs;
  TreeEnsembleAttrs& out = to.attrs;
  const auto nodes = static_cast<int64_t>(copy * a.nodes());
  const auto leaves = static_cast<int64_t>(copy * a.leaves());
  const auto moved = [&](int64_t child) { return child < 0 ? child - leaves : child + nodes; };
  for (size_t i = 0; i < a.nodes(); ++i) {
    out.features.push_back(a.features[i]);
    out.modes.push_back(a.mode(i));
    out.on_true.push_back(moved(a.on_true[i]));
    out.on_false.push_back(moved(a.on_false[i]));
    if (!a.nan_true.empty()) out.nan_true.push_back(a.nan_true[i]);
    to.splits.push_back(from.splits[i]);
  }
  for (size_t leaf = 0; leaf < a.leaves(); ++leaf) {
    const auto votes = a.votes_of(leaf);
    const bool has = votes.first + copy < votes.last;
    out.vote_targets.push_back(has ? a.vote_targets[votes.first + copy] : 0);
    to.weights.push_back(has ? from.weights[votes.first + copy] : neutral);
  }
}

// Trees with one vote at each leaf, and with roots that are nodes: each tree becomes as many as the
// largest number of votes.
TreeTables WithSingleVotes(const Node& node, size_t copies) {
  TreeTables from, to;
  from.attrs = node.attrs<TreeEnsembleAttrs>();
  from.splits = node.input(1)->constant().ToDoubles();
  from.weights = node.input(2)->constant().ToDoubles();
  const TreeEnsembleAttrs& a = from.attrs;
  TreeEnsembleAttrs& out = to.attrs;
  out.targets = a.targets;
  out.aggregate = a.aggregate;
  const double neutral = NeutralVote(a.aggregate, node.input(0)->dtype());
  for (size_t copy = 0; copy < copies; ++copy) AppendCopy(from, copy, neutral, to);
  for (const int64_t root : a.roots)
    for (size_t copy = 0; copy < copies; ++copy) {
      if (root >= 0) {
        out.roots.push_back(root + static_cast<int64_t>(copy * a.nodes()));
        continue;
      }
      const int64_t leaf = root - static_cast<int64_t>(copy * a.leaves());
      out.roots.push_back(static_cast<int64_t>(out.nodes()));
      out.features.push_back(0);
      out.modes.push_back(0);
      out.on_true.push_back(leaf);
      out.on_false.push_back(leaf);
      if (!a.nan_true.empty()) out.nan_true.push_back(0);
      to.splits.push_back(0);
    }
  return to;
}

void SetChildren(pb::NodeProto* out, std::string_view nodes, std::string_view leaves,
                 std::vector<int64_t> children) {
  std::vector<int64_t> are_leaves;
  for (int64_t& child : children) {
    are_leaves.push_back(child < 0 ? 1 : 0);
    if (child < 0) child = LeafOf(child);
  }
  SetInts(out, nodes, children);
  SetInts(out, leaves, are_leaves);
}

template <typename T>
Status SetNumbers(ExportContext& ctx, pb::NodeProto* out, std::string_view name, DType dtype,
                  const std::vector<T>& values) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i)
    b.SetDouble(static_cast<int64_t>(i), static_cast<double>(values[i]));
  ctx.SetTensor(out, name, b.Finish());
  return {};
}

// Limit of ONNX: nodes and leaves of written trees with several votes for a leaf, as trees with one
// vote.
constexpr size_t kMaxEntriesOfCopies = size_t{1} << 26;

Status WriteTreeEnsemble(ExportContext& ctx, const Node& node) {
  const auto& given = node.attrs<TreeEnsembleAttrs>();
  const size_t copies = std::max<size_t>(1, MostVotes(given));
  if (copies > 1 && given.aggregate == VoteSum::kMean)
    return UnsupportedError("a leaf has several votes; those of TreeEnsemble have one");
  if (copies * (given.nodes() + given.leaves()) > kMaxEntriesOfCopies)
    return LimitError("leaves with up to {} votes; as trees with one vote they are too large",
                      copies);
  const TreeTables tables = WithSingleVotes(node, copies);
  const TreeEnsembleAttrs& a = tables.attrs;
  const DType dtype = node.input(0)->dtype();
  pb::NodeProto* out =
      ctx.AddNode(node, "TreeEnsemble", {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0))}});
  out->set_domain(std::string(kMlDomain));
  SetInts(out, "nodes_featureids", a.features);
  NN_RETURN_IF_ERROR(SetNumbers(ctx, out, "nodes_splits", dtype, tables.splits));
  NN_RETURN_IF_ERROR(SetNumbers(ctx, out, "nodes_modes", DType::kU8, a.modes));
  SetChildren(out, "nodes_truenodeids", "nodes_trueleafs", a.on_true);
  SetChildren(out, "nodes_falsenodeids", "nodes_falseleafs", a.on_false);
  if (!a.nan_true.empty()) SetInts(out, "nodes_missing_value_tracks_true", a.nan_true);
  SetInts(out, "tree_roots", a.roots);
  SetInts(out, "leaf_targetids", a.vote_targets);
  NN_RETURN_IF_ERROR(SetNumbers(ctx, out, "leaf_weights", dtype, tables.weights));
  SetInt(out, "n_targets", a.targets);
  SetInt(out, "aggregate_function", std::ranges::find(kVoteSums, a.aggregate) - kVoteSums);
  return {};
}

Status WriteTrees(ExportContext& ctx, const Node& node) {
  if (const auto why = WhyNotTrees(node)) return UnsupportedError("{}", *why);
  return ctx.ml_opset() >= 5 ? WriteTreeEnsemble(ctx, node) : WriteTreeRegressor(ctx, node);
}

constexpr ImportRow kTreeEnsembleImports[] = {{.op = "TreeEnsemble",
                                               .since = 5,
                                               .import = ImportTreeEnsemble,
                                               .inputs = 1,
                                               .domain = kMlDomain}};

constexpr ExportRow kTreeEnsembleExports[] = {
    {.op = "tree_ensemble", .write = WriteTrees, .why_not = WhyNotTrees, .ml_opset = MlVersion}};

}  // namespace

Family TreeEnsembleFamily() {
  return {.imports = kTreeEnsembleImports, .exports = kTreeEnsembleExports};
}

}  // namespace nn::onnx

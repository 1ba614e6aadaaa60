// Rules about tree ensembles.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using Trees = pb::TreeEnsembleParameters;
using Node = Trees::TreeNode;

// Calls visit(model, parameters, path).
template <typename Visit>
void EachEnsemble(const RuleContext& s, const Visit& visit) {
  for (const ModelAt& m : s.models()) {
    if (m.model->has_treeensembleclassifier())
      visit(m, m.model->treeensembleclassifier().treeensemble(),
            m.path + "treeEnsembleClassifier.treeEnsemble");
    if (m.model->has_treeensembleregressor())
      visit(m, m.model->treeensembleregressor().treeensemble(),
            m.path + "treeEnsembleRegressor.treeEnsemble");
  }
}

std::string PathOf(const std::string& path, int node) {
  return fmt::format("{}.nodes[{}]", path, node);
}

void Dimensions(const RuleContext& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt& m, const Trees& trees, const std::string& path) {
    const uint64_t dimensions = trees.numpredictiondimensions();
    if (dimensions == 0) f.Add(At(path), "numPredictionDimensions is 0; expected 1 or more");
    const uint64_t base = s.SizeOf(trees, Trees::kBasePredictionValueFieldNumber);
    if (base != 0 && base != dimensions)
      f.Add(At(path + ".basePredictionValue"),
            "basePredictionValue has {} values for {} dimensions", base, dimensions);
    if (!m.model->has_treeensembleclassifier()) return;
    const auto& p = m.model->treeensembleclassifier();
    const auto classes = static_cast<uint64_t>(
        std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size()));
    if (classes != 0 && classes != (dimensions == 1 ? 2 : dimensions))
      f.Add(At(path), "the model has {} classes for {} dimensions; expected {}", classes,
            dimensions, dimensions == 1 ? 2 : dimensions);
  });
}

void LeavesValued(const RuleContext& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (!Node::TreeNodeBehavior_IsValid(node.nodebehavior())) {
        f.Add(At(PathOf(path, i)), "node {} has the unknown nodeBehavior {}", i,
              static_cast<int>(node.nodebehavior()));
      } else if (node.nodebehavior() == Node::LeafNode) {
        std::set<uint64_t> seen;
        if (node.evaluationinfo().empty())
          f.Add(At(PathOf(path, i)), "leaf {} of tree {} has no values", node.nodeid(),
                node.treeid());
        for (const auto& value : node.evaluationinfo())
          if (value.evaluationindex() >= trees.numpredictiondimensions() ||
              !seen.insert(value.evaluationindex()).second)
            f.Add(At(PathOf(path, i)),
                  "leaf {} of tree {} has a value for dimension {}, which is {}", node.nodeid(),
                  node.treeid(), value.evaluationindex(),
                  seen.contains(value.evaluationindex()) ? "repeated" : "out of range");
      }
    }
  });
}

// The nodes of an ensemble by tree and id.
class Index {
 public:
  explicit Index(const Trees& trees) {
    for (int i = 0; i < trees.nodes_size(); ++i)
      nodes_.try_emplace({trees.nodes(i).treeid(), trees.nodes(i).nodeid()}, i);
  }
  // The first node of that id; -1 if there is none.
  int Find(uint64_t tree, uint64_t node) const {
    const auto found = nodes_.find({tree, node});
    return found != nodes_.end() ? found->second : -1;
  }

 private:
  std::map<std::pair<uint64_t, uint64_t>, int> nodes_;
};

void NodesUnique(const RuleContext& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    const Index index(trees);
    for (int i = 0; i < trees.nodes_size(); ++i)
      if (index.Find(trees.nodes(i).treeid(), trees.nodes(i).nodeid()) != i)
        f.Add(At(PathOf(path, i)), "tree {} has more than one node {}", trees.nodes(i).treeid(),
              trees.nodes(i).nodeid());
  });
}

void ChildrenExist(const RuleContext& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    const Index index(trees);
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (node.nodebehavior() == Node::LeafNode) continue;
      for (const uint64_t child : {node.falsechildnodeid(), node.truechildnodeid()})
        if (index.Find(node.treeid(), child) < 0)
          f.Add(At(PathOf(path, i)), "node {} of tree {} refers to the missing child {}",
                node.nodeid(), node.treeid(), child);
    }
  });
}

// Each tree has one root, and every other node has one parent and is reachable from the root.
void TreesAreTrees(const RuleContext& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    const Index index(trees);
    const auto count = static_cast<size_t>(trees.nodes_size());
    std::vector<int> parent(count, -1);
    std::vector<std::vector<int>> children(count);
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (node.nodebehavior() == Node::LeafNode || index.Find(node.treeid(), node.nodeid()) != i)
        continue;
      for (const uint64_t id : {node.falsechildnodeid(), node.truechildnodeid()}) {
        const int child = index.Find(node.treeid(), id);
        if (child < 0) continue;
        if (child == i || parent[static_cast<size_t>(child)] >= 0)
          f.Add(At(PathOf(path, i)), "node {} of tree {} is a child of {}", id, node.treeid(),
                child == i ? "itself" : "two nodes");
        else
          children[static_cast<size_t>(i)].push_back(child);
        if (child != i) parent[static_cast<size_t>(child)] = i;
      }
    }
    std::map<uint64_t, int> roots;
    std::vector<int> stack;
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (parent[static_cast<size_t>(i)] >= 0 || index.Find(node.treeid(), node.nodeid()) != i)
        continue;
      stack.push_back(i);
      if (const auto [root, fresh] = roots.try_emplace(node.treeid(), i); !fresh)
        f.Add(At(PathOf(path, i)), "tree {} has a second root, node {}", node.treeid(),
              node.nodeid());
    }
    std::vector<bool> reached(count);
    while (!stack.empty()) {
      const auto i = static_cast<size_t>(stack.back());
      stack.pop_back();
      reached[i] = true;
      stack.insert(stack.end(), children[i].begin(), children[i].end());
    }
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (!reached[static_cast<size_t>(i)] && index.Find(node.treeid(), node.nodeid()) == i)
        f.Add(At(PathOf(path, i)), "node {} of tree {} is not reachable from a root", node.nodeid(),
              node.treeid());
    }
  });
}

constexpr std::string_view kTreesClause = "TreeEnsemble.proto, TreeEnsembleParameters";

constexpr Rule kTreeRules[] = {
    {.info = {.id = "COREML-TREE-001",
              .statement = "A tree ensemble has a positive numPredictionDimensions and no base "
                           "prediction values or one for each dimension, and a classifier has one "
                           "class for each dimension or two classes for a single dimension.",
              .clause = kTreesClause,
              .vendor = true,
              .hint = "Set numPredictionDimensions to the number of base prediction values; a "
                      "classifier needs one dimension for each class, or one for two classes."},
     .check = Dimensions},
    {.info = {.id = "COREML-TREE-002",
              .statement = "Each tree node has a known nodeBehavior, and each leaf has at least "
                           "one value and at most one for each prediction dimension.",
              .clause = kTreesClause,
              .vendor = true,
              .hint = "Set nodeBehavior, and give each leaf values with different evaluationIndex, "
                      "each less than numPredictionDimensions."},
     .check = LeavesValued},
    {.info = {.id = "COREML-TREE-003",
              .statement = "The node ids of a tree are unique.",
              .clause = kTreesClause,
              .vendor = true,
              .hint = "Give each node of the tree a different nodeId."},
     .check = NodesUnique},
    {.info = {.id = "COREML-TREE-004",
              .statement = "Both children of a tree node that is not a leaf exist.",
              .clause = kTreesClause,
              .vendor = true,
              .hint = "Set trueChildNodeId and falseChildNodeId to nodes with the same treeId."},
     .check = ChildrenExist},
    {.info = {.id = "COREML-TREE-005",
              .statement = "Each tree has one root, and every other node has exactly one parent "
                           "and is reachable from the root.",
              .clause = kTreesClause,
              .vendor = true,
              .hint = "Correct the child ids, so that each node except the root is the child of "
                      "exactly one other node."},
     .check = TreesAreTrees},
};

}  // namespace

std::span<const Rule> TreeRules() {
  return kTreeRules;
}

}  // namespace nn::coreml

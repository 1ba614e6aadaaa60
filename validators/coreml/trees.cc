// Rules of tree ensembles.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using Trees = pb::TreeEnsembleParameters;
using Node = Trees::TreeNode;

// Calls visit(model, parameters, path).
template <typename Visit>
void EachEnsemble(const Subject& s, const Visit& visit) {
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

void Dimensions(const Subject& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt& m, const Trees& trees, const std::string& path) {
    const uint64_t dimensions = trees.numpredictiondimensions();
    if (dimensions == 0) f.Add(At(path), "numPredictionDimensions is 0");
    const uint64_t base = s.SizeOf(trees, Trees::kBasePredictionValueFieldNumber);
    if (base != 0 && base != dimensions)
      f.Add(At(path + ".basePredictionValue"), "there are {} base values for {} dimensions", base,
            dimensions);
    if (!m.model->has_treeensembleclassifier()) return;
    const auto& p = m.model->treeensembleclassifier();
    const auto classes = static_cast<uint64_t>(
        std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size()));
    if (classes != 0 && classes != (dimensions == 1 ? 2 : dimensions))
      f.Add(At(path), "{} classes do not go with {} dimensions", classes, dimensions);
  });
}

void LeavesValued(const Subject& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (!Node::TreeNodeBehavior_IsValid(node.nodebehavior())) {
        f.Add(At(PathOf(path, i)), "node {} has nodeBehavior {}", i,
              static_cast<int>(node.nodebehavior()));
      } else if (node.nodebehavior() == Node::LeafNode) {
        std::set<uint64_t> seen;
        if (node.evaluationinfo().empty())
          f.Add(At(PathOf(path, i)), "leaf {} of tree {} has no values", node.nodeid(),
                node.treeid());
        for (const auto& value : node.evaluationinfo())
          if (value.evaluationindex() >= trees.numpredictiondimensions() ||
              !seen.insert(value.evaluationindex()).second)
            f.Add(At(PathOf(path, i)), "leaf {} of tree {} has a value of dimension {} {}",
                  node.nodeid(), node.treeid(), value.evaluationindex(),
                  seen.contains(value.evaluationindex()) ? "twice" : "out of range");
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

void NodesUnique(const Subject& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    const Index index(trees);
    for (int i = 0; i < trees.nodes_size(); ++i)
      if (index.Find(trees.nodes(i).treeid(), trees.nodes(i).nodeid()) != i)
        f.Add(At(PathOf(path, i)), "tree {} has a second node {}", trees.nodes(i).treeid(),
              trees.nodes(i).nodeid());
  });
}

void ChildrenExist(const Subject& s, Findings& f) {
  EachEnsemble(s, [&](const ModelAt&, const Trees& trees, const std::string& path) {
    const Index index(trees);
    for (int i = 0; i < trees.nodes_size(); ++i) {
      const Node& node = trees.nodes(i);
      if (node.nodebehavior() == Node::LeafNode) continue;
      for (const uint64_t child : {node.falsechildnodeid(), node.truechildnodeid()})
        if (index.Find(node.treeid(), child) < 0)
          f.Add(At(PathOf(path, i)), "node {} of tree {} has no child {}", node.nodeid(),
                node.treeid(), child);
    }
  });
}

// Each tree has one root, and each other node one parent, above which is the root.
void TreesAreTrees(const Subject& s, Findings& f) {
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
                child == i ? "its own" : "two nodes");
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
        f.Add(At(PathOf(path, i)), "no root leads to node {} of tree {}", node.nodeid(),
              node.treeid());
    }
  });
}

constexpr std::string_view kClause = "TreeEnsemble.proto, TreeEnsembleParameters";

constexpr Rule kRules[] = {
    {{"COREML-TREE-001", Severity::kError,
      "An ensemble states its dimensions, which base values and classes go with.", kClause, true,
      ""},
     Dimensions},
    {{"COREML-TREE-002", Severity::kError,
      "Nodes are of a known behaviour; leaves have values, one a dimension.", kClause, true, ""},
     LeavesValued},
    {{"COREML-TREE-003", Severity::kError, "Nodes of a tree have ids of their own.", kClause, true,
      ""},
     NodesUnique},
    {{"COREML-TREE-004", Severity::kError, "Branches have both children.", kClause, true, ""},
     ChildrenExist},
    {{"COREML-TREE-005", Severity::kError,
      "Each tree has one root, and from it one way to each node.", kClause, true, ""},
     TreesAreTrees},
};

}  // namespace

std::span<const Rule> TreeRules() {
  return kRules;
}

}  // namespace nn::coreml

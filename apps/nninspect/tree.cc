#include "apps/nninspect/tree.h"

#include "apps/common/table.h"
#include "base/checked_math.h"
#include "base/text.h"

namespace nn::app {
namespace {

// Deeper scopes are merged.
constexpr size_t kMaxDepth = 32;

// "/features/block.1/Conv" is in "features" and "block.1", "encoder.0.attn" in "encoder" and "0": a
// name without "/" is split at ".", and the last part is the operator's own.
std::vector<std::string_view> ScopesIn(std::string_view name) {
  const char separator = name.find('/') != std::string_view::npos ? '/' : '.';
  std::vector<std::string_view> scopes;
  while (scopes.size() < kMaxDepth) {
    const size_t end = name.find(separator);
    if (end == std::string_view::npos) break;
    if (end > 0) scopes.push_back(name.substr(0, end));
    name.remove_prefix(end + 1);
  }
  return scopes;
}

// The branches from the root to an operator.
std::vector<std::string> PathOf(const OperatorSummary& op) {
  std::vector<std::string> path;
  if (!op.scope.empty()) path.push_back(op.scope);
  // TensorFlow Lite operators have no names; the names of their results give the scope. For fused
  // operators these are joined, in order.
  std::string_view name = op.name;
  if (name.empty() && !op.outputs.empty()) name = op.outputs[0];
  name = name.substr(0, name.find(';'));
  for (const std::string_view scope : ScopesIn(name)) path.emplace_back(scope);
  return path;
}

template <typename Fn>
void Along(TreeBranch& root, const std::vector<std::string>& path, Fn add) {
  TreeBranch* at = &root;
  add(*at);
  for (const std::string& name : path) {
    const auto [it, added] = at->branches.try_emplace(name);
    if (added) at->order.push_back(it->first);
    at = &it->second;
    add(*at);
  }
}

void AddRows(const TreeBranch& branch, size_t depth, Table& table) {
  for (const std::string_view name : branch.order) {
    const TreeBranch* at = &branch.branches.find(name)->second;
    std::string label(name);
    // A scope that contains only one other scope shares its line.
    while (at->order.size() == 1 && at->branches.begin()->second.operators == at->operators) {
      label += "/" + std::string(at->order[0]);
      at = &at->branches.begin()->second;
    }
    table.Add({std::string(2 * depth, ' ') + Escape(label), WithThousands(at->operators),
               WithThousands(at->parameters), HumanBytes(at->bytes)});
    AddRows(*at, depth + 1, table);
  }
}

}  // namespace

Result<TreeBranch> TreeOf(const LoadedModel& model) {
  NN_ASSIGN(const std::vector<TensorEntry> tensors, TensorsOf(model));
  TreeBranch root;
  std::vector<std::vector<std::string>> paths;
  for (const OperatorSummary& op : model.summary.operators) {
    paths.push_back(PathOf(op));
    Along(root, paths.back(), [](TreeBranch& b) { ++b.operators; });
  }
  for (const TensorEntry& t : tensors) {
    static const std::vector<std::string> kRoot;
    const auto elements = static_cast<uint64_t>(CheckedElements(t.shape).value_or(0));
    Along(root, t.users.empty() ? kRoot : paths[t.users[0]], [&](TreeBranch& b) {
      b.parameters = CheckedAdd(b.parameters, elements).value_or(UINT64_MAX);
      b.bytes = CheckedAdd(b.bytes, t.bytes).value_or(UINT64_MAX);
    });
  }
  return root;
}

std::string TreeText(const TreeBranch& tree) {
  Table table({{"scope"},
               {"operators", Align::kRight},
               {"parameters", Align::kRight},
               {"bytes", Align::kRight}});
  table.Add({"(model)", WithThousands(tree.operators), WithThousands(tree.parameters),
             HumanBytes(tree.bytes)});
  AddRows(tree, 1, table);
  return "\nTree\n" + table.Text(2);
}

Json TreeJson(const TreeBranch& tree) {
  Json branches = Json::array();
  for (const std::string_view name : tree.order) {
    Json branch = {{"name", std::string(name)}};
    branch.update(TreeJson(tree.branches.find(name)->second));
    branches.push_back(std::move(branch));
  }
  return {{"operators", tree.operators},
          {"parameters", tree.parameters},
          {"bytes", tree.bytes},
          {"branches", std::move(branches)}};
}

}  // namespace nn::app

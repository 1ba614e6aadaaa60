#include "inspect/report/tree.h"

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "base/checked_math.h"

namespace nn::inspect {
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

// A branch with its branches by name, too.
struct Growing {
  TreeBranch branch;  // without `branches`
  std::map<std::string, Growing, std::less<>> by_name;
  std::vector<Growing*> in_order;
};

// Calls `add` for each branch from the root to the end of the path.
template <typename Fn>
void Along(Growing& root, const std::vector<std::string>& path, Fn add) {
  Growing* at = &root;
  add(at->branch);
  for (const std::string& name : path) {
    const auto [it, added] = at->by_name.try_emplace(name);
    if (added) {
      it->second.branch.name = name;
      at->in_order.push_back(&it->second);
    }
    at = &it->second;
    add(at->branch);
  }
}

TreeBranch Grown(Growing& tree) {
  TreeBranch out = std::move(tree.branch);
  out.branches.reserve(tree.in_order.size());
  for (Growing* branch : tree.in_order) out.branches.push_back(Grown(*branch));
  return out;
}

}  // namespace

std::vector<std::string> BranchesTo(const OperatorSummary& op) {
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

Result<TreeBranch> TreeOf(const LoadedModel& model) {
  NN_ASSIGN(const std::vector<TensorEntry> tensors, TensorsOf(model));
  Growing root;
  std::vector<std::vector<std::string>> paths;
  for (const OperatorSummary& op : model.summary.operators) {
    paths.push_back(BranchesTo(op));
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
  return Grown(root);
}

}  // namespace nn::inspect

#include "rewrite/apply_rule.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "rewrite/expand.h"
#include "rewrite/forms/forms.h"
#include "rewrite/functions.h"
#include "rewrite/rules/rules.h"

namespace nn {
namespace {

constexpr uint64_t kNoCost = std::numeric_limits<uint64_t>::max();  // the node stays illegal

// Finds the cheapest rules. Builds nodes to see whether the target takes them.
class RuleSearch {
 public:
  RuleSearch(Graph& graph, const RuleTarget& target, const Node& replaced)
      : graph_(graph), target_(target), reason_(target.why_illegal(replaced)) {}

  struct Best {
    uint64_t cost = kNoCost;
    const FormulaRule* rule = nullptr;
    Formula::Built built;
  };
  // The best rule for a node, whose nodes are before it.
  Result<Best> Find(Node& node) {
    Best best;
    path_.push_back(&node);
    for (const FormulaRule* const rule : RulesOf(node.op_name())) {
      if (!rule->formula.AppliesTo(node)) continue;
      NN_ASSIGN(Formula::Built built, rule->formula.Build(graph_, node));
      NN_ASSIGN(const uint64_t cost, CostOf(built));
      if (cost >= best.cost) {
        Erase(built);
        continue;
      }
      Erase(best.built);
      best = {cost, rule, std::move(built)};
    }
    path_.pop_back();
    return best;
  }

 private:
  Result<uint64_t> CostOf(const Formula::Built& built) {
    uint64_t sum = 1;
    for (Node* const node : built.nodes) {
      NN_ASSIGN(const uint64_t cost, CostOf(*node));
      if (cost == kNoCost) return kNoCost;
      sum += cost;
    }
    return sum;
  }

  Result<uint64_t> CostOf(Node& node) {
    const auto reason = target_.why_illegal(node);
    if (!reason) return 1;
    if (target_.has_rewrite(node) && reason != reason_) return 2;
    const auto is_same = [&](const Node* n) {
      return n->op_name() == node.op_name() && n->attrs() == node.attrs();
    };
    if (std::ranges::any_of(path_, is_same)) return kNoCost;
    NN_ASSIGN(Best best, Find(node));
    Erase(best.built);
    return best.cost;
  }

  void Erase(Formula::Built& built) {
    for (auto it = built.nodes.rbegin(); it != built.nodes.rend(); ++it) graph_.Erase(*it);
    built.nodes.clear();
  }

  Graph& graph_;
  const RuleTarget& target_;
  std::optional<std::string> reason_;  // why the node that is replaced is illegal
  std::vector<const Node*> path_;      // those that are to be replaced, one for the other
};

using TakesFunction = bool (*)(const Node&, const FunctionRow&);

bool IsTaken(const FunctionRow& row, const Node& node, TakesFunction takes) {
  return node.Is(row.op) && (takes == nullptr || takes(node, row));
}

Result<std::string_view> ApplyFunction(Graph& graph, Node& node, TakesFunction takes, bool early) {
  if (HasUnranked(node)) return std::string_view();
  for (const FunctionRow& row : FunctionRows()) {
    if ((early && !row.is_early) || !IsTaken(row, node, takes)) continue;
    const auto changed = row.apply(graph, node);
    if (!changed) return tl::unexpected(changed.error().In(row.name));
    if (*changed) return row.name;
  }
  return std::string_view();
}

// `path`: the operators that are to be replaced, one for the other.
bool LeadTo(std::string_view op, const std::function<bool(std::string_view)>& has,
            std::vector<std::string_view>& path) {
  if (std::ranges::count(path, op)) return false;
  path.push_back(op);
  const auto leads = [&](const FormulaRule* rule) {
    return std::ranges::all_of(rule->formula.Operators(), [&](const std::string& part) {
      return has(part) || LeadTo(part, has, path);
    });
  };
  const bool found = std::ranges::any_of(RulesOf(op), leads);
  path.pop_back();
  return found;
}

bool IsFunctions(const Rewrite& r) {
  return r.name == kEarlyFunctions.name || r.name == kSharedFunctions.name;
}

// What is tried at the place of shared rewrites.
Result<std::string_view> ApplyShared(Graph& graph, Node& node, std::string_view place,
                                     const RuleTarget& target) {
  if (place == kForms.name) return ApplyForm(graph, node, target.forms);
  if (place == kSharedRules.name) return ApplyRule(graph, node, target);
  return ApplyFunction(graph, node, target.takes_function, place == kEarlyFunctions.name);
}

}  // namespace

Result<std::string_view> ApplyRule(Graph& graph, Node& node, const RuleTarget& target) {
  if (!HasRules(node)) return std::string_view();
  NN_ASSIGN(const RuleSearch::Best best, RuleSearch(graph, target, node).Find(node));
  if (best.rule == nullptr) return std::string_view();
  Expansion(graph, node).Replace(best.built.result);
  return best.rule->row.name;
}

Result<std::string_view> ApplyRewrites(Graph& graph, Node& node, std::span<const Rewrite> rewrites,
                                       const RuleTarget& target) {
  for (const Rewrite& rewrite : rewrites) {
    if (rewrite.apply == nullptr) {
      NN_ASSIGN(const std::string_view applied, ApplyShared(graph, node, rewrite.name, target));
      if (!applied.empty()) return applied;
      continue;
    }
    // Rewrites for all operators would change a node, but not its regions.
    if (rewrite.op.empty() ? !node.regions().empty() : !node.Is(rewrite.op)) continue;
    const auto changed = rewrite.apply(graph, node);
    if (!changed) return tl::unexpected(changed.error().In(rewrite.name));
    if (*changed) return rewrite.name;
  }
  return std::string_view();
}

bool HasRules(const Node& node) {
  return !RulesOf(node.op_name()).empty();
}

std::set<std::string_view> OperatorsWithRulesTo(const std::function<bool(std::string_view)>& has) {
  std::set<std::string_view> out;
  for (const FormulaRule& rule : FormulaRules()) {
    std::vector<std::string_view> path;
    if (LeadTo(rule.formula.op(), has, path)) out.insert(rule.formula.op());
  }
  return out;
}

bool HasRewrite(std::span<const Rewrite> rewrites, const Node& node, TakesFunction takes) {
  const auto is_row = [&](const Rewrite& r) { return node.Is(r.op) && !r.is_rare; };
  const auto is_taken = [&](const FunctionRow& row) { return IsTaken(row, node, takes); };
  return std::ranges::any_of(rewrites, is_row) || (std::ranges::any_of(rewrites, IsFunctions) &&
                                                   std::ranges::any_of(FunctionRows(), is_taken));
}

bool HasRewrite(const Target& target, const Node& node) {
  return HasRewrite(target.rewrites, node, target.takes_function) ||
         HasRewrite(target.late_rewrites, node, target.takes_function);
}

}  // namespace nn

#include "passes/idioms/idioms.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "passes/idioms/pattern.h"
#include "passes/idioms/recurrent.h"
#include "passes/idioms/table.h"
#include "rewrite/rules/rules.h"

namespace nn {
namespace {

constexpr size_t kMaxStepsToResult = 10;  // from the key to the result

// The results that nodes of one use each reach from the key, the nearest first.
std::vector<Value*> ResultsBehind(const Graph& graph, const Node& key) {
  std::vector<Value*> out;
  Value* v = key.output();
  while (true) {
    out.push_back(v);
    const auto uses = v->uses();
    if (out.size() == kMaxStepsToResult || uses.empty() || graph.IsOutput(v)) return out;
    const Node* const user = uses[0].node;
    const bool one = std::ranges::all_of(uses, [&](const Use& use) { return use.node == user; });
    if (!one || user->outputs().size() != 1) return out;
    v = user->output();
  }
}

// Whether the value may be part of arithmetic on float32.
bool IsPlain(const Value* v) {
  return (v->dtype() == DType::kF32 || v->dtype() == DType::kBool) && !v->type().quantized() &&
         v->type().ranked();
}

struct Rule {
  std::string_view op;
  Pattern pattern;
  std::function<std::optional<Fused>(const Pattern::Match&)> fuse;
  bool moves_only = false;
};

// The rules by key.
using Rules = std::map<std::string_view, std::vector<Rule>>;

// A formula, read from right to left. FormulaRules() has those that are patterns.
Rule RuleOf(const Formula& formula) {
  return {formula.op(), Pattern(*formula.AsPattern()),
          [&formula](const Pattern::Match& m) -> std::optional<Fused> {
            auto attrs = formula.AttrsOfEquations();
            if (!attrs) return std::nullopt;
            Fused out{{}, *std::move(attrs)};
            for (const std::string& operand : formula.operands())
              out.inputs.emplace_back(m.values.find(operand)->second);
            return out;
          }};
}

const Rules& IdiomRules() {
  static const Rules rules = [] {
    Rules out;
    for (const FormulaRule& rule : FormulaRules())
      if (!rule.row.key.empty()) out[rule.row.key].push_back(RuleOf(rule.formula));
    for (const auto idioms : {Idioms(), AttentionIdioms()})
      for (const Idiom& idiom : idioms)
        out[idiom.key].push_back({idiom.op, Pattern(idiom.pattern), idiom.fuse, idiom.moves_only});
    return out;
  }();
  return rules;
}

// The inputs of a fused operator, and what was added to the graph for them.
struct AddedInputs {
  std::vector<Value*> values;
  std::vector<Node*> nodes;
  bool has_constants = false;
};

Result<AddedInputs> AddInputs(Graph& graph, std::vector<Fused::Input> inputs, Node* before) {
  AddedInputs out;
  for (Fused::Input& input : inputs) {
    if (auto* const tensor = std::get_if<Tensor>(&input)) {
      out.values.push_back(graph.AddConstant(std::move(*tensor)));
      out.has_constants = true;
    } else if (auto* const derived = std::get_if<Derived>(&input)) {
      Value* v = derived->value;
      for (Derived::Step& step : derived->steps) {
        std::vector<Value*> operands = {v};
        if (step.second != nullptr) operands.push_back(step.second);
        NN_ASSIGN(Node* const node,
                  graph.Append(step.op, std::move(operands), std::move(step.attrs), 1, before));
        out.nodes.push_back(node);
        v = node->output();
      }
      out.values.push_back(v);
    } else {
      out.values.push_back(std::get<Value*>(input));
    }
  }
  while (!out.values.empty() && out.values.back() == nullptr) out.values.pop_back();
  return out;
}

// Replaces the value if it is the result of the idiom, and adds the nodes of the idiom, which
// belong to no other one. Returns the operator; empty if there is none.
Result<std::string_view> Fuse(Graph& graph, const Rule& rule, Value* y, const IdiomOptions& options,
                              std::set<const Node*>& fused_nodes) {
  const auto match = rule.pattern.Find(graph, y);
  if (!match || !std::ranges::all_of(match->values, [&](const auto& entry) {
        return rule.moves_only || IsPlain(entry.second);
      }))
    return std::string_view();
  auto fused = rule.fuse(*match);
  if (!fused) return std::string_view();
  const std::string_view op = fused->op.empty() ? rule.op : fused->op;
  Node* const root = y->def();
  NN_ASSIGN(const AddedInputs inputs, AddInputs(graph, std::move(fused->inputs), root));
  auto node = graph.Append(op, inputs.values, std::move(fused->attrs), 1, root);
  // The parameters may not fit the operator.
  const bool fits = node && (fused->reshaped || (*node)->output()->type() == y->type());
  if (!fits || (options.takes && !options.takes(**node))) {
    if (node) graph.Erase(*node);
    for (auto added = inputs.nodes.rbegin(); added != inputs.nodes.rend(); ++added)
      graph.Erase(*added);
    if (inputs.has_constants) graph.EraseDeadValues();
    return std::string_view();
  }
  (*node)->set_source(root->source());
  (*node)->set_name(root->name());
  Value* result = (*node)->output();
  if (fused->reshaped) {
    NN_ASSIGN(Node* const reshape,
              graph.Append("reshape", {result}, ReshapeAttrs{*y->type().dims, false}, 1, root));
    result = reshape->output();
  }
  graph.Replace(root, result);
  fused_nodes.insert(match->nodes.begin(), match->nodes.end());
  return op;
}

}  // namespace

Result<std::map<std::string_view, uint64_t>> FuseIdioms(Graph& graph, const IdiomOptions& options) {
  std::map<std::string_view, uint64_t> counts;
  if (!options.moves_only) NN_RETURN_IF_ERROR(FuseRecurrentLayers(graph, options, counts));
  std::vector<const Node*> keys;
  for (const Node& node : graph.nodes())
    if (IdiomRules().contains(node.op_name()) && (!options.is_wanted || options.is_wanted(node)))
      keys.push_back(&node);
  // Fusing erases one node, the last of the idiom, which is no key or the present one.
  std::set<const Node*> fused_nodes;
  for (const Node* key : keys) {
    if (fused_nodes.contains(key)) continue;
    const auto results = ResultsBehind(graph, *key);
    const auto& rules = IdiomRules().at(key->op_name());
    std::string_view op;
    for (auto y = results.rbegin(); y != results.rend() && op.empty(); ++y)
      for (const Rule& rule : rules) {
        if (options.moves_only && !rule.moves_only) continue;
        NN_ASSIGN(op, Fuse(graph, rule, *y, options, fused_nodes));
        if (op.empty()) continue;
        ++counts[op];
        break;
      }
  }
  if (!counts.empty()) NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  return counts;
}

}  // namespace nn

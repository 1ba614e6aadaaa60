// Rules about resource variables.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;
using Name = std::pair<std::string, std::string>;  // container and shared name

// What the operators of a subgraph do to resource variables, in their order.
class VariableUse {
 public:
  explicit VariableUse(const RuleContext& s)
      : graphs_(static_cast<size_t>(SizeOf(s.root().subgraphs()))) {
    for (const OperatorAt& at : s.operators())
      if (at.code != nullptr) graphs_[static_cast<size_t>(at.graph)].push_back(&at);
    for (const OperatorAt& at : s.operators()) AddHandle(at);
    for (const OperatorAt& at : s.operators())
      for (const int64_t g : CalledBy(at)) called_.insert(g);
  }

  // Nullopt if the handle comes from elsewhere, such as the caller.
  std::optional<Name> VariableOf(const OperatorAt& at) const {
    const auto inputs = ListOf<int32_t>(at.op->inputs());
    if (inputs.empty()) return std::nullopt;
    const auto it = handles_.find({at.graph, inputs[0]});
    return it == handles_.end() ? std::nullopt : std::optional(it->second);
  }

  static Op KindOf(const OperatorAt& at) {
    return at.code == nullptr ? Op::CUSTOM : OperatorOf(*at.code);
  }

  // Whether an operator, or one that it calls, may assign the variable.
  bool MayAssign(const OperatorAt& at, const Name& variable) const {
    std::set<int64_t> seen;
    return MayAssign(at, variable, seen);
  }

  // Whether a graph that an application runs, other than `graph`, may assign the variable.
  bool MayBeAssignedBeside(int64_t graph, const Name& variable) const {
    for (int64_t g = 0; g < std::ssize(graphs_); ++g) {
      if (g == graph || called_.contains(g)) continue;
      std::set<int64_t> seen = {graph};
      if (GraphMayAssign(g, variable, seen)) return true;
    }
    return false;
  }

  bool IsCalled(int64_t graph) const { return called_.contains(graph); }
  const std::vector<const OperatorAt*>& OperatorsOf(int64_t graph) const {
    return graphs_[static_cast<size_t>(graph)];
  }

 private:
  void AddHandle(const OperatorAt& at) {
    const auto* options = at.op->builtin_options_as_VarHandleOptions();
    const auto outputs = ListOf<int32_t>(at.op->outputs());
    if (KindOf(at) != Op::VAR_HANDLE || options == nullptr || outputs.empty()) return;
    handles_[{at.graph, outputs[0]}] = {std::string(Text(options->container())),
                                        std::string(Text(options->shared_name()))};
  }

  std::vector<int64_t> CalledBy(const OperatorAt& at) const {
    std::vector<int64_t> out;
    if (const auto* o = at.op->builtin_options_as_IfOptions())
      out = {o->then_subgraph_index(), o->else_subgraph_index()};
    if (const auto* o = at.op->builtin_options_as_WhileOptions())
      out = {o->cond_subgraph_index(), o->body_subgraph_index()};
    if (const auto* o = at.op->builtin_options_as_CallOnceOptions())
      out = {o->init_subgraph_index()};
    if (const auto* o = at.op->builtin_options_as_CallOptions()) out = {int64_t{o->subgraph()}};
    if (const auto* o = at.op->builtin_options_2_as_StablehloCaseOptions())
      for (const int32_t g : ListOf<int32_t>(o->branch_subgraph_indices())) out.push_back(g);
    if (const auto* o = at.op->builtin_options_2_as_StableHLOCompositeOptions())
      out = {o->decomposition_subgraph_index()};
    std::erase_if(out, [&](int64_t g) { return g < 0 || g >= std::ssize(graphs_); });
    return out;
  }

  // `seen`: the subgraphs that need not be looked at again.
  bool MayAssign(const OperatorAt& at, const Name& variable, std::set<int64_t>& seen) const {
    const Op kind = KindOf(at);
    // Unknown operators may do anything.
    if (kind == Op::CUSTOM) return true;
    if (kind == Op::ASSIGN_VARIABLE) {
      const auto assigned = VariableOf(at);
      return !assigned || *assigned == variable;
    }
    return std::ranges::any_of(CalledBy(at),
                               [&](int64_t g) { return GraphMayAssign(g, variable, seen); });
  }
  bool GraphMayAssign(int64_t graph, const Name& variable, std::set<int64_t>& seen) const {
    if (!seen.insert(graph).second) return false;
    return std::ranges::any_of(
        OperatorsOf(graph), [&](const OperatorAt* at) { return MayAssign(*at, variable, seen); });
  }

  std::vector<std::vector<const OperatorAt*>> graphs_;
  std::map<std::pair<int64_t, int32_t>, Name> handles_;
  std::set<int64_t> called_;
};

// Only of graphs that an application runs: a graph that is called may run after others.
void AssignedBeforeRead(const RuleContext& s, Findings& f) {
  const VariableUse use(s);
  for (int64_t g = 0; g < SizeOf(s.root().subgraphs()); ++g) {
    if (use.IsCalled(g)) continue;
    const auto& operators = use.OperatorsOf(g);
    std::set<Name> reported;
    for (size_t i = 0; i < operators.size(); ++i) {
      const OperatorAt& at = *operators[i];
      const auto variable =
          VariableUse::KindOf(at) == Op::READ_VARIABLE ? use.VariableOf(at) : std::nullopt;
      if (!variable || reported.contains(*variable)) continue;
      const bool is_assigned =
          std::any_of(operators.begin(), operators.begin() + static_cast<ptrdiff_t>(i),
                      [&](const OperatorAt* o) { return use.MayAssign(*o, *variable); }) ||
          use.MayBeAssignedBeside(g, *variable);
      if (is_assigned) continue;
      reported.insert(*variable);
      f.Add(Where(at, "inputs[0]"), "{} reads variable {}, which nothing assigns before", Title(at),
            Quote(variable->second));
    }
  }
}

constexpr Rule kVariableRules[] = {
    {.info = {.id = "TFLITE-CALL-005",
              .statement = "A resource variable is assigned before it is read: by CALL_ONCE, by an "
                           "earlier operator, or in a subgraph that can run before.",
              .clause = "schema.fbs, VarHandleOptions; Eval of READ_VARIABLE",
              .hint = "Assign the variable in a subgraph that CALL_ONCE calls first, or put the "
                      "ASSIGN_VARIABLE before the READ_VARIABLE."},
     .check = AssignedBeforeRead},
};

}  // namespace

std::span<const Rule> VariableRules() {
  return kVariableRules;
}

}  // namespace nn::tflite

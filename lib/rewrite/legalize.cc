#include "rewrite/legalize.h"
#include "rewrite/rewrite.h"
#include "rewrite/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/text/text.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "passes/core/passes.h"
#include "passes/idioms/idioms.h"
#include "passes/qdq/qdq.h"
#include "rewrite/apply_rule.h"
#include "rewrite/interface_axes.h"
#include "rewrite/scalars.h"
#include "rewrite/why_illegal.h"

namespace nn {
namespace {

// Limit of rewrites of a node, of what it became, and so on; exceeding this means that rewrites
// form a cycle.
constexpr uint32_t kMaxGeneration = 4096;

bool IsUnranked(const Value* v) {
  return v != nullptr && !v->type().ranked();
}

// Why a value of the node has no rank, of the first node that has one.
std::string WhyUnranked(const Node& node) {
  // Those of regions have no name.
  const auto is_input = [](const Value* v) {
    return IsUnranked(v) && v->def() == nullptr && !v->name().empty();
  };
  const auto it = std::ranges::find_if(node.inputs(), is_input);
  if (it == node.inputs().end()) return "the rank of its result is known only when the model runs";
  return fmt::format(
      "input {0} may have any number of axes; set its shape with --input-shape {1}:SIZE,...",
      Quote((*it)->name()), (*it)->name());
}

}  // namespace

// Targets and rewrites inspect shapes, so they do not see nodes with values of unknown rank.
std::optional<std::string> WhyIllegal(const Target& target, const Node& node) {
  if (node.op().decided_by_runs && !target.takes_regions)
    return fmt::format("{} has no control flow, and {}", target.name,
                       std::get<std::string>(*node.attrs().Get("why")));
  if (!target.takes_unranked && !node.op().is_opaque && HasUnranked(node)) return WhyUnranked(node);
  if (auto why = WhyNotElements(node)) return why;
  return target.why_illegal(node);
}

namespace {

// Whether the rank was already unknown before this node: only the first such node is reported.
bool FollowsUnranked(const Node& node) {
  return !node.op().is_opaque &&
         std::any_of(node.inputs().begin(), node.inputs().end(),
                     [](const Value* v) { return IsUnranked(v) && v->def() != nullptr; });
}

// Asks the target about the node as it would be after an axis change.
std::optional<std::string> WhyIllegalAfter(const Target& target, const Node& node, Operand changed,
                                           const AxisMap& map, const AxesChange& change) {
  Node& mutable_node = const_cast<Node&>(node);
  const Attrs old = node.attrs();
  std::unordered_map<Value*, Type> old_types;
  const auto rearrange = [&](Operand operand, const AxisMap& by) {
    Value* v = operand.is_output ? node.output(operand.index) : node.input(operand.index);
    if (v == nullptr || !v->type().ranked()) return;
    if (old_types.emplace(v, v->type()).second) v->set_type(RearrangeType(v->type(), by));
  };
  mutable_node.set_attrs(change.attrs);
  rearrange(changed, map);
  for (const auto& [operand, by] : change.others) rearrange(operand, by);
  auto reason = WhyIllegal(target, node);
  mutable_node.set_attrs(old);
  for (const auto& [v, type] : old_types) v->set_type(type);
  return reason;
}

// Whether the target has the operator, in this layout or in the other one, which transposes around
// the node would set.
bool HasOperator(const Target& target, const Node& node) {
  if (!WhyIllegal(target, node)) return true;
  const auto layout = node.attrs().Get("layout");
  const Type& y = node.output()->type();
  if (!layout || node.op().change_axes == nullptr || !y.ranked() || y.rank() < 3) return false;
  const AxisMap map = std::get<EnumValue>(*layout).name == EnumName(Layout::kNcx)
                          ? AxisMap::ChannelsLast(y.rank())
                          : AxisMap::ChannelsFirst(y.rank());
  const Operand result{true, 0};
  const auto change = node.op().change_axes(node, result, map);
  return change && !WhyIllegalAfter(target, node, result, map, *change);
}

// The name of the rewrite that was applied; empty if none was. It may have erased the node.
Result<std::string_view> RewriteNode(Graph& graph, Node& node, const Target& target, bool late) {
  if (HasUnranked(node) || WhyNotElements(node)) return std::string_view();
  const RuleTarget rules = {[&](const Node& n) { return WhyIllegal(target, n); },
                            [&](const Node& n) { return HasRewrite(target, n); },
                            target.takes_function, target.forms};
  NN_ASSIGN(std::string_view applied, ApplyRewrites(graph, node, target.rewrites, rules));
  if (applied.empty() && late) {
    NN_ASSIGN(applied, ApplyRewrites(graph, node, target.late_rewrites, rules));
  }
  if (!applied.empty()) return applied;
  if (node.op().decompose == nullptr) return std::string_view();
  NN_ASSIGN(const bool decomposed, node.op().decompose(graph, node));
  return decomposed ? kDecomposition : std::string_view();
}

// Returns whether anything was rewritten.
Result<bool> RewriteAll(Graph& graph, const Target& target, bool late, RewriteCounts* counts) {
  return RewriteNodes(
      graph, target.name,
      [&](Node& node) -> Result<std::string_view> {
        if (!WhyIllegal(target, node)) return std::string_view();
        return RewriteNode(graph, node, target, late);
      },
      counts);
}

// A pass that changes a graph without evaluating it: the graph was valid, so an error about the
// model is a defect of the pass.
Status RunRewrite(std::string_view name, Graph& graph, const std::function<Status(Graph&)>& pass) {
  Status status = RunPass(name, graph, pass);
  if (!status && status.error().code() == ErrorCode::kModel)
    return InternalError("{}", status.error().message());
  return status;
}

// What Improve() may change about the inputs and outputs of a graph.
enum class Ports : uint8_t {
  kFixed,   // nothing
  kRegion,  // nothing either, but the graph around the region has let scalars become vectors
  kMoved,   // what the target asks for
};

// Changes types in a region, unless those of its inputs or outputs would change.
Status ChangeTypesWithin(Graph& region, const Target& target, RewriteCounts* counts) {
  Graph changed = region.Clone();
  RewriteCounts applied;
  NN_RETURN_IF_ERROR(target.change_types(changed, &applied));
  const auto same_type = [](const Port& a, const Port& b) {
    return a.value->dtype() == b.value->dtype();
  };
  if (!std::ranges::equal(region.inputs(), changed.inputs(), same_type) ||
      !std::ranges::equal(region.outputs(), changed.outputs(), same_type))
    return {};
  region = std::move(changed);
  if (counts != nullptr)
    for (const auto& [rewrite, count] : applied) (*counts)[rewrite] += count;
  return {};
}

Status ChangeTypes(Graph& graph, const Target& target, Ports ports, RewriteCounts* counts) {
  if (target.change_types == nullptr || ports == Ports::kFixed) return {};
  return RunPass("change types", graph, [&](Graph& g) {
    return ports == Ports::kRegion ? ChangeTypesWithin(g, target, counts)
                                   : target.change_types(g, counts);
  });
}

Status Improve(Graph& graph, const Target& target, Ports ports, RewriteCounts* counts);

Status ImproveRegions(Graph& graph, const Target& target, Ports ports, RewriteCounts* counts) {
  if (!target.takes_regions) return {};
  for (const Node& node : graph.nodes()) {
    const bool is_fixed =
        ports == Ports::kFixed || (target.lacks_scalars && RegionsKeepScalars(node));
    const Ports inside = is_fixed ? Ports::kFixed : Ports::kRegion;
    NN_RETURN_IF_ERROR(
        ForEachRegion(node, [&](Graph& g) { return Improve(g, target, inside, counts); }));
  }
  return {};
}

Status Improve(Graph& graph, const Target& target, Ports ports, RewriteCounts* counts) {
  const bool moves_interface = target.moves_interface && ports == Ports::kMoved;
  const bool shifts_interface = target.shifts_interface && ports == Ports::kMoved;
  const bool lacks_scalars = target.lacks_scalars && ports != Ports::kFixed;
  if (target.prepare != nullptr) NN_RETURN_IF_ERROR(RunPass("prepare", graph, target.prepare));
  if (shifts_interface) NN_RETURN_IF_ERROR(RunPass("make unsigned", graph, MakeUnsigned));
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  const auto fuse = [&](Graph& g) { return FuseIdiomsFor(target, g, IdiomScope::kLacked, counts); };
  NN_RETURN_IF_ERROR(RunPass("fuse idioms", graph, fuse));
  NN_RETURN_IF_ERROR(ChangeTypes(graph, target, ports, counts));
  AxesOptions options;
  options.allow = [&](const Node& node, Operand changed, const AxisMap& map,
                      const AxesChange& change) {
    return !WhyIllegalAfter(target, node, changed, map, change) ||
           WhyIllegal(target, node).has_value();
  };
  bool rewritten = false, moved = false;
  if (lacks_scalars) NN_RETURN_IF_ERROR(RunRewrite("scalars", graph, ScalarsAsVectors));
  if (target.lacks_scalar_ports && ports == Ports::kMoved)
    NN_RETURN_IF_ERROR(RunRewrite("scalar ports", graph, ScalarPortsAsVectors));
  NN_RETURN_IF_ERROR(ImproveRegions(graph, target, ports, counts));
  const auto rewrite = [&](Graph& g) -> Status {
    NN_ASSIGN(rewritten, RewriteAll(g, target, /*late=*/false, counts));
    return {};
  };
  const auto change_axes = [&](Graph& g) -> Status {
    NN_ASSIGN(moved, ChangeAxes(g, options));
    return {};
  };
  // The removal of transposes may enable further rewrites.
  for (int round = 0; round < 2; ++round) {
    NN_RETURN_IF_ERROR(RunRewrite("rewrite", graph, rewrite));
    if (rewritten || moved) NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
    if (rewritten) NN_RETURN_IF_ERROR(ChangeTypes(graph, target, ports, counts));
    if (rewritten && lacks_scalars)
      NN_RETURN_IF_ERROR(RunRewrite("scalars", graph, ScalarsAsVectors));
    NN_RETURN_IF_ERROR(RunRewrite("change axes", graph, change_axes));
    if (!rewritten && !moved) break;
  }
  // Last, so that only the transposes that nothing else removes reach the interface.
  options.moves_interface = moves_interface;
  return moves_interface ? RunPass("change axes to the interface", graph, change_axes) : Status();
}

Status ApplyLateRewrites(Graph& graph, const Target& target, RewriteCounts* counts) {
  if (target.late_rewrites.empty()) return {};
  if (target.takes_regions)
    NN_RETURN_IF_ERROR(
        ForEachRegion(graph, [&](Graph& g) { return ApplyLateRewrites(g, target, counts); }));
  const auto rewrite = [&](Graph& g) -> Status {
    return RewriteAll(g, target, /*late=*/true, counts).map([](bool) {});
  };
  NN_RETURN_IF_ERROR(RunRewrite("late rewrite", graph, rewrite));
  return RunPass("fold", graph, FoldConstants);
}

// The zero points of the ports, of the first channel if each has one; 0 where there is none.
std::vector<int64_t> ZeroPointsOf(const std::vector<Port>& ports) {
  std::vector<int64_t> out;
  for (const Port& p : ports) {
    const Type& type = p.value->type();
    out.push_back(type.quantized() ? type.quant->zero_point() : 0);
  }
  return out;
}

std::vector<int64_t> Differences(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::minus<>());
  return a;
}

// Erases what a rewrite inserted before it gave up, so that it is not rewritten in turn: the nodes
// before `node` until the graph has `count`.
void EraseBegun(Graph& graph, std::list<Node>::iterator node, size_t count) {
  while (graph.nodes().size() > count) {
    Node& last = *std::prev(node);
    if (std::ranges::any_of(last.outputs(), [&](const Value* v) { return graph.HasUses(v); }))
      return;
    graph.Erase(&last);
  }
}

// Calls fn(node, reason, where) for the nodes that the target lacks, also those in regions.
// `where`: the nodes around them, innermost first.
template <typename Fn>
void ForEachIllegal(const Graph& graph, const Target& target, const std::string& where,
                    const Fn& fn) {
  for (const Node& node : graph.nodes()) {
    if (auto reason = WhyIllegal(target, node)) {
      fn(node, *std::move(reason), where);
      continue;
    }
    for (const auto& region : node.regions())
      ForEachIllegal(*region, target, fmt::format(" in {}{}", node.Describe(), where), fn);
  }
}

}  // namespace

bool HasUnranked(const Node& node) {
  return std::ranges::any_of(node.inputs(), IsUnranked) ||
         std::ranges::any_of(node.outputs(), IsUnranked);
}

bool IsLegal(const Graph& graph, const Target& target) {
  return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
    return !WhyIllegal(target, node) &&
           std::ranges::all_of(node.regions(),
                               [&](const auto& region) { return IsLegal(*region, target); });
  });
}

Result<bool> RewriteNodes(Graph& graph, std::string_view target,
                          const std::function<Result<std::string_view>(Node&)>& rewrite,
                          RewriteCounts* counts) {
  // Of nodes that rewrites left or inserted. What a rewrite inserts is rewritten before what comes
  // after it, so that a cycle soon reaches the limit, also one that adds nodes in each round.
  std::unordered_map<const Node*, uint32_t> generations;
  bool changed = true, any = false;
  while (changed) {
    changed = false;
    for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
      // Rewrites insert nodes before the node and may erase it, but keep its predecessor.
      const bool first = it == graph.nodes().begin();
      const auto previous = first ? it : std::prev(it);
      const std::string_view op = it->op_name();
      const size_t nodes = graph.nodes().size();
      const auto known = generations.find(&*it);
      const uint32_t generation = (known == generations.end() ? 0 : known->second) + 1;
      NN_ASSIGN(const std::string_view applied, rewrite(*it));
      if (applied.empty()) {
        EraseBegun(graph, it, nodes);
        ++it;
        continue;
      }
      if (counts != nullptr) ++(*counts)[{op, applied}];
      if (generation > kMaxGeneration)
        return InternalError("the rewrites for {} do not terminate", target);
      changed = any = true;
      it = first ? graph.nodes().begin() : std::next(previous);
      auto made = it;
      for (size_t count = nodes; count <= graph.nodes().size() && made != graph.nodes().end();
           ++count)
        generations[&*made++] = generation;
    }
  }
  return any;
}

Status FuseIdiomsFor(const Target& target, Graph& graph, IdiomScope scope, RewriteCounts* counts,
                     const std::function<bool(const Node&)>& is_allowed) {
  IdiomOptions options;
  if (scope == IdiomScope::kLacked)
    options.is_wanted = [&](const Node& node) { return WhyIllegal(target, node).has_value(); };
  options.takes = [&](const Node& node) {
    const bool takes =
        target.takes_idiom != nullptr ? target.takes_idiom(node) : HasOperator(target, node);
    return takes && (!is_allowed || is_allowed(node));
  };
  NN_ASSIGN(const auto fused, FuseIdioms(graph, options));
  if (counts != nullptr)
    for (const auto& [op, count] : fused) (*counts)[{op, kIdiomRewrite}] += count;
  return {};
}

Result<std::vector<UnsupportedNode>> Legalize(Graph& graph, const Target& target,
                                              InterfaceAxes* interface, RewriteCounts* rewrites) {
  const ScalarPorts scalars(graph);
  const std::vector<int64_t> inputs = ZeroPointsOf(graph.inputs());
  const std::vector<int64_t> outputs = ZeroPointsOf(graph.outputs());
  NN_RETURN_IF_ERROR(
      Improve(graph, target, interface != nullptr ? Ports::kMoved : Ports::kFixed, rewrites));
  if (interface != nullptr) {
    *interface = IdentityInterface(graph);
    if (target.shifts_interface) {
      interface->input_offsets = Differences(ZeroPointsOf(graph.inputs()), inputs);
      interface->output_offsets = Differences(ZeroPointsOf(graph.outputs()), outputs);
    }
    scalars.NoteVectors(graph, *interface);
    if (target.moves_interface) NN_RETURN_IF_ERROR(MoveInterface(graph, target, *interface));
  }
  NN_RETURN_IF_ERROR(ApplyLateRewrites(graph, target, rewrites));
  std::vector<UnsupportedNode> unsupported;
  ForEachIllegal(graph, target, "",
                 [&](const Node& node, std::string reason, const std::string& where) {
                   if (!target.takes_unranked && FollowsUnranked(node)) return;
                   unsupported.push_back({node.Describe() + where, std::string(node.op_name()),
                                          std::string(node.source().op.view()), std::move(reason)});
                 });
  return unsupported;
}

Status FitTo(const Target& target, Graph& graph, InterfaceAxes& axes,
             std::vector<UnsupportedNode>& unsupported, RewriteCounts* rewrites) {
  NN_ASSIGN(std::vector<UnsupportedNode> illegal, Legalize(graph, target, &axes, rewrites));
  for (UnsupportedNode& o : illegal)
    if (o.op != "opaque") unsupported.push_back(std::move(o));
  return {};
}

Error UnsupportedNodesError(std::string_view target, std::span<const UnsupportedNode> unsupported) {
  std::string text = fmt::format("{} operator{} cannot be expressed in {}:", unsupported.size(),
                                 unsupported.size() == 1 ? "" : "s", target);
  for (const UnsupportedNode& o : unsupported) text += fmt::format("\n  {}: {}", o.node, o.reason);
  return Error(ErrorCode::kUnsupported, std::move(text));
}

Result<bool> RearrangeAround(Graph& graph, Node& node, const AxisMap& map) {
  if (node.op().change_axes == nullptr) return false;
  const auto change = node.op().change_axes(node, Operand{true, 0}, map);
  if (!change) return false;
  std::vector<AxisMap> output_maps(node.outputs().size());
  output_maps[0] = map;
  for (const auto& [operand, operand_map] : change->others)
    if (operand.is_output) output_maps[operand.index] = operand_map;
  for (const auto& [operand, operand_map] : change->others) {
    if (operand.is_output || node.input(operand.index) == nullptr) continue;
    NN_ASSIGN(Value* const v, Rearrange(graph, node.input(operand.index), operand_map));
    graph.SetInput(&node, operand.index, v);
  }
  node.set_attrs(change->attrs);
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value* v = node.output(i);
    if (!v->type().ranked() || output_maps[i].from().empty()) continue;
    v->set_type(RearrangeType(v->type(), output_maps[i]));
    const std::vector<Use> uses(v->uses().begin(), v->uses().end());
    std::vector<size_t> ports;
    for (size_t k = 0; k < graph.outputs().size(); ++k)
      if (graph.outputs()[k].value == v) ports.push_back(k);
    NN_ASSIGN(Value* const back, Rearrange(graph, v, output_maps[i].Inverse()));
    for (const Use& u : uses) graph.SetInput(u.node, static_cast<size_t>(u.index), back);
    for (const size_t k : ports) graph.set_output(k, back);
  }
  NN_RETURN_IF_ERROR(InferNode(node));
  return true;
}

Result<bool> SetLayout(Graph& graph, Node& node, Layout layout) {
  const auto attr = node.attrs().Get("layout");
  if (!attr || std::get<EnumValue>(*attr).name == EnumName(layout)) return false;
  const int rank = node.output()->type().rank();
  if (rank <= 2) {  // no spatial axes: both layouts are equivalent
    NN_ASSIGN(Attrs attrs, node.attrs().With("layout", EnumValue{EnumName(layout)}));
    node.set_attrs(std::move(attrs));
    return true;
  }
  return RearrangeAround(
      graph, node,
      layout == Layout::kNxc ? AxisMap::ChannelsLast(rank) : AxisMap::ChannelsFirst(rank));
}

Result<bool> SetFilterLayout(Graph& graph, Node& node, FilterLayout layout) {
  const auto current = node.attrs().Get("filter_layout");
  if (!current) return false;
  const FilterLayout from = *ParseEnum<FilterLayout>(std::get<EnumValue>(*current).name);
  if (from == layout) return false;
  const int rank = node.input(1)->type().rank();
  NN_ASSIGN(Value* const filter, Rearrange(graph, node.input(1), FilterMap(from, layout, rank)));
  NN_ASSIGN(Attrs attrs, node.attrs().With("filter_layout", EnumValue{EnumName(layout)}));
  graph.SetInput(&node, 1, filter);
  node.set_attrs(std::move(attrs));
  return true;
}

}  // namespace nn

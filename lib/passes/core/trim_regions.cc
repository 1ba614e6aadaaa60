// Dead code in loops and branches.
#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "ir/op_def.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"
#include "passes/core/passes.h"
#include "passes/core/regions.h"

namespace nn {
namespace {

bool HasCheckWithin(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(),
                             [](const Node& node) { return node.op().is_check || HasCheck(node); });
}

// Whether result k is used. If none is, the first one stays.
bool IsUsed(const Graph& graph, const Node& node, size_t k) {
  const auto has_uses = [&](const Value* v) { return graph.HasUses(v); };
  return has_uses(node.output(k)) || (k == 0 && std::ranges::none_of(node.outputs(), has_uses));
}

// The values of a loop's region that a used result, the condition or a check depends on, through
// any number of iterations.
class LiveValues {
 public:
  LiveValues(const Graph& graph, const Node& loop)
      : body_(*loop.regions()[0]), carried_(RegionPorts(loop).carried()) {
    if (loop.input(1) != nullptr) Add(body_.outputs()[0].value);
    for (size_t k = 0; k < loop.outputs().size(); ++k)
      if (IsUsed(graph, loop, k)) Add(body_.outputs()[1 + k].value);
    for (const Node& node : body_.nodes())
      if (node.op().is_check || HasCheck(node))
        for (const Value* v : node.inputs()) Add(v);
    Close();
  }

  // Whether carried value k must be computed.
  bool NeedsCarried(size_t k) const { return Has(body_.inputs()[1 + k].value); }

 private:
  bool Has(const Value* v) const { return live_.contains(v); }
  void Add(const Value* v) {
    if (v != nullptr && live_.insert(v).second) open_.push_back(v);
  }
  void Close() {
    std::map<const Value*, size_t> carried;
    for (size_t k = 0; k < carried_; ++k) carried[body_.inputs()[1 + k].value] = k;
    while (!open_.empty()) {
      const Value* const v = open_.back();
      open_.pop_back();
      if (v->def() != nullptr)
        for (const Value* x : v->def()->inputs()) Add(x);
      if (const auto it = carried.find(v); it != carried.end())
        Add(body_.outputs()[1 + it->second].value);
    }
  }

  const Graph& body_;
  size_t carried_;
  std::unordered_set<const Value*> live_;
  std::vector<const Value*> open_;  // live, with operands that were not visited
};

void TrimResult(Graph& graph, Node& node, size_t k) {
  const size_t output = RegionPorts(node).OutputFor(k);
  for (const auto& region : node.regions()) region->RemoveOutput(output);
  graph.RemoveResult(&node, k);
}

// Carried values that nothing needs.
Status TrimCarried(Graph& graph, Node& loop) {
  auto attrs = loop.attrs<LoopAttrs>();
  Graph& body = *loop.regions()[0];
  std::vector<size_t> dead;
  const LiveValues live(graph, loop);
  for (size_t k = 0; k < static_cast<size_t>(attrs.carried); ++k)
    if (!IsUsed(graph, loop, k) && !live.NeedsCarried(k)) dead.push_back(k);
  if (dead.empty()) return {};
  std::ranges::reverse(dead);
  for (const size_t k : dead) TrimResult(graph, loop, k);
  NN_RETURN_IF_ERROR(RemoveDeadCode(body));
  for (const size_t k : dead) {
    const size_t operand = RegionPorts(loop).first_carried() + k;
    body.RemoveInput(1 + k);
    RemoveOperand(graph, loop, operand);
    --attrs.carried;
  }
  loop.set_attrs(attrs);
  return {};
}

// Operands that no region uses, and those that are captured a second time.
void TrimCaptured(Graph& graph, Node& node) {
  const RegionPorts ports(node);
  const size_t first = ports.is_loop() ? ports.first_carried() + ports.carried() : 1;
  for (size_t i = node.inputs().size(); i-- > first;) {
    const size_t input = *ports.InputFor(i);
    const auto captured = node.inputs().subspan(first, i - first);
    const auto same = std::ranges::find(captured, node.input(i));
    const auto in_region = [&](const auto& region) { return region->inputs()[input].value; };
    if (same != captured.end()) {
      const size_t other = *ports.InputFor(first + static_cast<size_t>(same - captured.begin()));
      for (const auto& region : node.regions())
        region->ReplaceUses(in_region(region), region->inputs()[other].value);
    }
    if (std::ranges::any_of(node.regions(),
                            [&](const auto& region) { return region->HasUses(in_region(region)); }))
      continue;
    for (const auto& region : node.regions()) region->RemoveInput(input);
    RemoveOperand(graph, node, i);
  }
}

}  // namespace

bool HasCheck(const Node& node) {
  return std::ranges::any_of(node.regions(),
                             [](const auto& region) { return HasCheckWithin(*region); });
}

void RemoveOperand(Graph& graph, Node& node, size_t i) {
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(i));
  graph.SetInputs(&node, std::move(inputs));
}

Status TrimRegions(Graph& graph, Node& node) {
  const RegionPorts ports(node);
  for (size_t k = node.outputs().size(); k-- > ports.carried();)
    if (!IsUsed(graph, node, k)) TrimResult(graph, node, k);
  if (ports.is_loop()) {
    Graph& body = *node.regions()[0];
    // The condition of the region has no effect without one at first.
    const Value* const condition = body.outputs()[0].value;
    if (node.input(1) == nullptr && !condition->is_constant()) {
      Tensor yes = Tensor::Scalar(true);
      body.set_output(0, body.AddConstant(std::move(yes)));
    }
    NN_RETURN_IF_ERROR(TrimCarried(graph, node));
  }
  NN_RETURN_IF_ERROR(ForEachRegion(node, RemoveDeadCode));
  TrimCaptured(graph, node);
  return {};
}

}  // namespace nn

#include "convert/edits/layer_steps.h"

#include <map>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ops/recurrent/unroll.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "rewrite/target.h"

namespace nn {
namespace {

bool IsLayer(const Node& node) {
  return node.op().category == Category::kRecurrent && node.input(0)->type().ranked();
}

bool IsIllegalLayer(const Node& node, const Target& target) {
  return IsLayer(node) && target.why_illegal(node).has_value();
}

// The numbers of steps of the layers that legalization leaves illegal.
Result<std::vector<Dim>> StepsLeft(const Graph& graph, const Target& target) {
  Graph trial = graph.Clone();
  NN_RETURN_IF_ERROR(ForgetDeclaredShapes(trial));
  InterfaceAxes axes;
  if (const auto left = Legalize(trial, target, &axes); !left) return tl::unexpected(left.error());
  std::vector<Dim> out;
  for (const Node& node : trial.nodes())
    if (IsIllegalLayer(node, target)) out.push_back(StepsOfLayer(node));
  return out;
}

}  // namespace

std::set<std::string> StepSymbols(const Graph& graph) {
  const auto open = InputSymbols(graph);
  std::set<std::string> out;
  for (const Node& node : graph.nodes())
    if (IsLayer(node) && open.contains(StepsOfLayer(node).ToString()))
      out.insert(StepsOfLayer(node).ToString());
  return out;
}

Status BindLayerSteps(Graph& graph, const Target& target, int64_t steps) {
  NN_ASSIGN(const std::vector<Dim> left, StepsLeft(graph, target));
  const auto open = InputSymbols(graph);
  std::map<std::string, int64_t> symbols;
  for (const Dim& d : left)
    if (const std::string name = d.ToString(); open.contains(name)) symbols[name] = steps;
  return symbols.empty() ? Status() : BindSymbols(graph, symbols);
}

Status UnrollLayers(Graph& graph, const Target& target, int64_t steps, RewriteCounts& rewrites) {
  NN_ASSIGN(const std::vector<Dim> left, StepsLeft(graph, target));
  if (left.empty()) return {};
  std::vector<Node*> layers;
  for (Node& node : graph.nodes())
    if (IsIllegalLayer(node, target) && WhyNotUnrolled(node)) layers.push_back(&node);
  for (Node* const node : layers) {
    const auto key = std::pair(node->op_name(), std::string_view("steps"));
    NN_ASSIGN(const bool done, UnrollRecurrent(graph, *node, steps));
    if (done) ++rewrites[key];
  }
  return {};
}

}  // namespace nn

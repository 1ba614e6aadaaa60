#include "exec/target.h"

#include "exec/plan/quant/integer_products.h"
#include "ops/array/shape.h"
#include "ops/nn/norm.h"
#include "passes/core/passes.h"
#include "passes/idioms/idioms.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/integer_products.h"
#include "rewrite/rewrite.h"

namespace nn {
namespace {

bool HasPlannedProduct(const Node& node) {
  return IsIntegerProduct(node) && !IsChecked(node);
}

bool LacksKernel(const Node& node) {
  return HasPlannedProduct(node) && !HasIntegerKernel(node);
}

std::optional<std::string> WhyIllegal(const Node& node) {
  // Not all of them can be, but the depth may be known later.
  if (LacksKernel(node)) return "the product is computed in float32";
  if (node.op().is_composition() && !IsChecked(node)) return "its decomposition is planned";
  const auto layout = node.attrs().Get("layout");
  // The reference evaluation supports any layout, and reports shapes as declared in the file.
  if (layout && !IsChecked(node) && std::get<EnumValue>(*layout).name != EnumName(Layout::kNxc))
    return "the layout is not channels last";
  return std::nullopt;
}

// instance_norm of [N, groups, rest] between two reshapes, which is how exporters express a
// normalization of groups, is group_norm: the rows are the same, element by element. Unlike the
// reshapes, group_norm can have channels last.
Result<bool> GroupNormOfReshaped(Graph& graph, Node& node) {
  const auto& a = node.attrs<InstanceNormAttrs>();
  const Node* before = node.input(0)->def();
  const Value* y = node.output();
  if (before == nullptr || !before->Is<ReshapeAttrs>() || y->uses().size() != 1 ||
      graph.IsOutput(y))
    return false;
  Node* after = y->uses()[0].node;
  if (!after->Is<ReshapeAttrs>() || after->input(0) != y) return false;
  Value* const x = before->input(0);
  const auto groups = GroupsOf(node, x->type(), after->output()->type());
  if (!groups) return false;
  NN_ASSIGN(Node* const norm,
            graph.Append("group_norm", {x, node.input(1), node.input(2)},
                         GroupNormAttrs{groups->count, a.epsilon, groups->layout}, 1, &node));
  norm->set_name(node.name());
  norm->set_source(node.source());
  graph.Replace(after, norm->output());
  graph.Erase(&node);
  return true;
}

// A run has the bits of the model's own operators.
bool TakesIdiom(const Node& /*node*/) {
  return false;
}

// Products of integers without a kernel of their own use those of float32 where these are exact;
// others run on the reference evaluation.
Status PrepareIntegerProducts(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (HasPlannedProduct(node)) nodes.push_back(&node);
  for (Node* node : nodes) {
    const auto apply = HasIntegerKernel(*node) ? UnscaleIntegerProduct : ExpandIntegerProduct;
    NN_RETURN_IF_ERROR(apply(graph, *node));
  }
  return {};
}

}  // namespace

const Target& ExecTarget() {
  static const Rewrite rewrites[] = {
      {"instance_norm", "groups of channels", &GroupNormOfReshaped},
      kForms,
  };
  static const Target target = {.name = "exec",
                                .why_illegal = WhyIllegal,
                                .takes_idiom = TakesIdiom,
                                .takes_regions = true,
                                .forms = {.layout = Layout::kNxc},
                                .rewrites = rewrites,
                                .prepare = PrepareIntegerProducts};
  return target;
}

}  // namespace nn

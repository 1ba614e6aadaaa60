#include "formats/coreml/describe/summary.h"

namespace nn::coreml {
namespace {

void AddLayer(const Fields& layer, const std::string& scope, Summary& out) {
  const std::string kind = KindOf(layer);
  OperatorSummary op;
  op.op = kind.empty() ? "unknown" : kind;
  op.name = layer.Text("name");
  op.scope = scope;
  op.inputs = layer.Texts("input");
  op.outputs = layer.Texts("output");
  if (const std::string_view field = layer.OneOf("layer"); !field.empty())
    AddFields(layer.Sub(field), "", {}, out, op.attributes);
  const std::string inner = InnerScope(scope, op.name) + ".";
  out.operators.push_back(std::move(op));
  if (kind == "branch")
    for (const char* part : {"ifBranch", "elseBranch"})
      AddNetwork(layer.Sub("branch").Sub(part), inner + part, out);
  if (kind == "loop")
    for (const char* part : {"conditionNetwork", "bodyNetwork"})
      AddNetwork(layer.Sub("loop").Sub(part), inner + part, out);
}

}  // namespace

void AddNetwork(const Fields& network, const std::string& scope, Summary& out) {
  for (const Fields& layer : network.List("layers")) AddLayer(layer, scope, out);
}

}  // namespace nn::coreml

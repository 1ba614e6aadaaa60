// Gradient of ai.onnx.preview.training. The nodes between the tensors `xs` and `zs` and the tensor
// `y` are imported again with the node's inputs in place of xs and zs, and differentiated. Names,
// not values of the graph, determine what lies between: two names can be the same value (Identity),
// and importers take constants into attributes.
#include <algorithm>

#include "base/text/text.h"
#include "formats/onnx/import/importer.h"
#include "ir/op_def.h"
#include "ops/array/opaque.h"
#include "passes/gradient/gradient.h"

namespace nn::onnx {
namespace {

// Whether the graph or subgraph itself defines the name, not one around it.
bool DefinesName(const Scope& scope, std::string_view name) {
  for (const Scope* s = &scope; s != nullptr && s->nodes == scope.nodes; s = s->outer)
    if (s->values.contains(name) ||
        (s->subgraph != nullptr && s->subgraph->initializers.contains(name)))
      return true;
  return false;
}

std::vector<std::string> NamesIn(const ImportContext& ctx, std::string_view attribute) {
  const pb::AttributeProto* const a = ctx.FindAttr(attribute);
  if (a == nullptr) return {};
  return {a->strings().begin(), a->strings().end()};
}

// Gives the nodes that were added after the first `count` and have no origin that of the Gradient
// node, and erases those whose results nothing uses. Their values have larger ids than `last_id`.
void FinishGradient(Graph& graph, size_t count, int64_t last_id, int64_t index,
                    std::span<Value* const> results) {
  auto& nodes = graph.nodes();
  size_t added = nodes.size() - count;
  for (auto it = nodes.end(); added > 0; --added) {
    Node& node = *--it;
    if (node.outputs().empty() || node.output()->id() <= last_id) continue;
    if (node.source().index < 0) graph.SetSource(&node, "Gradient", index);
    const auto is_used = [&](const Value* v) {
      return graph.HasUses(v) || std::ranges::find(results, v) != results.end();
    };
    if (std::ranges::any_of(node.outputs(), is_used)) continue;
    ++it;
    graph.Erase(&node);
  }
}

}  // namespace

Result<Value*> Importer::RunBetween(const pb::NodeProto& gradient, Scope& scope,
                                    const std::string& y) {
  const Nodes& nodes = *scope.nodes;
  NN_ASSIGN(const std::vector<int>* const order, NodeOrder(nodes));
  const NameMap<Value*> given = scope.values;
  std::unordered_set<std::string_view> affected;
  for (const auto& [name, value] : given) affected.insert(name);
  std::vector<int> between;
  for (const int i : *order) {
    const pb::NodeProto& node = nodes[i];
    if (&node == &gradient) break;
    const auto is_affected = [&](std::string_view name) {
      return !name.empty() && affected.contains(name);
    };
    if (std::ranges::none_of(NeededBy(node), is_affected)) continue;
    between.push_back(i);
    affected.insert(node.output().begin(), node.output().end());
  }
  std::unordered_set<std::string_view> needed = {y};
  std::vector<int> kept;
  for (auto it = between.rbegin(); it != between.rend(); ++it) {
    const int i = *it;
    const auto is_needed = [&](const std::string& name) {
      return !name.empty() && needed.contains(name) && !given.contains(name);
    };
    if (std::ranges::none_of(nodes[i].output(), is_needed)) continue;
    kept.push_back(i);
    for (const std::string_view name : NeededBy(nodes[i])) needed.insert(name);
  }
  NN_RETURN_IF_ERROR(TakeInlined(static_cast<int64_t>(kept.size())));
  ++depth_;
  Status status;
  for (auto i = kept.rbegin(); status && i != kept.rend(); ++i) {
    status = ImportNode(nodes[*i], *i, scope);
    for (const std::string& name : nodes[*i].output())
      if (const auto it = given.find(name); it != given.end()) scope.values[name] = it->second;
  }
  --depth_;
  NN_RETURN_IF_ERROR(status);
  Value* const* const v = scope.Find(y);
  if (v == nullptr || *v == nullptr) return ModelError("y, {}, is not defined", Quote(y));
  return *v;
}

Status Importer::ImportGradient(ImportContext& ctx, const Scope& scope, int index) {
  const std::vector<std::string> xs = NamesIn(ctx, "xs");
  std::vector<std::string> names = xs;
  std::ranges::copy(NamesIn(ctx, "zs"), std::back_inserter(names));
  const std::string y = ctx.String("y", "");
  if (xs.empty() || y.empty())
    return ModelError("attribute {} is missing", xs.empty() ? "xs" : "y");
  if (ctx.input_count() != names.size() || ctx.output_count() > xs.size())
    return ModelError("there are {} inputs and {} outputs for {} names in xs and {} in zs",
                      ctx.input_count(), ctx.output_count(), xs.size(), names.size() - xs.size());
  Scope inner;
  inner.nodes = scope.nodes;
  inner.outer = &scope;
  inner.opsets = scope.opsets;
  inner.function = scope.function;
  inner.attrs = scope.attrs;
  inner.call = scope.call;
  inner.place = scope.place;
  inner.within = scope.within;
  inner.prefix = PrefixOf(scope, ctx.node(), "Gradient");
  for (const std::string& name : names)
    if (!DefinesName(scope, name))
      return scope.Find(name) == nullptr
                 ? ModelError("{} is not defined", Quote(name))
                 : UnsupportedError("Gradient of tensors outside of its subgraph is unsupported");
  if (!DefinesName(scope, y) && scope.Find(y) != nullptr)
    return UnsupportedError("Gradient of tensors outside of its subgraph is unsupported");
  const int64_t last_id = LastId(graph_);
  const size_t node_count = graph_.nodes().size(), unsupported = unsupported_.size();
  // A value of its own for each x: an input can be the value of several, and is not a constant
  // here.
  std::vector<Value*> variables;
  for (size_t i = 0; i < names.size(); ++i) {
    NN_ASSIGN(Value * v, ctx.Required(i));
    if (i < xs.size()) {
      Node* const node = graph_.AddNode(*Ops().Find("opaque"), {v}, OpaqueAttrs{"Gradient", ""});
      variables.push_back(node->output());
      variables.back()->set_type(v->type());
      v = variables.back();
    }
    if (inner.values.contains(names[i]))
      return ModelError("{} appears twice in xs and zs", Quote(names[i]));
    inner.values[names[i]] = v;
  }
  NN_ASSIGN(Value* const result, RunBetween(ctx.node(), inner, y));
  if (unsupported_.size() > unsupported) {
    unsupported_.resize(unsupported);
    return UnsupportedError(
        "Gradient of {}, which depends on an unsupported operator, is "
        "unsupported",
        Quote(y));
  }
  NN_RETURN_IF_ERROR(TakeInlined(static_cast<int64_t>(graph_.nodes().size() - node_count)));
  NN_ASSIGN(std::vector<Value*> results, AddGradient(graph_, result, variables));
  for (size_t i = 0; i < variables.size(); ++i) {
    for (Value*& v : results)
      if (v == variables[i]) v = ctx.input(i);
    graph_.ReplaceUses(variables[i], ctx.input(i));
  }
  for (size_t i = 0; i < ctx.output_count(); ++i)
    if (!ctx.WantsOutput(i)) results[i] = nullptr;
  FinishGradient(graph_, node_count, last_id, scope.call < 0 ? index : scope.call, results);
  ctx.SetOutputs(results);
  return {};
}

}  // namespace nn::onnx

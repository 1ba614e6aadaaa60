#include "formats/common/regions.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/op_def.h"

namespace nn {

Placeholders::~Placeholders() {
  // A constant without uses is removed with other dead values.
  for (Value* v : values_) graph_.MakeConstant(v, Tensor::Scalar(false));
}

Value* Placeholders::Add(const Type& type) {
  values_.push_back(graph_.AddInput("", type));
  return values_.back();
}

Graph TakeRegion(Graph& graph, ImportMark& mark, std::span<Value* const> inputs,
                 std::span<Value* const> results, std::vector<Value*>& captured) {
  Graph region;
  std::unordered_map<const Value*, Value*> inside;
  const auto add_input = [&](const Value* v) { inside[v] = region.AddInput("", v->type()); };
  std::ranges::for_each(inputs, add_input);
  std::ranges::for_each(captured, add_input);
  const auto in_region = [&](Value* v) -> Value* {
    if (v == nullptr) return nullptr;
    if (const auto it = inside.find(v); it != inside.end()) return it->second;
    if (v->is_constant()) {
      inside[v] = region.AddConstant(v->constant(), SharedString(v->name()), v->type().quant);
    } else {
      captured.push_back(v);
      add_input(v);
    }
    return inside[v];
  };
  for (const Node& node : graph.nodes()) {
    if (node.outputs().empty() || !mark.IsNew(node.output())) continue;
    std::vector<Value*> operands;
    for (Value* v : node.inputs()) operands.push_back(in_region(v));
    Node* const copy =
        region.AddNode(node.op(), std::move(operands), node.attrs(), node.outputs().size());
    copy->set_arithmetic(node.arithmetic());
    copy->set_name(SharedString(node.name()));
    copy->set_source(node.source());
    for (const auto& inner : node.regions()) copy->AddRegion(inner->Clone());
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      copy->output(i)->set_type(node.output(i)->type());
      copy->output(i)->set_name(SharedString(node.output(i)->name()));
      inside[node.output(i)] = copy->output(i);
    }
  }
  for (Value* v : results) region.AddOutput("", in_region(v));
  mark.EraseNodes();
  return region;
}

}  // namespace nn

// Type errors, lists of values, and value_info, all by type inference through the model.
#include <iterator>
#include <unordered_map>

#include "formats/onnx/file/value_type.h"
#include "formats/onnx/infer/infer.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

// Existing entries keep their place and their texts; their types become the inferred ones, which
// replace others or are more specific. Outputs keep the shapes that agree with them.
void AddValueInfo(const std::vector<ValueEntry>& values, pb::GraphProto& graph) {
  std::unordered_map<std::string_view, pb::ValueInfoProto*> outputs;
  for (auto& info : *graph.mutable_output()) outputs[info.name()] = &info;
  std::unordered_map<std::string_view, int> declared;
  for (int i = 0; i < graph.value_info_size(); ++i) declared[graph.value_info(i).name()] = i;
  for (const ValueEntry& v : values) {
    if (v.role != ValueEntry::Role::kResult || !IsComplete(v.type)) continue;
    if (const auto output = outputs.find(v.name); output != outputs.end()) {
      if (!States(output->second->type(), v.type)) ReplaceType(v.type, *output->second);
      continue;
    }
    const auto it = declared.find(v.name);
    auto* info =
        it == declared.end() ? graph.add_value_info() : graph.mutable_value_info(it->second);
    if (it == declared.end()) info->set_name(v.name);
    ReplaceType(v.type, *info);
  }
}

// Calls fn for a graph and its subgraphs.
template <typename Fn>
void EachGraph(pb::GraphProto& graph, const Fn& fn) {
  fn(graph);
  for (pb::NodeProto& node : *graph.mutable_node())
    for (pb::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) EachGraph(*attribute.mutable_g(), fn);
}

}  // namespace

std::vector<TypeDefect> OnnxDescriber::CheckTypes(const NativeModel& model) const {
  return InferModelTypes(ModelOf(model)).defects;
}

std::vector<ValueEntry> OnnxDescriber::ValuesOf(const NativeModel& model,
                                                const InputTypes& inputs) const {
  std::vector<ValueEntry> out;
  for (GraphTypes& graph : InferModelTypes(ModelOf(model), inputs).graphs)
    out.insert(out.end(), std::make_move_iterator(graph.values.begin()),
               std::make_move_iterator(graph.values.end()));
  return out;
}

void AddValueInfo(Model& model) {
  std::unordered_map<const void*, std::vector<ValueEntry>> types;
  for (GraphTypes& graph : InferModelTypes(model).graphs)
    types.emplace(graph.graph, std::move(graph.values));
  EachGraph(*model.proto.mutable_graph(), [&](pb::GraphProto& graph) {
    if (const auto it = types.find(&graph); it != types.end()) AddValueInfo(it->second, graph);
  });
}

}  // namespace nn::onnx

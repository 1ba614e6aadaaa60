// The names of values in graphs, their definitions and uses, and changes of them.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/text.h"
#include "onnx.pb.h"

namespace nn::onnx {

using NewNameMap = std::map<std::string, std::string, std::less<>>;  // by the present names

// Calls fn(name, defines, set, place) for each name of a value in a graph, without its subgraphs.
// set(text) changes the name, place() is its path in the graph.
template <typename Fn>
Status EachName(pb::GraphProto& graph, const Fn& fn) {
  const auto each = [&](auto* entries, std::string_view field, bool defines) -> Status {
    for (int i = 0; i < entries->size(); ++i) {
      auto& entry = *entries->Mutable(i);
      NN_RETURN_IF_ERROR(fn(
          entry.name(), defines, [&](const std::string& name) { entry.set_name(name); },
          [&] { return fmt::format("{}[{}]", field, i); }));
    }
    return {};
  };
  NN_RETURN_IF_ERROR(each(graph.mutable_input(), "input", true));
  NN_RETURN_IF_ERROR(each(graph.mutable_output(), "output", false));
  NN_RETURN_IF_ERROR(each(graph.mutable_initializer(), "initializer", true));
  NN_RETURN_IF_ERROR(each(graph.mutable_value_info(), "value_info", false));
  for (int i = 0; i < graph.sparse_initializer_size(); ++i) {
    pb::SparseTensorProto& sparse = *graph.mutable_sparse_initializer(i);
    NN_RETURN_IF_ERROR(fn(
        sparse.values().name(), true,
        [&](const std::string& name) { sparse.mutable_values()->set_name(name); },
        [&] { return fmt::format("sparse_initializer[{}]", i); }));
  }
  for (int i = 0; i < graph.quantization_annotation_size(); ++i) {
    pb::TensorAnnotation& annotation = *graph.mutable_quantization_annotation(i);
    const auto place = [&] { return fmt::format("quantization_annotation[{}]", i); };
    NN_RETURN_IF_ERROR(fn(
        annotation.tensor_name(), false,
        [&](const std::string& name) { annotation.set_tensor_name(name); }, place));
    for (auto& entry : *annotation.mutable_quant_parameter_tensor_names())
      NN_RETURN_IF_ERROR(fn(
          entry.value(), false, [&](const std::string& name) { entry.set_value(name); }, place));
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    pb::NodeProto& node = *graph.mutable_node(i);
    for (int k = 0; k < node.input_size(); ++k)
      NN_RETURN_IF_ERROR(fn(
          node.input(k), false, [&](const std::string& name) { node.set_input(k, name); },
          [&] { return fmt::format("node[{}].input[{}]", i, k); }));
    for (int k = 0; k < node.output_size(); ++k)
      NN_RETURN_IF_ERROR(fn(
          node.output(k), true, [&](const std::string& name) { node.set_output(k, name); },
          [&] { return fmt::format("node[{}].output[{}]", i, k); }));
    for (auto& configuration : *node.mutable_device_configurations())
      for (auto& sharding : *configuration.mutable_sharding_spec())
        NN_RETURN_IF_ERROR(fn(
            sharding.tensor_name(), false,
            [&](const std::string& name) { sharding.set_tensor_name(name); },
            [&] { return fmt::format("node[{}].device_configurations", i); }));
  }
  return {};
}

// Calls fn(graph, place) for each graph in the attributes of a graph's nodes.
template <typename Fn>
Status EachSubgraph(pb::GraphProto& graph, const Fn& fn) {
  for (int i = 0; i < graph.node_size(); ++i)
    for (auto& attribute : *graph.mutable_node(i)->mutable_attribute()) {
      if (!attribute.has_g() && attribute.graphs_size() == 0) continue;
      const std::string place = fmt::format("node[{}].{}", i, Escape(attribute.name()));
      if (attribute.has_g()) NN_RETURN_IF_ERROR(fn(*attribute.mutable_g(), place));
      for (int k = 0; k < attribute.graphs_size(); ++k)
        NN_RETURN_IF_ERROR(fn(*attribute.mutable_graphs(k), fmt::format("{}[{}]", place, k)));
    }
  return {};
}

// Changes names of values in the scope of the main graph, and the uses of these values in its
// subgraphs and in training information. kUsage for a new name that occurs in one of these scopes.
Status RenameValues(pb::ModelProto& model, NewNameMap names);

}  // namespace nn::onnx

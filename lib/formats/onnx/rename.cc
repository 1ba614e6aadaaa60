#include "formats/common/rename.h"

#include <fmt/core.h>

#include <unordered_set>

#include "formats/onnx/external.h"
#include "formats/onnx/native.h"

namespace nn::onnx {
namespace {

using NewNameMap = std::map<std::string, std::string, std::less<>>;

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

// Changes names of values in the scope of the main graph. Function bodies are scopes of their own,
// and so is the initialization of a training step.
class Renamer {
 public:
  explicit Renamer(NewNameMap names) : names_(std::move(names)), targets_(TargetsOf(names_)) {}

  Status Run(pb::ModelProto& model) {
    NN_RETURN_IF_ERROR(InScope(*model.mutable_graph(), "graph", names_, true));
    for (int i = 0; i < model.training_info_size(); ++i) {
      pb::TrainingInfoProto& info = *model.mutable_training_info(i);
      const std::string place = fmt::format("training_info[{}]", i);
      // The algorithm is a continuation of the graph.
      if (info.has_algorithm())
        NN_RETURN_IF_ERROR(InScope(*info.mutable_algorithm(), place + ".algorithm", names_, true));
      for (auto& binding : *info.mutable_initialization_binding())
        NN_RETURN_IF_ERROR(Change(
            binding.key(), names_, [&](const std::string& name) { binding.set_key(name); },
            [&] { return place + ".initialization_binding"; }));
      for (auto& binding : *info.mutable_update_binding()) {
        const auto at = [&] { return place + ".update_binding"; };
        NN_RETURN_IF_ERROR(Change(
            binding.key(), names_, [&](const std::string& name) { binding.set_key(name); }, at));
        NN_RETURN_IF_ERROR(Change(
            binding.value(), names_, [&](const std::string& name) { binding.set_value(name); },
            at));
      }
    }
    return {};
  }

 private:
  // A name that is not in use cannot capture a use or be captured in any scope.
  template <typename Set, typename Place>
  Status Change(const std::string& name, const NewNameMap& names, const Set& set,
                const Place& place) const {
    const auto it = names.find(name);
    if (it != names.end()) {
      set(it->second);
      return {};
    }
    return targets_.contains(name) ? Status(NameIsTaken(name, place())) : Status();
  }

  // `names` are those that are visible in the graph; a subgraph hides the names that it defines.
  Status InScope(pb::GraphProto& graph, const std::string& path, const NewNameMap& names,
                 bool is_main) const {
    NewNameMap visible;
    if (!is_main) {
      visible = names;
      NN_RETURN_IF_ERROR(EachName(
          graph,
          [&](const std::string& name, bool defines, const auto&, const auto& place) -> Status {
            if (!defines) return {};
            if (targets_.contains(name)) return NameIsTaken(name, path + "." + place());
            visible.erase(name);
            return {};
          }));
    }
    const NewNameMap& here = is_main ? names : visible;
    NN_RETURN_IF_ERROR(EachName(
        graph, [&](const std::string& name, bool, const auto& set, const auto& place) -> Status {
          return Change(name, here, set, [&] { return path + "." + place(); });
        }));
    return EachSubgraph(graph, [&](pb::GraphProto& inner, const std::string& place) {
      return InScope(inner, path + "." + place, here, false);
    });
  }

  const NewNameMap names_;
  const std::set<std::string, std::less<>> targets_;
};

}  // namespace

Result<PortNames> NamesOfPorts(const NativeModel& native) {
  const pb::GraphProto& graph = static_cast<const Model&>(native).proto.graph();
  // An input with an initializer is a constant with a default.
  std::unordered_set<std::string_view> known;
  for (const auto& t : graph.initializer()) known.insert(t.name());
  for (const auto& t : graph.sparse_initializer()) known.insert(t.values().name());
  PortNames names;
  for (const auto& info : graph.input())
    if (known.insert(info.name()).second) names.inputs.push_back(info.name());
  for (const auto& info : graph.output()) names.outputs.push_back(info.name());
  return names;
}

Result<FileImage> Rename(const NativeModel& native, const PortNames& names,
                         const ExportOptions& options) {
  const auto& model = static_cast<const Model&>(native);
  NN_ASSIGN(const PortNames present, NamesOfPorts(native));
  NN_ASSIGN(NewNameMap changes, NewNames(present.inputs, present.outputs, present, names));
  pb::ModelProto proto = model.proto;
  if (!changes.empty()) NN_RETURN_IF_ERROR(Renamer(std::move(changes)).Run(proto));
  return Assemble(std::move(proto), model.payloads, model.files, options);
}

}  // namespace nn::onnx

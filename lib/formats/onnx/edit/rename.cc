#include "formats/common/edit/rename.h"

#include <fmt/core.h>

#include <unordered_set>

#include "formats/onnx/edit/value_names.h"
#include "formats/onnx/file/external.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

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

Status RenameValues(pb::ModelProto& model, NewNameMap names) {
  return names.empty() ? Status() : Renamer(std::move(names)).Run(model);
}

Result<PortNames> OnnxDescriber::PortNamesOf(const NativeModel& native) const {
  const pb::GraphProto& graph = ModelOf(native).proto.graph();
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

Result<FileImage> OnnxEditor::Rename(const NativeModel& native, const PortNames& names,
                                     const ExportOptions& options) const {
  const auto& model = ModelOf(native);
  NN_ASSIGN(const PortNames present, OnnxDescriber().PortNamesOf(native));
  NN_ASSIGN(NewNameMap changes, NewNames(present.inputs, present.outputs, present, names));
  pb::ModelProto proto = model.proto;
  NN_RETURN_IF_ERROR(RenameValues(proto, std::move(changes)));
  return Assemble(std::move(proto), model.payloads, model.files, options);
}

}  // namespace nn::onnx

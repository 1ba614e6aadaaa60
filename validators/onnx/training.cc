// Rules of training information.
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using Bindings = google::protobuf::RepeatedPtrField<pb::StringStringEntryProto>;

std::unordered_set<std::string_view> InitialisersOf(const pb::GraphProto& graph) {
  std::unordered_set<std::string_view> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  return names;
}

bool HasOutput(const pb::GraphProto& graph, const std::string& name) {
  for (const auto& info : graph.output())
    if (info.name() == name) return true;
  return false;
}

template <typename Visit>
void EachTraining(const Subject& s, const Visit& visit) {
  for (int i = 0; i < s.proto().training_info_size(); ++i)
    visit(fmt::format("training_info[{}]", i), s.proto().training_info(i));
}

// Calls visit(path, binding, graph), graph being the one whose outputs the values name.
template <typename Visit>
void EachBinding(const std::string& path, const pb::TrainingInfoProto& t, const Visit& visit) {
  const auto each = [&](const Bindings& bindings, std::string_view field,
                        const pb::GraphProto& graph) {
    for (int i = 0; i < bindings.size(); ++i)
      visit(fmt::format("{}.{}[{}]", path, field, i), bindings.Get(i), graph);
  };
  each(t.initialization_binding(), "initialization_binding", t.initialization());
  each(t.update_binding(), "update_binding", t.algorithm());
}

void InitialisationAlone(const Subject& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    if (t.initialization().input_size() > 0)
      f.Add(At(path + ".initialization.input"), "the initialisation has {} inputs",
            t.initialization().input_size());
  });
}

void KeysAreInitialisers(const Subject& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    const auto model = InitialisersOf(s.proto().graph());
    const auto own = InitialisersOf(t.algorithm());
    EachBinding(path, t, [&](const std::string& where, const auto& binding, const auto&) {
      if (!model.contains(binding.key()) && !own.contains(binding.key()))
        f.Add(At(where + ".key"), "{} is no initialiser", Quote(binding.key()));
    });
  });
}

void ValuesAreOutputs(const Subject& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    EachBinding(path, t, [&](const std::string& where, const auto& binding, const auto& graph) {
      const bool update = &graph == &t.algorithm();
      if (!HasOutput(graph, binding.value()) &&
          !(update && HasOutput(s.proto().graph(), binding.value())))
        f.Add(At(where + ".value"), "{} is no output of the graph that computes it",
              Quote(binding.value()));
    });
  });
}

void InitialisationsUnique(const Subject& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    std::set<std::string_view> seen;
    for (int i = 0; i < t.initialization_binding_size(); ++i)
      if (!seen.insert(t.initialization_binding(i).key()).second)
        f.Add(At(fmt::format("{}.initialization_binding[{}]", path, i)), "{} is initialised twice",
              Quote(t.initialization_binding(i).key()));
  });
}

void UpdatesUnique(const Subject& s, Findings& f) {
  std::set<std::string_view> seen;
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    for (int i = 0; i < t.update_binding_size(); ++i)
      if (!seen.insert(t.update_binding(i).key()).second)
        f.Add(At(fmt::format("{}.update_binding[{}]", path, i)), "{} is updated twice",
              Quote(t.update_binding(i).key()));
  });
}

constexpr Rule kRules[] = {
    {{"ONNX-TRAIN-001", Severity::kError, "The initialisation graph has no inputs.",
      "onnx.proto, TrainingInfoProto.initialization", false, ""},
     InitialisationAlone},
    {{"ONNX-TRAIN-002", Severity::kError, "Keys of bindings are initialisers.",
      "onnx.proto, TrainingInfoProto", false, ""},
     KeysAreInitialisers},
    {{"ONNX-TRAIN-003", Severity::kError,
      "Values of bindings are outputs of the initialisation, or of the algorithm or the model.",
      "onnx.proto, TrainingInfoProto", false, ""},
     ValuesAreOutputs},
    {{"ONNX-TRAIN-004", Severity::kError, "An initialiser is updated by one binding only.",
      "onnx.proto, TrainingInfoProto.update_binding", false, ""},
     UpdatesUnique},
    {{"ONNX-TRAIN-005", Severity::kError, "The bindings of an initialisation have different keys.",
      "IR.md, Training Related Information", false, ""},
     InitialisationsUnique},
};

}  // namespace

std::span<const Rule> TrainingRules() {
  return kRules;
}

}  // namespace nn::onnx

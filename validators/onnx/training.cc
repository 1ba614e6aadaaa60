// Rules for training information.
#include <set>
#include <unordered_set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using Bindings = google::protobuf::RepeatedPtrField<pb::StringStringEntryProto>;

std::unordered_set<std::string_view> InitializersOf(const pb::GraphProto& graph) {
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
void EachTraining(const RuleContext& s, const Visit& visit) {
  for (int i = 0; i < s.proto().training_info_size(); ++i)
    visit(fmt::format("training_info[{}]", i), s.proto().training_info(i));
}

// Calls visit(path, binding, graph, update) for all bindings; `graph` has the outputs that the
// values name, `update` tells update bindings from those of the initialization.
template <typename Visit>
void EachBinding(const std::string& path, const pb::TrainingInfoProto& t, const Visit& visit) {
  const auto each = [&](const Bindings& bindings, std::string_view field,
                        const pb::GraphProto& graph, bool update) {
    for (int i = 0; i < bindings.size(); ++i)
      visit(fmt::format("{}.{}[{}]", path, field, i), bindings.Get(i), graph, update);
  };
  each(t.initialization_binding(), "initialization_binding", t.initialization(), false);
  each(t.update_binding(), "update_binding", t.algorithm(), true);
}

void InitializationAlone(const RuleContext& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    if (t.initialization().input_size() > 0)
      f.Add(At(path + ".initialization.input"),
            "the initialization graph has {} inputs; must have none",
            t.initialization().input_size());
  });
}

void KeysAreInitializers(const RuleContext& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    const auto model = InitializersOf(s.proto().graph());
    const auto own = InitializersOf(t.algorithm());
    EachBinding(path, t, [&](const std::string& where, const auto& binding, const auto&, bool) {
      if (!model.contains(binding.key()) && !own.contains(binding.key()))
        f.Add(At(where + ".key"), "{} is not an initializer of the main graph or the algorithm",
              Quote(binding.key()));
    });
  });
}

void ValuesAreOutputs(const RuleContext& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    EachBinding(path, t,
                [&](const std::string& where, const auto& binding, const auto& graph, bool update) {
                  if (!HasOutput(graph, binding.value()) &&
                      !(update && HasOutput(s.proto().graph(), binding.value())))
                    f.Add(At(where + ".value"), "{} is not an output of {}", Quote(binding.value()),
                          update ? "the algorithm or the main graph" : "the initialization graph");
                });
  });
}

void InitializationsUnique(const RuleContext& s, Findings& f) {
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    std::set<std::string_view> seen;
    for (int i = 0; i < t.initialization_binding_size(); ++i)
      if (!seen.insert(t.initialization_binding(i).key()).second)
        f.Add(At(fmt::format("{}.initialization_binding[{}]", path, i)),
              "{} has more than one initialization binding",
              Quote(t.initialization_binding(i).key()));
  });
}

void UpdatesUnique(const RuleContext& s, Findings& f) {
  std::set<std::string_view> seen;
  EachTraining(s, [&](const std::string& path, const pb::TrainingInfoProto& t) {
    for (int i = 0; i < t.update_binding_size(); ++i)
      if (!seen.insert(t.update_binding(i).key()).second)
        f.Add(At(fmt::format("{}.update_binding[{}]", path, i)),
              "{} has more than one update binding", Quote(t.update_binding(i).key()));
  });
}

constexpr Rule kTrainingRules[] = {
    {.info = {.id = "ONNX-TRAIN-001",
              .statement = "The initialization graph of training_info has no inputs.",
              .clause = "onnx.proto, TrainingInfoProto.initialization",
              .hint = "Replace the inputs with initializers or Constant nodes."},
     .check = InitializationAlone},
    {.info = {.id = "ONNX-TRAIN-002",
              .statement = "The keys of training bindings are initializers of the main graph or "
                           "the training algorithm.",
              .clause = "onnx.proto, TrainingInfoProto",
              .hint = "Correct the key, or add the initializer."},
     .check = KeysAreInitializers},
    {.info =
         {.id = "ONNX-TRAIN-003",
          .statement =
              "The value of an initialization binding is an output of the initialization graph; "
              "that of an update binding is an output of the algorithm or the main graph.",
          .clause = "onnx.proto, TrainingInfoProto",
          .hint = "Correct the value, or add it to the outputs of the graph that computes it."},
     .check = ValuesAreOutputs},
    {.info = {.id = "ONNX-TRAIN-004",
              .statement = "Each initializer has at most one update binding in the whole model.",
              .clause = "onnx.proto, TrainingInfoProto.update_binding",
              .hint = "Keep one update binding per initializer."},
     .check = UpdatesUnique},
    {.info = {.id = "ONNX-TRAIN-005",
              .statement = "The initialization bindings of a training_info have different keys.",
              .clause = "IR.md, Training Related Information",
              .hint = "Keep one initialization binding per initializer."},
     .check = InitializationsUnique},
};

}  // namespace

std::span<const Rule> TrainingRules() {
  return kTrainingRules;
}

}  // namespace nn::onnx

// Rules about the model as a whole.
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr int kNewestVersion = 10;
constexpr int kFirstVersionWithFunctions = 9;
constexpr int kFirstVersionWithoutInputs = 9;
constexpr int kFirstUpdatableVersion = 4;

void VersionPresent(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.version() < 1)
      f.Add(At(m.path + "specificationVersion"), "specificationVersion is {}; expected 1 or more",
            m.version());
}

void VersionKnown(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.version() > kNewestVersion)
      f.Add(At(m.path + "specificationVersion"),
            "specificationVersion is {}; the newest known version is {}", m.version(),
            kNewestVersion);
}

// A type that is newer than the schema is an unknown field of Model.
bool HasKind(const pb::Model& model) {
  if (model.Type_case() != pb::Model::TYPE_NOT_SET) return true;
  const auto& unknown = model.GetReflection()->GetUnknownFields(model);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (unknown.field(i).number() >= 200) return true;
  return false;
}

void KindPresent(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (!HasKind(*m.model)) f.Add(At(m.path + "Type"), "the model has no type");
}

bool HasFunctions(const ModelAt& m) {
  return m.description().functions_size() > 0 || !m.description().defaultfunctionname().empty();
}

// Calls visit(description, path) for the interface of the model or of each of its functions.
template <typename Visit>
void EachInterface(const ModelAt& m, const Visit& visit) {
  if (!HasFunctions(m)) visit(m.description(), m.path + "description");
  for (int i = 0; i < m.description().functions_size(); ++i)
    visit(m.description().functions(i), fmt::format("{}description.functions[{}]", m.path, i));
}

void OutputsPresent(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    EachInterface(m, [&](const auto& d, const std::string& path) {
      if (d.output().empty()) f.Add(At(path + ".output"), "there are no outputs");
    });
}

// Networks, programs and pipelines of a recent version.
bool MayLackInputs(const ModelAt& m) {
  return m.version() >= kFirstVersionWithoutInputs &&
         (IsNetwork(*m.model) || m.model->has_mlprogram() || PipelineOf(*m.model) != nullptr);
}

void InputsPresent(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    EachInterface(m, [&](const auto& d, const std::string& path) {
      if (d.input().empty() && !MayLackInputs(m))
        f.Add(At(path + ".input"),
              "there are no inputs, which specification version {} does not allow for this type of "
              "model",
              m.version());
    });
}

void FunctionsAllowed(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!HasFunctions(m)) continue;
    if (!m.model->has_mlprogram())
      f.Add(At(m.path + "description.functions"), "only ML programs can have functions");
    else if (m.version() < kFirstVersionWithFunctions)
      f.Add(At(m.path + "description.functions"),
            "functions require specification version {}; the model has version {}",
            kFirstVersionWithFunctions, m.version());
  }
}

void FunctionsAlone(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& d = m.description();
    if (HasFunctions(m) && (d.input_size() > 0 || d.output_size() > 0 || d.state_size() > 0 ||
                            d.traininginput_size() > 0 || !d.predictedfeaturename().empty() ||
                            !d.predictedprobabilitiesname().empty()))
      f.Add(At(m.path + "description"), "the model has functions and also features outside them");
  }
}

void DefaultFunction(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!HasFunctions(m)) continue;
    bool found = false;
    for (const auto& function : m.description().functions())
      found = found || function.name() == m.description().defaultfunctionname();
    if (!found)
      f.Add(At(m.path + "description.defaultFunctionName"), "the model has no function {}",
            Quote(m.description().defaultfunctionname()));
  }
}

void InputsRequired(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!IsNetwork(*m.model) && !m.model->has_mlprogram() && !m.model->has_serializedmodel())
      continue;
    const auto& inputs = m.description().input();
    if (!inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [](const auto& input) {
          return input.type().isoptional() && !input.type().has_statetype();
        }))
      f.Add(At(m.path + "description.input"), "all inputs are optional");
  }
}

void OutputsRequired(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    for (int i = 0; i < m.description().output_size(); ++i)
      if (m.description().output(i).type().isoptional())
        f.Add(At(fmt::format("{}description.output[{}]", m.path, i)), "output {} is optional",
              Quote(m.description().output(i).name()));
}

void NamesUnique(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    EachInterface(m, [&](const auto& d, const std::string& path) {
      const auto check = [&](const Features& list, std::string_view field) {
        std::set<std::string_view> seen;
        for (int i = 0; i < list.size(); ++i)
          if (!seen.insert(list.Get(i).name()).second)
            f.Add(At(fmt::format("{}.{}[{}]", path, field, i)), "{} is listed more than once",
                  Quote(list.Get(i).name()));
      };
      check(d.input(), "input");
      check(d.output(), "output");
      check(d.state(), "state");
    });
}

void FunctionsUnique(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    std::set<std::string_view> seen;
    for (int i = 0; i < m.description().functions_size(); ++i)
      if (const std::string& name = m.description().functions(i).name();
          name.empty() || !seen.insert(name).second)
        f.Add(At(fmt::format("{}description.functions[{}].name", m.path, i)), "function {} has {}",
              i, name.empty() ? "no name" : "the name of an earlier function");
  }
}

void UpdatableVersion(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.model->isupdatable() && m.version() < kFirstUpdatableVersion)
      f.Add(At(m.path + "isUpdatable"),
            "updatable models require specification version {}; the model has version {}",
            kFirstUpdatableVersion, m.version());
}

constexpr Rule kModelRules[] = {
    {.info = {.id = "COREML-MODEL-001",
              .statement = "The specificationVersion of a model is 1 or greater.",
              .clause = "Model.proto, Model.specificationVersion",
              .vendor = true,
              .hint = "Set specificationVersion to a published version that has all features of "
                      "the model."},
     .check = VersionPresent},
    {.info = {.id = "COREML-MODEL-002",
              .statement = "The specificationVersion of a model is a published one.",
              .clause = "Model.proto, Model.specificationVersion",
              .vendor = true,
              .hint = "Check the model with a newer version of this tool, or export it for an "
                      "older deployment target."},
     .check = VersionKnown},
    {.info = {.id = "COREML-MODEL-003",
              .statement = "A model has a type: one field of the oneof Type is set.",
              .clause = "Model.proto, Model.Type",
              .vendor = true,
              .hint = "Set one of the fields of Model.Type, such as neuralNetwork or mlProgram."},
     .check = KindPresent},
    {.info =
         {.id = "COREML-MODEL-004",
          .statement =
              "A model without functions, and each function of a model, has at least one output.",
          .clause = "Model.proto, ModelDescription",
          .vendor = true,
          .hint = "List the outputs in the description of the model or function."},
     .check = OutputsPresent},
    {.info =
         {.id = "COREML-MODEL-005",
          .statement = "A model without functions, and each function of a model, has at least one "
                       "input, unless the model is a network, ML program or pipeline of "
                       "specification version 9 or later.",
          .clause = "Model.proto, ModelDescription",
          .vendor = true,
          .hint =
              "List the inputs in the description of the model or function, or raise "
              "specificationVersion to 9 if a network, ML program or pipeline needs no inputs."},
     .check = InputsPresent},
    {.info = {.id = "COREML-MODEL-006",
              .statement = "Only ML programs of specification version 9 or later have functions or "
                           "a default function.",
              .clause = "Model.proto, ModelDescription.functions",
              .vendor = true,
              .hint = "Raise specificationVersion to 9 for an ML program; clear functions and "
                      "defaultFunctionName in any other model."},
     .check = FunctionsAllowed},
    {.info = {.id = "COREML-MODEL-007",
              .statement = "The description of a model with functions has no inputs, outputs, "
                           "states, training inputs or predicted features outside the functions.",
              .clause = "Model.proto, ModelDescription.functions",
              .vendor = true,
              .hint =
                  "Move the features from description into the entries of description.functions."},
     .check = FunctionsAlone},
    {.info = {.id = "COREML-MODEL-008",
              .statement =
                  "The defaultFunctionName of a model with functions names one of its functions.",
              .clause = "Model.proto, ModelDescription.defaultFunctionName",
              .vendor = true,
              .hint = "Set defaultFunctionName to the name of one of description.functions."},
     .check = DefaultFunction},
    {.info = {.id = "COREML-MODEL-009",
              .statement = "A neural network, ML program or serialized model that has inputs has "
                           "at least one input that is not optional.",
              .clause = "Model.proto, FeatureDescription",
              .vendor = true,
              .hint = "Clear isOptional of at least one input."},
     .check = InputsRequired},
    {.info = {.id = "COREML-MODEL-010",
              .statement = "No output in the description of a model is optional.",
              .clause = "FeatureTypes.proto, FeatureType.isOptional",
              .vendor = true,
              .hint = "Clear isOptional in the type of the output."},
     .check = OutputsRequired},
    {.info = {.id = "COREML-MODEL-012",
              .statement = "Names are unique among the inputs, among the outputs and among the "
                           "states of a model or function.",
              .clause = "Model.proto, ModelDescription",
              .hint = "Rename the second feature, or remove it if it is a duplicate."},
     .check = NamesUnique},
    {.info = {.id = "COREML-MODEL-016",
              .statement = "Each function of a model has a unique, non-empty name.",
              .clause = "Model.proto, FunctionDescription.name",
              .hint = "Give the function a name that no other function has."},
     .check = FunctionsUnique},
    {.info = {.id = "COREML-MODEL-017",
              .statement = "A model with isUpdatable has specification version 4 or later.",
              .clause = "Model.proto, Model.isUpdatable",
              .vendor = true,
              .hint = "Raise specificationVersion to 4, or clear isUpdatable."},
     .check = UpdatableVersion},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kModelRules;
}

}  // namespace nn::coreml

// Rules of the model as a whole.
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr int kNewestVersion = 10;
constexpr int kFirstVersionWithFunctions = 9;
constexpr int kFirstVersionWithoutInputs = 9;
constexpr int kFirstUpdatableVersion = 4;

void VersionPresent(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.version() < 1)
      f.Add(At(m.path + "specificationVersion"), "specificationVersion is {}", m.version());
}

void VersionKnown(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.version() > kNewestVersion)
      f.Add(At(m.path + "specificationVersion"),
            "specificationVersion is {}, the newest known is {}", m.version(), kNewestVersion);
}

// A kind that is newer than the schema is an unknown field of Model.
bool HasKind(const pb::Model& model) {
  if (model.Type_case() != pb::Model::TYPE_NOT_SET) return true;
  const auto& unknown = model.GetReflection()->GetUnknownFields(model);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (unknown.field(i).number() >= 200) return true;
  return false;
}

void KindPresent(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (!HasKind(*m.model)) f.Add(At(m.path + "Type"), "the model is of no kind");
}

bool HasFunctions(const ModelAt& m) {
  return m.description().functions_size() > 0 || !m.description().defaultfunctionname().empty();
}

// Calls visit(description, path) for the model's interface, or for that of each function.
template <typename Visit>
void EachInterface(const ModelAt& m, const Visit& visit) {
  if (!HasFunctions(m)) visit(m.description(), m.path + "description");
  for (int i = 0; i < m.description().functions_size(); ++i)
    visit(m.description().functions(i), fmt::format("{}description.functions[{}]", m.path, i));
}

void OutputsPresent(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    EachInterface(m, [&](const auto& d, const std::string& path) {
      if (d.output().empty()) f.Add(At(path + ".output"), "there are no outputs");
    });
}

// Networks, programs and pipelines, from a version on.
bool MayLackInputs(const ModelAt& m) {
  return m.version() >= kFirstVersionWithoutInputs &&
         (IsNetwork(*m.model) || m.model->has_mlprogram() || PipelineOf(*m.model) != nullptr);
}

void InputsPresent(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    EachInterface(m, [&](const auto& d, const std::string& path) {
      if (d.input().empty() && !MayLackInputs(m))
        f.Add(At(path + ".input"), "there are no inputs, in version {}", m.version());
    });
}

void FunctionsAllowed(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!HasFunctions(m)) continue;
    if (!m.model->has_mlprogram())
      f.Add(At(m.path + "description.functions"), "only ML programs have functions");
    else if (m.version() < kFirstVersionWithFunctions)
      f.Add(At(m.path + "description.functions"), "functions exist from version {} on, not in {}",
            kFirstVersionWithFunctions, m.version());
  }
}

void FunctionsAlone(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& d = m.description();
    if (HasFunctions(m) && (d.input_size() > 0 || d.output_size() > 0 || d.state_size() > 0 ||
                            d.traininginput_size() > 0 || !d.predictedfeaturename().empty() ||
                            !d.predictedprobabilitiesname().empty()))
      f.Add(At(m.path + "description"), "a model with functions has features of its own");
  }
}

void DefaultFunction(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!HasFunctions(m)) continue;
    bool found = false;
    for (const auto& function : m.description().functions())
      found = found || function.name() == m.description().defaultfunctionname();
    if (!found)
      f.Add(At(m.path + "description.defaultFunctionName"), "there is no function {}",
            Quote(m.description().defaultfunctionname()));
  }
}

void InputsRequired(const Subject& s, Findings& f) {
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

void OutputsRequired(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    for (int i = 0; i < m.description().output_size(); ++i)
      if (m.description().output(i).type().isoptional())
        f.Add(At(fmt::format("{}description.output[{}]", m.path, i)), "output {} is optional",
              Quote(m.description().output(i).name()));
}

void NamesUnique(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    EachInterface(m, [&](const auto& d, const std::string& path) {
      const auto check = [&](const Features& list, std::string_view field) {
        std::set<std::string_view> seen;
        for (int i = 0; i < list.size(); ++i)
          if (!seen.insert(list.Get(i).name()).second)
            f.Add(At(fmt::format("{}.{}[{}]", path, field, i)), "{} is listed again",
                  Quote(list.Get(i).name()));
      };
      check(d.input(), "input");
      check(d.output(), "output");
      check(d.state(), "state");
    });
}

void FunctionsUnique(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    std::set<std::string_view> seen;
    for (int i = 0; i < m.description().functions_size(); ++i)
      if (const std::string& name = m.description().functions(i).name();
          name.empty() || !seen.insert(name).second)
        f.Add(At(fmt::format("{}description.functions[{}].name", m.path, i)), "function {} has {}",
              i, name.empty() ? "no name" : "the name of an earlier one");
  }
}

void UpdatableVersion(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.model->isupdatable() && m.version() < kFirstUpdatableVersion)
      f.Add(At(m.path + "isUpdatable"), "models can be updated from version {} on, not in {}",
            kFirstUpdatableVersion, m.version());
}

constexpr Rule kRules[] = {
    {{"COREML-MODEL-001", Severity::kError, "The model states a specificationVersion.",
      "Model.proto, Model.specificationVersion", true, ""},
     VersionPresent},
    {{"COREML-MODEL-002", Severity::kError, "The specificationVersion is a published one.",
      "Model.proto, Model.specificationVersion", true,
      "Check the model with a newer version of this tool."},
     VersionKnown},
    {{"COREML-MODEL-003", Severity::kError, "The model is of some kind.", "Model.proto, Model.Type",
      true, ""},
     KindPresent},
    {{"COREML-MODEL-004", Severity::kError, "A model, or each of its functions, has outputs.",
      "Model.proto, ModelDescription", true, ""},
     OutputsPresent},
    {{"COREML-MODEL-005", Severity::kError,
      "A model has inputs; networks, programs and pipelines may lack them from specification "
      "version 9 on.",
      "Model.proto, ModelDescription", true, ""},
     InputsPresent},
    {{"COREML-MODEL-006", Severity::kError,
      "Only ML programs of specification version 9 or later have functions.",
      "Model.proto, ModelDescription.functions", true, ""},
     FunctionsAllowed},
    {{"COREML-MODEL-007", Severity::kError,
      "A model with functions has no features outside of them.",
      "Model.proto, ModelDescription.functions", true, ""},
     FunctionsAlone},
    {{"COREML-MODEL-008", Severity::kError, "The default function exists.",
      "Model.proto, ModelDescription.defaultFunctionName", true, ""},
     DefaultFunction},
    {{"COREML-MODEL-009", Severity::kError,
      "A network, program or serialised model has an input that is not optional.",
      "Model.proto, FeatureDescription", true, ""},
     InputsRequired},
    {{"COREML-MODEL-010", Severity::kError, "Outputs are not optional.",
      "FeatureTypes.proto, FeatureType.isOptional", true, ""},
     OutputsRequired},
    {{"COREML-MODEL-012", Severity::kError, "Names of inputs and of outputs are unique.",
      "Model.proto, ModelDescription", false, ""},
     NamesUnique},
    {{"COREML-MODEL-016", Severity::kError, "Functions have names of their own.",
      "Model.proto, FunctionDescription.name", false, ""},
     FunctionsUnique},
    {{"COREML-MODEL-017", Severity::kError,
      "Models that can be updated are of specification version 4 or later.",
      "Model.proto, Model.isUpdatable", true, "Raise specificationVersion."},
     UpdatableVersion},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kRules;
}

}  // namespace nn::coreml

// Rules of the model as a whole.
#include <fmt/ranges.h>
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

void VersionPresent(const Subject& s, Findings& f) {
  if (s.proto().specificationversion() < 1)
    f.Add(At("specificationVersion"), "specificationVersion is {}",
          s.proto().specificationversion());
}

void VersionKnown(const Subject& s, Findings& f) {
  if (s.proto().specificationversion() > kNewestVersion)
    f.Add(At("specificationVersion"), "specificationVersion is {}, the newest known is {}",
          s.proto().specificationversion(), kNewestVersion);
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
  for (const auto& m : s.models())
    if (!HasKind(*m->model)) f.Add(At(m->path + "Type"), "the model is of no kind");
}

bool HasFunctions(const ModelAt& m) {
  return m.description().functions_size() > 0 || !m.description().defaultfunctionname().empty();
}

void OutputsPresent(const Subject& s, Findings& f) {
  for (const auto& m : s.models())
    if (!HasFunctions(*m) && m->description().output_size() == 0)
      f.Add(At(m->path + "description.output"), "the model has no outputs");
}

void InputsPresent(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (!HasFunctions(*m) && m->version() < kFirstVersionWithoutInputs &&
        m->description().input_size() == 0)
      f.Add(At(m->path + "description.input"), "the model has no inputs");
  }
}

void FunctionsAllowed(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (!HasFunctions(*m)) continue;
    if (!m->model->has_mlprogram())
      f.Add(At(m->path + "description.functions"), "only ML programs have functions");
    else if (m->version() < kFirstVersionWithFunctions)
      f.Add(At(m->path + "description.functions"), "functions exist from version {} on, not in {}",
            kFirstVersionWithFunctions, m->version());
  }
}

void FunctionsAlone(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    const auto& d = m->description();
    if (HasFunctions(*m) && (d.input_size() > 0 || d.output_size() > 0 || d.state_size() > 0 ||
                             d.traininginput_size() > 0 || !d.predictedfeaturename().empty() ||
                             !d.predictedprobabilitiesname().empty()))
      f.Add(At(m->path + "description"), "a model with functions has features of its own");
  }
}

void DefaultFunction(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (!HasFunctions(*m)) continue;
    bool found = false;
    for (const auto& function : m->description().functions())
      found = found || function.name() == m->description().defaultfunctionname();
    if (!found)
      f.Add(At(m->path + "description.defaultFunctionName"), "there is no function {}",
            Quote(m->description().defaultfunctionname()));
  }
}

bool IsNetwork(const pb::Model& m) {
  return m.Type_case() == pb::Model::kNeuralNetwork ||
         m.Type_case() == pb::Model::kNeuralNetworkClassifier ||
         m.Type_case() == pb::Model::kNeuralNetworkRegressor;
}

void InputsRequired(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (!IsNetwork(*m->model) || m->description().input_size() == 0) continue;
    bool required = false;
    for (const auto& input : m->description().input())
      required = required || !input.type().isoptional() || input.type().has_statetype();
    if (!required) f.Add(At(m->path + "description.input"), "all inputs are optional");
  }
}

void OutputsRequired(const Subject& s, Findings& f) {
  for (const auto& m : s.models())
    for (int i = 0; i < m->description().output_size(); ++i)
      if (m->description().output(i).type().isoptional())
        f.Add(At(fmt::format("{}description.output[{}]", m->path, i)), "output {} is optional",
              Quote(m->description().output(i).name()));
}

bool HasOutput(const ModelAt& m, const std::string& name) {
  for (const auto& output : m.description().output())
    if (output.name() == name) return true;
  return false;
}

void PredictionsNamed(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    const auto kind = m->model->Type_case();
    const bool classifier =
        kind == pb::Model::kNeuralNetworkClassifier || kind == pb::Model::kPipelineClassifier;
    const bool regressor =
        kind == pb::Model::kNeuralNetworkRegressor || kind == pb::Model::kPipelineRegressor;
    if (!classifier && !regressor) continue;
    const auto& d = m->description();
    if (d.predictedfeaturename().empty() || !HasOutput(*m, d.predictedfeaturename()))
      f.Add(At(m->path + "description.predictedFeatureName"), "there is no output {}",
            Quote(d.predictedfeaturename()));
    if (!d.predictedprobabilitiesname().empty() && !HasOutput(*m, d.predictedprobabilitiesname()))
      f.Add(At(m->path + "description.predictedProbabilitiesName"), "there is no output {}",
            Quote(d.predictedprobabilitiesname()));
  }
}

void NamesUnique(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    const auto check = [&](const Features& list, std::string_view field) {
      std::set<std::string_view> seen;
      for (int i = 0; i < list.size(); ++i)
        if (!seen.insert(list.Get(i).name()).second)
          f.Add(At(fmt::format("{}description.{}[{}]", m->path, field, i)), "{} is listed again",
                Quote(list.Get(i).name()));
    };
    check(m->description().input(), "input");
    check(m->description().output(), "output");
  }
}

void PipelinesFilled(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    const pb::Pipeline* p = nullptr;
    if (m->model->has_pipeline()) p = &m->model->pipeline();
    if (m->model->has_pipelineclassifier()) p = &m->model->pipelineclassifier().pipeline();
    if (m->model->has_pipelineregressor()) p = &m->model->pipelineregressor().pipeline();
    if (p == nullptr) continue;
    if (p->models().empty()) f.Add(At(m->path + "pipeline.models"), "the pipeline has no models");
    if (!p->names().empty() && p->names_size() != p->models_size())
      f.Add(At(m->path + "pipeline.names"), "the pipeline has {} names and {} models",
            p->names_size(), p->models_size());
  }
}

// Whether a print states its type and, in the message of that, a version.
template <typename Print, typename Version>
void CheckPrint(const ModelAt& m, const Print& print, bool typed, const Version& version,
                Findings& f) {
  const std::string& name = print.GetDescriptor()->name();
  if (!typed)
    f.Add(At(m.path + "Type"), "{} has no type", name);
  else if (version == 0)
    f.Add(At(m.path + "Type"), "{} has no version", name);
}

void OwnKindsComplete(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (m->model->has_visionfeatureprint()) {
      const auto& print = m->model->visionfeatureprint();
      const int version = print.has_objects() ? static_cast<int>(print.objects().version())
                                              : static_cast<int>(print.scene().version());
      CheckPrint(*m, print, print.has_scene() || print.has_objects(), version, f);
    } else if (m->model->has_audiofeatureprint()) {
      const auto& print = m->model->audiofeatureprint();
      CheckPrint(*m, print, print.has_sound(), print.sound().version(), f);
    } else if (m->model->has_soundanalysispreprocessing()) {
      const auto& sound = m->model->soundanalysispreprocessing();
      CheckPrint(*m, sound, sound.has_vggish(), 1, f);
    }
  }
}

void VggishShapes(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (!m->model->soundanalysispreprocessing().has_vggish()) continue;
    const auto check = [&](const Features& list, std::string_view field,
                           const std::vector<int64_t>& want) {
      for (int i = 0; i < list.size(); ++i) {
        const auto& shape = list.Get(i).type().multiarraytype().shape();
        if (!std::equal(shape.begin(), shape.end(), want.begin(), want.end()))
          f.Add(At(fmt::format("{}description.{}[{}]", m->path, field, i)),
                "{} has another shape than [{}]", Quote(list.Get(i).name()), fmt::join(want, ", "));
      }
    };
    check(m->description().input(), "input", {15600});
    check(m->description().output(), "output", {1, 96, 64});
  }
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
    {{"COREML-MODEL-004", Severity::kError, "A model has outputs.", "Model.proto, ModelDescription",
      true, ""},
     OutputsPresent},
    {{"COREML-MODEL-005", Severity::kError, "Before specification version 9 a model has inputs.",
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
    {{"COREML-MODEL-009", Severity::kError, "A network has an input that is not optional.",
      "NeuralNetwork.proto", true, ""},
     InputsRequired},
    {{"COREML-MODEL-010", Severity::kError, "Outputs are not optional.",
      "FeatureTypes.proto, FeatureType.isOptional", true, ""},
     OutputsRequired},
    {{"COREML-MODEL-011", Severity::kError,
      "Predicted features of classifiers and regressors are outputs.",
      "Model.proto, ModelDescription.predictedFeatureName", true, ""},
     PredictionsNamed},
    {{"COREML-MODEL-012", Severity::kError, "Names of inputs and of outputs are unique.",
      "Model.proto, ModelDescription", false, ""},
     NamesUnique},
    {{"COREML-MODEL-013", Severity::kError, "A pipeline has models, and no or as many names.",
      "Model.proto, Pipeline", true, ""},
     PipelinesFilled},
    {{"COREML-MODEL-014", Severity::kError,
      "Feature prints and sound preprocessing state their type, prints its version too.",
      "VisionFeaturePrint.proto", true, ""},
     OwnKindsComplete},
    {{"COREML-MODEL-015", Severity::kError,
      "VGGish preprocessing takes 15600 samples and gives 1 x 96 x 64 values.",
      "SoundAnalysisPreprocessing.proto", true, ""},
     VggishShapes},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kRules;
}

}  // namespace nn::coreml
